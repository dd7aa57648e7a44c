// coll/ring.c: the ring, and a ring per rail: reduce-scatter, all-gather, and all-reduce as the one after the
// other.
//
// In step s the rank at place q of the ring sends the pieces of place q - 1 - s (modulo p) to place q + 1, as
// soon as it has received them in step s - 1. Steps 0 .. p - 2 add (reduce-scatter; place q ends with its own
// pieces), steps p - 1
// .. 2p - 3 copy (all-gather, which starts from there). 2 (p - 1)/p of the vector per rank is the least that
// any all-reduce can send (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009).
//
// Rails: as many rings as an island has ranks, each with a share of the vector. Ring i passes through every
// island from its rank i upwards and round, so that it enters by rank i and leaves by rank i - 1: every
// rank's own link to the other islands carries one ring out and one in.
#include "coll/algo.h"

static guint32 ring_count(const CollShape *shape, gboolean rails)
{
    if (rails && shape->rings != NULL)
        return shape->rings->count;
    return rails ? coll_island(shape) : 1;
}

// The rank at a place of a ring, and the place of a rank.
static inline guint32 ring_rank(const CollShape *shape, guint32 ring, guint32 place)
{
    if (shape->rings != NULL)
        return shape->rings->order[ring * shape->ranks + place];
    guint32 g = coll_island(shape);
    return place / g * g + (place % g + ring) % g;
}

static inline guint32 ring_place(const CollShape *shape, guint32 ring, guint32 rank)
{
    if (shape->rings != NULL)
        return shape->rings->place[ring * shape->ranks + rank];
    guint32 g = coll_island(shape);
    return rank / g * g + (rank % g + g - ring) % g;
}

static guint32 ring_pieces(const CollShape *shape)
{
    return shape->ranks;
}

static guint32 rails_pieces(const CollShape *shape)
{
    return shape->ranks * ring_count(shape, TRUE);
}

static guint32 ring_slots(const CollShape *shape)
{
    return shape->ranks > 1 ? 1 : 0;
}

static guint32 rails_slots(const CollShape *shape)
{
    return shape->ranks > 1 ? ring_count(shape, TRUE) : 0;
}

static guint32 rails_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    return ring_rank(shape, slot, (ring_place(shape, slot, rank) + 1) % shape->ranks);
}

static guint32 ring_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    (void)slot;
    return (rank + 1) % shape->ranks;
}

static guint32 ring_first_step(const CollShape *shape)
{
    gboolean gathers = shape->op == COLL_OP_ALL_GATHER || shape->op == COLL_OP_ALL_GATHER_PAYLOAD;
    return gathers ? shape->ranks - 1 : 0;
}

static guint32 ring_last_step(const CollShape *shape) // one past it
{
    return shape->op == COLL_OP_REDUCE_SCATTER ? shape->ranks - 1 : 2 * (shape->ranks - 1);
}

static guint64 ring_messages(const CollShape *shape)
{
    return (guint64)shape->ranks * (ring_last_step(shape) - ring_first_step(shape));
}

static guint64 rails_messages(const CollShape *shape)
{
    return ring_messages(shape) * ring_count(shape, TRUE);
}

static inline void ring_emit(CollRun *run, guint32 step, guint32 rank)
{
    guint32 p = run->shape.ranks;
    guint32 back = 1 + step; // below 2p
    if (back >= p)
        back -= p;
    CollSend send = {.step = step,
                     .from = rank,
                     .to = rank + 1 == p ? 0 : rank + 1,
                     .piece = rank >= back ? rank - back : rank + p - back,
                     .pieces = 1,
                     .reduce = step < p - 1};
    run->emit(run, &send);
}

static void ring_begin(CollRun *run)
{
    for (guint32 rank = 0; rank < run->shape.ranks; rank++)
        ring_emit(run, ring_first_step(&run->shape), rank);
}

static void ring_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    (void)from;
    if (step + 1 < ring_last_step(&run->shape))
        ring_emit(run, step + 1, to);
}

// A message's step is its step in its ring times the number of rings, plus the ring.
static void rails_emit(CollRun *run, guint32 ring, guint32 step, guint32 rank)
{
    const CollShape *shape = &run->shape;
    guint32 p = shape->ranks, rings = ring_count(shape, TRUE);
    guint32 place = ring_place(shape, ring, rank);
    guint32 source = ring_rank(shape, ring, (place + 2 * p - 1 - step) % p);
    CollSend send = {.step = step * rings + ring,
                     .from = rank,
                     .to = ring_rank(shape, ring, (place + 1) % p),
                     .slot = ring,
                     .piece = source * rings + ring,
                     .pieces = 1,
                     .reduce = step < p - 1};
    run->emit(run, &send);
}

static void rails_begin(CollRun *run)
{
    for (guint32 rank = 0; rank < run->shape.ranks; rank++)
        for (guint32 ring = 0; ring < ring_count(&run->shape, TRUE); ring++)
            rails_emit(run, ring, ring_first_step(&run->shape), rank);
}

static void rails_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    (void)from;
    guint32 rings = ring_count(&run->shape, TRUE);
    if (step / rings + 1 < ring_last_step(&run->shape))
        rails_emit(run, step % rings, step / rings + 1, to);
}

const CollAlgo COLL_RING = {
    .name = "ring",
    .title = "one ring: p pieces go round, first adding, then copying",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE,
            [COLL_OP_REDUCE_SCATTER] = TRUE,
            [COLL_OP_ALL_GATHER] = TRUE,
            [COLL_OP_ALL_GATHER_PAYLOAD] = TRUE},
    .refuses = coll_algo_any_shape,
    .pieces = ring_pieces,
    .switches = coll_algo_no_switches,
    .slots = ring_slots,
    .peer = ring_peer,
    .states = coll_algo_no_states,
    .messages = ring_messages,
    .begin = ring_begin,
    .received = ring_received,
};

const CollAlgo COLL_RAILS = {
    .name = "rails",
    .title = "a ring for every rank of an island, each leaving the island by another rank",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE,
            [COLL_OP_REDUCE_SCATTER] = TRUE,
            [COLL_OP_ALL_GATHER] = TRUE,
            [COLL_OP_ALL_GATHER_PAYLOAD] = TRUE},
    .refuses = coll_algo_any_shape,
    .pieces = rails_pieces,
    .switches = coll_algo_no_switches,
    .slots = rails_slots,
    .peer = rails_peer,
    .states = coll_algo_no_states,
    .messages = rails_messages,
    .begin = rails_begin,
    .received = rails_received,
};
