// coll/halving.c: recursive halving and doubling: log2 p exchanges of ever smaller halves, then back.
//
// Reduce-scatter by halving: with distance P/2, P/4, ..., 1 partners swap halves of what they still hold,
// each adding the half that it keeps. All-gather by doubling goes back the same way. P is the largest power
// of two; ranks from P on first give their whole vector to rank r - P and get the result at the end (Thakur,
// Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 2005).
#include "coll/algo.h"

static guint32 halving_log(const CollShape *shape)
{
    guint32 log = 0;
    while (((guint64)2 << log) <= shape->ranks)
        log++;
    return log;
}

static guint32 halving_pieces(const CollShape *shape)
{
    return 1u << halving_log(shape);
}

static guint32 halving_slots(const CollShape *shape)
{
    return halving_log(shape) + 1; // partners by bit, and the folded rank
}

static guint32 halving_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    guint32 log = halving_log(shape), power = 1u << log;
    if (slot < log)
        return rank < power ? rank ^ (1u << slot) : G_MAXUINT32;
    if (rank >= power)
        return rank - power;
    return rank + power < shape->ranks ? rank + power : G_MAXUINT32;
}

// Per rank: exchanges sent, and a bit for each one received (bit 0: folded in, or nothing to fold).
static guint64 halving_states(const CollShape *shape)
{
    return 2 * (guint64)shape->ranks;
}

static guint64 halving_messages(const CollShape *shape)
{
    guint64 log = halving_log(shape), power = (guint64)1 << log;
    return 2 * log * power + 2 * (shape->ranks - power);
}

// Steps: 0 folding in, 1 .. log halving, log + 1 .. 2 log doubling, 2 log + 1 folding out.
static void halving_exchange(CollRun *run, guint32 rank, guint32 step)
{
    guint32 log = halving_log(&run->shape);
    gboolean halves = step <= log;
    guint32 bit = halves ? log - step : step - log - 1, width = 1u << bit;
    guint32 mine = rank & ~(width - 1); // where the half that it keeps (halving) or holds (doubling) starts
    CollSend send = {.step = step,
                     .from = rank,
                     .to = rank ^ width,
                     .slot = bit,
                     .piece = halves ? mine ^ width : mine,
                     .pieces = width,
                     .reduce = halves};
    run->emit(run, &send);
}

static void halving_fold(CollRun *run, guint32 rank, guint32 step)
{
    guint32 log = halving_log(&run->shape);
    CollSend send = {.step = step,
                     .from = rank,
                     .to = halving_peer(&run->shape, rank, log),
                     .slot = log,
                     .pieces = 1u << log,
                     .reduce = step == 0};
    if (send.to != G_MAXUINT32)
        run->emit(run, &send);
}

// Sends what rank may send now: exchange k + 1 once it has received all up to k. A receipt that is early
// touches pieces which nothing sent before its turn contains.
static void halving_advance(CollRun *run, guint32 rank)
{
    guint32 log = halving_log(&run->shape), *sent = &run->state[2 * rank], come = run->state[2 * rank + 1];
    guint32 all = (2u << 2 * log) - 1;
    while (*sent < 2 * log && (~come & ((2u << *sent) - 1)) == 0)
        halving_exchange(run, rank, ++*sent);
    if (*sent == 2 * log && come == all) {
        ++*sent; // once
        halving_fold(run, rank, 2 * log + 1);
    }
}

static void halving_come(CollRun *run, guint32 rank, guint32 exchange)
{
    run->state[2 * rank + 1] |= 1u << exchange;
    halving_advance(run, rank);
}

static void halving_begin(CollRun *run)
{
    guint32 power = halving_pieces(&run->shape);
    for (guint32 rank = 0; rank < run->shape.ranks; rank++) {
        if (rank >= power)
            halving_fold(run, rank, 0);
        else if (rank + power >= run->shape.ranks)
            halving_come(run, rank, 0);
    }
}

static void halving_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    (void)from;
    if (step <= 2 * halving_log(&run->shape))
        halving_come(run, to, step);
}

const CollAlgo COLL_HALVING = {
    .name = "halving-doubling",
    .title = "recursive halving and doubling: log2 p exchanges of halves, and back",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE},
    .refuses = coll_algo_any_shape,
    .pieces = halving_pieces,
    .switches = coll_algo_no_switches,
    .slots = halving_slots,
    .peer = halving_peer,
    .states = halving_states,
    .messages = halving_messages,
    .begin = halving_begin,
    .received = halving_received,
};
