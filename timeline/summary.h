// timeline/summary.h: a result in words for people, and as JSON for programs.
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "step/result.h"

// Some ten lines, each ending in a newline. Caller frees.
char *timeline_summary_text(const StepResult *result, gboolean assumptions);

// One object with snake_case keys in SI units: step_s, mfu, hfu, tokens_per_s, tflops_per_gpu, compute_s,
// exposed_comm_s, idle_s, ... Caller unrefs.
JsonNode *timeline_summary_json(const StepResult *result);
