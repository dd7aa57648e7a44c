// step/bound.h: a time that no step of a job can beat on its machine.
#pragma once

#include "step/job.h"
#include "step/lower.h"

// The largest of: a stage's compute operations one after the other; what the gradients' reduction makes a GPU
// send at least ((p-1)/p of them: a switch that reduces saves the rest), over the widest GPU's links. Rounded
// down.
Ps step_bound(const StepJob *job, const StepLowered *lowered);
