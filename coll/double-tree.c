// coll/double-tree.c: trees over islands, pipelined: the vector goes up in chunks, and each comes down as
// soon as it is complete.
//
// There is a pair of trees for every rank of an island, each tree with an equal share of the vector. Within
// an island a tree is a chain that starts at its leader (rank i of the island for pair i); the leaders form a
// binary tree over the islands, numbered in order so that the even ones are leaves. The second tree of a pair
// is the first one with the islands counted from the other end (an even number) or by one further (odd): so
// an island is inside one tree of the pair and a leaf of the other, and both directions of its links are used
// (Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// Parallel Computing 2009).
#include "coll/algo.h"
#include "coll/btree.h"

enum { CHILDREN = 3 }; // two islands below a leader, and the next rank of its chain

static guint32 tree_count(const CollShape *shape)
{
    return 2 * coll_island(shape);
}

static guint32 tree_leader(const CollShape *shape, guint32 tree, guint32 node)
{
    guint32 island = tree % 2 == 0 ? node : coll_btree_turn_back(coll_islands(shape), node);
    return island * coll_island(shape) + tree / 2;
}

static guint32 tree_node(const CollShape *shape, guint32 tree, guint32 rank)
{
    guint32 island = rank / coll_island(shape);
    return tree % 2 == 0 ? island : coll_btree_turn(coll_islands(shape), island);
}

// A rank's place in its island's chain: 0 is the leader.
static guint32 tree_place(const CollShape *shape, guint32 tree, guint32 rank)
{
    guint32 g = coll_island(shape);
    return (rank % g + g - tree / 2) % g;
}

static guint32 tree_at(const CollShape *shape, guint32 tree, guint32 rank, guint32 place)
{
    guint32 g = coll_island(shape);
    return rank / g * g + (place + tree / 2) % g;
}

static guint32 tree_parent(const CollShape *shape, guint32 tree, guint32 rank)
{
    guint32 place = tree_place(shape, tree, rank);
    if (place > 0)
        return tree_at(shape, tree, rank, place - 1);
    guint32 up = coll_btree_parent(coll_islands(shape), tree_node(shape, tree, rank));
    return up == G_MAXUINT32 ? G_MAXUINT32 : tree_leader(shape, tree, up);
}

// Child 0, 1: leaders of islands below; 2: the next rank of the chain.
static guint32 tree_child(const CollShape *shape, guint32 tree, guint32 rank, guint32 i)
{
    guint32 place = tree_place(shape, tree, rank);
    if (i == CHILDREN - 1)
        return place + 1 < coll_island(shape) ? tree_at(shape, tree, rank, place + 1) : G_MAXUINT32;
    if (place > 0)
        return G_MAXUINT32;
    guint32 down = coll_btree_child(coll_islands(shape), tree_node(shape, tree, rank), i);
    return down == G_MAXUINT32 ? G_MAXUINT32 : tree_leader(shape, tree, down);
}

static guint32 tree_pieces(const CollShape *shape)
{
    return tree_count(shape) * coll_chunks(shape);
}

// Slot tree * 4: the parent; + 1 .. 3: the children.
static guint32 tree_slots(const CollShape *shape)
{
    return tree_count(shape) * (1 + CHILDREN);
}

static guint32 tree_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    guint32 tree = slot / (1 + CHILDREN), i = slot % (1 + CHILDREN);
    return i == 0 ? tree_parent(shape, tree, rank) : tree_child(shape, tree, rank, i - 1);
}

// How many children's sums have come, per rank, tree and chunk.
static guint64 tree_states(const CollShape *shape)
{
    return (guint64)shape->ranks * tree_pieces(shape);
}

static guint64 tree_messages(const CollShape *shape)
{
    return (guint64)2 * (shape->ranks - 1) * tree_pieces(shape);
}

static guint32 tree_children(const CollShape *shape, guint32 tree, guint32 rank)
{
    guint32 n = 0;
    for (guint32 i = 0; i < CHILDREN; i++)
        n += tree_child(shape, tree, rank, i) != G_MAXUINT32;
    return n;
}

// A message's step is its piece times the slots of a tree, plus which of them.
static void tree_send(CollRun *run, guint32 piece, guint32 rank, guint32 i)
{
    guint32 tree = piece / coll_chunks(&run->shape), slot = tree * (1 + CHILDREN) + i;
    CollSend send = {.step = piece * (1 + CHILDREN) + i,
                     .from = rank,
                     .to = tree_peer(&run->shape, rank, slot),
                     .slot = slot,
                     .piece = piece,
                     .pieces = 1,
                     .reduce = i == 0};
    if (send.to != G_MAXUINT32)
        run->emit(run, &send);
}

// The rank holds the complete piece: down to its children.
static void tree_down(CollRun *run, guint32 piece, guint32 rank)
{
    for (guint32 i = 1; i <= CHILDREN; i++)
        tree_send(run, piece, rank, i);
}

// The rank holds the sum of its own and all below it: up, or at the root down again.
static void tree_up(CollRun *run, guint32 piece, guint32 rank)
{
    if (tree_parent(&run->shape, piece / coll_chunks(&run->shape), rank) == G_MAXUINT32)
        tree_down(run, piece, rank);
    else
        tree_send(run, piece, rank, 0);
}

// How many chunks a leaf has under way at most: enough to fill the way up and down again. Without a limit all
// chunks would go up before the first comes down, over ports that carry both.
static guint32 tree_window(const CollShape *shape)
{
    if (shape->window > 0)
        return shape->window;
    guint32 rounds = 0;
    while ((1u << rounds) < coll_islands(shape))
        rounds++;
    return 8 + 2 * (coll_island(shape) - 1 + rounds);
}

static void tree_begin(CollRun *run)
{
    guint32 chunks = coll_chunks(&run->shape), first = MIN(chunks, tree_window(&run->shape));
    for (guint32 rank = 0; rank < run->shape.ranks; rank++)
        for (guint32 tree = 0; tree < tree_count(&run->shape); tree++)
            for (guint32 chunk = 0; tree_children(&run->shape, tree, rank) == 0 && chunk < first; chunk++)
                tree_up(run, tree * chunks + chunk, rank);
}

// The complete piece has come down to a rank: on to its children, or at a leaf the next chunk up.
static void tree_come_down(CollRun *run, guint32 piece, guint32 rank)
{
    guint32 chunks = coll_chunks(&run->shape), tree = piece / chunks,
            next = piece % chunks + tree_window(&run->shape);
    tree_down(run, piece, rank);
    if (tree_children(&run->shape, tree, rank) == 0 && next < chunks)
        tree_up(run, tree * chunks + next, rank);
}

static void tree_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    (void)from;
    guint32 piece = step / (1 + CHILDREN);
    guint32 *come = &run->state[(gsize)to * tree_pieces(&run->shape) + piece];
    if (step % (1 + CHILDREN) != 0)
        tree_come_down(run, piece, to);
    else if (++*come == tree_children(&run->shape, piece / coll_chunks(&run->shape), to))
        tree_up(run, piece, to);
}

const CollAlgo COLL_DOUBLE_TREE = {
    .name = "double-tree",
    .title = "pairs of binary trees over islands, chains inside, pipelined",
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
