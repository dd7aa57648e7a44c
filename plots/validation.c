// plots/validation.c: the picture of a validation: simulated against published steps.
#include "plots/validation.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "plots/labels.h"
#include "plots/plot.h"
#include "timeline/published.h"

enum {
    WIDTH = 1100,
    HEIGHT = 900,
    LEFT = 88, // margins of both panels
    RIGHT = 264,
    TOP = 48, // of the upper one
    SPLIT_TOP = 600,
    SPLIT_BOTTOM = 632, // of the lower one, from the top
    BOTTOM = 56,
    SOURCES = 15,   // that can be told apart; the rest go together
    POINTS = 20000, // in all
    LABELS = 24,    // of headline runs
    NAME = 24,      // bytes of a source that are shown
};

static const double SHORTEST = 1e-9, LONGEST = 1e9; // s, that are drawn
static const double BAND = 0.1;
static const double CHARACTER = 7.3; // pixels of a label's, about

typedef struct {
    const char *name; // borrowed
    guint runs, within;
} Source;

typedef struct {
    const GPtrArray *rows; // borrowed
    GArray *drawn;         // of const TimelinePublished *: borrowed
    GArray *sources;       // of Source: most runs first
    guint left_out, within;
    double low, top; // s, of both axes
    double down, up; // %, of the lower panel
} Picture;

static void picture_clear(Picture *picture)
{
    g_clear_pointer(&picture->drawn, g_array_unref);
    g_clear_pointer(&picture->sources, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Picture, picture_clear)

static const TimelinePublished *picture_row(const Picture *picture, guint i)
{
    return g_array_index(picture->drawn, const TimelinePublished *, i);
}

static gboolean picture_shows(double seconds)
{
    return seconds >= SHORTEST && seconds <= LONGEST; // false for NAN
}

static double picture_error(const TimelinePublished *row)
{
    return row->simulated / row->published - 1;
}

static gboolean picture_is_headline(const TimelinePublished *row)
{
    return strcmp(row->split, "headline") == 0;
}

static int picture_compare(gconstpointer a, gconstpointer b)
{
    const Source *one = a, *other = b;
    if (one->runs != other->runs)
        return one->runs > other->runs ? -1 : 1;
    return strcmp(one->name, other->name);
}

// The place of a source among them; the last, which stands for all others, where it is not there.
static guint picture_source(const Picture *picture, const char *name)
{
    for (guint i = 0; i < picture->sources->len; i++)
        if (strcmp(g_array_index(picture->sources, Source, i).name, name) == 0)
            return i;
    return picture->sources->len - 1;
}

// Counts runs by source, and puts the smallest sources together where there are too many.
static void picture_sort(Picture *picture)
{
    g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < picture->drawn->len; i++) {
        const TimelinePublished *row = picture_row(picture, i);
        gpointer place = NULL;
        if (!g_hash_table_lookup_extended(places, row->source, NULL, &place)) {
            const Source source = {row->source, 0, 0};
            place = GUINT_TO_POINTER(picture->sources->len);
            g_hash_table_insert(places, row->source, place);
            g_array_append_val(picture->sources, source);
        }
        Source *source = &g_array_index(picture->sources, Source, GPOINTER_TO_UINT(place));
        guint within = fabs(picture_error(row)) <= BAND ? 1 : 0;
        source->runs++;
        source->within += within;
        picture->within += within;
    }
    g_array_sort(picture->sources, picture_compare);
    if (picture->sources->len <= SOURCES)
        return;
    Source others = {"others", 0, 0};
    for (guint i = SOURCES - 1; i < picture->sources->len; i++) {
        others.runs += g_array_index(picture->sources, Source, i).runs;
        others.within += g_array_index(picture->sources, Source, i).within;
    }
    g_array_set_size(picture->sources, SOURCES - 1);
    g_array_append_val(picture->sources, others);
}

