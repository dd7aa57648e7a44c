// plots/timeline.c: the picture of a run: lanes (rank x stream) over time, coloured by kind of work.
#include "plots/timeline.h"

#include <math.h>

#include "base/error.h"
#include "plots/lanes.h"
#include "plots/plot.h"
#include "timeline/reader.h"

// The picture's measures, in pixels. Within the plot y counts pixels from its upper edge.
enum {
    WIDTH = 1600,
    LEFT = 150,
    RIGHT = 30,
    TOP = 78,
    BOTTOM = 92,
    PLOT = WIDTH - LEFT - RIGHT,
    GAP = 24,    // above each rank's lanes: a label fits
    LANE = 24,   // a stream's lane ...
    BOX = 21,    // ... and the boxes on it
    LABEL = 230, // width kept for "exposed ..." beside its anchor
    CHOSEN = 8,  // ranks that are drawn unless some are asked for
    RANKS = 64,  // ranks that can be asked for
    LANES = 256, // lanes of a picture
};

// Two shades and the legend's word of every kind; the last is for kinds that this program does not know.
static const struct {
    const char *word;
    guint light, dark; // 0xRRGGBB
} LOOKS[SIM_KINDS + 1] = {
    [SIM_KIND_FORWARD] = {"forward", 0x74a9e0, 0x4a86c8},
    [SIM_KIND_BACKWARD] = {"backward", 0x6cbf9a, 0x3f9a72},
    [SIM_KIND_OPTIMIZER] = {"optimizer", 0x9b7fc9, 0x7b5bb0},
    [SIM_KIND_ALL_REDUCE] = {"all-reduce", 0xf5b754, 0xdf9526},
    [SIM_KIND_REDUCE_SCATTER] = {"reduce-scatter", 0xe9d44f, 0xc9b22c},
    [SIM_KIND_ALL_GATHER] = {"all-gather", 0xdc8fb6, 0xc0678f},
    [SIM_KIND_BROADCAST] = {"broadcast", 0xb98a68, 0x96694a},
    [SIM_KIND_RECOMPUTE] = {"recompute", 0xa3d9b8, 0x83c39c},
    [SIM_KIND_SEND] = {"send", 0xe8836b, 0xcf5f45},
    [SIM_KIND_COPY] = {"copy", 0x8fd0d6, 0x5fb0b8},
    [SIM_KIND_LOAD] = {"load", 0xc9b8a0, 0xa89678},
    [SIM_KIND_LAUNCH] = {"launch", 0xc3c9d0, 0xa4adb6},
    [SIM_KINDS] = {"other", 0xa9b2ba, 0x87919a},
};

typedef struct {
    TimelineReader *reader; // borrowed
    const TimelineRun *run; // borrowed
    GPtrArray *lanes;       // borrowed: of TimelineLane *, by rank
    Ps from, to;
    Ps narrow; // a third of a pixel
    gboolean seen[SIM_KINDS + 1];
    gboolean exposed;     // somewhere
    GString *boxes;       // rows x y x1 x2 y1 y2 colour
    GString *idle;        // rows of lanes
    GString *thin, *wide; // rows of exposed stretches: less than four pixels wide, and others
    GString *labels;      // set label ...
} Picture;

static double timeline_ms(Ps ps)
{
    return (double)ps / 1e9;
}

static void timeline_add_row(GString *rows, Ps start, Ps end, double top, double height)
{
    g_string_append_printf(rows, "%.9f %.1f %.9f %.9f %.1f %.1f",
                           timeline_ms(start) / 2 + timeline_ms(end) / 2, top + height / 2,
                           timeline_ms(start), timeline_ms(end), top, top + height);
}

static void timeline_add_boxes(Picture *picture, const GArray *spans, double top)
{
    g_autoptr(GArray) boxes = plot_lanes_merge(spans, picture->from, picture->to, picture->narrow);
    for (guint i = 0; i < boxes->len; i++) {
        const PlotBox *box = &g_array_index(boxes, PlotBox, i);
        picture->seen[box->kind] = TRUE;
        // Two thirds of a pixel stay free behind a box that has room, so that equal neighbours are told
        // apart.
        Ps end = box->end - box->start > 12 * picture->narrow ? box->end - 2 * picture->narrow : box->end;
        timeline_add_row(picture->boxes, box->start, end, top, BOX);
        g_string_append_printf(picture->boxes, " 0x%06x\n",
                               box->dark ? LOOKS[box->kind].dark : LOOKS[box->kind].light);
    }
}

