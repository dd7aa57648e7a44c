// coll/symbolic.h: an algorithm run on symbols instead of time: which contributions every rank holds.
//
// Every rank's buffer holds, per piece, how many times each rank's contribution is in it. A send carries what
// its sender holds at that moment; a receipt adds to or replaces what the receiver holds. Receipts come in an
// order drawn from a seed (only messages between the same two members keep theirs), so that an algorithm that
// is right only for lucky times is found out. A wrong schedule cannot pass by having the right time.
#pragma once

#include <glib.h>

#include "coll/algo.h"

// Called after each receipt. done: the pieces that the receiver now holds complete (each rank's contribution
// once), of guint32, rising; borrowed.
typedef void (*CollSymbolicStep)(gpointer user, const CollSend *send, const GArray *done);

typedef struct {
    guint64 messages;
    gint64 bytes;     // sent, all ranks together
    gint64 bytes_max; // the most that one rank sent
} CollSymbolic;

// Runs algo on shape and checks that every rank ends with what shape->op promises. in_order: receipts in
// order of sending instead of by seed. step may be NULL. FALSE with an error naming rank, piece and
// contribution, a message to a rank that is no peer, or a count that differs from algo->messages.
gboolean coll_symbolic_run(const CollAlgo *algo, const CollShape *shape, guint64 seed, gboolean in_order,
                           CollSymbolicStep step, gpointer user, CollSymbolic *out, GError **error);
