// cli/words.c: finding a word, refusing options that it does not take.
#include "cli/words.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

gboolean words_find(const char *command, const char *word, const char *const *names, guint *index,
                    GError **error)
{
    for (*index = 0; names[*index] != NULL; (*index)++)
        if (strcmp(word, names[*index]) == 0)
            return TRUE;
    g_autofree char *quoted = base_error_quote(word);
    g_autofree char *all = g_strjoinv(", ", (char **)names);
    g_autofree char *hint = suggest_hint(word, names);
    return base_error_set(error, BASE_ERROR_USAGE, command, "found '%s', wanted one of: %s%s", quoted, all,
                          hint);
}

gboolean words_check(const char *command, const char *word, const char *usage, const WordsOption *options,
                     GError **error)
{
    g_autofree char *where = g_strdup_printf("%s %s", command, word);
    for (guint i = 0; options[i].option != NULL; i++)
        if (options[i].given && !options[i].taken)
            return base_error_set(error, BASE_ERROR_USAGE, where, "found %s, wanted: stepline %s %s",
                                  options[i].option, where, usage);
    return TRUE;
}