// Marks what is exposed of one rank between top and bottom, and writes the length over the longest stretch.
static void timeline_add_exposed(Picture *picture, const GArray *spans, double top, double bottom)
{
    g_autoptr(GArray) exposed = plot_lanes_expose(spans);
    g_autoptr(GArray) drawn = g_array_new(FALSE, FALSE, sizeof(TimelineSpan));
    PlotRange longest = {0, 0};
    Ps total = 0;
    for (guint i = 0; i < exposed->len; i++) {
        PlotRange range = g_array_index(exposed, PlotRange, i);
        TimelineSpan span = {MAX(range.start, picture->from), MIN(range.end, picture->to), -1, SIM_KINDS};
        if (span.end <= span.start)
            continue;
        g_array_append_val(drawn, span);
        total += span.end - span.start;
        if (span.end - span.start > longest.end - longest.start)
            longest = (PlotRange){span.start, span.end};
    }
    if (total == 0)
        return;
    picture->exposed = TRUE;
    g_autoptr(GArray) boxes = plot_lanes_merge(drawn, picture->from, picture->to, picture->narrow);
    for (guint i = 0; i < boxes->len; i++) {
        const PlotBox *box = &g_array_index(boxes, PlotBox, i);
        GString *rows = box->end - box->start < 12 * picture->narrow ? picture->thin : picture->wide;
        timeline_add_row(rows, box->start, box->end, top, bottom - top);
        g_string_append_c(rows, '\n');
    }
    g_autofree char *one = units_format_time(longest.end - longest.start);
    g_autofree char *all = units_format_time(total);
    g_autofree char *text = drawn->len == 1 ? g_strdup_printf("exposed %s", one)
                                            : g_strdup_printf("%s, exposed in all %s", one, all);
    g_autofree char *quoted = plot_quote(text);
    double middle = timeline_ms(longest.start) / 2 + timeline_ms(longest.end) / 2;
    double pixel = timeline_ms(picture->narrow) * 3, first = timeline_ms(picture->from),
           last = timeline_ms(picture->to);
    const char *side = "center";
    if (middle < first + LABEL / 2 * pixel) {
        side = "left";
        middle = fmax(timeline_ms(longest.start), first);
    } else if (middle > last - LABEL / 2 * pixel) {
        side = "right";
        middle = fmin(timeline_ms(longest.end), last);
    }
    g_string_append_printf(
        picture->labels,
        "set label %s at first %.9f, first %.1f %s font 'sans-serif,10' tc rgb '#c81e1e' front\n", quoted,
        middle, top - 9, side);
}

// Draws the lanes of one rank (lanes[first ..]) from *top downwards. FALSE with an error.
static gboolean timeline_add_rank(Picture *picture, guint first, double *top, GError **error)
{
    const TimelineLane *head = g_ptr_array_index(picture->lanes, first);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(TimelineSpan));
    double start = *top + GAP;
    g_string_append_printf(picture->labels,
                           "set label 'rank %" G_GINT64_FORMAT
                           "%s' at graph 0, first %.1f right offset -1,0 font "
                           "'sans-serif:Bold,11' front\n",
                           head->rank, head->rank == picture->run->last_rank ? " (last)" : "", start - 10);
    *top = start;
    for (guint i = first; i < picture->lanes->len; i++, *top += LANE) {
        const TimelineLane *lane = g_ptr_array_index(picture->lanes, i);
        if (lane->rank != head->rank)
            break;
        g_autoptr(GArray) spans = timeline_reader_read_spans(picture->reader, picture->run->id, lane,
                                                             picture->from, picture->to, error);
        if (spans == NULL)
            return FALSE;
        g_autofree char *cut = g_utf8_substring(lane->stream, 0, MIN(18, g_utf8_strlen(lane->stream, -1)));
        g_autofree char *name = plot_quote(cut);
        g_string_append_printf(
            picture->labels,
            "set label %s at graph 0, first %.1f right offset -1,0 font 'sans-serif,10' tc rgb "
            "'#444444' front\n",
            name, *top + BOX / 2.0);
        timeline_add_row(picture->idle, picture->from, picture->to, *top, BOX);
        g_string_append_c(picture->idle, '\n');
        timeline_add_boxes(picture, spans, *top);
        g_array_append_vals(all, spans->data, spans->len);
    }
    timeline_add_exposed(picture, all, start, *top - (LANE - BOX));
    return TRUE;
}

