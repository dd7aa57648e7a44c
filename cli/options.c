// cli/options.c: GOption with our errors, and JSON on stdout.
#include "cli/options.h"

#include <stdlib.h>

#include "base/error.h"

gboolean options_parse(const Command *command, const GOptionEntry *entries, const char *details, int low, int high,
                       int *argc, char ***argv, GError **error)
{
    g_autofree char *parameters = g_strdup_printf("%s", command->usage);
    g_autoptr(GOptionContext) context = g_option_context_new(parameters);
    g_autofree char *summary = g_strdup_printf("%s.", command->summary);
    g_option_context_set_summary(context, summary);
    if (details != NULL)
        g_option_context_set_description(context, details);
    g_option_context_add_main_entries(context, entries, NULL);
    g_autofree char *program = g_strdup_printf("stepline %s", command->name);
    g_set_prgname(program);
    g_autoptr(GError) local = NULL;
    if (!g_option_context_parse(context, argc, argv, &local)) {
        g_autofree char *message = base_error_quote(local->message);
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "%s (see 'stepline %s --help')", message, command->name);
    }
    // A "--" stays in argv where it stood first.
    if (*argc > 1 && g_strcmp0((*argv)[1], "--") == 0) {
        for (int i = 1; i + 1 < *argc; i++)
            (*argv)[i] = (*argv)[i + 1];
        (*argc)--;
    }
    int words = *argc - 1;
    if (words < low || words > high)
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "found %d word%s after 'stepline %s', wanted: stepline %s %s",
                              words, words == 1 ? "" : "s", command->name, command->name, command->usage);
    return TRUE;
}

void options_print_json(JsonNode *node)
{
    g_autofree char *text = json_to_string(node, TRUE);
    g_print("%s\n", text);
    json_node_unref(node);
}
