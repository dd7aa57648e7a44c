// coll/tree.c: the binomial tree, not pipelined: the whole vector goes up to rank 0 and down again.
//
// There are 2R rounds, R = ceil(log2 p). In round k < R, ranks whose lowest set bit is k send their sum to
// the rank with that bit cleared; in round R + j the same pairs of round R - 1 - j are used downwards. A
// message starts when both its ends are through their previous rounds (a rendezvous), so that one round
// follows the other as in the closed form 2 ceil(log2 p) (alpha + M/B), for any p.
#include "coll/algo.h"

static guint32 tree_half(const CollShape *shape) // R
{
    guint32 rounds = 0;
    while (rounds < 32 && ((guint64)1 << rounds) < shape->ranks)
        rounds++;
    return rounds;
}

static guint32 tree_pieces(const CollShape *shape)
{
    (void)shape;
    return 1;
}

static guint64 tree_states(const CollShape *shape)
{
    return shape->ranks;
}

// Slots 0 .. R - 1: the parent over bit k; R .. 2R - 1: the child over bit k.
static guint32 tree_slots(const CollShape *shape)
{
    return 2 * tree_half(shape);
}

static guint32 tree_parent(guint32 rank, guint32 bit)
{
    gboolean has = (rank & ((1u << bit) - 1)) == 0 && (rank >> bit & 1) == 1;
    return has ? rank - (1u << bit) : G_MAXUINT32;
}

static guint32 tree_child(const CollShape *shape, guint32 rank, guint32 bit)
{
    gboolean may = (rank & ((1u << (bit + 1)) - 1)) == 0;
    return may && (guint64)rank + (1u << bit) < shape->ranks ? rank + (1u << bit) : G_MAXUINT32;
}

static guint32 tree_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    guint32 half = tree_half(shape);
    return slot < half ? tree_parent(rank, slot) : tree_child(shape, rank, slot - half);
}

static guint64 tree_messages(const CollShape *shape)
{
    return 2 * (guint64)(shape->ranks - 1);
}

// run->state[rank] is twice the rounds that rank is through, plus 1 while it waits for the other end of its
// present round. Moves rank past the rounds in which it has nothing to do, and emits the message of the round
// in which it stops if the other end waits for it.
static void tree_advance(CollRun *run, guint32 rank)
{
    guint32 half = tree_half(&run->shape);
    for (guint32 round = run->state[rank] / 2; round < 2 * half; round++) {
        gboolean up = round < half;
        guint32 bit = up ? round : 2 * half - 1 - round;
        guint32 parent = tree_parent(rank, bit), child = tree_child(&run->shape, rank, bit);
        if (parent == G_MAXUINT32 && child == G_MAXUINT32)
            continue;
        run->state[rank] = 2 * round + 1;
        guint32 other = parent != G_MAXUINT32 ? parent : child;
        if (run->state[other] != 2 * round + 1)
            return; // the other end will emit it when it gets here
        gboolean sends = (parent != G_MAXUINT32) == up;
        CollSend send = {.step = round,
                         .from = sends ? rank : other,
                         .to = sends ? other : rank,
                         .slot = up ? bit : half + bit,
                         .pieces = 1,
                         .reduce = up};
        run->emit(run, &send);
        return;
    }
}

static void tree_begin(CollRun *run)
{
    for (guint32 rank = 0; rank < run->shape.ranks; rank++)
        tree_advance(run, rank);
}

static void tree_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    run->state[from] = run->state[to] = 2 * (step + 1);
    tree_advance(run, from);
    tree_advance(run, to);
}

const CollAlgo COLL_BINOMIAL_TREE = {
    .name = "binomial-tree",
    .title = "binomial tree, not pipelined: the whole vector up to rank 0 and down again",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE},
    .refuses = coll_algo_any_shape,
    .pieces = tree_pieces,
    .switches = coll_algo_no_switches,
    .slots = tree_slots,
    .peer = tree_peer,
    .states = tree_states,
    .messages = tree_messages,
    .begin = tree_begin,
    .received = tree_received,
};