// "0, 9, 18, 27 (finishes last)"
static char *timeline_format_ranks(const GArray *chosen, gint64 last)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < chosen->len; i++) {
        gint64 rank = g_array_index(chosen, gint64, i);
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT "%s", i == 0 ? "" : ", ", rank,
                               rank == last ? " (finishes last)" : "");
    }
    return g_string_free(text, FALSE);
}

static void timeline_add_title(const Picture *picture, const char *shown)
{
    const TimelineRun *run = picture->run;
    g_autofree char *step = units_format_time(run->step);
    g_autofree char *exposed = run->exposed_comm < 0 ? g_strdup("?") : units_format_time(run->exposed_comm);
    g_autofree char *mfu = isnan(run->mfu) ? g_strdup("?") : g_strdup_printf("%.1f %%", run->mfu * 100);
    g_autofree char *model = base_error_quote(run->model);
    g_autofree char *machine = base_error_quote(run->machine);
    g_autofree char *title = g_utf8_substring(run->name, 0, MIN(64, g_utf8_strlen(run->name, -1)));
    g_autofree char *name = plot_quote(title);
    g_autofree char *figures =
        g_strdup_printf("step %s    MFU %s    exposed communication %s", step, mfu, exposed);
    g_autofree char *what = g_strdup_printf("%.30s on %.30s", model, machine);
    g_autofree char *what_valid = g_utf8_make_valid(what, -1);
    g_autofree char *quoted_figures = plot_quote(figures), *quoted_what = plot_quote(what_valid),
                    *quoted_shown = plot_quote(shown);
    g_string_append_printf(
        picture->labels,
        "set label %s at screen %d.0/width, screen 1-22.0/height left font 'sans-serif:Bold,14'\n"
        "set label %s at screen %d.0/width, screen 1-22.0/height right font 'sans-serif,11' tc rgb "
        "'#444444'\n"
        "set label %s at screen %d.0/width, screen 1-46.0/height left font 'sans-serif,12'\n"
        "set label %s at screen %d.0/width, screen 1-46.0/height right font 'sans-serif,11' tc rgb "
        "'#444444'\n",
        name, LEFT, quoted_what, WIDTH - RIGHT, quoted_figures, LEFT, quoted_shown, WIDTH - RIGHT);
}

// What comes before the script: measures, data blocks, labels and the legend's entries.
static char *timeline_format_preamble(const Picture *picture, double area)
{
    GString *text = g_string_new(NULL);
    g_string_printf(
        text, "left = %d.0\nright = %d.0\ntop = %d.0\nbottom = %d.0\narea = %.1f\nfrom = %.9f\nto = %.9f\n",
        LEFT, RIGHT, TOP, BOTTOM, area, timeline_ms(picture->from), timeline_ms(picture->to));
    // A block without rows is an error to gnuplot; a row far outside draws nothing.
    g_string_append_printf(text, "$idle << END\n%sEND\n$boxes << END\n%s-9 -9 -9 -9 -9 -9 0\nEND\n",
                           picture->idle->str, picture->boxes->str);
    g_string_append_printf(
        text, "$thin << END\n%s-9 -9 -9 -9 -9 -9\nEND\n$wide << END\n%s-9 -9 -9 -9 -9 -9\nEND\n%s",
        picture->thin->str, picture->wide->str, picture->labels->str);
    g_string_append_printf(text, "exposed = %d\nkinds = 0\narray word[%d]\narray colour[%d]\n",
                           picture->exposed, SIM_KINDS + 1, SIM_KINDS + 1);
    for (guint kind = 0; kind <= SIM_KINDS; kind++)
        if (picture->seen[kind])
            g_string_append_printf(text, "kinds = kinds + 1\nword[kinds] = '%s'\ncolour[kinds] = 0x%06x\n",
                                   LOOKS[kind].word, LOOKS[kind].dark);
    return g_string_free(text, FALSE);
}

