// timeline/points.h: reading a sweep out of a timeline file, which may have been edited by hand.
#pragma once

#include <glib.h>

#include "timeline/point.h"

typedef struct {
    gint64 id;          // its place in the grid
    char **values;      // owned, NULL-terminated: of each axis; "?" where there is none
    TimelinePoint *out; // owned
} TimelinePointsRow;

typedef struct {
    gint64 id;
    char *name; // owned: of the scenario
    gboolean zip;
    GPtrArray *axes; // of char *: "job.bucket"; at least one; owned
    GPtrArray *rows; // of TimelinePointsRow *, by id: the points that are through; owned
} TimelinePoints;

// The sweep with this id, or the last one where id is 0. NULL with an error "PATH: ...". Caller frees.
TimelinePoints *timeline_points_read(const char *path, gint64 id, GError **error);
void timeline_points_free(TimelinePoints *points);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TimelinePoints, timeline_points_free)
