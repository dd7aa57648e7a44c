// scenarios/pool.h: the points of a grid, simulated by threads.
//
// Every worker reads its own scenario and runs its own job; nothing is shared but the list of what is left.
// What comes out of a point does not depend on the number of workers or on the order in which they finish.
#pragma once

#include <glib.h>

#include "scenarios/grid.h"
#include "step/result.h"

enum { SCENARIO_POOL_JOBS_MAX = 256 };

// Called by a worker as soon as a point is through, one call at a time: with its result, or with what was
// wrong with it (then result is NULL). FALSE with an error stops the pool.
typedef gboolean (*ScenarioPoolDone)(gpointer user, guint point, const StepResult *result,
                                     const GError *failure, GError **error);
// Called now and then while points run, one call at a time and never beside a ScenarioPoolDone.
typedef void (*ScenarioPoolTick)(gpointer user);

// Runs the points of a list (their numbers in the grid), jobs at a time at most, in the calling thread and in
// new ones. FALSE with the error of a ScenarioPoolDone; points that were running are given up then. A point
// that fails does not stop the others.
gboolean scenario_pool_run(const ScenarioGrid *grid, const guint *points, guint n, guint jobs,
                           ScenarioPoolDone done, ScenarioPoolTick tick, gpointer user, GError **error);
