// step/bound.h: a time that no simulated step can beat, from sums and rates alone.
#pragma once

#include <glib.h>

#include "step/job.h"

// The larger of one rank's compute (optimizer included) and the least time that its gradient's all-reduce
// needs: a rank sends at least 2 (p - 1)/p of the vector (Patarasuk and Yuan 2009), over all links that leave
// its GPU together.
Ps step_bound(const StepJob *job);
