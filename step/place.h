// step/place.h: ranks as coordinates in the plan's dimensions, and the groups that they form.
//
// Rank r runs on GPU r of the machine; plan->order says which dimension varies fastest over ranks (tp by
// default, so that it stays inside an island).
#pragma once

#include <glib.h>

#include "step/plan.h"
#include "topo/graph.h"

typedef struct {
    guint32 at[STEP_DIMENSIONS]; // coordinate in every dimension
} StepPlace;

StepPlace step_place_of(const StepPlan *plan, guint32 rank);
guint32 step_place_rank(const StepPlan *plan, const StepPlace *place);

// Groups in which ranks meet. The data group is dp x cp; with HSDP it falls into shard groups (consecutive
// data ranks) and, across them, replica groups.
typedef enum {
    STEP_GROUP_TP,
    STEP_GROUP_CP,
    STEP_GROUP_DATA,    // dp x cp, cp varying as in order
    STEP_GROUP_SHARD,   // ranks of the data group that share one copy of the states
    STEP_GROUP_REPLICA, // ranks of the data group that hold the same shard
    STEP_GROUP_PP,      // all stages
    STEP_GROUP_ENDS,    // first and last stage (tied embeddings)
    STEP_GROUP_WORLD,   // all ranks
    STEP_GROUPS,
} StepGroup;

extern const char *const STEP_GROUP_NAMES[];

// Members of rank's group, in order of rank number (stage order for PP). *count of them; caller frees. ENDS
// of a middle stage is the rank alone.
guint32 *step_place_members(const StepPlan *plan, StepGroup group, guint32 rank, guint32 *count);

// Which kinds of links a group's traffic crosses: "inside an island (8 of 8 GPUs)", "across 4 islands".
// Caller frees.
char *step_place_words(const StepPlan *plan, StepGroup group, const TopoGraph *graph);
