// step/explain.h: where the time of a step went: classes that sum to the step, and what was waited for.
#pragma once

#include <glib.h>

#include "step/result.h"

// Fills, from result's trace and program: step, last_rank, compute, exposed_comm, idle, communication, exposures.
// Each instant of the rank that finishes last belongs to one class: compute before communication before idle.
void step_explain(StepResult *result);

// One sentence on an exposure: what was waited for, how long, and why nothing hid it. Caller frees.
char *step_explain_exposure(const StepResult *result, const StepExposure *exposure);
