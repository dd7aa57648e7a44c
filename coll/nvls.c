// coll/nvls.c: reduction and copying inside the switch: NVLink SHARP in an island; across islands by a tree
// or, where the network's switch reduces too, by that (SHARP).
//
// Rank o of an island owns the o-th part. Per chunk c: every rank sends the other ranks' parts up; the switch
// adds them and hands each part to its owner, who adds its own. Across islands, owners of equal number add
// their parts up a binary tree (odd chunks by its counterpart, see coll/btree.h) and pass the sum down again,
// or let the network's switch do it. The owner then sends its part up once, and the switch copies it to all.
// So a rank's port carries about the vector once each way instead of 2 (g - 1)/g of it: an all-reduce may go
// below the bound of Patarasuk and Yuan.
#include "coll/algo.h"
#include "coll/btree.h"

typedef enum {
    ACROSS_NOT,
    ACROSS_TREE,
    ACROSS_SWITCH,
} Across;

// Sizes that every function needs.
typedef struct {
    guint32 p, g, n, k; // ranks, in an island, islands, chunks
} Sizes;

static Sizes nvls_sizes(const CollShape *shape)
{
    return (Sizes){shape->ranks, coll_island(shape), coll_islands(shape), coll_chunks(shape)};
}

// Part o of chunk c.
static guint32 nvls_piece(const Sizes *z, guint32 o, guint32 c)
{
    return o * z->k + c;
}

static guint32 nvls_pieces(const CollShape *shape)
{
    return coll_island(shape) * coll_chunks(shape);
}

static guint32 nvls_switches(const CollShape *shape)
{
    return coll_islands(shape);
}

static guint32 sharp_switches(const CollShape *shape)
{
    return coll_islands(shape) + 1;
}

// Slots of a rank: 0 its island's switch, for what it adds, 1 the same, for what it copies (NCCL has
// different threads for the two); 2 .. 4 parent and children in the tree, 5 .. 7 in its counterpart; or 2 the
// network's switch. Of an island's switch: its ranks. Of the network's switch: all ranks.
enum { SLOT_SWITCH, SLOT_COPY, SLOT_ACROSS, TREE_SLOTS = 3 };

static guint32 nvls_slots(const CollShape *shape)
{
    return MAX(coll_island(shape), SLOT_COPY + 1);
}

static guint32 nvls_tree_slots(const CollShape *shape)
{
    return MAX(coll_island(shape), SLOT_ACROSS + 2 * TREE_SLOTS);
}

static guint32 sharp_slots(const CollShape *shape)
{
    return MAX(shape->ranks, SLOT_ACROSS + 1);
}

// i = 0: the parent, 1 and 2: the children, of an island in the tree of a chunk. G_MAXUINT32: none.
static guint32 nvls_relative(const Sizes *z, guint32 island, guint32 odd, guint32 i)
{
    guint32 node = odd ? coll_btree_turn(z->n, island) : island;
    guint32 other = i == 0 ? coll_btree_parent(z->n, node) : coll_btree_child(z->n, node, i - 1);
    if (other == G_MAXUINT32)
        return other;
    return odd ? coll_btree_turn_back(z->n, other) : other;
}

static guint32 nvls_peer_across(const CollShape *shape, guint32 member, guint32 slot, Across across)
{
    Sizes z = nvls_sizes(shape);
    if (member >= z.p + z.n) // the network's switch
        return slot < z.p ? slot : G_MAXUINT32;
    if (member >= z.p) // an island's
        return slot < z.g ? (member - z.p) * z.g + slot : G_MAXUINT32;
    if (slot == SLOT_SWITCH || slot == SLOT_COPY)
        return z.p + member / z.g;
    if (across == ACROSS_SWITCH)
        return slot == SLOT_ACROSS ? z.p + z.n : G_MAXUINT32;
    if (across == ACROSS_NOT || slot >= SLOT_ACROSS + 2 * TREE_SLOTS)
        return G_MAXUINT32;
    guint32 i = slot - SLOT_ACROSS;
    guint32 island = nvls_relative(&z, member / z.g, i / TREE_SLOTS, i % TREE_SLOTS);
    return island == G_MAXUINT32 ? G_MAXUINT32 : island * z.g + member % z.g;
}

