// plots/sweep.c: the picture of a sweep: lines over the first axis, or a map of two.
#include "plots/sweep.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "plots/plot.h"

enum {
    WIDTH = 1100,
    HEIGHT = 660,
    LINES = 12,  // that can be told apart
    LABELS = 14, // on an axis
    CELLS = 4000,
    MAP_LEAST = 3, // values of an axis that make a map of two
};

// What is drawn: every point's place among the values of x and among the others, and its figure.
typedef struct {
    const TimelinePoints *points; // borrowed
    int metric;
    GPtrArray *x, *others; // of char *: values in the order of the grid; owned
    guint *at, *line;      // [row]: places in the two; owned
    gboolean map;
    double unit;     // the figure is divided by it
    char *words;     // owned: "length of the step (ms)"
    double low, top; // of the figures, in their unit
    gboolean high;   // on a logarithmic axis
} Picture;

static void picture_clear(Picture *picture)
{
    g_clear_pointer(&picture->x, g_ptr_array_unref);
    g_clear_pointer(&picture->others, g_ptr_array_unref);
    g_free(picture->at);
    g_free(picture->line);
    g_free(picture->words);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Picture, picture_clear)

double *plot_sweep_numbers(const GPtrArray *values)
{
    static const UnitsKind kinds[] = {UNITS_COUNT, UNITS_NUMBER, UNITS_FRACTION, UNITS_BYTES,
                                      UNITS_TIME,  UNITS_RATE,   UNITS_FLOPS};
    g_autofree double *numbers = g_new(double, values->len);
    for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
        guint i = 0;
        while (i < values->len && units_parse(kinds[kind], values->pdata[i], NULL, &numbers[i], NULL))
            i++;
        if (i == values->len)
            return g_steal_pointer(&numbers);
    }
    return NULL;
}

gboolean plot_sweep_is_log(const double *numbers, guint n)
{
    double low = (double)INFINITY, high = 0;
    for (guint i = 0; i < n; i++) {
        low = MIN(low, numbers[i]);
        high = MAX(high, numbers[i]);
    }
    return n > 0 && low > 0 && high >= 8 * low;
}

// The place of text in a list, at its end where it is new.
static guint picture_place(GPtrArray *list, GHashTable *index, const char *text)
{
    gpointer place = NULL;
    if (g_hash_table_lookup_extended(index, text, NULL, &place))
        return GPOINTER_TO_UINT(place);
    g_ptr_array_add(list, g_strdup(text));
    g_hash_table_insert(index, list->pdata[list->len - 1], GUINT_TO_POINTER(list->len - 1));
    return list->len - 1;
}

// Rows by the first axis and the others together. Zipped lists go along x together, as words where the first
// does not tell the points apart.
static void picture_sort(Picture *picture, gboolean whole)
{
    const GPtrArray *rows = picture->points->rows;
    picture->x = g_ptr_array_new_with_free_func(g_free);
    picture->others = g_ptr_array_new_with_free_func(g_free);
    picture->at = g_renew(guint, picture->at, rows->len + 1);
    picture->line = g_renew(guint, picture->line, rows->len + 1);
    g_autoptr(GHashTable) x = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) others = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rows->len; i++) {
        const TimelinePointsRow *row = rows->pdata[i];
        g_autofree char *all = g_strjoinv(", ", row->values);
        g_autofree char *rest = g_strjoinv(", ", row->values + 1);
        picture->at[i] = picture_place(picture->x, x, whole ? all : row->values[0]);
        picture->line[i] = picture_place(picture->others, others, picture->points->zip ? "" : rest);
    }
}

