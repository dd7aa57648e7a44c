// coll/closed.c: the closed forms of collectives.
#include "coll/closed.h"

static gint64 coll_closed_log2(gint64 ranks)
{
    gint64 rounds = 0;
    while (rounds < 62 && (G_GINT64_CONSTANT(1) << rounds) < ranks)
        rounds++;
    return rounds;
}

// How many messages in a row, and whether each holds a p-th of the vector or the whole.
static gint64 coll_closed_messages(CollClosed form, gint64 ranks, gboolean *whole)
{
    *whole = form == COLL_CLOSED_TREE_ALL_REDUCE || form == COLL_CLOSED_GATHER_PIECES;
    switch (form) {
    case COLL_CLOSED_ALL_REDUCE:
        return 2 * (ranks - 1);
    case COLL_CLOSED_TREE_ALL_REDUCE:
        return 2 * coll_closed_log2(ranks);
    case COLL_CLOSED_REDUCE_SCATTER:
    case COLL_CLOSED_ALL_GATHER:
    case COLL_CLOSED_GATHER_PIECES:
        return ranks - 1;
    }
    g_assert_not_reached();
}

gboolean coll_closed_time(CollClosed form, gint64 ranks, gint64 bytes, Ps latency, UnitsPace pace, Ps *time)
{
    g_assert(ranks >= 1 && ranks <= G_MAXINT64 / 4 && bytes >= 0 && latency >= 0);
    gboolean whole = FALSE;
    gint64 messages = coll_closed_messages(form, ranks, &whole);
    gint64 piece = whole ? bytes : bytes / ranks + (bytes % ranks != 0);
    Ps one = 0, all = 0;
    if (!units_pace_fits(pace, piece) ||
        __builtin_add_overflow(units_pace_time(pace, piece), latency, &one) ||
        __builtin_mul_overflow(one, messages, &all))
        return FALSE;
    *time = all;
    return TRUE;
}

// A lane along an axis of m: messages of so many halves, each of half bytes. FALSE: past the range.
static gboolean coll_closed_axis_time(gint64 m, gboolean closed, gint64 half, Ps latency, UnitsPace pace,
                                      Ps *time)
{
    gint64 messages = closed ? m / 2 : m - 1, whole = 0;
    if (__builtin_mul_overflow(half, 2, &whole) || !units_pace_fits(pace, whole))
        return FALSE;
    Ps one = 0, last = units_pace_time(pace, closed && m % 2 == 0 ? half : whole);
    return !__builtin_add_overflow(units_pace_time(pace, whole), latency, &one) &&
           !__builtin_mul_overflow(one, messages - 1, &one) && !__builtin_add_overflow(one, last, &one) &&
           !__builtin_add_overflow(one, latency, time);
}

gboolean coll_closed_torus_time(guint axes, const gint64 *sides, gboolean closed, gint64 bytes, Ps latency,
                                UnitsPace pace, Ps *time)
{
    enum { AXES = 3 };
    g_assert(axes >= 1 && axes <= AXES && bytes >= 0 && latency >= 0);
    gint64 ranks = 1, cut = 0, left[AXES]; // of whom a lane's next messages have the pieces
    for (guint i = 0; i < axes; i++) {
        g_assert(sides[i] >= (closed ? 3 : 2));
        if (__builtin_mul_overflow(ranks, sides[i], &ranks))
            return FALSE;
    }
    if (__builtin_mul_overflow(ranks, 2 * (gint64)axes, &cut)) // lanes of two pieces a rank
        return FALSE;
    for (guint lane = 0; lane < axes; lane++)
        left[lane] = ranks;
    gint64 piece = bytes / cut + (bytes % cut != 0), half = 0;
    Ps all = 0;
    for (guint i = 0; i < axes; i++) {
        Ps longest = 0, own = 0;
        for (guint lane = 0; lane < axes; lane++) {
            gint64 side = sides[(lane + i) % axes];
            left[lane] /= side;
            if (__builtin_mul_overflow(piece, left[lane], &half) ||
                !coll_closed_axis_time(side, closed, half, latency, pace, &own))
                return FALSE;
            longest = MAX(longest, own);
        }
        if (__builtin_add_overflow(all, longest, &all))
            return FALSE;
    }
    *time = all;
    return TRUE;
}

double coll_closed_seconds(CollClosed form, gint64 ranks, double bytes, double latency, double bandwidth)
{
    g_assert(ranks >= 1 && bandwidth > 0);
    gboolean whole = FALSE;
    double messages = (double)coll_closed_messages(form, ranks, &whole);
    double piece = whole ? bytes : bytes / (double)ranks;
    return messages * latency + messages * piece / bandwidth;
}

double coll_closed_sent(CollClosed form, gint64 ranks, double bytes)
{
    g_assert(ranks >= 1);
    gboolean whole = FALSE;
    if (form == COLL_CLOSED_TREE_ALL_REDUCE)
        return ranks > 1 ? 2 * bytes : 0;
    double messages = (double)coll_closed_messages(form, ranks, &whole);
    return messages * bytes / (whole ? 1.0 : (double)ranks);
}
