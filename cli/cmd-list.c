// cli/cmd-list.c: stepline list: what the library holds.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "base/suggest.h"
#include "cli/options.h"
#include "coll/choice.h"

// Kinds of library files: the word, the folder, and the section that holds their title.
static const struct {
    const char *word, *folder, *section;
} SHELVES[] = {
    {"machines", "topo/data/machines", "machine"},
    {"chips", "topo/data/chips", "chip"},
    {"models", "models/data", "model"},
    {"frameworks", "plans/data/frameworks", "framework"},
    {"scenarios", "scenarios", "scenario"},
};

static void list_add(JsonBuilder *rows, gboolean json, const char *name, const char *title)
{
    if (!json) {
        printf("%-26s%s\n", name, title);
        return;
    }
    json_builder_begin_object(rows);
    json_builder_set_member_name(rows, "name");
    json_builder_add_string_value(rows, name);
    json_builder_set_member_name(rows, "title");
    json_builder_add_string_value(rows, title);
    json_builder_end_object(rows);
}

static gboolean list_shelf(guint shelf, JsonBuilder *rows, gboolean json, GError **error)
{
    g_auto(GStrv) names = library_list(SHELVES[shelf].folder, ".ini");
    for (guint i = 0; names[i] != NULL; i++) {
        g_autoptr(Ini) ini =
            library_read_ini(SHELVES[shelf].folder, SHELVES[shelf].section, names[i], NULL, error);
        g_autofree char *title = NULL;
        if (ini == NULL || !ini_get_text(ini, SHELVES[shelf].section, "title", INI_REQUIRED, &title, error))
            return FALSE;
        list_add(rows, json, names[i], title);
    }
    return TRUE;
}

static int list_run(int argc, char **argv, GError **error)
{
    static const char *const words[] = {"machines",  "chips",      "models", "frameworks",
                                        "scenarios", "algorithms", NULL};
    gboolean json = FALSE;
    const GOptionEntry entries[] = {{"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
                                    {0}};
    if (!options_parse(&COMMAND_LIST, entries, NULL, 1, 1, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    json_builder_set_member_name(builder, "rows");
    json_builder_begin_array(builder);
    if (strcmp(argv[1], "algorithms") == 0) {
        for (guint i = 0; COLL_ALGOS[i] != NULL; i++)
            list_add(builder, json, COLL_ALGOS[i]->name, COLL_ALGOS[i]->title);
    } else {
        guint shelf = 0;
        while (shelf < G_N_ELEMENTS(SHELVES) && strcmp(SHELVES[shelf].word, argv[1]) != 0)
            shelf++;
        if (shelf == G_N_ELEMENTS(SHELVES)) {
            g_autofree char *quoted = base_error_quote(argv[1]);
            g_autofree char *hint = suggest_hint(argv[1], words);
            g_autofree char *wanted = g_strjoinv(", ", (char **)words);
            base_error_set(error, BASE_ERROR_USAGE, NULL, "found '%s', wanted one of: %s%s", quoted, wanted,
                           hint);
            return BASE_ERROR_USAGE;
        }
        if (!list_shelf(shelf, builder, json, error))
            return BASE_ERROR_FAILED;
    }
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    if (json)
        options_print_json(json_builder_get_root(builder));
    return 0;
}

const Command COMMAND_LIST = {
    .name = "list",
    .usage = "machines|chips|models|frameworks|scenarios|algorithms [--json]",
    .summary = "List what the library holds",
    .run = list_run,
};
