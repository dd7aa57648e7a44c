// coll/algo.h: what every collective algorithm is: who sends which piece to whom, and when.
//
// An algorithm is a reaction: begin emits the first sends when all members have arrived, received emits what a receipt
// releases. The same two functions drive the simulation (coll/group.h), the symbolic check (coll/symbolic.h) and the
// printed steps, so that what is checked is what is simulated. The vector of bytes is cut into pieces, numbered from
// 0; the first bytes % pieces of them are a byte longer than the others.
#pragma once

#include <glib.h>

typedef enum {
    COLL_OP_ALL_REDUCE,         // every rank has the whole vector, ends with the sum of all
    COLL_OP_REDUCE_SCATTER,     // the same, but rank r ends with piece r of the sum
    COLL_OP_ALL_GATHER,         // rank r has piece r of the vector, every rank ends with all pieces
    COLL_OP_ALL_GATHER_PAYLOAD, // pieces that cannot be summed (compressed gradients): as all-gather, but bytes is the
                                // size of one rank's piece, so that the vector is ranks x bytes
    COLL_OPS,
} CollOp;

// "all-reduce", ...; NULL-terminated.
extern const char *const COLL_OP_NAMES[];

typedef struct {
    CollOp op;
    guint32 ranks; // p >= 1
    gint64 bytes;  // >= 0: of the vector (of one piece, for COLL_OP_ALL_GATHER_PAYLOAD)
} CollShape;

// One message.
typedef struct {
    guint32 step;     // numbers the sender's messages: it sends at most one in a step
    guint32 from, to; // ranks of the collective
    guint32 slot;     // which of the sender's peers to is
    guint32 piece;    // first piece sent
    guint32 pieces;   // how many, wrapping round
    gboolean reduce;  // the receiver adds it to its own, else replaces its own
} CollSend;

// One collective under way, as an algorithm sees it. Whoever runs it fills in all but state.
typedef struct CollRun CollRun;
struct CollRun {
    CollShape shape;
    guint32 *state; // a word per rank for the algorithm's use, zero at begin; owned by whoever runs it
    void (*emit)(CollRun *run, const CollSend *send);
};

typedef struct {
    const char *name;  // "ring"
    const char *title; // one line for people
    gboolean ops[COLL_OPS];
    // How many pieces the vector is cut into.
    guint32 (*pieces)(const CollShape *shape);
    // How many peers a rank may send to, and the peer of a slot (G_MAXUINT32: this rank has none there).
    guint32 (*slots)(const CollShape *shape);
    guint32 (*peer)(const CollShape *shape, guint32 rank, guint32 slot);
    // How many messages it takes in all; 0: it is over at once.
    guint64 (*messages)(const CollShape *shape);
    void (*begin)(CollRun *run);
    void (*received)(CollRun *run, guint32 step, guint32 from, guint32 to);
} CollAlgo;

extern const CollAlgo COLL_RING, COLL_BINOMIAL_TREE;

// The bytes of pieces first .. first + n - 1 (wrapping round) of a vector cut into that many.
static inline gint64 coll_piece_bytes(const CollShape *shape, guint32 pieces, guint32 first, guint32 n)
{
    if (shape->op == COLL_OP_ALL_GATHER_PAYLOAD)
        return shape->bytes * n;
    gint64 each = shape->bytes / pieces, longer = shape->bytes % pieces;
    gint64 sum = each * n;
    for (guint32 i = 0; i < n; i++)
        sum += (first + i) % pieces < longer;
    return sum;
}
