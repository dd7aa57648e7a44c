// step/lower.h: a job as the program that every rank runs.
//
// Streams: 0 "compute", 1 "dp". Compute: one operation per block forward; the backward pass of a block is cut
// where a gradient bucket becomes ready. FLOPs of a parameter tensor follow its size (6 per parameter and
// token, a third of them forward), the attention core's stand between those of the output projection and of
// v, k, q; a gradient is ready when its own share of the backward pass is done. The all-reduces run on "dp"
// in order of buckets, each waiting for its gradients, or (overlap = no) for the end of the backward pass.
// The optimizer waits for the last of them.
#pragma once

#include <glib.h>

#include "sim/task.h"
#include "step/job.h"

typedef struct {
    SimProgram *program;   // owned
    guint32 buckets;       // gradient buckets
    guint32 last_backward; // op id of the end of the backward pass
} StepLowered;

// Whether the job's operations, each with a name and on every rank a span of the timeline, find room: at most
// STEP_LOWER_OPS in the program and STEP_LOWER_SPANS on all ranks together (some 3 GB; a bound of ours, not
// measured). An upper bound of their number is compared, from the model's layers and the gradient's buckets.
// FALSE with an error that starts with the job's name.
enum { STEP_LOWER_OPS = 4000000, STEP_LOWER_SPANS = 100000000 };
gboolean step_lower_check(const StepJob *job, GError **error);

// The job must have passed step_lower_check.
void step_lower(const StepJob *job, StepLowered *lowered);
