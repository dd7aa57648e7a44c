// step/groups.h: the communicators of a job on the simulated network, and which operation of which rank uses
// which.
//
// Every rank has one group for each dimension that its program's joint operations name (step/lower.h). A
// pipeline's send and the receive that takes it are one group of two.
#pragma once

#include <glib.h>

#include "coll/fabric.h"
#include "coll/group.h"
#include "coll/nccl.h"
#include "sim/stream.h"
#include "step/job.h"
#include "step/lower.h"

// A communicator and who has come to its present collective.
typedef struct {
    CollGroup *coll;   // owned
    guint32 dimension; // of its first member
    guint32
        *ranks[2]; // who has arrived, and on which stream: the present collective's and the last one's; owned
    guint32 *streams[2]; //
    guint32 arrived;     //
    guint32 present;     // 0 or 1
} StepCommunicator;

typedef struct {
    const StepJob *job;         // borrowed
    const StepLowered *lowered; // borrowed
    SimNetwork network;
    CollFabric fabric;
    CollNccl nccl;
    GPtrArray *all;      // of StepCommunicator *, by id
    guint32 *of;         // [dimension * gpus + rank]: id, G_MAXUINT32: none; owned
    SimStreams *streams; // borrowed
} StepGroups;

// Makes the groups and compiles what all their collectives need; the network is frozen then. streams are told
// of what begins and ends; they may be initialised later. FALSE with an error: an algorithm that does not do
// a shape on this machine, or more than can be simulated; groups are then cleared.
gboolean step_groups_init(StepGroups *groups, const StepJob *job, const StepLowered *lowered,
                          SimEngine *engine, SimStreams *streams, GError **error);
void step_groups_clear(StepGroups *groups);

// A SimJoin; user is a StepGroups.
void step_groups_join(gpointer user, guint32 rank, guint32 op);

// The collective that a kind of joint operation stands for.
CollOp step_groups_op(SimKind kind);

// A rank and the rank at its place in another stage, which takes what it sends. *count is 2; caller frees.
guint32 *step_groups_pair(const Plan *plan, guint32 rank, guint32 stage, guint32 *count);
