// cli/cmd-sweep.c: "stepline sweep": one scenario with lists as many steps.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/sweep-print.h"
#include "cli/sweep-run.h"
#include "scenarios/pool.h"
#include "scenarios/scenario.h"
#include "timeline/store.h"

typedef struct {
    char **sets;
    char *db;
    gint64 jobs;
    gboolean zip, json, csv;
} SweepOptions;

static void sweep_options_clear(SweepOptions *options)
{
    g_strfreev(options->sets);
    g_free(options->db);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SweepOptions, sweep_options_clear)

static gboolean sweep_read(SweepOptions *options, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->sets,
         "Override one key of the scenario; a list 'a; b; c' makes it an axis (repeatable)",
         "SECTION.KEY=VALUES"},
        {"zip", 0, 0, G_OPTION_ARG_NONE, &options->zip,
         "First values of all lists, then second ones, ... instead of all combinations", NULL},
        {"jobs", 'j', 0, G_OPTION_ARG_INT64, &options->jobs, "Points at a time (default: the processors)",
         "N"},
        {"db", 0, 0, G_OPTION_ARG_FILENAME, &options->db,
         "Keep points in a database, and do not run what is there already", "FILE"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print one JSON object", NULL},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &options->csv, "Print comma-separated values", NULL},
        {0}};
    static const char details[] = "SCENARIO is a name of 'stepline list scenarios', or a path.";
    if (!options_parse(&COMMAND_SWEEP, entries, details, 1, 1, argc, argv, error))
        return FALSE;
    if (options->json && options->csv)
        return base_error_set(error, BASE_ERROR_USAGE, NULL,
                              "found both --json and --csv, wanted one of them");
    if (options->jobs == G_MININT64)
        options->jobs = CLAMP(g_get_num_processors(), 1, SCENARIO_POOL_JOBS_MAX);
    if (options->jobs < 1 || options->jobs > SCENARIO_POOL_JOBS_MAX)
        return base_error_set(error, BASE_ERROR_USAGE, "--jobs", "found %" G_GINT64_FORMAT ", wanted 1 to %d",
                              options->jobs, SCENARIO_POOL_JOBS_MAX);
    return options->db == NULL || timeline_store_check(options->db, error);
}

// "2 of 9 points failed; the first, job.dp = 3: ..."
static void sweep_sum_failures(const ScenarioGrid *grid, const SweepRun *run, GError **error)
{
    guint first = 0;
    while (((TimelinePoint *)run->points->pdata[first])->error == NULL)
        first++;
    g_autofree char *words = scenario_grid_words(grid, first);
    base_error_set(error, BASE_ERROR_FAILED, NULL, "%u of %u points failed; %s %s: %s", run->failed,
                   grid->points, run->failed == 1 ? "it is" : "the first is", words,
                   ((TimelinePoint *)run->points->pdata[first])->error);
}

static int sweep_run_command(int argc, char **argv, GError **error)
{
    g_auto(SweepOptions) options = {.jobs = G_MININT64}; // which nobody types
    if (!sweep_read(&options, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    g_autoptr(Ini) ini = scenario_open(argv[1], error);
    if (ini == NULL)
        return BASE_ERROR_FAILED;
    g_autoptr(ScenarioGrid) grid =
        scenario_grid_new(ini, (const char *const *)options.sets, options.zip, error);
    if (grid == NULL)
        return BASE_ERROR_FAILED;
    g_autofree char *name = g_path_get_basename(ini_name(ini));
    if (g_str_has_suffix(name, ".ini"))
        name[strlen(name) - 4] = '\0';
    g_autoptr(SweepRun) run = sweep_run_new(grid, name, options.db, (guint)options.jobs, error);
    if (run == NULL)
        return BASE_ERROR_FAILED;
    if (options.json)
        sweep_print_json(grid, run);
    else if (options.csv)
        sweep_print_csv(grid, run);
    else
        sweep_print_table(grid, run, name);
    if (run->id > 0 && !options.json && !options.csv)
        printf("recorded        sweep %" G_GINT64_FORMAT " in %s: %u point%s run, %u there before\n", run->id,
               options.db, grid->points - run->there, grid->points - run->there == 1 ? "" : "s", run->there);
    if (run->failed == 0)
        return 0;
    fflush(stdout);
    sweep_sum_failures(grid, run, error);
    return BASE_ERROR_FAILED;
}

const Command COMMAND_SWEEP = {
    .name = "sweep",
    .usage = "SCENARIO [--set section.key='a; b; c']... [--zip] [--jobs N] [--db FILE] [--json|--csv]",
    .summary = "Simulate a step for every combination of values",
    .run = sweep_run_command,
};
