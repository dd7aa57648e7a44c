// step/lower.h: a job as the program that every rank runs.
//
// Streams: 0 "compute", 1 "dp". Compute: one operation per block forward; the backward pass of a block is cut where a
// gradient bucket becomes ready. FLOPs of a parameter tensor follow its size (6 per parameter and token, a third of them
// forward), the attention core's stand between those of the output projection and of v, k, q; a gradient is ready when
// its own share of the backward pass is done. The all-reduces run on "dp" in order of buckets, each waiting for its
// gradients, or (overlap = no) for the end of the backward pass. The optimizer waits for the last of them.
#pragma once

#include <glib.h>

#include "sim/task.h"
#include "step/job.h"

typedef struct {
    SimProgram *program;   // owned
    guint32 buckets;       // gradient buckets
    guint32 last_backward; // op id of the end of the backward pass
} StepLowered;

void step_lower(const StepJob *job, StepLowered *lowered);
