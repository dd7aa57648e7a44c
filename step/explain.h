// step/explain.h: where the time of a step went: classes that sum to the step, and what was waited for.
#pragma once

#include <glib.h>

#include "step/result.h"

// Fills, from result's trace and programs: step, last_rank, compute, exposed_comm, idle with bubble, loader
// and launch, communication, exposures. Each instant of the rank that finishes last belongs to one class:
// compute before communication before bubble (waiting for another rank) before loader before launch.
void step_explain(StepResult *result);

// Exposures that follow each other without a gap are one stretch. The end (one past) of the stretch that
// starts at index.
guint step_explain_stretch(const StepResult *result, guint index);

// One sentence on the exposures first .. end - 1: how long, what was waited for, and why nothing hid it.
// Caller frees.
char *step_explain_words(const StepResult *result, guint first, guint end);