static gboolean timeline_refuse_times(const TimelineRun *run, GError **error)
{
    g_autofree char *step = units_format_time(run->step);
    return base_error_set(
        error, BASE_ERROR_USAGE, NULL,
        "--from, --to: found a stretch that is empty or begins after the step, wanted one within 0 s to "
        "%s",
        step);
}

// Draws the chosen ranks; picture's lanes are grouped by rank. FALSE with an error.
static gboolean timeline_draw(Picture *picture, const GArray *chosen, const char *path, const char *shown,
                              GError **error)
{
    double top = 0;
    guint next = 0, drawn = 0;
    for (guint i = 0; i < picture->lanes->len; i++) {
        const TimelineLane *lane = g_ptr_array_index(picture->lanes, i);
        if (next < chosen->len && lane->rank == g_array_index(chosen, gint64, next)) {
            next++;
            if (!timeline_add_rank(picture, i, &top, error))
                return FALSE;
        }
        drawn += next > 0 && lane->rank == g_array_index(chosen, gint64, next - 1);
        if (drawn > LANES)
            return base_error_set(error, BASE_ERROR_FAILED, NULL,
                                  "more than %d lanes to draw, wanted fewer (--ranks)", LANES);
    }
    timeline_add_title(picture, shown);
    g_autofree char *preamble = timeline_format_preamble(picture, top);
    return plot_write(path, WIDTH, (guint)top + TOP + BOTTOM, preamble, "plots/timeline.gp", error);
}

static GArray *timeline_ranks(const GPtrArray *lanes)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < lanes->len; i++) {
        gint64 rank = ((const TimelineLane *)g_ptr_array_index(lanes, i))->rank;
        if (ranks->len == 0 || g_array_index(ranks, gint64, ranks->len - 1) != rank)
            g_array_append_val(ranks, rank);
    }
    return ranks;
}

gboolean plot_timeline_write(const char *database, const PlotTimeline *what, const char *path, char **shown,
                             GError **error)
{
    if (!plot_check(path, error))
        return FALSE;
    g_autoptr(TimelineReader) reader = timeline_reader_new(database, error);
    g_autoptr(TimelineRun) run = reader == NULL ? NULL : timeline_reader_read_run(reader, what->run, error);
    g_autoptr(GPtrArray) lanes = run == NULL ? NULL : timeline_reader_read_lanes(reader, run->id, error);
    if (lanes == NULL)
        return FALSE;
    if (run->step <= 0 || lanes->len == 0)
        return base_error_set(
            error, BASE_ERROR_FAILED, database, "found %s in run %" G_GINT64_FORMAT ", nothing to draw",
            lanes->len == 0 ? "no lanes (points of a sweep keep none)" : "no length of the step", run->id);
    Ps to = what->to < 0 ? run->step : MIN(what->to, run->step);
    if (what->from < 0 || what->from >= to)
        return timeline_refuse_times(run, error);
    g_autoptr(GArray) ranks = timeline_ranks(lanes);
    g_autoptr(GArray) chosen = what->ranks == NULL ? plot_lanes_choose(ranks, run->last_rank, CHOSEN)
                                                   : plot_lanes_parse(what->ranks, ranks, RANKS, error);
    if (chosen == NULL)
        return FALSE;
    g_autofree char *list = timeline_format_ranks(chosen, run->last_rank);
    g_autofree char *count = chosen->len == ranks->len
                                 ? g_strdup_printf("all %u ranks", ranks->len)
                                 : g_strdup_printf("%u of %u ranks: %s", chosen->len, ranks->len, list);
    g_autoptr(GString) boxes = g_string_new(NULL), idle = g_string_new(NULL), thin = g_string_new(NULL),
                       wide = g_string_new(NULL), labels = g_string_new(NULL);
    Picture picture = {.reader = reader,
                       .run = run,
                       .lanes = lanes,
                       .from = what->from,
                       .to = to,
                       .boxes = boxes,
                       .idle = idle,
                       .thin = thin,
                       .wide = wide,
                       .labels = labels,
                       .narrow = (to - what->from) / (3 * PLOT)};
    if (!timeline_draw(&picture, chosen, path, count, error))
        return FALSE;
    if (shown != NULL)
        *shown = g_strdup_printf("run %" G_GINT64_FORMAT ", %s", run->id, count);
    return TRUE;
}
