// coll/choice.h: the table of algorithms, and what it takes to run one: the costs that come on top of the
// links.
#pragma once

#include <glib.h>

#include "coll/algo.h"
#include "topo/graph.h"

// All algorithms, NULL-terminated.
extern const CollAlgo *const COLL_ALGOS[];

// The algorithm of a name for an operation. NULL with an error that names the known ones, or says that this
// one does not do that operation. where (may be NULL) starts the error.
const CollAlgo *coll_choice_find(const char *name, CollOp op, const char *where, GError **error);

// The operation of a name ("all-reduce"). FALSE with an error.
gboolean coll_choice_find_op(const char *name, const char *where, CollOp *op, GError **error);

// How one collective is carried out. All zero but algo: messages cost what the links cost, and nothing else.
typedef struct {
    const CollAlgo *algo;      // borrowed: of the table
    const char *protocol;      // static: "simple", "ll", "ll128", or NULL where there is no such thing
    guint32 chunks;            // of a pipelined algorithm; 0: one
    Ps base;                   // before the first messages
    Ps hop[TOPO_LINK_CLASSES]; // before every message, by the slowest kind of link on its way
    double cap;     // bytes/s that a rank may send, all its messages together; 0: what its links carry
    gboolean lanes; // cap is for each of a rank's slots (coll/algo.h), not for all together
    guint32 window; // of a pipelined algorithm's chunks, under way at most; 0: its own number
    guint32 wire_num, wire_den; // bytes on the wire for a byte of payload; 0: the same
} CollChoice;

// Chooses for a shape (op, ranks, island, bytes; chunks is the chooser's to say). user is the chooser's own.
typedef void (*CollChooser)(gconstpointer user, const CollShape *shape, CollChoice *choice);

// A chooser that takes no cost but the links': user is the algorithm (const CollAlgo *) for the operations
// that it does. Where it is NULL, ranks that are a box of a torus go through that; others, and what the
// algorithm does not do, get the first of the table that does theirs.
void coll_choice_plain(gconstpointer user, const CollShape *shape, CollChoice *choice);

// Into how many chunks a pipelined algorithm cuts a vector: one up to 4 KiB, then pieces of about 1 MiB, 16
// to 256 of them (NCCL moves 512 KiB a channel and step; a step of all channels together is some MiB).
guint32 coll_choice_chunks(gint64 bytes);
