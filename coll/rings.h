// coll/rings.h: as many rings as the cables of a small machine without a switch carry side by side.
//
// Where GPUs are cabled to each other (DGX-1's cube mesh), one ring uses one cable of each GPU. NCCL searches
// for several rings that share no cable (NVIDIA/nccl, src/graph/search.cc); so do we: cycles through all GPUs
// that are disjoint in NVLinks, each run in both directions.
#pragma once

#include <glib.h>

#include "coll/algo.h"
#include "topo/graph.h"

// The rings of n GPUs (numbers; rank r of a ring is gpus[r]). NULL where the graph is no such machine: GPUs
// do not forward, n is not 3 to 16, or fewer than two cycles are there. The most that a bounded search finds,
// in a fixed order. Caller frees.
CollRings *coll_rings_find(const TopoGraph *graph, const guint32 *gpus, guint32 n);
void coll_rings_free(CollRings *rings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CollRings, coll_rings_free)
