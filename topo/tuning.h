// topo/tuning.h: how NCCL does on a machine: section [nccl] of a machine file.
//
// NCCL picks, for each operation and size, the algorithm and protocol that its model says is quickest:
// latency + bytes / bandwidth, one line each. Two or three lines are enough to describe what nccl-tests
// measures: low latency (LL), in between (LL128), high bandwidth (Simple, NVLS); T = min over them of (alpha
// + S c / B), with c = 2 (n - 1)/n for all-reduce and (n - 1)/n for the others, so that B is the bus
// bandwidth of nccl-tests. The keys are what was measured:
//
//   OP_N = ALPHA, B; ALPHA, B; ...    N ranks in one island; OP one of all_reduce, all_gather,
//                                     reduce_scatter, all_to_all, broadcast
//   OP_across = ALPHA, STEP, B; ...   islands N times: ALPHA + STEP x log2 N (all_reduce), x (N - 1) (others)
//   switch_reduces = yes              the islands' switches add and copy (NVLS)
//   network_reduces = yes             the network's switch does too (SHARP)
//
// One line may stand alone (it is the last), two are the first and the last. Between measured numbers of
// ranks the nearest one is taken; its alpha is scaled as NCCL's own latencies of the two shapes differ
// (coll/nccl.h).
#pragma once

#include <glib.h>

#include "base/ini.h"

enum { TOPO_TUNING_LINES = 3 };

typedef enum {
    TOPO_TUNING_ALL_REDUCE,
    TOPO_TUNING_ALL_GATHER,
    TOPO_TUNING_REDUCE_SCATTER,
    TOPO_TUNING_ALL_TO_ALL,
    TOPO_TUNING_BROADCAST, // where it is absent, all_gather stands for it
    TOPO_TUNING_OPS,
} TopoTuningOp;

extern const char *const TOPO_TUNING_OP_NAMES[]; // "all_reduce", ..., NULL

typedef struct {
    Ps latency;       // alpha
    Ps step;          // across islands: for each doubling, or each further island
    double bandwidth; // bytes/s, bus bandwidth
} TopoTuningLine;

typedef struct {
    guint32 ranks; // in one island; 0: across islands
    guint32 lines; // 1 to TOPO_TUNING_LINES, by rising alpha
    TopoTuningLine line[TOPO_TUNING_LINES];
} TopoTuningFit;

typedef struct {
    gboolean present;              // the machine has the section
    gboolean switch_reduces;       //
    gboolean network_reduces;      //
    GArray *fits[TOPO_TUNING_OPS]; // of TopoTuningFit, by ranks; owned
} TopoTuning;

void topo_tuning_init(TopoTuning *tuning);
void topo_tuning_clear(TopoTuning *tuning);
// Reads the section where ini has it (and claims nothing where it has not). FALSE with an error.
gboolean topo_tuning_read(TopoTuning *tuning, Ini *ini, GError **error);
// The fit across islands (ranks = 0), or of the number of ranks nearest to ranks (by ratio). NULL: none.
const TopoTuningFit *topo_tuning_find(const TopoTuning *tuning, TopoTuningOp op, guint32 ranks);
// Sets or replaces one fit.
void topo_tuning_set(TopoTuning *tuning, TopoTuningOp op, const TopoTuningFit *fit);
// The section as text, "[nccl]" and its keys. Caller frees.
char *topo_tuning_write(const TopoTuning *tuning);
