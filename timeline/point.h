// timeline/point.h: what a sweep keeps of one point: the run's names and numbers, or why it failed.
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "step/result.h"
#include "timeline/metrics.h"

enum { TIMELINE_POINT_TEXTS = 6 };

// "model", "machine", "chip", "counting", "fingerprint", "fidelity": columns of run and keys of --json.
extern const char *const TIMELINE_POINT_NAMES[TIMELINE_POINT_TEXTS];

typedef struct {
    char *error;                       // owned; NULL: it did not fail, and the rest counts
    char *texts[TIMELINE_POINT_TEXTS]; // owned
    double values[TIMELINE_METRICS];   // NAN: not known
} TimelinePoint;

TimelinePoint *timeline_point_new(const StepResult *result);
TimelinePoint *timeline_point_new_failed(const char *error);
void timeline_point_free(TimelinePoint *point);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TimelinePoint, timeline_point_free)

// A run of a file as a point: the same to the bit as when it was written. NULL with an error where there is
// no such run. Caller frees.
TimelinePoint *timeline_point_read(sqlite3 *database, const char *path, gint64 run, GError **error);
