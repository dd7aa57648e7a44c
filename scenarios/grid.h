// scenarios/grid.h: a scenario with lists as a grid of scenarios without.
//
// A key whose value holds ';' is an axis: "bucket = 1 MiB; 25 MiB". Exceptions are [scenario] and [nccl],
// where ';' means something else. A ';' at the end counts for nothing, so "25 MiB;" is an axis of one value.
// Axes stand in the order of the file, then those of --set as they were typed; a grid is their product, the
// last one fastest, or, as zip, the first values of all, the second of all, and so on.
#pragma once

#include <glib.h>

#include "base/ini.h"

enum { SCENARIO_GRID_AXES_MAX = 16, SCENARIO_GRID_POINTS_MAX = 100000 };

typedef struct {
    char *name;        // owned: "job.bucket"
    GPtrArray *values; // of char *, as written, at least one; owned
} ScenarioAxis;

typedef struct {
    char *file, *text;  // owned: the scenario's name and text, from which every point is read again
    GPtrArray *sets;    // of char *: those of --set that are no axes; owned
    GPtrArray *axes;    // of ScenarioAxis *; owned
    GPtrArray *entries; // of char *: "section.key=value" of everything that is no axis, sorted; owned
    gboolean zip;
    guint points;
} ScenarioGrid;

// Whether a key's value is a list.
gboolean scenario_grid_is_list(const char *section, const char *value);

// FALSE with an error where a key holds a list: for a command that wants one step.
gboolean scenario_grid_refuse(const Ini *ini, GError **error);

// The grid of a scenario after sets (may be NULL; applied to ini). NULL with an error: no list, an empty or a
// repeated value, lists of different lengths (zip), too many axes or points. No value is read yet: a wrong
// one is the error of its points. Caller frees.
ScenarioGrid *scenario_grid_new(Ini *ini, const char *const *sets, gboolean zip, GError **error);
void scenario_grid_free(ScenarioGrid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ScenarioGrid, scenario_grid_free)

// The value of an axis at a point. Borrowed.
const char *scenario_grid_value(const ScenarioGrid *grid, guint point, guint axis);

// What scenario_read has to set for a point, NULL-terminated. Caller frees with g_strfreev.
char **scenario_grid_sets(const ScenarioGrid *grid, guint point);

// "job.bucket = 25 MiB, job.overlap = yes". Caller frees.
char *scenario_grid_words(const ScenarioGrid *grid, guint point);

// 16 hex digits of what a point says: every key and value but [scenario], in no order, and the files that a
// value names by path (what these name is not looked at). Equal for the same point of another grid. Caller
// frees.
char *scenario_grid_hash(const ScenarioGrid *grid, guint point);
// The same of the grid as a whole.
char *scenario_grid_hash_all(const ScenarioGrid *grid);

// A point as a JSON object {"job.bucket":"25 MiB"}, and all axes as {"job.bucket":["1 MiB","25 MiB"]}. Caller
// frees.
char *scenario_grid_json(const ScenarioGrid *grid, guint point);
char *scenario_grid_json_all(const ScenarioGrid *grid);
