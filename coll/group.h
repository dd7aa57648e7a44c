// coll/group.h: a communicator: ranks that do collectives together, one at a time, message by message.
//
// A collective starts when all members have arrived and ends for all when its last message has arrived, so
// that it is one interval in every fidelity. Life: new, coll_group_prepare for every collective that will be
// asked for, then sim_network_freeze, then arrive.
#pragma once

#include <glib.h>

#include "coll/algo.h"
#include "coll/choice.h"
#include "coll/fabric.h"
#include "coll/rings.h"

typedef struct CollGroup CollGroup;

// Called when the collective under way has ended, at that instant.
typedef void (*CollDone)(gpointer user, CollGroup *group);

// One algorithm with its costs, ready to run: the routes of all peers.
typedef struct {
    CollChoice choice;
    guint32 members; // ranks and switches
    guint32 slots;
    guint32 *routes; // [member * slots + slot]: route id; owned
    Ps *delays;      // [member * slots + slot]: before each message; owned
} CollPlan;

struct CollGroup {
    CollRun run;          // first, so that emit finds the group; shape.op and bytes change per collective
    CollChooser chooser;  //
    gconstpointer choose; // borrowed: the chooser's own
    CollFabric *fabric;   // borrowed; used until frozen
    SimNetwork *network;  // borrowed
    guint32 id;           // orders the messages of different groups at one instant
    guint32 *gpus;        // GPU number of each rank; owned
    CollRings *rings;     // that the machine's cables carry; owned, NULL: none
    CollBox *box;         // of the machine's torus; owned, NULL: none
    GPtrArray *plans;     // of CollPlan *
    const CollPlan *plan; // of the collective under way
    guint32 room;         // words of run.state
    guint32 pieces;       // of the present collective
    gint64 piece, longer; // bytes of a piece, and how many are a byte longer
    gboolean starting;    // begin is running: its messages wait for the choice's base
    guint32 arrived;      // members that wait for the present collective
    guint64 left;         // messages that have not arrived
    gint64 *sent;         // bytes sent per rank, all collectives together; owned
    CollDone started;     // may be set after new: called when the last member has arrived, before any message
    CollDone done;        //
    gpointer user;        // borrowed
};

// gpus (n GPU numbers, all different) is copied.
CollGroup *coll_group_new(guint32 id, CollChooser chooser, gconstpointer choose, CollFabric *fabric,
                          const guint32 *gpus, guint32 n, CollDone done, gpointer user);
void coll_group_free(CollGroup *group);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CollGroup, coll_group_free)

// Chooses for a collective and compiles what it needs. FALSE with an error where the chosen algorithm does
// not do this shape on this machine.
gboolean coll_group_prepare(CollGroup *group, CollOp op, gint64 bytes, GError **error);

// Whether collectives of bytes altogether stay within the range of time on this group's routes, by a generous
// bound: all their messages one after the other over the slowest link, and the longest latency for each; and
// whether it can be simulated in hours. After freeze. FALSE with an error.
gboolean coll_group_check(const CollGroup *group, gint64 bytes, guint64 collectives, const char *where,
                          GError **error);

// What was chosen for a collective that has been prepared. Borrowed.
const CollChoice *coll_group_choice(const CollGroup *group, CollOp op, gint64 bytes);

// One member has reached a collective of op and bytes (the same from every member); the last to come starts
// it.
void coll_group_arrive(CollGroup *group, CollOp op, gint64 bytes);

// For the network's delivered callback: a message of this group has arrived.
void coll_group_received(CollGroup *group, const SimFlight *flight);

// The largest number of ranks of a group (a message's number must fit 32 bits).
#define COLL_GROUP_RANKS_MAX 46340
