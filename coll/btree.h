// coll/btree.h: the binary tree over numbered nodes that pipelined trees use, and its counterpart.
#pragma once

#include <glib.h>

// The binary tree over n nodes: 0 is the root, above the largest power of two; below it every node's lowest
// set bit says its height. G_MAXUINT32: the root has no parent.
static inline guint32 coll_btree_parent(guint32 n, guint32 node)
{
    if (node == 0)
        return G_MAXUINT32;
    guint32 low = node & (~node + 1);
    guint32 up = (node ^ low) | (low << 1);
    return up >= n ? node ^ low : up;
}

// The i-th child (i = 0, 1) of a node.
static inline guint32 coll_btree_child(guint32 n, guint32 node, guint32 i)
{
    guint32 low = node == 0 ? 0 : node & (~node + 1), found = 0;
    guint32 half = node == 0 ? 1u << 30 : low >> 1;
    if (node != 0 && half > 0 && coll_btree_parent(n, node - half) == node && found++ == i)
        return node - half;
    for (; half > 0; half >>= 1)
        if (node + half < n && coll_btree_parent(n, node + half) == node && found++ == i)
            return node + half;
    return G_MAXUINT32;
}

// An island's number in the second tree of a pair, and back.
static inline guint32 coll_btree_turn(guint32 islands, guint32 island)
{
    return islands % 2 == 0 ? islands - 1 - island : (island + islands - 1) % islands;
}

static inline guint32 coll_btree_turn_back(guint32 islands, guint32 island)
{
    return islands % 2 == 0 ? islands - 1 - island : (island + 1) % islands;
}
