// step/measuring.h: what is there while collectives are measured with their siblings; shared by siblings and
// shares.
#pragma once

#include <glib.h>

#include "coll/fabric.h"
#include "coll/group.h"
#include "coll/nccl.h"
#include "step/siblings.h"

// The groups of a stage in one dimension.
typedef struct {
    guint32 stage, dimension;
    GPtrArray *members; // of GArray * of guint32: ranks; owned
    GPtrArray *groups;  // of CollGroup *; owned
    guint64 signature;  // 0: not computed
} Kin;

typedef struct {
    StepSiblings *siblings;
    SimEngine engine;
    SimNetwork network;
    CollFabric fabric;
    CollNccl nccl;
    GPtrArray *kin;   // of Kin *
    GPtrArray *by_id; // of CollGroup *; borrowed
    guint32 running;  // groups that have not ended
    Ps first, last;   // when the first and the last of them ended
    guint32 *stages;  // [island]: the stage that has it alone, G_MAXUINT32: several
    guint32 *of_gpu;  // [node]: stage of a GPU's node, G_MAXUINT32: no GPU
} Measuring;

// Whether links are followed one by one.
gboolean measuring_exact(const Measuring *run);
// Fills which stages GPUs and islands belong to.
void measuring_place(Measuring *run);
// What of a collective's time links were busy; before is the busy time of every link before it.
void measuring_shares(const Measuring *run, StepCollective *own, const Ps *before);
