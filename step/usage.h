// step/usage.h: the memory of a rank over time: what its operations take and give back, on top of what it
// holds all the time (plans/memory.h).
#pragma once

#include <glib.h>

#include "step/job.h"
#include "step/result.h"

// Follows the first rank of every stage through the trace; fills result->usage and peak_bytes. At one instant
// what is given back goes before what is taken.
void step_usage(const StepJob *job, StepResult *result);

// What is left of a rank's operations on memory at the end, beyond what it began with; 0 for every legal
// plan.
gint64 step_usage_left(const SimProgram *program);
