// plans/place.h: ranks as coordinates in the plan's dimensions, and the groups that they form.
//
// Rank r runs on GPU r of the machine; plan->order says which dimension varies fastest over ranks (tp by
// default, so that it stays inside an island).
#pragma once

#include <glib.h>

#include "plans/plan.h"
#include "topo/graph.h"

typedef struct {
    guint32 at[PLAN_DIMENSIONS]; // coordinate in every dimension
} PlanPlace;

PlanPlace plan_place_of(const Plan *plan, guint32 rank);
guint32 plan_place_rank(const Plan *plan, const PlanPlace *place);

// Groups in which ranks meet. The data group is dp x cp; with HSDP it falls into shard groups (consecutive
// data ranks) and, across them, replica groups.
typedef enum {
    PLAN_GROUP_TP,
    PLAN_GROUP_CP,
    PLAN_GROUP_DATA,    // dp x cp, cp varying as in order
    PLAN_GROUP_SHARD,   // ranks of the data group that share one copy of the states
    PLAN_GROUP_REPLICA, // ranks of the data group that hold the same shard
    PLAN_GROUP_PP,      // all stages
    PLAN_GROUP_ENDS,    // first and last stage (tied embeddings)
    PLAN_GROUP_WORLD,   // all ranks
    PLAN_GROUPS,
} PlanGroup;

extern const char *const PLAN_GROUP_NAMES[];

// Members of rank's group, in order of rank number (stage order for PP). *count of them; caller frees. ENDS
// of a middle stage is the rank alone.
guint32 *plan_place_members(const Plan *plan, PlanGroup group, guint32 rank, guint32 *count);

// Which kinds of links a group's traffic crosses: "inside an island (8 of 8 GPUs)", "across 4 islands".
// Caller frees.
char *plan_place_words(const Plan *plan, PlanGroup group, const TopoGraph *graph);
