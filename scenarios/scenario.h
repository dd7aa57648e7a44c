// scenarios/scenario.h: a scenario file as a job.
//
// Sections and keys (units are required; * must be there; all of them: man 5 stepline-scenario):
//
//   [scenario]    title
//   [model]       use *, sequence, and any key of the model file to override it
//   [machine]     use *, gpus; or node *, nodes *, nic * and what kind nodes reads (machines/kind-nodes.c)
//   [nccl]        with node: how NCCL does on it (machines/tuning.h)
//   [job]         tokens * or batch *, and how the step is split (scenarios/section-job.h)
//   [compute]     efficiency, or framework; precision, counting, optimizer_time, gradient_norm
//   [collective]  model (nccl where the machine has [nccl], else plain), algorithm, protocol
//   [reality]     slow_ranks, slow_factor, slow_link, slow_link_factor, jitter, seed, loader: all off
//   [simulate]    fidelity (auto), chunk, queue (radix | heap), shortcuts (yes), cache (yes)
#pragma once

#include <glib.h>

#include "base/ini.h"
#include "step/job.h"

// Opens a scenario: a library name, or a path (with a '/' or ending in .ini). NULL with an error; caller
// frees.
Ini *scenario_open(const char *name, GError **error);

// Reads everything in it, checks it as a whole, and builds its machine. sets (may be NULL) is a
// NULL-terminated list of "section.key=value" that are applied first. NULL with an error: a wrong value, an
// unknown key, a list (scenarios/grid.h), numbers that do not fit together. Caller frees.
StepJob *scenario_read(Ini *ini, const char *const *sets, GError **error);
