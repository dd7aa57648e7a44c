// coll/way.c: what makes an algorithm's time, counted off its schedule.
#include "coll/way.h"

#include <math.h>

#include "coll/btree.h"

// ceil(log2 n).
static double coll_way_rounds(guint32 n)
{
    guint32 rounds = 0;
    while (rounds < 31 && (1u << rounds) < n)
        rounds++;
    return rounds;
}

// How many messages of a chunk pass the ports of the longest way up the tree over n islands: an island with
// two below it takes theirs one after the other.
static double coll_way_ports(guint32 n)
{
    guint32 most = 0;
    for (guint32 leaf = 1; leaf < n; leaf++) {
        guint32 sum = 0;
        for (guint32 at = coll_btree_parent(n, leaf); at != G_MAXUINT32; at = coll_btree_parent(n, at))
            sum += coll_btree_child(n, at, 1) == G_MAXUINT32 ? 1 : 2;
        most = MAX(most, sum);
    }
    return most;
}

CollWay coll_way_get(const CollAlgo *algo, const CollShape *shape)
{
    double n = shape->ranks, g = coll_island(shape), islands = coll_islands(shape), passes = 1;
    double factor = (n - 1) / n, rounds = coll_way_rounds((guint32)islands);
    if (shape->op == COLL_OP_ALL_REDUCE)
        passes = 2;
    if (algo == &COLL_RING || algo == &COLL_RAILS) {
        // The longest way starts just before it leaves an island.
        double steps = passes * (n - 1), crossing = islands > 1 ? ceil(steps / g) : 0,
               rings = algo != &COLL_RAILS    ? 1
                       : shape->rings != NULL ? shape->rings->count
                                              : g;
        return (CollWay){
            .inside = steps - crossing, .across = crossing, .path = passes * factor / rings, .lanes = rings};
    }
    if (algo == &COLL_NVLS) {
        gboolean gathers = shape->op != COLL_OP_ALL_REDUCE && shape->op != COLL_OP_REDUCE_SCATTER;
        gboolean both = shape->op == COLL_OP_ALL_REDUCE;
        return (CollWay){.inside = 2 * passes,
                         .path = gathers ? 1 / g : factor,
                         .lanes = 1,
                         .fill_inside = both ? 1 / g : 0,
                         .fill_switch = gathers ? 1
                                        : both  ? 1 + 1 / g
                                                : 1 / g};
    }
    if (algo == &COLL_NVLS_TREE || algo == &COLL_SHARP) {
        double across = algo == &COLL_SHARP ? 2 : 2 * rounds;
        return (CollWay){.inside = 4,
                         .across = across,
                         .path = (g - 1) / g,
                         .lanes = 1,
                         .fill_inside = 1 / g,
                         .fill_across = algo == &COLL_SHARP ? 1 / g // the network's switch has no lane
                                                            : 2 * coll_way_ports((guint32)islands) / g,
                         .fill_switch = 1 + 1 / g};
    }
    if (algo == &COLL_DOUBLE_TREE) {
        double inside = 2 * (g - 1), across = 2 * rounds, share = 1 / (2 * g);
        return (CollWay){.inside = inside,
                         .across = across,
                         .path = share,
                         .lanes = 2 * g,
                         .fill_inside = MAX(inside - 1, 0) * share,
                         .fill_across = (g > 1 ? across : across - 1) * share};
    }
    if (algo == &COLL_CHAIN)
        return (CollWay){.inside = n - islands,
                         .across = islands - 1,
                         .path = 1,
                         .lanes = 1,
                         .fill_inside = MAX(n - islands - 1, 0),
                         .fill_across = islands - 1 - (n > islands ? 0 : 1)};
    if (algo == &COLL_BINOMIAL_TREE)
        return (CollWay){.inside = 2 * coll_way_rounds((guint32)g), .across = 2 * rounds, .path = 2};
    if (algo == &COLL_HALVING)
        return (CollWay){.inside = 2 * coll_way_rounds((guint32)g), .across = 2 * rounds, .path = 2 * factor};
    if (algo == &COLL_TWO_LEVEL)
        return (CollWay){.inside = 2, .across = 2 * (islands - 1), .path = 2 * factor};
    if (algo == &COLL_PAIRS_TWO_LEVEL)
        return (CollWay){.inside = 1, .across = islands > 1, .path = 2 * factor};
    return (CollWay){.inside = islands > 1 ? 0 : 1,
                     .across = islands > 1 ? 1 : 0,
                     .path = shape->op == COLL_OP_SEND_RECV ? 1 : factor};
}
