// scenarios/scenario.h: a scenario file as a job.
//
// Sections and keys (units are required; * must be there):
//   [scenario]   title
//   [model]      use *, sequence, and any key of the model file to override it
//   [machine]    use *, gpus; or node *, nodes *, nic * and what kind nodes reads (machines/kind-nodes.c),
//   instead of use [nccl]       with node: how NCCL does on it (machines/tuning.h) [job]        dp (default:
//   gpus), tokens * (of a step, all ranks together), zero (0), overlap (yes), optimizer (adam),
//                bucket (25 MiB, or whole), first_bucket (1 MiB), bucket_split (no)
//   [compute]    efficiency *, precision (bf16), counting (6N+12LHQT), optimizer_time (memory | none)
//   [collective] model (nccl where the machine has [nccl], else plain), algorithm (NCCL's choice, or ring),
//   protocol [simulate]   fidelity (messages), chunk (32 MiB), queue (radix | heap), shortcuts (yes)
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
