// machines/tuning.h: how NCCL does on a machine: section [nccl] of a machine file.
//
// NCCL picks, for each operation and size, the algorithm and protocol that its model says is quickest:
// latency + bytes / bandwidth, one line each. Two to four lines are enough to describe what nccl-tests
// measures: low latency (LL), one or two in between (LL128), high bandwidth (Simple, NVLS); T = min over them
// of (alpha + S c / B), with c = 2 (n - 1)/n for all-reduce and (n - 1)/n for the others, so that B is the
// bus bandwidth of nccl-tests. The keys are what was measured:
//
//   OP_N = ALPHA, B; ALPHA, B; ...    N ranks in one island; OP one of all_reduce, all_gather,
//                                     reduce_scatter, all_to_all, broadcast, reduce
//   OP_across = ALPHA, STEP, B; ...   N islands: ALPHA + STEP x log2 N (all_reduce), x (N - 1) (others)
//   OP_across_M = ...                 the same, of about M islands, where they are another matter than two
//   switch_reduces = yes              the islands' switches add and copy (NVLS)
//   network_reduces = yes             the network's switch does too (SHARP)
//
// One line may stand alone (it is the last), two are the first and the last. Between measured numbers of
// ranks (or islands, a plain OP_across counting as that of two) the nearest one is taken; its alpha is scaled
// as NCCL's own latencies of the two shapes differ (coll/nccl.h).
#pragma once

#include <glib.h>

#include "base/ini.h"

enum { MACHINE_TUNING_LINES = 4 };

typedef enum {
    MACHINE_TUNING_ALL_REDUCE,
    MACHINE_TUNING_ALL_GATHER,
    MACHINE_TUNING_REDUCE_SCATTER,
    MACHINE_TUNING_ALL_TO_ALL,
    MACHINE_TUNING_BROADCAST, // where it is absent, all_gather stands for it
    MACHINE_TUNING_REDUCE,    // where it is absent, broadcast
    MACHINE_TUNING_OPS,
} MachineTuningOp;

extern const char *const MACHINE_TUNING_OP_NAMES[]; // "all_reduce", ..., NULL

typedef struct {
    Ps latency;       // alpha
    Ps step;          // across islands: for each doubling, or each further island
    double bandwidth; // bytes/s, bus bandwidth
} MachineTuningLine;

typedef struct {
    guint32 ranks;   // in one island; 0: across islands
    guint32 islands; // across islands: about how many; 0: any number
    guint32 lines;   // 1 to MACHINE_TUNING_LINES, by rising alpha
    MachineTuningLine line[MACHINE_TUNING_LINES];
} MachineTuningFit;

typedef struct {
    gboolean present;                 // the machine has the section
    gboolean switch_reduces;          //
    gboolean network_reduces;         //
    GArray *fits[MACHINE_TUNING_OPS]; // of MachineTuningFit, by ranks; owned
} MachineTuning;

void machine_tuning_init(MachineTuning *tuning);
void machine_tuning_clear(MachineTuning *tuning);
// Reads the section where ini has it (and claims nothing where it has not). FALSE with an error.
gboolean machine_tuning_read(MachineTuning *tuning, Ini *ini, GError **error);
// Of one island (islands = 1) the fit of the number of ranks nearest to ranks (by ratio), of several the one
// of the number of islands nearest to islands. NULL: none.
const MachineTuningFit *machine_tuning_find(const MachineTuning *tuning, MachineTuningOp op, guint32 ranks,
                                            guint32 islands);
// Sets or replaces one fit; one across islands takes the place of all of its operation.
void machine_tuning_set(MachineTuning *tuning, MachineTuningOp op, const MachineTuningFit *fit);
// The section as text, "[nccl]" and its keys. Caller frees.
char *machine_tuning_write(const MachineTuning *tuning);