static gboolean picture_init(Picture *picture, const GPtrArray *rows, const char *database, GError **error)
{
    picture->rows = rows;
    picture->drawn = g_array_new(FALSE, FALSE, sizeof(const TimelinePublished *));
    picture->sources = g_array_new(FALSE, FALSE, sizeof(Source));
    picture->low = LONGEST;
    picture->top = SHORTEST;
    picture->up = picture->down = 20;
    for (guint i = 0; i < rows->len; i++) {
        const TimelinePublished *row = rows->pdata[i];
        if (!picture_shows(row->published) || !picture_shows(row->simulated)) {
            picture->left_out++;
            continue;
        }
        g_array_append_val(picture->drawn, row);
        picture->low = MIN(picture->low, MIN(row->published, row->simulated));
        picture->top = MAX(picture->top, MAX(row->published, row->simulated));
        double error_percent = 100 * picture_error(row);
        picture->up = MAX(picture->up, ceil(error_percent / 10) * 10);
        picture->down = MAX(picture->down, ceil(-error_percent / 10) * 10);
    }
    if (picture->drawn->len == 0)
        return base_error_set(error, BASE_ERROR_FAILED, database,
                              "found no run with a published and a simulated step");
    if (picture->drawn->len > POINTS)
        return base_error_set(error, BASE_ERROR_FAILED, database, "found %u runs, wanted at most %d",
                              picture->drawn->len, POINTS);
    picture_sort(picture);
    double gap = MAX(pow(picture->top / picture->low, 0.03), 1.2);
    picture->low /= gap;
    picture->top *= gap;
    picture->up = MIN(picture->up, 100); // those beyond are drawn at the edge
    picture->down = MIN(picture->down, 100);
    return TRUE;
}

static void picture_number(GString *out, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(out, g_ascii_formatd(text, sizeof text, "%.9g", value));
}

// "name = number".
static void picture_assign(GString *out, const char *name, double value)
{
    g_string_append_printf(out, "%s = ", name);
    picture_number(out, value);
    g_string_append_c(out, '\n');
}

// Labels at every power of ten, and at twos and fives where there are few; marks without one in between. As a
// string that the script evaluates, of nothing but these.
static void picture_ticks(const Picture *picture, GString *out, const char *name, gboolean labels)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    gboolean few = picture->top < 50 * picture->low;
    g_string_append_printf(out, "%s = \"(", name);
    gboolean first = TRUE;
    for (int decade = -10; decade <= 10; decade++)
        for (int step = 1; step <= 9; step++) {
            double at = step * pow(10, decade);
            if (at < picture->low || at > picture->top)
                continue;
            gboolean major = step == 1 || (few && (step == 2 || step == 5));
            int unit = CLAMP((decade + 9) / 3, 0, 3);
            g_string_append(out, first ? "" : ", ");
            if (major && labels)
                g_string_append_printf(out, "'%.9g %s' ", step * pow(10, decade + 9 - 3 * unit), units[unit]);
            else
                g_string_append(out, "'' ");
            picture_number(out, at);
            g_string_append(out, major ? " 0" : " 1");
            first = FALSE;
        }
    g_string_append(out, ")\"\n");
}

// "published simulated error" of a row; errors beyond the lower panel stand at its edge.
static void picture_point(const Picture *picture, GString *out, const TimelinePublished *row)
{
    picture_number(out, row->published);
    g_string_append_c(out, ' ');
    picture_number(out, row->simulated);
    g_string_append_c(out, ' ');
    picture_number(out, CLAMP(100 * picture_error(row), -picture->down, picture->up));
    g_string_append_printf(out, " %u\n", picture_source(picture, row->source) + 1);
}

static void picture_blocks(const Picture *picture, GString *out)
{
    g_string_append_printf(out, "sources = %u\narray names[%u]\n", picture->sources->len,
                           picture->sources->len);
    for (guint i = 0; i < picture->sources->len; i++) {
        const Source *source = &g_array_index(picture->sources, Source, i);
        g_autofree char *words =
            g_strdup_printf("%.*s: %u of %u", NAME, source->name, source->within, source->runs);
        g_autofree char *title = plot_quote(words);
        g_string_append_printf(out, "names[%u] = %s\n$source%u << EOD\n", i + 1, title, i + 1);
        for (guint j = 0; j < picture->drawn->len; j++) {
            const TimelinePublished *row = picture_row(picture, j);
            if (picture_source(picture, row->source) == i && !picture_is_headline(row))
                picture_point(picture, out, row);
        }
        g_string_append(out, "EOD\n");
    }
    g_string_append(out, "$headline << EOD\n");
    guint headline = 0;
    for (guint j = 0; j < picture->drawn->len; j++)
        if (picture_is_headline(picture_row(picture, j))) {
            picture_point(picture, out, picture_row(picture, j));
            headline++;
        }
    g_string_append_printf(out, "EOD\nheadline = %u\n", headline);
}

