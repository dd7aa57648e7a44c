// coll/two-level.c: all-reduce inside the islands first, then across: g rings, one for each rank of an
// island.
//
// Every rank sends the g-th part that belongs to a rank of its island straight to it (reduce-scatter inside),
// the ranks of equal number in all islands all-reduce their part by a ring, and hand it to their island
// (all-gather inside).
#include "coll/algo.h"

static guint32 two_pieces(const CollShape *shape)
{
    return shape->ranks; // part o of an island's rank o in N pieces: o N + j
}

// Slots 0 .. g - 1: the ranks of the island; g: the next island.
static guint32 two_slots(const CollShape *shape)
{
    return coll_island(shape) + 1;
}

static guint32 two_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    guint32 g = coll_island(shape);
    guint32 peer = slot < g ? rank / g * g + slot : (rank + g) % shape->ranks;
    return peer == rank ? G_MAXUINT32 : peer;
}

// Per rank: parts received from the island, ring messages received, ring messages sent.
static guint64 two_states(const CollShape *shape)
{
    return 3 * (guint64)shape->ranks;
}

static guint64 two_messages(const CollShape *shape)
{
    guint64 p = shape->ranks, g = coll_island(shape), n = coll_islands(shape);
    return 2 * p * (g - 1) + 2 * p * (n - 1);
}

// Steps: 0 .. g - 1 scatter to that rank, g .. g + 2 (n - 1) - 1 the ring, then gather to each rank.
static void two_inside(CollRun *run, guint32 rank, gboolean gathers)
{
    guint32 g = coll_island(&run->shape), n = coll_islands(&run->shape), own = rank % g;
    for (guint32 i = 1; i < g; i++) {
        guint32 other = (own + i) % g;
        CollSend send = {.step = (gathers ? g + 2 * (n - 1) : 0) + other,
                         .from = rank,
                         .to = rank - own + other,
                         .slot = other,
                         .piece = (gathers ? own : other) * n,
                         .pieces = n,
                         .reduce = !gathers};
        run->emit(run, &send);
    }
}

static void two_advance(CollRun *run, guint32 rank)
{
    guint32 g = coll_island(&run->shape), n = coll_islands(&run->shape), *state = &run->state[3 * rank];
    if (state[0] < g - 1)
        return;
    for (; state[2] <= state[1] && state[2] < 2 * (n - 1); state[2]++) {
        guint32 step = state[2], island = rank / g;
        CollSend send = {.step = g + step,
                         .from = rank,
                         .to = (rank + g) % run->shape.ranks,
                         .slot = g,
                         .piece = rank % g * n + (island + 2 * n - 1 - step) % n,
                         .pieces = 1,
                         .reduce = step < n - 1};
        run->emit(run, &send);
    }
    if (state[1] == 2 * (n - 1) && state[2] == 2 * (n - 1)) {
        state[2]++; // once
        two_inside(run, rank, TRUE);
    }
}

static void two_begin(CollRun *run)
{
    for (guint32 rank = 0; rank < run->shape.ranks; rank++) {
        two_inside(run, rank, FALSE);
        if (coll_island(&run->shape) == 1)
            two_advance(run, rank);
    }
}

static void two_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    (void)from;
    guint32 g = coll_island(&run->shape), n = coll_islands(&run->shape);
    if (step >= g + 2 * (n - 1))
        return;
    run->state[3 * to + (step < g ? 0 : 1)]++;
    two_advance(run, to);
}

const CollAlgo COLL_TWO_LEVEL = {
    .name = "two-level",
    .title = "inside the islands first, then a ring across for every rank of an island",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE},
    .refuses = coll_algo_any_shape,
    .pieces = two_pieces,
    .switches = coll_algo_no_switches,
    .slots = two_slots,
    .peer = two_peer,
    .states = two_states,
    .messages = two_messages,
    .begin = two_begin,
    .received = two_received,
};
