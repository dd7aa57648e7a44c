// step/run.h: simulating one step, message by message.
#pragma once

#include <glib.h>

#include "step/job.h"
#include "step/result.h"

// Called about every million events with the simulated time so far and the events run; FALSE stops the run.
typedef gboolean (*StepProgress)(gpointer user, Ps now, guint64 events);

// Lowers, simulates and sums up. progress may be NULL. NULL with an error: a transfer out of the range of
// time, a stuck step (naming ranks and operations), or a run that progress stopped. Caller frees.
StepResult *step_run(const StepJob *job, StepProgress progress, gpointer user, GError **error);
