// plots/lanes.c: what of a timeline is drawn: which ranks, which boxes, and what is exposed.
#include "plots/lanes.h"

#include <string.h>

#include "base/error.h"

static gboolean lanes_find(const GArray *ranks, gint64 rank, guint *at)
{
    guint low = 0, high = ranks->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(ranks, gint64, middle) < rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (at != NULL)
        *at = low;
    return low < ranks->len && g_array_index(ranks, gint64, low) == rank;
}

static void lanes_insert(GArray *ranks, gint64 rank)
{
    guint at = 0;
    if (!lanes_find(ranks, rank, &at))
        g_array_insert_val(ranks, at, rank);
}

GArray *plot_lanes_choose(const GArray *ranks, gint64 last, guint most)
{
    g_assert(most >= 2);
    GArray *chosen = g_array_new(FALSE, FALSE, sizeof(gint64));
    if (ranks->len <= most) {
        g_array_append_vals(chosen, ranks->data, ranks->len);
        return chosen;
    }
    for (guint i = 0; i < most; i++) {
        guint64 at = (guint64)i * (ranks->len - 1) / (most - 1);
        g_array_append_val(chosen, g_array_index(ranks, gint64, at));
    }
    // The rank that finishes last takes the place of its neighbour below, or of the next where that is the
    // first.
    guint at = 0;
    if (lanes_find(ranks, last, NULL) && !lanes_find(chosen, last, &at))
        g_array_index(chosen, gint64, at == 1 && most > 2 ? 1 : at - 1) = last;
    return chosen;
}

// One number at the start of *text, which moves past it.
static gboolean lanes_number(const char **text, gint64 *number)
{
    if (!g_ascii_isdigit(**text))
        return FALSE;
    char *end = NULL;
    *number = g_ascii_strtoll(*text, &end, 10);
    *text = end;
    return TRUE;
}

GArray *plot_lanes_parse(const char *text, const GArray *ranks, guint most, GError **error)
{
    g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autofree char *quoted = base_error_quote(text);
    const char *at = text;
    for (;;) {
        gint64 low = 0, high = 0;
        gboolean fine = lanes_number(&at, &low);
        high = low;
        if (fine && *at == '-') {
            at++;
            fine = lanes_number(&at, &high) && high >= low;
        }
        if (!fine || (*at != ',' && *at != '\0')) {
            base_error_set(error, BASE_ERROR_USAGE, "--ranks", "found '%s', wanted ranks such as '0,5,8-11'",
                           quoted);
            return NULL;
        }
        if ((guint64)(high - low) >= most) {
            base_error_set(error, BASE_ERROR_USAGE, "--ranks", "found '%s', wanted at most %u ranks", quoted,
                           most);
            return NULL;
        }
        for (gint64 rank = low;; rank++) {
            if (!lanes_find(ranks, rank, NULL)) {
                base_error_set(error, BASE_ERROR_USAGE, "--ranks",
                               "found rank %" G_GINT64_FORMAT ", wanted ranks of this run (%" G_GINT64_FORMAT
                               " to %" G_GINT64_FORMAT ")",
                               rank, g_array_index(ranks, gint64, 0),
                               g_array_index(ranks, gint64, ranks->len - 1));
                return NULL;
            }
            lanes_insert(chosen, rank);
            if (rank == high)
                break;
        }
        if (chosen->len > most) {
            base_error_set(error, BASE_ERROR_USAGE, "--ranks", "found '%s', wanted at most %u ranks", quoted,
                           most);
            return NULL;
        }
        if (*at == '\0')
            return g_steal_pointer(&chosen);
        at++;
    }
}

GArray *plot_lanes_merge(const GArray *spans, Ps from, Ps to, Ps narrow)
{
    GArray *boxes = g_array_new(FALSE, FALSE, sizeof(PlotBox));
    PlotBox *last = NULL;
    Ps longest = 0; // span of the last box
    for (guint i = 0; i < spans->len; i++) {
        const TimelineSpan *span = &g_array_index(spans, TimelineSpan, i);
        PlotBox box = {.start = MAX(span->start, from), .end = MIN(span->end, to), .kind = span->kind};
        Ps length = box.end - box.start;
        if (length < 0)
            continue;
        if (last != NULL && length < narrow && last->end - last->start < narrow &&
            box.start - last->end < narrow) {
            last->end = MAX(last->end, box.end);
            if (length > longest) {
                last->kind = box.kind;
                longest = length;
            }
            continue;
        }
        if (span->layer >= 0)
            box.dark = span->layer % 2 != 0;
        else
            box.dark = last != NULL && last->kind == box.kind && !last->dark;
        g_array_append_val(boxes, box);
        last = &g_array_index(boxes, PlotBox, boxes->len - 1);
        longest = length;
    }
    return boxes;
}

static int lanes_compare(gconstpointer a, gconstpointer b)
{
    const PlotRange *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

// The times in which any span of a kind of work runs, ascending and apart.
static GArray *lanes_union(const GArray *spans, SimClass class)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(PlotRange));
    for (guint i = 0; i < spans->len; i++) {
        const TimelineSpan *span = &g_array_index(spans, TimelineSpan, i);
        PlotRange range = {span->start, span->end};
        if (span->kind < SIM_KINDS && sim_kind_class(span->kind) == class && range.end > range.start)
            g_array_append_val(all, range);
    }
    g_array_sort(all, lanes_compare);
    GArray *apart = g_array_new(FALSE, FALSE, sizeof(PlotRange));
    for (guint i = 0; i < all->len; i++) {
        PlotRange range = g_array_index(all, PlotRange, i);
        PlotRange *last = apart->len == 0 ? NULL : &g_array_index(apart, PlotRange, apart->len - 1);
        if (last != NULL && range.start <= last->end)
            last->end = MAX(last->end, range.end);
        else
            g_array_append_val(apart, range);
    }
    return apart;
}

GArray *plot_lanes_expose(const GArray *spans)
{
    g_autoptr(GArray) compute = lanes_union(spans, SIM_CLASS_COMPUTE);
    g_autoptr(GArray) communication = lanes_union(spans, SIM_CLASS_COMMUNICATION);
    GArray *exposed = g_array_new(FALSE, FALSE, sizeof(PlotRange));
    guint next = 0; // compute that may still cover something
    for (guint i = 0; i < communication->len; i++) {
        PlotRange range = g_array_index(communication, PlotRange, i);
        while (next < compute->len && g_array_index(compute, PlotRange, next).end <= range.start)
            next++;
        for (guint j = next; range.start < range.end; j++) {
            PlotRange cover = {range.end, range.end};
            if (j < compute->len)
                cover = g_array_index(compute, PlotRange, j);
            PlotRange bare = {range.start, MIN(cover.start, range.end)};
            if (bare.end > bare.start)
                g_array_append_val(exposed, bare);
            range.start = MAX(range.start, cover.end);
        }
    }
    return exposed;
}
