// timeline/sweep.h: writing a sweep into a timeline file, point by point, and finding what is there already.
//
// Every point that is through is a transaction of its own, so that a kill at any moment loses none.
#pragma once

#include <glib.h>

#include "timeline/point.h"

typedef struct TimelineSweep TimelineSweep;

// What a sweep is; all borrowed until timeline_sweep_new returns.
typedef struct {
    const char *name, *scenario; // of the scenario, and its text
    const char *axes, *mode;     // as the columns of schema.sql
    const char *hash;            // of all that
    guint points;
} TimelineSweepHead;

// One point's words; borrowed.
typedef struct {
    guint id;         // place in the grid
    const char *axes; // as the column
    const char *hash;
} TimelineSweepPoint;

// Opens the file for writing (it is made where it is not there) and begins the sweep in it, or goes on with
// the one of the same hash. NULL with an error "PATH: ...", and no file is left that was not there before.
// Caller frees.
TimelineSweep *timeline_sweep_new(const char *path, const TimelineSweepHead *head, GError **error);
void timeline_sweep_free(TimelineSweep *sweep);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TimelineSweep, timeline_sweep_free)

// The sweep's id in the file.
gint64 timeline_sweep_id(const TimelineSweep *sweep);

// For each of n points: found[i] becomes what any sweep of this file and of this version of stepline has run
// with the same hash, and belongs to this sweep from now on; NULL where there is nothing, or a failure.
// Caller frees what is found. FALSE with an error.
gboolean timeline_sweep_resume(TimelineSweep *sweep, const TimelineSweepPoint *points, guint n,
                               TimelinePoint **found, GError **error);

// Adds one point that is through, with its result, or (result is NULL) with why it failed. One caller at a
// time, of any thread. FALSE with an error, and the file is as before.
gboolean timeline_sweep_add(TimelineSweep *sweep, const TimelineSweepPoint *point, const StepResult *result,
                            const char *failure, GError **error);