// The figure in a unit that people read, and its words.
static void picture_name(Picture *picture)
{
    static const struct {
        const char *name, *words;
    } known[] = {
        {"step_s", "length of the step"},
        {"exposed_comm_s", "exposed communication"},
        {"compute_s", "compute"},
        {"tokens_per_s", "tokens/s"},
        {"memory_peak_bytes", "memory peak"},
        {"bubble_s", "pipeline bubble"},
        {"mfu", "MFU"},
        {"hfu", "HFU"},
        {"communication_s", "communication"},
    };
    const char *name = TIMELINE_METRIC_TABLE[picture->metric].name, *words = name, *unit = "";
    for (guint i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i].name, name) == 0)
            words = known[i].words;
    double high = 0;
    for (guint i = 0; i < picture->points->rows->len; i++) {
        const TimelinePointsRow *row = picture->points->rows->pdata[i];
        if (row->out->error == NULL && row->out->values[picture->metric] > high)
            high = row->out->values[picture->metric];
    }
    picture->unit = 1;
    if (g_str_has_suffix(name, "_s") && strcmp(name, "tokens_per_s") != 0) {
        picture->unit = high >= 1 ? 1 : high >= 1e-3 ? 1e-3 : 1e-6;
        unit = high >= 1 ? " (s)" : high >= 1e-3 ? " (ms)" : " (us)";
    } else if (g_str_has_suffix(name, "_bytes")) {
        picture->unit = 0x1p30;
        unit = " (GiB)";
    } else if (strcmp(name, "mfu") == 0 || strcmp(name, "hfu") == 0) {
        picture->unit = 0.01;
        unit = " (%)";
    }
    picture->words = g_strconcat(words, unit, NULL);
}

static gboolean picture_init(Picture *picture, const TimelinePoints *points, const PlotSweep *what,
                             const char *database, GError **error)
{
    picture->points = points;
    picture->metric = timeline_metrics_find(what->metric);
    g_assert(picture->metric >= 0);
    picture_sort(picture, FALSE);
    if (points->zip && picture->x->len < points->rows->len) {
        g_ptr_array_unref(picture->x);
        g_ptr_array_unref(picture->others);
        picture_sort(picture, TRUE);
    }
    g_autofree double *x = plot_sweep_numbers(picture->x), *y = plot_sweep_numbers(picture->others);
    picture->map = !what->lines && points->axes->len == 2 && !points->zip && x != NULL && y != NULL &&
                   picture->x->len >= MAP_LEAST && picture->others->len >= MAP_LEAST;
    picture_name(picture);
    if (picture->map && picture->x->len * picture->others->len > CELLS)
        return base_error_set(error, BASE_ERROR_FAILED, database,
                              "found %u x %u points, wanted at most %d for a map", picture->x->len,
                              picture->others->len, CELLS);
    if (!picture->map && picture->others->len > LINES)
        return base_error_set(error, BASE_ERROR_FAILED, database,
                              "found %u combinations of the axes but the first, wanted at most %d lines",
                              picture->others->len, LINES);
    return TRUE;
}

static void picture_number(GString *out, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(out, isfinite(value) ? g_ascii_formatd(text, sizeof text, "%.9g", value) : "NaN");
}

// Labels of an axis where its numbers (or places) are; not more than fit.
static void picture_ticks(GString *out, const char *name, const GPtrArray *values, const double *numbers)
{
    guint every = (values->len + LABELS - 1) / LABELS;
    g_string_append_printf(out, "set %s (", name);
    for (guint i = 0; i < values->len; i += MAX(every, 1)) {
        g_autofree char *label = plot_quote(values->pdata[i]);
        g_string_append_printf(out, "%s%s ", i == 0 ? "" : ", ", label);
        picture_number(out, numbers == NULL ? i : numbers[i]);
    }
    g_string_append(out, ")\n");
}

// The figure of a row in its unit; NAN where it failed.
static double picture_figure(const Picture *picture, const TimelinePointsRow *row)
{
    return row->out->error != NULL ? (double)NAN : row->out->values[picture->metric] / picture->unit;
}

