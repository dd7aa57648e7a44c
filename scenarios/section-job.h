// scenarios/section-job.h: section [job] of a scenario as a plan.
#pragma once

#include <glib.h>

#include "base/ini.h"
#include "step/job.h"

// Fills job->plan from [job], once model, machine and plan.sequence are there, and checks it as a whole. Keys
// are the fields of plans/plan.h; dp follows from the GPUs where it is absent or 'auto', batch may be given
// as tokens (of a step), micro_batch is the whole batch of a rank without a pipeline and 1 with one. FALSE
// with one error that names every broken rule; a key that means nothing under the others is an error too.
gboolean scenario_section_job(StepJob *job, Ini *ini, GError **error);
