// cli/cmd-tables.c: "stepline tables": the documents' printed figures beside the computed and the simulated
// ones.
#include <math.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "validation/tables.h"

// A value with three digits more than the document prints: enough to see how it was rounded.
static char *cmd_tables_format(double value, guint digits)
{
    return isnan(value) ? g_strdup("-") : g_strdup_printf("%.*f", (int)digits + 3, value);
}

static void cmd_tables_print(const GPtrArray *rows)
{
    static const char *const heads[] = {"table",       "case",      "quantity", "unit", "printed",
                                        "closed form", "simulated", "agrees",   "note"};
    enum { COLUMNS = G_N_ELEMENTS(heads), LEFT = 4, NOTE = COLUMNS - 1 }; // the first LEFT columns are words
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) notes = g_ptr_array_new(); // of const char *: each note is printed once, below
    for (guint i = 0; i < COLUMNS; i++)
        g_ptr_array_add(cells, g_strdup(heads[i]));
    for (guint i = 0; i < rows->len; i++) {
        const ValidationTablesRow *row = rows->pdata[i];
        guint note = 0;
        while (row->note != NULL && note < notes->len && g_strcmp0(notes->pdata[note], row->note) != 0)
            note++;
        if (row->note != NULL && note == notes->len)
            g_ptr_array_add(notes, row->note);
        const char *const words[] = {row->table, row->case_name, row->quantity, row->unit, row->printed};
        for (guint j = 0; j < G_N_ELEMENTS(words); j++)
            g_ptr_array_add(cells, g_strdup(words[j]));
        g_ptr_array_add(cells, cmd_tables_format(row->computed, row->digits));
        g_ptr_array_add(cells, cmd_tables_format(row->simulated, row->digits));
        g_ptr_array_add(cells, g_strdup(row->agrees ? "yes" : "NO"));
        g_ptr_array_add(cells, row->note != NULL ? g_strdup_printf("(%u)", note + 1) : g_strdup(""));
    }
    int widths[COLUMNS] = {0};
    for (guint i = 0; i < cells->len; i++)
        widths[i % COLUMNS] = MAX(widths[i % COLUMNS], (int)g_utf8_strlen(cells->pdata[i], -1));
    for (guint i = 0; i < cells->len; i++) {
        guint column = i % COLUMNS;
        const char *cell = cells->pdata[i];
        if (column == NOTE)
            g_print("%s%s\n", *cell == '\0' ? "" : "  ", cell);
        else
            g_print("%s%*s", column == 0 ? "" : "  ", column < LEFT ? -widths[column] : widths[column], cell);
    }
    for (guint i = 0; i < notes->len; i++)
        g_print("%s(%u) %s\n", i == 0 ? "\n" : "", i + 1, (const char *)notes->pdata[i]);
}

static void cmd_tables_print_json(const GPtrArray *rows)
{
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    json_builder_set_member_name(builder, "rows");
    json_builder_begin_array(builder);
    for (guint i = 0; i < rows->len; i++) {
        const ValidationTablesRow *row = rows->pdata[i];
        const struct {
            const char *key, *value;
        } words[] = {{"document", row->document},
                     {"table", row->table},
                     {"case", row->case_name},
                     {"quantity", row->quantity},
                     {"unit", row->unit}};
        json_builder_begin_object(builder);
        for (guint j = 0; j < G_N_ELEMENTS(words); j++) {
            json_builder_set_member_name(builder, words[j].key);
            json_builder_add_string_value(builder, words[j].value);
        }
        json_builder_set_member_name(builder, "printed");
        json_builder_add_double_value(builder, g_ascii_strtod(row->printed, NULL));
        json_builder_set_member_name(builder, "computed");
        json_builder_add_double_value(builder, row->computed);
        json_builder_set_member_name(builder, "simulated");
        if (isnan(row->simulated))
            json_builder_add_null_value(builder);
        else
            json_builder_add_double_value(builder, row->simulated);
        json_builder_set_member_name(builder, "agrees");
        json_builder_add_boolean_value(builder, row->agrees);
        json_builder_set_member_name(builder, "note");
        if (row->note == NULL)
            json_builder_add_null_value(builder);
        else
            json_builder_add_string_value(builder, row->note);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    options_print_json(json_builder_get_root(builder));
}

static int cmd_tables_run(int argc, char **argv, GError **error)
{
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    if (!options_parse(&COMMAND_TABLES, entries,
                       "Without a word both documents are printed. A figure agrees when, rounded to the "
                       "printed digits, it\n"
                       "is the printed one. Exit status 3 when one does not.",
                       0, 1, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    g_autoptr(GPtrArray) parts =
        g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref); // own the rows
    const char *const one[] = {argc > 1 ? argv[1] : NULL, NULL};
    const char *const *documents = argc > 1 ? one : VALIDATION_TABLES_DOCUMENTS;
    guint wrong = 0;
    for (guint i = 0; documents[i] != NULL; i++) {
        GPtrArray *rows = validation_tables_run(documents[i], error);
        if (rows == NULL)
            return BASE_ERROR_FAILED;
        g_ptr_array_add(parts, rows);
        for (guint j = 0; j < rows->len; j++) {
            wrong += !((const ValidationTablesRow *)rows->pdata[j])->agrees;
            g_ptr_array_add(all, rows->pdata[j]);
        }
    }
    if (json)
        cmd_tables_print_json(all);
    else
        cmd_tables_print(all);
    g_printerr("%u of %u figures agree to the printed digits\n", all->len - wrong, all->len);
    return wrong > 0 ? BASE_ERROR_INFEASIBLE : 0;
}

const Command COMMAND_TABLES = {
    .name = "tables",
    .usage = "[primer|deck] [--json]",
    .summary = "Every figure that the two documents print, beside the computed and the simulated one",
    .run = cmd_tables_run,
};