// The figures' smallest and largest, and whether they want a logarithmic axis: twenty-fold at least.
static void picture_measure(Picture *picture)
{
    picture->low = (double)INFINITY;
    picture->top = 0;
    for (guint i = 0; i < picture->points->rows->len; i++) {
        double figure = picture_figure(picture, picture->points->rows->pdata[i]);
        if (isfinite(figure)) {
            picture->low = MIN(picture->low, figure);
            picture->top = MAX(picture->top, figure);
        }
    }
    picture->high = picture->low > 0 && isfinite(picture->low) && picture->top >= 20 * picture->low;
}

// A range a little wider than low..top.
static void picture_range(GString *out, const char *name, double low, double top, gboolean log)
{
    double gap = log ? pow(top / low, 0.03) : top > low ? (top - low) * 0.03 : MAX(fabs(low) * 0.1, 0.5);
    g_string_append_printf(out, "set %s [", name);
    picture_number(out, log ? low / gap : low - gap);
    g_string_append_c(out, ':');
    picture_number(out, log ? top * gap : top + gap);
    g_string_append(out, "]\n");
}

// Labels at 1, 2 and 5 of each decade: gnuplot's own are too few for a short axis.
static void picture_decades(const Picture *picture, GString *out)
{
    static const double steps[] = {1, 2, 5};
    g_string_append(out, "set ytics (");
    for (int decade = -15; decade <= 30; decade++)
        for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
            double at = steps[i] * pow(10, decade);
            if (at < picture->low / 3 || at > picture->top * 3)
                continue;
            if (out->str[out->len - 1] != '(')
                g_string_append(out, ", ");
            picture_number(out, at);
        }
    g_string_append(out, ")\n");
}

// Of the lines' two axes. Figures that are no logarithms start at 0.
static void picture_ranges(const Picture *picture, const double *numbers, gboolean log, GString *out)
{
    double low = 0, top = picture->x->len - 1.0;
    for (guint i = 0; numbers != NULL && i < picture->x->len; i++) {
        low = i == 0 ? numbers[i] : MIN(low, numbers[i]);
        top = i == 0 ? numbers[i] : MAX(top, numbers[i]);
    }
    picture_range(out, "xrange", low, top, log);
    if (!picture->high)
        return;
    picture_range(out, "yrange", picture->low, picture->top, TRUE);
    picture_decades(picture, out);
}

static void picture_lines(const Picture *picture, GString *out)
{
    g_autofree double *numbers = plot_sweep_numbers(picture->x);
    gboolean log = numbers != NULL && plot_sweep_is_log(numbers, picture->x->len);
    picture_ticks(out, "xtics", picture->x, numbers);
    picture_ranges(picture, numbers, log, out);
    g_string_append_printf(out, "%sarray titles[%u]\n", log ? "set logscale x\n" : "", picture->others->len);
    for (guint line = 0; line < picture->others->len; line++) {
        g_autofree char *title = plot_quote(picture->others->pdata[line]);
        g_string_append_printf(out, "titles[%u] = %s\n$line%u << EOD\n", line + 1, title, line + 1);
        for (guint i = 0; i < picture->points->rows->len; i++) {
            if (picture->line[i] != line)
                continue;
            picture_number(out, numbers == NULL ? picture->at[i] : numbers[picture->at[i]]);
            g_string_append_c(out, ' ');
            picture_number(out, picture_figure(picture, picture->points->rows->pdata[i]));
            g_string_append_c(out, '\n');
        }
        g_string_append(out, "EOD\n");
    }
    g_string_append_printf(out, "lines = %u\n", picture->others->len);
}

