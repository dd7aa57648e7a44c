// plots/sweep.h: the picture of a sweep: a figure over the first axis, a line for each value of the others;
// or a map where there are two axes of numbers.
#pragma once

#include <glib.h>

#include "timeline/points.h"

typedef struct {
    gint64 sweep;       // id; 0: the last
    const char *metric; // a key of --json
    gboolean lines;     // lines also where a map would be drawn
} PlotSweep;

// One axis's values as numbers, each in the base unit of one kind for all; NULL where they are no numbers of
// one kind. Caller frees.
double *plot_sweep_numbers(const GPtrArray *values);

// Whether numbers want a logarithmic axis: all above 0, and the largest at least 8 times the smallest.
gboolean plot_sweep_is_log(const double *numbers, guint n);

// Draws. *shown (may be NULL) becomes one line about what was drawn. FALSE with an error: a metric that is
// not there, more lines than can be told apart, or as plot_write. Caller frees *shown.
gboolean plot_sweep_write(const char *database, const PlotSweep *what, const char *path, char **shown,
                          GError **error);
