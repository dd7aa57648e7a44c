// cli/sweep-run.h: running a sweep: what is in the database is taken from it, the rest is simulated.
#pragma once

#include <glib.h>

#include "scenarios/grid.h"
#include "timeline/point.h"

typedef struct {
    GPtrArray *points; // of TimelinePoint *, in the grid's order; owned
    guint there;       // points that the database held already
    guint failed;
    gint64 id; // of the sweep in the database; 0: none
} SweepRun;

// Runs the points of a grid, jobs at a time. db may be NULL. NULL with an error of the database; points that
// fail are none. Caller frees.
SweepRun *sweep_run_new(const ScenarioGrid *grid, const char *name, const char *db, guint jobs,
                        GError **error);
void sweep_run_free(SweepRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SweepRun, sweep_run_free)