static guint32 nvls_peer(const CollShape *shape, guint32 member, guint32 slot)
{
    return nvls_peer_across(shape, member, slot, ACROSS_NOT);
}

static guint32 nvls_tree_peer(const CollShape *shape, guint32 member, guint32 slot)
{
    return nvls_peer_across(shape, member, slot, ACROSS_TREE);
}

static guint32 sharp_peer(const CollShape *shape, guint32 member, guint32 slot)
{
    return nvls_peer_across(shape, member, slot, ACROSS_SWITCH);
}

// Words: per island and chunk, what came up to be added and to be copied; per rank and chunk, sums that came
// to the owner; per piece, what came to the network's switch.
static guint64 nvls_states(const CollShape *shape)
{
    Sizes z = nvls_sizes(shape);
    return (guint64)z.k * (2 * z.n + z.p + z.g);
}

static guint32 *nvls_ups(CollRun *run, const Sizes *z, guint32 island, guint32 c)
{
    return &run->state[(gsize)island * z->k + c];
}

static guint32 *nvls_copies(CollRun *run, const Sizes *z, guint32 island, guint32 c)
{
    return &run->state[(gsize)(z->n + island) * z->k + c];
}

static guint32 *nvls_sums(CollRun *run, const Sizes *z, guint32 rank, guint32 c)
{
    return &run->state[(gsize)(2 * z->n + rank) * z->k + c];
}

static guint32 *nvls_network(CollRun *run, const Sizes *z, guint32 piece)
{
    return &run->state[(gsize)(2 * z->n + z->p) * z->k + piece];
}

static guint64 nvls_messages_across(const CollShape *shape, Across across)
{
    Sizes z = nvls_sizes(shape);
    guint64 reduce = 2 * (guint64)z.p * z.k, copy = 2 * (guint64)z.p * z.k;
    if (shape->ranks == 1)
        return 0;
    if (shape->op == COLL_OP_REDUCE_SCATTER)
        return reduce;
    if (shape->op != COLL_OP_ALL_REDUCE)
        return copy;
    guint64 between = across == ACROSS_TREE ? 2 * (z.n - 1) : across == ACROSS_SWITCH ? 2 * z.n : 0;
    return reduce + copy + between * z.g * z.k;
}

static guint64 nvls_messages(const CollShape *shape)
{
    return nvls_messages_across(shape, ACROSS_NOT);
}

static guint64 nvls_tree_messages(const CollShape *shape)
{
    return nvls_messages_across(shape, ACROSS_TREE);
}

static guint64 sharp_messages(const CollShape *shape)
{
    return nvls_messages_across(shape, ACROSS_SWITCH);
}

// How many chunks a rank has on the way up at most: it sends the next when the switch has given it its part
// of an earlier one. Without a limit all chunks would go up before the first comes down, over a port that
// carries both (NCCL's buffers have 8 steps, NCCL_STEPS).
enum { WINDOW = 8 };

static guint32 nvls_window(const CollShape *shape)
{
    return shape->window > 0 ? shape->window : WINDOW;
}

// Steps of a rank: up 0 .. k, copy k .. 2k, tree up 2k .. 3k, tree down or across 3k .. 5k. Of a switch:
// parts to their owners 0 .. gk, chunks to all gk .. 2gk. Of the network's switch: piece * n + island.
static void nvls_up(CollRun *run, const Sizes *z, guint32 rank, guint32 c)
{
    guint32 o = rank % z->g;
    CollSend send = {.step = c,
                     .from = rank,
                     .to = z->p + rank / z->g,
                     .slot = SLOT_SWITCH,
                     .piece = nvls_piece(z, (o + 1) % z->g, c),
                     .pieces = z->g - 1,
                     .stride = z->k,
                     .reduce = TRUE};
    run->emit(run, &send);
}

