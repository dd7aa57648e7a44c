// plots/timeline.h: the picture of a run: lanes (rank x stream) over time, coloured by kind of work.
#pragma once

#include <glib.h>

#include "base/units.h"

typedef struct {
    gint64 run;        // id of the run; 0: the last one of the file
    const char *ranks; // borrowed: "0,5,8-11"; NULL: up to eight, chosen
    Ps from, to;       // what is drawn; to < 0: to the end of the step
} PlotTimeline;

// Draws a run of the timeline file database into path (.png or .svg). *shown (may be NULL) becomes one line
// that says what is on the picture; caller frees. FALSE with an error.
gboolean plot_timeline_write(const char *database, const PlotTimeline *what, const char *path, char **shown,
                             GError **error);