// Where a point of the upper panel is drawn.
static PlotLabelsPoint picture_pixel(const Picture *picture, const TimelinePublished *row)
{
    double span = log(picture->top / picture->low);
    return (PlotLabelsPoint){
        LEFT + (WIDTH - LEFT - RIGHT) * log(row->published / picture->low) / span,
        HEIGHT - SPLIT_TOP + (SPLIT_TOP - TOP) * log(row->simulated / picture->low) / span,
    };
}

static void picture_at(GString *out, const PlotLabelsPoint *point)
{
    g_string_append(out, "screen ");
    picture_number(out, point->x / WIDTH);
    g_string_append(out, ", screen ");
    picture_number(out, point->y / HEIGHT);
}

static void picture_label(GString *out, const PlotLabel *label, const char *text)
{
    g_autofree char *quoted = plot_quote(text);
    g_string_append_printf(out, "set label %s at ", quoted);
    picture_at(out, &label->end);
    g_string_append_printf(out, " %s front font 'sans-serif,10' tc rgb '#333333'\n",
                           label->rightward ? "left" : "right");
    if (!label->leader)
        return;
    g_string_append(out, "set arrow from ");
    picture_at(out, &label->point);
    g_string_append(out, " to ");
    picture_at(out, &label->end);
    g_string_append(out, " nohead back lw 0.8 lc rgb '#888888'\n");
}

// Names of headline runs, beside their points where there is room.
static void picture_labels(const Picture *picture, GString *out)
{
    const PlotLabelsBox box = {LEFT + 4, HEIGHT - SPLIT_TOP + 4, WIDTH - RIGHT - 4, HEIGHT - TOP - 4};
    g_autofree PlotLabelsPoint *points = g_new(PlotLabelsPoint, picture->drawn->len);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    PlotLabel labels[LABELS] = {0};
    for (guint i = 0; i < picture->drawn->len; i++) {
        const TimelinePublished *row = picture_row(picture, i);
        points[i] = picture_pixel(picture, row);
        if (!picture_is_headline(row) || texts->len == LABELS)
            continue;
        char *text = g_strdup_printf("%s, %" G_GINT64_FORMAT, row->model, row->gpus);
        labels[texts->len].point = points[i];
        labels[texts->len].width = (double)g_utf8_strlen(text, -1) * CHARACTER;
        g_ptr_array_add(texts, text);
    }
    plot_labels_place(labels, texts->len, points, picture->drawn->len, &box);
    for (guint i = 0; i < texts->len; i++)
        if (labels[i].placed)
            picture_label(out, &labels[i], texts->pdata[i]);
}

gboolean plot_validation_write(const char *database, gint64 validation, const char *path, char **shown,
                               GError **error)
{
    if (!plot_check(path, error))
        return FALSE;
    g_autoptr(GPtrArray) rows = timeline_published_read(database, &validation, error);
    if (rows == NULL)
        return FALSE;
    g_auto(Picture) picture = {0};
    if (!picture_init(&picture, rows, database, error))
        return FALSE;
    g_autofree char *words = g_strdup_printf("%u of %u published steps simulated within %.0f %%",
                                             picture.within, picture.drawn->len, 100 * BAND);
    g_autofree char *heading = plot_quote(words);
    g_autoptr(GString) preamble = g_string_new(NULL);
    g_string_append_printf(preamble, "heading = %s\nleft = %d\nright = %d\ntop = %d\nsplit_top = %d\n",
                           heading, LEFT, RIGHT, TOP, SPLIT_TOP);
    g_string_append_printf(preamble, "split_bottom = %d\nbottom = %d\n", SPLIT_BOTTOM, BOTTOM);
    picture_assign(preamble, "low", picture.low);
    picture_assign(preamble, "high", picture.top);
    picture_assign(preamble, "band", BAND);
    picture_assign(preamble, "down", -picture.down);
    picture_assign(preamble, "up", picture.up);
    picture_ticks(&picture, preamble, "marks", FALSE);
    picture_ticks(&picture, preamble, "ticks", TRUE);
    picture_blocks(&picture, preamble);
    picture_labels(&picture, preamble);
    if (!plot_write(path, WIDTH, HEIGHT, preamble->str, "plots/validation.gp", error))
        return FALSE;
    if (shown != NULL)
        *shown = g_strdup_printf(
            "validation %" G_GINT64_FORMAT ", %u runs of %u source%s, %u within %.0f %%, "
            "%u left out",
            validation, picture.drawn->len, picture.sources->len, picture.sources->len == 1 ? "" : "s",
            picture.within, 100 * BAND, picture.left_out);
    return TRUE;
}