static void nvls_copy(CollRun *run, const Sizes *z, guint32 rank, guint32 c)
{
    CollSend send = {.step = z->k + c,
                     .from = rank,
                     .to = z->p + rank / z->g,
                     .slot = SLOT_COPY,
                     .piece = nvls_piece(z, rank % z->g, c),
                     .pieces = 1};
    run->emit(run, &send);
}

static void nvls_relate(CollRun *run, const Sizes *z, guint32 rank, guint32 c, guint32 i)
{
    guint32 odd = c % 2, island = nvls_relative(z, rank / z->g, odd, i);
    CollSend send = {.step = i == 0 ? 2 * z->k + c : 3 * z->k + 2 * c + i - 1,
                     .from = rank,
                     .to = island * z->g + rank % z->g,
                     .slot = SLOT_ACROSS + odd * TREE_SLOTS + i,
                     .piece = nvls_piece(z, rank % z->g, c),
                     .pieces = 1,
                     .reduce = i == 0};
    if (island != G_MAXUINT32)
        run->emit(run, &send);
}

// The owner holds the sum of all islands: on to its island, and down the tree.
static void nvls_complete(CollRun *run, const Sizes *z, guint32 rank, guint32 c, Across across)
{
    for (guint32 i = 1; across == ACROSS_TREE && i < TREE_SLOTS; i++)
        nvls_relate(run, z, rank, c, i);
    nvls_copy(run, z, rank, c);
}

// One more sum (its island's own, or a child's) has come to the owner.
static void nvls_sum(CollRun *run, const Sizes *z, guint32 rank, guint32 c, Across across)
{
    guint32 wanted = 1, odd = c % 2;
    for (guint32 i = 1; across == ACROSS_TREE && i < TREE_SLOTS; i++)
        wanted += nvls_relative(z, rank / z->g, odd, i) != G_MAXUINT32;
    if (++*nvls_sums(run, z, rank, c) < wanted)
        return;
    if (across == ACROSS_SWITCH) {
        CollSend send = {.step = 3 * z->k + c,
                         .from = rank,
                         .to = z->p + z->n,
                         .slot = SLOT_ACROSS,
                         .piece = nvls_piece(z, rank % z->g, c),
                         .pieces = 1,
                         .reduce = TRUE};
        run->emit(run, &send);
    } else if (across == ACROSS_NOT || nvls_relative(z, rank / z->g, odd, 0) == G_MAXUINT32) {
        nvls_complete(run, z, rank, c, across);
    } else {
        nvls_relate(run, z, rank, c, 0);
    }
}

static void nvls_at_switch(CollRun *run, const Sizes *z, guint32 step, guint32 island)
{
    guint32 c = step % z->k;
    gboolean copies = step >= z->k;
    if (++*(copies ? nvls_copies(run, z, island, c) : nvls_ups(run, z, island, c)) < z->g)
        return;
    for (guint32 r = 0; r < z->g; r++) {
        CollSend send = {.step = copies ? z->g * z->k + c * z->g + r : nvls_piece(z, r, c),
                         .from = z->p + island,
                         .to = island * z->g + r,
                         .slot = r,
                         .piece = copies ? c : nvls_piece(z, r, c),
                         .pieces = copies ? z->g : 1,
                         .stride = z->k,
                         .reduce = !copies};
        run->emit(run, &send);
    }
}

static void nvls_at_network(CollRun *run, const Sizes *z, guint32 from, guint32 c)
{
    guint32 piece = nvls_piece(z, from % z->g, c);
    if (++*nvls_network(run, z, piece) < z->n)
        return;
    for (guint32 island = 0; island < z->n; island++) {
        guint32 to = island * z->g + from % z->g;
        CollSend send = {.step = piece * z->n + island,
                         .from = z->p + z->n,
                         .to = to,
                         .slot = to,
                         .piece = piece,
                         .pieces = 1};
        run->emit(run, &send);
    }
}

