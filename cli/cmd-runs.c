// cli/cmd-runs.c: "stepline runs": the runs that a timeline file holds.
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options.h"
#include "timeline/reader.h"

static void runs_add_text(JsonBuilder *builder, const char *key, const char *text)
{
    json_builder_set_member_name(builder, key);
    json_builder_add_string_value(builder, text);
}

// NAN is null.
static void runs_add_number(JsonBuilder *builder, const char *key, double value)
{
    json_builder_set_member_name(builder, key);
    if (isnan(value))
        json_builder_add_null_value(builder);
    else
        json_builder_add_double_value(builder, value);
}

static void runs_print_json(const GPtrArray *runs)
{
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    json_builder_set_member_name(builder, "rows");
    json_builder_begin_array(builder);
    for (guint i = 0; i < runs->len; i++) {
        const TimelineRun *run = g_ptr_array_index(runs, i);
        json_builder_begin_object(builder);
        json_builder_set_member_name(builder, "run");
        json_builder_add_int_value(builder, run->id);
        runs_add_text(builder, "created", run->created);
        runs_add_text(builder, "scenario", run->name);
        runs_add_text(builder, "fidelity", run->fidelity);
        runs_add_text(builder, "model", run->model);
        runs_add_text(builder, "machine", run->machine);
        runs_add_text(builder, "chip", run->chip);
        json_builder_set_member_name(builder, "ranks");
        if (run->ranks < 0)
            json_builder_add_null_value(builder);
        else
            json_builder_add_int_value(builder, run->ranks);
        runs_add_number(builder, "step_s", run->step < 0 ? (double)NAN : units_seconds(run->step));
        runs_add_number(builder, "exposed_comm_s",
                        run->exposed_comm < 0 ? (double)NAN : units_seconds(run->exposed_comm));
        runs_add_number(builder, "mfu", run->mfu);
        runs_add_number(builder, "hfu", run->hfu);
        runs_add_number(builder, "tokens_per_s", run->tokens_per_s);
        runs_add_text(builder, "fingerprint", run->fingerprint);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
    json_builder_end_object(builder);
    options_print_json(json_builder_get_root(builder));
}

enum { RUNS_COLUMNS = 8 };

// What a person sees of one run. Caller frees the texts.
static void runs_format(const TimelineRun *run, char *cells[RUNS_COLUMNS])
{
    cells[0] = g_strdup_printf("%" G_GINT64_FORMAT, run->id);
    cells[1] = base_error_quote(run->created);
    cells[2] = base_error_quote(run->name);
    cells[3] = base_error_quote(run->fidelity);
    cells[4] = run->ranks < 0 ? g_strdup("?") : units_format_count(run->ranks);
    cells[5] = run->step < 0 ? g_strdup("?") : units_format_time(run->step);
    cells[6] = isnan(run->mfu) ? g_strdup("?") : g_strdup_printf("%.4g %%", run->mfu * 100);
    cells[7] = base_error_quote(run->fingerprint);
}

static void runs_print_table(const GPtrArray *runs)
{
    static const char *const heads[RUNS_COLUMNS] = {"run",   "when (UTC)", "scenario", "fidelity",
                                                    "ranks", "step",       "MFU",      "fingerprint"};
    static const gboolean right[RUNS_COLUMNS] = {TRUE, FALSE, FALSE, FALSE, TRUE, TRUE, TRUE, FALSE};
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    glong widths[RUNS_COLUMNS];
    for (guint column = 0; column < RUNS_COLUMNS; column++)
        widths[column] = g_utf8_strlen(heads[column], -1);
    for (guint i = 0; i < runs->len; i++) {
        char **cells = g_new0(char *, RUNS_COLUMNS + 1);
        runs_format(g_ptr_array_index(runs, i), cells);
        for (guint column = 0; column < RUNS_COLUMNS; column++)
            widths[column] = MAX(widths[column], g_utf8_strlen(cells[column], -1));
        g_ptr_array_add(rows, cells);
    }
    for (guint i = 0; i <= rows->len; i++) {
        const char *const *cells = i == 0 ? heads : g_ptr_array_index(rows, i - 1);
        for (guint column = 0; column < RUNS_COLUMNS; column++) {
            int pad = (int)(widths[column] - g_utf8_strlen(cells[column], -1));
            gboolean end = column + 1 == RUNS_COLUMNS;
            printf("%*s%s%*s%s", right[column] ? pad : 0, "", cells[column], right[column] || end ? 0 : pad,
                   "", end ? "\n" : "  ");
        }
    }
}

static int runs_run_command(int argc, char **argv, GError **error)
{
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print {\"rows\": [...]}", NULL},
        {0},
    };
    if (!options_parse(&COMMAND_RUNS, entries, NULL, 1, 1, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    g_autoptr(TimelineReader) reader = timeline_reader_new(argv[1], error);
    g_autoptr(GPtrArray) runs = reader == NULL ? NULL : timeline_reader_read_runs(reader, error);
    if (runs == NULL)
        return BASE_ERROR_FAILED;
    if (json)
        runs_print_json(runs);
    else
        runs_print_table(runs);
    return 0;
}

const Command COMMAND_RUNS = {
    .name = "runs",
    .usage = "DB [--json]",
    .summary = "List the runs of a timeline file",
    .run = runs_run_command,
};
