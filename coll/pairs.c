// coll/pairs.c: what pairs of ranks do directly: all-to-all, at once or by way of the island, and
// send/receive.
//
// Pairwise: rank r sends to r + 1, r + 2, ... its part for each; all are on their way at once, as NCCL's
// grouped sends are. Two-level: rank i of an island first collects from its island all parts that go to ranks
// of number i, then sends them to rank i of each other island in one message: g times fewer, g times larger
// messages between islands.
#include "coll/algo.h"

static gboolean pairs_is_ring(const CollShape *shape)
{
    return shape->op == COLL_OP_SEND_RECV;
}

// All-to-all: source * p + destination; send/receive: the source.
static guint32 pairs_pieces(const CollShape *shape)
{
    return pairs_is_ring(shape) ? shape->ranks : shape->ranks * shape->ranks;
}

static guint32 pairs_slots(const CollShape *shape)
{
    return shape->ranks - 1; // slot i: the rank i + 1 further
}

static guint32 pairs_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    return (rank + slot + 1) % shape->ranks;
}

static guint64 pairs_messages(const CollShape *shape)
{
    guint64 p = shape->ranks;
    return pairs_is_ring(shape) && p > 1 ? p : p * (p - 1);
}

static void pairs_begin(CollRun *run)
{
    guint32 p = run->shape.ranks;
    gboolean ring = pairs_is_ring(&run->shape);
    for (guint32 rank = 0; rank < p; rank++) {
        for (guint32 slot = 0; slot < (ring ? MIN(1, p - 1) : p - 1); slot++) {
            guint32 to = pairs_peer(&run->shape, rank, slot);
            CollSend send = {.step = slot,
                             .from = rank,
                             .to = to,
                             .slot = slot,
                             .piece = ring ? rank : rank * p + to,
                             .pieces = 1};
            run->emit(run, &send);
        }
    }
}

static void pairs_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    (void)run;
    (void)step;
    (void)from;
    (void)to;
}

// Two-level: slots 0 .. g - 1 the ranks of the island, g .. g + n - 1 the same number in each island.
static guint32 hier_slots(const CollShape *shape)
{
    return coll_island(shape) + coll_islands(shape);
}

static guint32 hier_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    guint32 g = coll_island(shape);
    guint32 peer = slot < g ? rank / g * g + slot : (slot - g) * g + rank % g;
    return peer == rank ? G_MAXUINT32 : peer;
}

static guint64 hier_states(const CollShape *shape)
{
    return shape->ranks; // parts collected from the island
}

static guint64 hier_messages(const CollShape *shape)
{
    guint64 p = shape->ranks, g = coll_island(shape), n = coll_islands(shape);
    return p * (g - 1) + p * (n - 1);
}

static void hier_across(CollRun *run, guint32 rank)
{
    guint32 p = run->shape.ranks, g = coll_island(&run->shape), n = coll_islands(&run->shape),
            island = rank / g;
    for (guint32 i = 1; i < n; i++) {
        guint32 other = (island + i) % n, to = other * g + rank % g;
        CollSend send = {.step = g + other,
                         .from = rank,
                         .to = to,
                         .slot = g + other,
                         .piece = island * g * p + to, // from every rank of this island
                         .pieces = g,
                         .stride = p};
        run->emit(run, &send);
    }
}

static void hier_begin(CollRun *run)
{
    guint32 p = run->shape.ranks, g = coll_island(&run->shape), n = coll_islands(&run->shape);
    for (guint32 rank = 0; rank < p; rank++) {
        for (guint32 i = 1; i < g; i++) {
            guint32 other = (rank % g + i) % g;
            CollSend send = {.step = other,
                             .from = rank,
                             .to = rank / g * g + other,
                             .slot = other,
                             .piece = rank * p + other, // to the ranks of that number in every island
                             .pieces = n,
                             .stride = g};
            run->emit(run, &send);
        }
        if (g == 1)
            hier_across(run, rank);
    }
}

static void hier_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    (void)from;
    guint32 g = coll_island(&run->shape);
    if (step < g && ++run->state[to] == g - 1)
        hier_across(run, to);
}

const CollAlgo COLL_PAIRS = {
    .name = "pairs",
    .title = "every rank straight to every other, all at once",
    .ops = {[COLL_OP_ALL_TO_ALL] = TRUE, [COLL_OP_SEND_RECV] = TRUE},
    .refuses = coll_algo_any_shape,
    .pieces = pairs_pieces,
    .switches = coll_algo_no_switches,
    .slots = pairs_slots,
    .peer = pairs_peer,
    .states = coll_algo_no_states,
    .messages = pairs_messages,
    .begin = pairs_begin,
    .received = pairs_received,
};

const CollAlgo COLL_PAIRS_TWO_LEVEL = {
    .name = "pairs-two-level",
    .title = "all-to-all by way of the island: fewer and larger messages between islands",
    .ops = {[COLL_OP_ALL_TO_ALL] = TRUE},
    .refuses = coll_algo_any_shape,
    .pieces = pairs_pieces,
    .switches = coll_algo_no_switches,
    .slots = hier_slots,
    .peer = hier_peer,
    .states = hier_states,
    .messages = hier_messages,
    .begin = hier_begin,
    .received = hier_received,
};
