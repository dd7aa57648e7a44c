// validation/constants.h: what was fitted, written back as a machine's constants: section [nccl] of its file.
#pragma once

#include <glib.h>

#include "machines/machine.h"
#include "validation/fit.h"

// Fitted constants of one operation and shape, as machines/tuning.h has them.
typedef struct {
    MachineTuningOp op;
    MachineTuningFit fit;
    guint32 islands; // of the machine that was measured
} ValidationConstants;

// Turns a fit of op on all GPUs of machine into constants. Across islands the latency grows with their number
// as NCCL's own latencies do (coll_nccl_split). FALSE where the operation has no constants of its own
// (send/receive).
gboolean validation_constants_get(const TopoMachine *machine, ValidationNcclOp op, const ValidationFit *fit,
                                  ValidationConstants *constants);

// Adds constants to all (of ValidationConstants). Where one operation was measured across several numbers of
// islands, the latencies of both say how much each step takes; bandwidths are those of the smaller number,
// for what more islands make of them is for the links to say. TRUE: so it was.
gboolean validation_constants_add(GArray *all, const ValidationConstants *constants);

// Writes to path the file of the machine called name (a library name or an .ini) with its [nccl] replaced by
// what it has and constants (GArray of ValidationConstants) on top. path must not be there yet, unless it is
// name itself. FALSE with an error; a file is whole or not there.
gboolean validation_constants_write(const char *path, const char *name, const GArray *constants,
                                    GError **error);