// A cell for each pair of places, all there, so that it is an image: NaN where no point is.
static void picture_map(const Picture *picture, GString *out)
{
    guint columns = picture->x->len, rows = picture->others->len;
    g_autofree double *cells = g_new(double, (gsize)columns *rows);
    for (guint i = 0; i < columns * rows; i++)
        cells[i] = (double)NAN;
    for (guint i = 0; i < picture->points->rows->len; i++)
        cells[picture->line[i] * columns + picture->at[i]] =
            picture_figure(picture, picture->points->rows->pdata[i]);
    picture_ticks(out, "xtics", picture->x, NULL);
    picture_ticks(out, "ytics", picture->others, NULL);
    g_string_append(out, "$line1 << EOD\n");
    for (guint i = 0; i < columns * rows; i++) {
        g_string_append_printf(out, "%u %u ", i % columns, i / columns);
        picture_number(out, cells[i]);
        g_string_append_c(out, '\n');
    }
    g_string_append_printf(out, "EOD\nlines = 0\ncolumns = %u\nrows = %u\nbright = ", columns, rows);
    picture_number(out,
                   picture->high ? sqrt(picture->low * picture->top) : (picture->low + picture->top) / 2);
    g_string_append_c(out, '\n');
}

// Whether there is a metric of this name.
static gboolean picture_check(const char *metric, GError **error)
{
    if (timeline_metrics_find(metric) >= 0)
        return TRUE;
    const char *names[TIMELINE_METRICS + 1] = {0};
    for (guint i = 0; i < TIMELINE_METRICS; i++)
        names[i] = TIMELINE_METRIC_TABLE[i].name;
    g_autofree char *quoted = base_error_quote(metric);
    g_autofree char *hint = suggest_hint(metric, names);
    return base_error_set(error, BASE_ERROR_USAGE, "--metric",
                          "found '%s', wanted a number of 'stepline sweep --json', such as step_s or mfu%s",
                          quoted, hint);
}

gboolean plot_sweep_write(const char *database, const PlotSweep *what, const char *path, char **shown,
                          GError **error)
{
    if (!plot_check(path, error) || !picture_check(what->metric, error))
        return FALSE;
    g_autoptr(TimelinePoints) points = timeline_points_read(database, what->sweep, error);
    if (points == NULL)
        return FALSE;
    if (points->rows->len == 0)
        return base_error_set(error, BASE_ERROR_FAILED, database, "found a sweep without points");
    g_auto(Picture) picture = {0};
    if (!picture_init(&picture, points, what, database, error))
        return FALSE;
    picture_measure(&picture);
    if (isinf(picture.low))
        return base_error_set(error, BASE_ERROR_FAILED, database,
                              "found no point with a figure: all of them failed, or none has %s",
                              what->metric);
    g_autofree char *words = g_strdup_printf("%s: %s", points->name, picture.words);
    g_autofree char *heading = plot_quote(words), *figure = plot_quote(picture.words);
    g_autofree char *x = plot_quote(points->axes->pdata[0]);
    GString *rest = g_string_new(NULL);
    for (guint i = 1; i < points->axes->len; i++)
        g_string_append_printf(rest, "%s%s", i == 1 ? "" : ", ", (const char *)points->axes->pdata[i]);
    g_autofree char *others = g_string_free(rest, FALSE), *quoted = plot_quote(others);
    g_autoptr(GString) preamble = g_string_new(NULL);
    g_string_append_printf(preamble, "heading = %s\nfigure = %s\nacross = %s\nothers = %s\nhigh = %d\n",
                           heading, figure, x, points->zip ? "''" : quoted, picture.high);
    if (picture.map)
        picture_map(&picture, preamble);
    else
        picture_lines(&picture, preamble);
    if (!plot_write(path, WIDTH, HEIGHT, preamble->str, "plots/sweep.gp", error))
        return FALSE;
    if (shown != NULL)
        *shown = g_strdup_printf("sweep %" G_GINT64_FORMAT ", %u points of %s over %s%s%s", points->id,
                                 points->rows->len, what->metric, (const char *)points->axes->pdata[0],
                                 picture.map       ? " and "
                                 : *others == '\0' ? ""
                                                   : ", lines by ",
                                 others);
    return TRUE;
}
