// cli/provenance.h: the constants of a job's chip and framework, with where each is from.
#pragma once

#include <glib.h>

#include "step/job.h"

// A line a constant: its kind (measured, fitted, derived, guessed, printed), its section and key, its value,
// and the comment that stands above it in its file. Empty for a job without a framework. Caller frees.
char *provenance_text(const StepJob *job);
