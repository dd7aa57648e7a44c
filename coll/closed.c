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