static void nvls_begin(CollRun *run)
{
    Sizes z = nvls_sizes(&run->shape);
    gboolean reduces = run->shape.op == COLL_OP_ALL_REDUCE || run->shape.op == COLL_OP_REDUCE_SCATTER;
    gboolean limited = run->shape.op == COLL_OP_ALL_REDUCE;
    for (guint32 rank = 0; rank < z.p; rank++) {
        for (guint32 c = 0; c < (limited ? MIN(z.k, nvls_window(&run->shape)) : z.k); c++) {
            if (reduces)
                nvls_up(run, &z, rank, c);
            else
                nvls_copy(run, &z, rank, c);
        }
    }
}

static void nvls_received_across(CollRun *run, guint32 step, guint32 from, guint32 to, Across across)
{
    Sizes z = nvls_sizes(&run->shape);
    if (to >= z.p + z.n) {
        nvls_at_network(run, &z, from, step - 3 * z.k);
    } else if (to >= z.p) {
        nvls_at_switch(run, &z, step, to - z.p);
    } else if (from >= z.p + z.n) {
        nvls_complete(run, &z, to, step / z.n % z.k, across);
    } else if (from >= z.p) {
        if (run->shape.op != COLL_OP_ALL_REDUCE)
            return;
        if (step >= z.g * z.k) // a complete chunk
            return;
        guint32 next = step % z.k + nvls_window(&run->shape);
        if (next < z.k)
            nvls_up(run, &z, to, next);
        nvls_sum(run, &z, to, step % z.k, across);
    } else if (step < 3 * z.k) {
        nvls_sum(run, &z, to, step - 2 * z.k, across);
    } else {
        nvls_complete(run, &z, to, (step - 3 * z.k) / 2, across);
    }
}

static void nvls_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    nvls_received_across(run, step, from, to, ACROSS_NOT);
}

static void nvls_tree_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    nvls_received_across(run, step, from, to, ACROSS_TREE);
}

static void sharp_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    nvls_received_across(run, step, from, to, ACROSS_SWITCH);
}

static const char *nvls_refuses(const CollShape *shape)
{
    return coll_islands(shape) > 1 ? "works inside one island" : NULL;
}

static const char *sharp_refuses(const CollShape *shape)
{
    return shape->ranks > 4096 ? "does no more than 4,096 ranks" : NULL;
}

const CollAlgo COLL_NVLS = {
    .name = "nvls",
    .title = "the island's switch adds and copies (NVLink SHARP)",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE,
            [COLL_OP_REDUCE_SCATTER] = TRUE,
            [COLL_OP_ALL_GATHER] = TRUE,
            [COLL_OP_ALL_GATHER_PAYLOAD] = TRUE},
    .refuses = nvls_refuses,
    .pieces = nvls_pieces,
    .switches = nvls_switches,
    .slots = nvls_slots,
    .peer = nvls_peer,
    .states = nvls_states,
    .messages = nvls_messages,
    .begin = nvls_begin,
    .received = nvls_received,
};

const CollAlgo COLL_NVLS_TREE = {
    .name = "nvls-tree",
    .title = "the islands' switches add and copy, binary trees in between",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE},
    .refuses = coll_algo_any_shape,
    .pieces = nvls_pieces,
    .switches = nvls_switches,
    .slots = nvls_tree_slots,
    .peer = nvls_tree_peer,
    .states = nvls_states,
    .messages = nvls_tree_messages,
    .begin = nvls_begin,
    .received = nvls_tree_received,
};

const CollAlgo COLL_SHARP = {
    .name = "sharp",
    .title = "the islands' switches and the network's switch add and copy",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE},
    .refuses = sharp_refuses,
    .pieces = nvls_pieces,
    .switches = sharp_switches,
    .slots = sharp_slots,
    .peer = sharp_peer,
    .states = nvls_states,
    .messages = sharp_messages,
    .begin = nvls_begin,
    .received = sharp_received,
};
