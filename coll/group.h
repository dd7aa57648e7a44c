// coll/group.h: a communicator: ranks that do collectives together, one at a time, message by message.
//
// A collective starts when all members have arrived and ends for all when its last message has arrived, so that it is
// one interval in every fidelity.
#pragma once

#include <glib.h>

#include "coll/algo.h"
#include "coll/fabric.h"

typedef struct CollGroup CollGroup;

// Called when the collective under way has ended, at that instant.
typedef void (*CollDone)(gpointer user, CollGroup *group);

struct CollGroup {
    CollRun run;            // first, so that emit finds the group; shape.op and bytes change per collective
    const CollAlgo *algo;   // borrowed
    SimNetwork *network;    // borrowed
    guint32 id;             // orders the messages of different groups at one instant
    guint32 *members;       // GPU number of each rank; owned
    guint32 *routes;        // [rank * slots + slot]: route id; owned
    guint32 slots;          // of the algorithm, for this many ranks
    guint32 pieces;         // of the present collective
    gint64 piece, longer;   // bytes of a piece, and how many are a byte longer
    guint32 arrived;        // members that wait for the present collective
    guint64 left;           // messages that have not arrived
    gint64 *sent;           // bytes sent per rank, all collectives together; owned
    CollDone done;          //
    gpointer user;          // borrowed
};

// Compiles the routes of all peers of algo. members (n GPU numbers, all different) is copied.
CollGroup *coll_group_new(guint32 id, const CollAlgo *algo, CollFabric *fabric, const guint32 *members, guint32 n,
                          CollDone done, gpointer user);
void coll_group_free(CollGroup *group);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CollGroup, coll_group_free)

// One member has reached a collective of op and bytes (the same from every member); the last to come starts it.
void coll_group_arrive(CollGroup *group, CollOp op, gint64 bytes);

// For the network's delivered callback: a message of this group has arrived.
void coll_group_received(CollGroup *group, const SimFlight *flight);

// The largest number of ranks whose messages can be told apart (2 (p - 1) p fits 32 bits).
#define COLL_GROUP_RANKS_MAX 46340
