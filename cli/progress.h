// cli/progress.h: one line on stderr for what takes over a second; on a terminal only.
#pragma once

#include <glib.h>

#include "base/units.h"

typedef struct {
    gint64 start;     // monotonic microseconds
    gint64 last;      // when the line was last written
    gboolean shown;   // there is a line to wipe
    gboolean enabled; // stderr is a terminal
} Progress;

void progress_init(Progress *progress);
// As StepProgress: shows simulated time and event rate. user is the Progress. Always TRUE.
gboolean progress_show(gpointer user, Ps now, guint64 events);
// Shows how many points of a sweep are through, how many a second, and how long the rest will take; at most
// ten times a second.
void progress_show_points(Progress *progress, guint done, guint points);
// Wipes the line.
void progress_clear(Progress *progress);
