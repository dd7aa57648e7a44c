// cli/options.c: GOption with our errors, and JSON on stdout.
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/json-text.h"

// GOption takes "--json=yes" for "--json": what follows the '=' would be ignored.
static gboolean options_check_flags(const GOptionEntry *entries, int argc, char **argv, GError **error)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        for (const GOptionEntry *entry = entries; entry->long_name != NULL; entry++) {
            g_autofree char *start = g_strdup_printf("--%s=", entry->long_name);
            if (entry->arg != G_OPTION_ARG_NONE || !g_str_has_prefix(argv[i], start))
                continue;
            g_autofree char *quoted = base_error_quote(argv[i]);
            return base_error_set(error, BASE_ERROR_USAGE, NULL, "found '%s', wanted --%s without a value",
                                  quoted, entry->long_name);
        }
    }
    return TRUE;
}

// The long option nearest to one that is not known: " (did you mean '--machine'?)".
static char *options_hint(const GOptionEntry *entries, const GError *error, const char *message)
{
    if (!g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
        return g_strdup("");
    const char *word = strstr(message, "--");
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const GOptionEntry *entry = entries; entry->long_name != NULL; entry++)
        g_ptr_array_add(names, g_strconcat("--", entry->long_name, NULL));
    g_ptr_array_add(names, NULL);
    return word == NULL ? g_strdup("") : suggest_hint(word, (const char *const *)names->pdata);
}

gboolean options_parse(const Command *command, const GOptionEntry *entries, const char *details, int low,
                       int high, int *argc, char ***argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(command->usage);
    g_autofree char *summary = g_strdup_printf("%s.", command->summary);
    g_option_context_set_summary(context, summary);
    if (details != NULL)
        g_option_context_set_description(context, details);
    g_option_context_add_main_entries(context, entries, NULL);
    g_autofree char *program = g_strdup_printf("stepline %s", command->name);
    g_set_prgname(program);
    if (!options_check_flags(entries, *argc, *argv, error))
        return FALSE;
    g_autoptr(GError) local = NULL;
    if (!g_option_context_parse(context, argc, argv, &local)) {
        g_autofree char *message = base_error_quote(local->message);
        g_autofree char *hint = options_hint(entries, local, message);
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "%s%s (see 'stepline %s --help')", message, hint,
                              command->name);
    }
    // A "--" stays in argv where it stood first.
    if (*argc > 1 && g_strcmp0((*argv)[1], "--") == 0) {
        for (int i = 1; i + 1 < *argc; i++)
            (*argv)[i] = (*argv)[i + 1];
        (*argc)--;
    }
    int words = *argc - 1;
    if (words < low || words > high)
        return base_error_set(error, BASE_ERROR_USAGE, NULL,
                              "found %d word%s after 'stepline %s', wanted: stepline %s %s", words,
                              words == 1 ? "" : "s", command->name, command->name, command->usage);
    return TRUE;
}

void options_print_json(JsonNode *node)
{
    g_autofree char *text = json_text_new(node);
    g_print("%s\n", text);
    json_node_unref(node);
}

void options_print_json_object(JsonObject *object)
{
    JsonNode *node = json_node_alloc();
    json_node_init_object(node, object);
    json_object_unref(object);
    options_print_json(node);
}
