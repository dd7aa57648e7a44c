// cli/fit-run.h: the runs of one log fitted, simulated beside what was measured, and printed.
#pragma once

#include <json-glib/json-glib.h>

#include "cli/fit-read.h"
#include "machines/machine.h"
#include "validation/constants.h"

typedef struct {
    FitOptions options;   // owned
    GArray *constants;    // of ValidationConstants, owned with --write, else NULL
    JsonBuilder *builder; // owned with --json, else NULL
    TopoMachine *topo;    // owned: the last one built, of topo_ranks GPUs
    guint32 topo_ranks;   //
    guint runs;           // fitted so far
} Fit;

void fit_clear(Fit *fit);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fit, fit_clear)

// Fits and prints every run of a log that options ask for; what is worth writing is added to constants. FALSE
// with an error.
gboolean fit_run_file(Fit *fit, const char *path, GError **error);
