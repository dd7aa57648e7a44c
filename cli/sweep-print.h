// cli/sweep-print.h: the points of a sweep as a table, as CSV and as JSON, in the grid's order.
//
// Everything but the table of --db is the same for every number of workers; the real time of a simulation is
// not, and is left out.
#pragma once

#include <glib.h>

#include "cli/sweep-run.h"

// A table for people on stdout: name and axes, a line a point, the shortest and the longest step.
void sweep_print_table(const ScenarioGrid *grid, const SweepRun *run, const char *name);

// One line of names, then a line a point; empty fields where a point failed.
void sweep_print_csv(const ScenarioGrid *grid, const SweepRun *run);

// {"rows": [...]}: the axes by key, then the keys of a run, or error.
void sweep_print_json(const ScenarioGrid *grid, const SweepRun *run);
