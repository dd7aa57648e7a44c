// coll/ring.c: the ring: reduce-scatter, all-gather, and all-reduce as the one after the other.
//
// In step s rank r sends piece r - 1 - s (modulo p) to rank r + 1, as soon as it has received that piece in step s - 1.
// Steps 0 .. p - 2 add (reduce-scatter; rank r ends with piece r), steps p - 1 .. 2p - 3 copy (all-gather, which
// starts from there). 2 (p - 1)/p of the vector per rank is the least that any all-reduce can send (Patarasuk and
// Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009).
#include "coll/algo.h"

static guint32 ring_pieces(const CollShape *shape)
{
    return shape->ranks;
}

static guint32 ring_slots(const CollShape *shape)
{
    return shape->ranks > 1 ? 1 : 0;
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

const CollAlgo COLL_RING = {
    .name = "ring",
    .title = "ring: p pieces go round, first adding, then copying",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE,
            [COLL_OP_REDUCE_SCATTER] = TRUE,
            [COLL_OP_ALL_GATHER] = TRUE,
            [COLL_OP_ALL_GATHER_PAYLOAD] = TRUE},
    .pieces = ring_pieces,
    .slots = ring_slots,
    .peer = ring_peer,
    .messages = ring_messages,
    .begin = ring_begin,
    .received = ring_received,
};
