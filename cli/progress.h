// cli/progress.h: one line on stderr for what takes over a second; on a terminal only.
#pragma once

#include <glib.h>

#include "base/units.h"

typedef struct {
    gint64 start;     // monotonic microseconds
    gboolean shown;   // there is a line to wipe
    gboolean enabled; // stderr is a terminal
} Progress;

void progress_init(Progress *progress);
// As StepProgress: shows simulated time and event rate. user is the Progress. Always TRUE.
gboolean progress_show(gpointer user, Ps now, guint64 events);
// Wipes the line.
void progress_clear(Progress *progress);
