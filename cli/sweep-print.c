// cli/sweep-print.c: the points of a sweep as a table, as CSV and as JSON.
#include "cli/sweep-print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/fields.h"
#include "cli/options.h"

enum { GAP = 2, WIDEST = 44 }; // of columns; of an axis

static double print_value(const TimelinePoint *point, const char *name)
{
    return point->values[timeline_metrics_find(name)];
}

// What is real time of the simulator, and what does not apply.
static gboolean print_is_shown(const TimelinePoint *point, guint metric)
{
    const char *name = TIMELINE_METRIC_TABLE[metric].name;
    return strcmp(name, "wall_s") != 0 &&
           (point == NULL || strcmp(name, "perfect_overlap_s") != 0 || point->values[metric] > 0);
}

static gboolean print_fits(const TimelinePoint *point)
{
    return print_value(point, "memory_peak_bytes") <= print_value(point, "memory_bytes");
}

static const char *print_axis(const ScenarioGrid *grid, guint axis)
{
    return ((const ScenarioAxis *)grid->axes->pdata[axis])->name;
}

static void print_add(GPtrArray *cells, char *text)
{
    g_ptr_array_add(cells, text);
}

// The cells of a point that did not fail, after its axes.
static void print_cells(GPtrArray *cells, const TimelinePoint *point)
{
    print_add(cells, units_format_seconds(print_value(point, "step_s")));
    print_add(cells, g_strdup_printf("%.1f %%", 100 * print_value(point, "mfu")));
    print_add(cells, g_strdup_printf("%.0f", print_value(point, "tokens_per_s")));
    print_add(cells, units_format_seconds(print_value(point, "compute_s")));
    print_add(cells, units_format_seconds(print_value(point, "exposed_comm_s")));
    print_add(cells, g_strdup_printf("%.1f %%", 100 * print_value(point, "exposed_comm_s") /
                                                    MAX(print_value(point, "step_s"), 1e-12)));
    print_add(cells, units_format_seconds(print_value(point, "idle_s")));
    print_add(cells, units_format_binary(print_value(point, "memory_peak_bytes")));
    print_add(cells, g_strdup(print_fits(point) ? "yes" : "no"));
}

// One line; axes stand to the left, numbers to the right.
static void print_line(const GPtrArray *cells, const guint *widths, guint axes)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (guint i = 0; i < cells->len; i++) {
        const char *text = cells->pdata[i];
        int pad = (int)widths[i] - (int)g_utf8_strlen(text, -1);
        g_string_append_printf(line, "%*s%*s%s%*s", i == 0 ? 0 : GAP, "", i < axes ? 0 : MAX(pad, 0), "",
                               text, i < axes ? MAX(pad, 0) : 0, "");
    }
    g_strchomp(line->str);
    printf("%s\n", line->str);
}

// The points with the shortest and the longest step.
static void print_ends(const ScenarioGrid *grid, const SweepRun *run)
{
    guint low = G_MAXUINT, high = G_MAXUINT;
    for (guint i = 0; i < grid->points; i++) {
        const TimelinePoint *point = run->points->pdata[i];
        if (point->error != NULL)
            continue;
        double step = print_value(point, "step_s");
        if (low == G_MAXUINT || step < print_value(run->points->pdata[low], "step_s"))
            low = i;
        if (high == G_MAXUINT || step > print_value(run->points->pdata[high], "step_s"))
            high = i;
    }
    if (low == G_MAXUINT || low == high)
        return;
    double shortest = print_value(run->points->pdata[low], "step_s");
    double longest = print_value(run->points->pdata[high], "step_s");
    g_autofree char *short_words = scenario_grid_words(grid, low),
                    *short_time = units_format_seconds(shortest);
    g_autofree char *long_words = scenario_grid_words(grid, high), *long_time = units_format_seconds(longest);
    printf("shortest        %s with %s\n", short_time, short_words);
    printf("longest         %s with %s: %.3g times as long\n", long_time, long_words, longest / shortest);
}

void sweep_print_table(const ScenarioGrid *grid, const SweepRun *run, const char *name)
{
    static const char *const heads[] = {"step",    "MFU",  "tokens/s", "compute", "exposed",
                                        "of step", "idle", "memory",   "fits"};
    guint axes = grid->axes->len, columns = axes + G_N_ELEMENTS(heads);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    g_autofree guint *widths = g_new0(guint, columns);
    printf("%s: %u point%s\n", name, grid->points, grid->points == 1 ? "" : "s");
    for (guint i = 0; i <= grid->points; i++) { // the first is the head
        GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);
        const TimelinePoint *point = i == 0 ? NULL : run->points->pdata[i - 1];
        for (guint j = 0; j < axes; j++)
            print_add(cells, g_strdup(i == 0 ? print_axis(grid, j) : scenario_grid_value(grid, i - 1, j)));
        for (guint j = 0; i == 0 && j < G_N_ELEMENTS(heads); j++)
            print_add(cells, g_strdup(heads[j]));
        if (point != NULL && point->error == NULL)
            print_cells(cells, point);
        for (guint j = 0; j < cells->len; j++)
            widths[j] = MAX(widths[j], MIN((guint)g_utf8_strlen(cells->pdata[j], -1), WIDEST));
        if (point != NULL && point->error != NULL)
            print_add(cells, g_strconcat("failed: ", point->error, NULL));
        g_ptr_array_add(lines, cells);
    }
    for (guint i = 0; i < lines->len; i++)
        print_line(lines->pdata[i], widths, axes);
    print_ends(grid, run);
}

