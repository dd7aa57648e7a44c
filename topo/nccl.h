// topo/nccl.h: how NCCL does on a machine: section [nccl] of a machine file.
//
// NCCL picks, for each operation and size, the algorithm and protocol that its model says is quickest: latency + bytes /
// bandwidth, one line each. Two lines are enough to describe what nccl-tests measures: a low-latency one (LL, LL128) and
// one of high bandwidth (Simple, NVLS), T = min over both of (alpha + S c / B), with c = 2 (n - 1)/n for all-reduce and
// (n - 1)/n for the others, so that B is the bus bandwidth of nccl-tests. The keys are what was measured:
//
//   OP_N = ALPHA, B; ALPHA, B         N ranks in one island, OP one of all_reduce, all_gather, reduce_scatter, all_to_all
//   OP_across = ALPHA, STEP, B; ...   islands N times: ALPHA + STEP x log2 N (all_reduce), x (N - 1) (others)
//   switch_reduces = yes              the islands' switches add and copy (NVLS)
//   network_reduces = yes             the network's switch does too (SHARP)
//
// One line may stand alone. Between measured numbers of ranks the nearest one is taken, its alpha scaled by the number of
// steps that the algorithm takes (coll/nccl.h).
#pragma once

#include <glib.h>

#include "base/ini.h"

typedef enum {
    TOPO_NCCL_ALL_REDUCE,
    TOPO_NCCL_ALL_GATHER,
    TOPO_NCCL_REDUCE_SCATTER,
    TOPO_NCCL_ALL_TO_ALL,
    TOPO_NCCL_OPS,
} TopoNcclOp;

extern const char *const TOPO_NCCL_OP_NAMES[]; // "all_reduce", ..., NULL

typedef struct {
    Ps latency;       // alpha
    Ps step;          // across islands: for each doubling, or each further island
    double bandwidth; // bytes/s, bus bandwidth
} TopoNcclLine;

typedef struct {
    guint32 ranks; // in one island; 0: across islands
    guint32 lines; // 1 or 2
    TopoNcclLine line[2];
} TopoNcclFit;

typedef struct {
    gboolean present;             // the machine has the section
    gboolean switch_reduces;      //
    gboolean network_reduces;     //
    GArray *fits[TOPO_NCCL_OPS];  // of TopoNcclFit, by ranks; owned
} TopoNccl;

void topo_nccl_init(TopoNccl *nccl);
void topo_nccl_clear(TopoNccl *nccl);
// Reads the section where ini has it (and claims nothing where it has not). FALSE with an error.
gboolean topo_nccl_read(TopoNccl *nccl, Ini *ini, GError **error);
// The fit across islands (ranks = 0), or of the number of ranks nearest to ranks (by ratio). NULL: none.
const TopoNcclFit *topo_nccl_find(const TopoNccl *nccl, TopoNcclOp op, guint32 ranks);
// Sets or replaces one fit.
void topo_nccl_set(TopoNccl *nccl, TopoNcclOp op, const TopoNcclFit *fit);
// The section as text, "[nccl]" and its keys. Caller frees.
char *topo_nccl_write(const TopoNccl *nccl);
