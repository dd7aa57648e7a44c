// coll/chain.c: broadcast and reduce along a chain of ranks, in chunks that follow each other.
//
// Broadcast goes from rank 0 upwards; reduce comes down to rank 0, each rank adding its own on the way.
#include "coll/algo.h"

static guint32 chain_pieces(const CollShape *shape)
{
    return coll_chunks(shape);
}

static guint32 chain_slots(const CollShape *shape)
{
    return shape->ranks > 1 ? 1 : 0;
}

static guint32 chain_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    (void)slot;
    if (shape->op == COLL_OP_REDUCE)
        return rank > 0 ? rank - 1 : G_MAXUINT32;
    return rank + 1 < shape->ranks ? rank + 1 : G_MAXUINT32;
}

static guint64 chain_messages(const CollShape *shape)
{
    return (guint64)(shape->ranks - 1) * chain_pieces(shape);
}

static void chain_send(CollRun *run, guint32 rank, guint32 chunk)
{
    CollSend send = {.step = chunk,
                     .from = rank,
                     .to = chain_peer(&run->shape, rank, 0),
                     .piece = chunk,
                     .pieces = 1,
                     .reduce = run->shape.op == COLL_OP_REDUCE};
    if (send.to != G_MAXUINT32)
        run->emit(run, &send);
}

static void chain_begin(CollRun *run)
{
    guint32 first = run->shape.op == COLL_OP_REDUCE ? run->shape.ranks - 1 : 0;
    for (guint32 chunk = 0; chunk < chain_pieces(&run->shape); chunk++)
        chain_send(run, first, chunk);
}

static void chain_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    (void)from;
    chain_send(run, to, step);
}

const CollAlgo COLL_CHAIN = {
    .name = "chain",
    .title = "from rank to rank, in chunks that follow each other",
    .ops = {[COLL_OP_BROADCAST] = TRUE, [COLL_OP_REDUCE] = TRUE},
    .refuses = coll_algo_any_shape,
    .pieces = chain_pieces,
    .switches = coll_algo_no_switches,
    .slots = chain_slots,
    .peer = chain_peer,
    .states = coll_algo_no_states,
    .messages = chain_messages,
    .begin = chain_begin,
    .received = chain_received,
};