// A field of CSV, quoted where it has to be; nothing in it steers a terminal.
static void print_csv_text(const char *text)
{
    g_autofree char *clean = g_strdup(text == NULL ? "" : text);
    for (char *at = clean; *at != '\0'; at++)
        if (g_ascii_iscntrl(*at))
            *at = '?';
    if (strpbrk(clean, ",\"") == NULL) {
        printf("%s", clean);
        return;
    }
    g_auto(GStrv) pieces = g_strsplit(clean, "\"", -1);
    g_autofree char *doubled = g_strjoinv("\"\"", pieces);
    printf("\"%s\"", doubled);
}

// The fewest digits that read back as the same number.
static void print_csv_number(double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE] = "";
    static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};
    for (guint i = 0; i < G_N_ELEMENTS(formats) && isfinite(value); i++) {
        g_ascii_formatd(text, sizeof text, formats[i], value);
        double back = g_ascii_strtod(text, NULL);
        if (memcmp(&back, &value, sizeof value) == 0)
            break;
    }
    printf("%s", text);
}

static void print_csv_line(const ScenarioGrid *grid, const TimelinePoint *point, guint at)
{
    for (guint i = 0; i < grid->axes->len; i++) {
        printf("%s", i == 0 ? "" : ",");
        print_csv_text(point == NULL ? print_axis(grid, i) : scenario_grid_value(grid, at, i));
    }
    for (guint i = 0; i < TIMELINE_POINT_TEXTS; i++) {
        printf(",");
        print_csv_text(point == NULL ? TIMELINE_POINT_NAMES[i] : point->texts[i]);
    }
    for (guint i = 0; i < TIMELINE_METRICS; i++) {
        if (!print_is_shown(NULL, i))
            continue;
        printf(",%s", point == NULL ? TIMELINE_METRIC_TABLE[i].name : "");
        if (point != NULL && point->error == NULL && print_is_shown(point, i))
            print_csv_number(point->values[i]);
    }
    printf(",%s,", point == NULL ? "fits" : point->error != NULL ? "" : print_fits(point) ? "true" : "false");
    print_csv_text(point == NULL ? "error" : point->error);
    printf("\n");
}

void sweep_print_csv(const ScenarioGrid *grid, const SweepRun *run)
{
    print_csv_line(grid, NULL, 0);
    for (guint i = 0; i < grid->points; i++)
        print_csv_line(grid, run->points->pdata[i], i);
}

static void print_json_point(JsonBuilder *json, const TimelinePoint *point)
{
    if (point->error != NULL) {
        fields_add_text(json, "error", point->error);
        return;
    }
    for (guint i = 0; i < TIMELINE_POINT_TEXTS; i++)
        fields_add_text(json, TIMELINE_POINT_NAMES[i], point->texts[i]);
    for (guint i = 0; i < TIMELINE_METRICS; i++) {
        const TimelineMetric *metric = &TIMELINE_METRIC_TABLE[i];
        if (!print_is_shown(point, i))
            continue;
        if (metric->whole && fabs(point->values[i]) < 0x1p53)
            fields_add_int(json, metric->name, (gint64)point->values[i]);
        else
            fields_add_double(json, metric->name, point->values[i]);
    }
    json_builder_set_member_name(json, "fits");
    json_builder_add_boolean_value(json, print_fits(point));
}

void sweep_print_json(const ScenarioGrid *grid, const SweepRun *run)
{
    g_autoptr(JsonBuilder) json = json_builder_new();
    json_builder_begin_object(json);
    fields_begin_array(json, "rows");
    for (guint i = 0; i < grid->points; i++) {
        json_builder_begin_object(json);
        for (guint j = 0; j < grid->axes->len; j++)
            fields_add_text(json, print_axis(grid, j), scenario_grid_value(grid, i, j));
        print_json_point(json, run->points->pdata[i]);
        json_builder_end_object(json);
    }
    json_builder_end_array(json);
    json_builder_end_object(json);
    options_print_json(json_builder_get_root(json));
}
