// coll/algo.h: what every collective algorithm is: who sends which piece to whom, and when.
//
// An algorithm is a reaction: begin emits the first sends when all members have arrived, received emits what
// a receipt releases. The same two functions drive the simulation (coll/group.h), the symbolic check
// (coll/symbolic.h) and the printed steps, so that what is checked is what is simulated. The vector of bytes
// is cut into pieces, numbered from 0; the first bytes % pieces of them are a byte longer than the others.
//
// Messages from one member to another arrive in the order in which they were sent; nothing else may be relied
// on.
//
// Ranks stand in islands of equal size, consecutive ranks together (shape->island; one island if there is but
// one). Where a switch takes part (reducing and copying on its own), it is a member after the ranks: number
// ranks + i is the switch of island i, number ranks + islands the switch between islands.
#pragma once

#include <glib.h>

#include "coll/box.h"

typedef enum {
    COLL_OP_ALL_REDUCE,         // every rank has the whole vector, ends with the sum of all
    COLL_OP_REDUCE_SCATTER,     // the same, but rank r ends with the r-th part of the sum
    COLL_OP_ALL_GATHER,         // rank r has the r-th part of the vector, every rank ends with all
    COLL_OP_ALL_GATHER_PAYLOAD, // parts that cannot be summed (compressed gradients): as all-gather, but
                                // bytes is the size of one rank's part
    COLL_OP_BROADCAST,          // every rank ends with rank 0's vector
    COLL_OP_ALL_TO_ALL,         // rank r ends with the r-th part of every rank's vector of bytes
    COLL_OP_SEND_RECV,          // rank r ends with the vector of bytes of rank r - 1
    COLL_OP_REDUCE,             // rank 0 ends with the sum of all
    COLL_OPS,
} CollOp;

// "all-reduce", ...; NULL-terminated.
extern const char *const COLL_OP_NAMES[];

// Rings that are to be used side by side, instead of the ones that rails have by themselves (coll/rings.h).
typedef struct {
    guint32 count;
    guint32 *order; // [ring * ranks + place]: rank; owned
    guint32 *place; // [ring * ranks + rank]: place; owned
} CollRings;

typedef struct {
    CollOp op;
    guint32 ranks;  // p >= 1
    guint32 island; // ranks in an island, divides p; 0 is read as p
    guint32 chunks; // into how many chunks a pipelined algorithm cuts the vector, >= 1; 0 is read as 1
    gint64 bytes;   // >= 0: of one rank's vector (of one rank's part, for COLL_OP_ALL_GATHER_PAYLOAD)
    const CollRings *rings; // borrowed; NULL: none
    const CollBox *box;     // of a torus that the ranks are; borrowed; NULL: none
    guint32 window;         // how many chunks a pipelined algorithm has under way at most; 0: its own number
} CollShape;

// One message.
typedef struct {
    guint32 step;     // numbers the sender's messages: it sends at most one in a step
    guint32 from, to; // ranks of the collective, or switches
    guint32 slot;     // which of the sender's peers to is
    guint32 piece;    // first piece sent
    guint32 pieces;   // how many: piece, piece + stride, ..., wrapping round
    guint32 stride;   // 0 is read as 1
    guint32 width;    // each of them is so many pieces in a row (no wrapping inside); 0 is read as 1
    guint32 blocks;   // and all that so many times, apart pieces further each time; 0 is read as 1
    guint32 apart;    //
    gboolean reduce;  // the receiver adds it to its own, else replaces its own
} CollSend;

// One collective under way, as an algorithm sees it. Whoever runs it fills in all but state.
typedef struct CollRun CollRun;
struct CollRun {
    CollShape shape;
    guint32 *state; // algo->states words for the algorithm's use, zero at begin; owned by whoever runs it
    void (*emit)(CollRun *run, const CollSend *send);
};

typedef struct {
    const char *name;  // "ring"
    const char *title; // one line for people
    gboolean ops[COLL_OPS];
    // NULL, or the reason why it does not do this shape ("wants islands of equal size"). Static text.
    const char *(*refuses)(const CollShape *shape);
    // How many pieces all vectors together are cut into.
    guint32 (*pieces)(const CollShape *shape);
    // How many switches take part.
    guint32 (*switches)(const CollShape *shape);
    // How many peers a member may send to, and the peer of a slot (G_MAXUINT32: this member has none there).
    guint32 (*slots)(const CollShape *shape);
    guint32 (*peer)(const CollShape *shape, guint32 member, guint32 slot);
    // How many words of state.
    guint64 (*states)(const CollShape *shape);
    // How many messages it takes in all; 0: it is over at once.
    guint64 (*messages)(const CollShape *shape);
    void (*begin)(CollRun *run);
    void (*received)(CollRun *run, guint32 step, guint32 from, guint32 to);
} CollAlgo;

extern const CollAlgo COLL_RING, COLL_RAILS, COLL_BINOMIAL_TREE, COLL_DOUBLE_TREE, COLL_HALVING,
    COLL_TWO_LEVEL, COLL_NVLS, COLL_NVLS_TREE, COLL_SHARP, COLL_PAIRS, COLL_PAIRS_TWO_LEVEL, COLL_CHAIN,
    COLL_TORUS;

static inline guint32 coll_island(const CollShape *shape)
{
    return shape->island == 0 ? shape->ranks : shape->island;
}

static inline guint32 coll_islands(const CollShape *shape)
{
    return shape->ranks / coll_island(shape);
}

static inline guint32 coll_chunks(const CollShape *shape)
{
    return MAX(shape->chunks, 1);
}

// The bytes that the pieces are cut from: one vector, or all ranks' where each has its own.
static inline gint64 coll_vector_bytes(const CollShape *shape)
{
    gboolean own = shape->op == COLL_OP_ALL_GATHER_PAYLOAD || shape->op == COLL_OP_ALL_TO_ALL ||
                   shape->op == COLL_OP_SEND_RECV;
    return own ? shape->bytes * shape->ranks : shape->bytes;
}

// How many pieces a send has in all.
static inline guint32 coll_send_count(const CollSend *send)
{
    return send->pieces * MAX(send->width, 1) * MAX(send->blocks, 1);
}

// The i-th of them, when the vector is cut into pieces.
static inline guint32 coll_send_piece(const CollSend *send, guint32 pieces, guint32 i)
{
    guint32 width = MAX(send->width, 1), run = i / width;
    return (guint32)((send->piece + (guint64)(run / send->pieces) * send->apart +
                      (guint64)(run % send->pieces) * MAX(send->stride, 1) + i % width) %
                     pieces);
}

// The bytes of a send when the vector is cut into pieces.
static inline gint64 coll_send_bytes(gint64 vector, guint32 pieces, const CollSend *send)
{
    gint64 each = vector / pieces, longer = vector % pieces, width = MAX(send->width, 1);
    guint32 count = coll_send_count(send);
    gint64 sum = each * count;
    for (guint32 i = 0; longer > 0 && i < count; i += (guint32)width)
        sum += CLAMP(longer - (gint64)coll_send_piece(send, pieces, i), 0, width);
    return sum;
}

// For algorithms without switches, without state, or for any shape.
guint32 coll_algo_no_switches(const CollShape *shape);
guint64 coll_algo_no_states(const CollShape *shape);
const char *coll_algo_any_shape(const CollShape *shape);
