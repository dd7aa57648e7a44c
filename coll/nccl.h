// coll/nccl.h: the algorithm, protocol and costs that NCCL would take.
//
// Which algorithm a line of machines/tuning.h stands for (NVIDIA/nccl, src/graph/tuning.cc, and its
// documentation of NCCL_ALGO): in one island, all-reduce runs a ring in LL at low latency and, at high
// bandwidth, NVLS where the switch reduces, else a ring in Simple; across islands a double binary tree in LL,
// and NVLS with trees in between (or SHARP) where switches reduce, else a ring per rail in Simple; gather and
// scatter are rings per rail; all-to-all is grouped sends. Of the lines, the one that its own formula makes
// the quickest is taken, as NCCL does.
//
// How a line becomes costs of messages: every message waits for a hop (NCCL's own latencies of a hop,
// tuning.cc, release 2.30: LL 0.6 us over NVLink, 1.0 PCIe, 2.7 network (5.0 in trees); Simple 3.4, 5.7, 14),
// the collective for a base, so that all hops on the longest way and the base make up alpha (hops shrink
// where they alone would pass it); and a rank sends at no more than what makes the bus bandwidth B.
#pragma once

#include <glib.h>

#include "coll/choice.h"
#include "machines/tuning.h"

typedef struct {
    const MachineTuning *nccl; // borrowed
    const CollAlgo *algo;      // borrowed; NULL: NCCL's choice
    const char *protocol;      // static; NULL: NCCL's choice
    guint32 island;            // GPUs in the graph's islands
    Ps inside, across; // latency of the graph's own links: from a GPU of an island to the next (mean), GPU 0
                       // to the last
    Ps rail;           // the most from a GPU of the first island to the one of its number in the last
    double inside_rate, across_rate; // bytes/s: the least there
    TopoLinkClass inside_class;      // NVLink, or PCIe where GPU 1 is reached over it
} CollNccl;

// The names that NCCL_PROTO knows: "ll", "ll128", "simple", NULL.
extern const char *const COLL_NCCL_PROTOCOLS[];

// Measures the latencies of the graph's links.
void coll_nccl_init(CollNccl *nccl, const MachineTuning *constants, const TopoGraph *graph,
                    const CollAlgo *algo, const char *protocol);

// A CollChooser; user is a CollNccl. Without a measured line for an operation it falls back to NCCL's
// constants and the links' own bandwidth.
void coll_nccl_choose(gconstpointer user, const CollShape *shape, CollChoice *choice);

// The line's own formula: alpha + S c / B, seconds. For printing beside the simulated time.
double coll_nccl_predict(gconstpointer user, const CollShape *shape);

// Splits a latency that was measured across the islands of shape, of line number line of so many, as NCCL's
// own latencies of that shape and of one with twice the islands differ: *step is for each doubling of the
// islands (all-reduce) or each further one (others), *base the rest. Of one island everything is base.
void coll_nccl_split(const CollNccl *nccl, const CollShape *shape, guint line, guint lines, Ps alpha,
                     Ps *base, Ps *step);

// How many steps a shape takes: log2 of its islands (all-reduce), or islands - 1.
double coll_nccl_steps(CollOp op, guint32 islands);
