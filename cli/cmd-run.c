// cli/cmd-run.c: stepline run: simulate one step.
#include <stdio.h>

#include "base/error.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/provenance.h"
#include "published/expected.h"
#include "scenarios/scenario.h"
#include "step/run.h"
#include "timeline/store.h"
#include "timeline/summary.h"

typedef struct {
    char **sets;
    char *db, *model, *machine;
    gint64 gpus;
    gboolean json, assumptions, schedule;
} RunOptions;

static void run_options_clear(RunOptions *options)
{
    g_strfreev(options->sets);
    g_free(options->db);
    g_free(options->model);
    g_free(options->machine);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RunOptions, run_options_clear)

static Ini *run_open(const char *name, const RunOptions *options, GError **error)
{
    if (name != NULL)
        return scenario_open(name, error);
    if (options->model != NULL && options->machine != NULL)
        return ini_read_text("command line", "", 0, error);
    base_error_set(error, BASE_ERROR_USAGE, NULL, "found no scenario, wanted one, or --model and --machine");
    return NULL;
}

// --model, --machine and --gpus, then what --set says. Caller frees with g_strfreev.
static char **run_sets(const RunOptions *options)
{
    GPtrArray *sets = g_ptr_array_new();
    if (options->model != NULL)
        g_ptr_array_add(sets, g_strdup_printf("model.use=%s", options->model));
    if (options->machine != NULL)
        g_ptr_array_add(sets, g_strdup_printf("machine.use=%s", options->machine));
    if (options->gpus > 0)
        g_ptr_array_add(sets, g_strdup_printf("machine.gpus=%" G_GINT64_FORMAT, options->gpus));
    for (guint i = 0; options->sets != NULL && options->sets[i] != NULL; i++)
        g_ptr_array_add(sets, g_strdup(options->sets[i]));
    g_ptr_array_add(sets, NULL);
    return (char **)g_ptr_array_free(sets, FALSE);
}

// The pipeline of a job as a table: forward one unit of time, backward two, sends free.
static int run_schedule(const StepJob *job, GError **error)
{
    enum { CELLS_MAX = 2000000 };
    const Plan *plan = &job->plan;
    double cells = (double)plan->pp * 3 * ((double)plan->micro_batches * plan->chunks + plan->pp);
    if (cells > CELLS_MAX) {
        base_error_set(error, BASE_ERROR_FAILED, "--schedule",
                       "found %u stages and %" G_GINT64_FORMAT
                       " micro-batches, wanted a table of at most %d cells: "
                       "fewer micro-batches would help",
                       plan->pp, plan->micro_batches, CELLS_MAX);
        return BASE_ERROR_FAILED;
    }
    g_autofree char *table = pipe_table(plan->schedule, plan->pp, (guint32)plan->micro_batches, plan->chunks);
    printf("%s", table);
    return 0;
}

static int run_run(int argc, char **argv, GError **error)
{
    g_auto(RunOptions) options = {.gpus = G_MININT64}; // which nobody types
    const GOptionEntry entries[] = {
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.sets,
         "Override one key of the scenario (repeatable)", "SECTION.KEY=VALUE"},
        {"db", 0, 0, G_OPTION_ARG_FILENAME, &options.db, "Append the run, with its timeline, to a database",
         "FILE"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
        {"assumptions", 0, 0, G_OPTION_ARG_NONE, &options.assumptions, "Print what is taken for granted",
         NULL},
        {"schedule", 0, 0, G_OPTION_ARG_NONE, &options.schedule,
         "Print the pipeline schedule, stage by time, and simulate nothing", NULL},
        {"model", 0, 0, G_OPTION_ARG_STRING, &options.model, "Model, instead of the scenario's", "NAME|FILE"},
        {"machine", 0, 0, G_OPTION_ARG_STRING, &options.machine, "Machine, instead of the scenario's",
         "NAME|FILE"},
        {"gpus", 0, 0, G_OPTION_ARG_INT64, &options.gpus, "GPUs, instead of the scenario's", "N"},
        {0}};
    static const char details[] = "SCENARIO is a name of 'stepline list scenarios', or a path. Without one, "
                                  "--model and --machine make one, and\n"
                                  "--set fills in the rest: job.tokens and compute.efficiency at least.";
    if (!options_parse(&COMMAND_RUN, entries, details, 0, 1, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    if (options.gpus < 1 && options.gpus != G_MININT64) {
        base_error_set(error, BASE_ERROR_USAGE, "--gpus", "found %" G_GINT64_FORMAT ", wanted at least 1",
                       options.gpus);
        return BASE_ERROR_USAGE;
    }
    g_autoptr(Ini) ini = run_open(argc > 1 ? argv[1] : NULL, &options, error);
    if (ini == NULL)
        return BASE_ERROR_FAILED;
    g_auto(GStrv) sets = run_sets(&options);
    g_autoptr(StepJob) job = scenario_read(ini, (const char *const *)sets, error);
    if (job == NULL)
        return BASE_ERROR_FAILED;
    if (options.db != NULL && !timeline_store_check(options.db, error))
        return BASE_ERROR_FAILED;
    if (options.schedule)
        return run_schedule(job, error);
    Progress progress;
    progress_init(&progress);
    g_autoptr(StepResult) result = step_run(job, progress_show, &progress, error);
    progress_clear(&progress);
    if (result == NULL)
        return BASE_ERROR_FAILED;
    gint64 run = 0;
    if (options.db != NULL && !timeline_store_write(options.db, result, &run, error))
        return BASE_ERROR_FAILED;
    g_auto(PublishedExpected) expected;
    published_expected(job, &expected);
    if (options.json) {
        JsonNode *node = timeline_summary_json(result);
        json_object_set_string_member(json_node_get_object(node), "expected_error", expected.text);
        options_print_json(node);
        return 0;
    }
    g_autofree char *text = timeline_summary_text(result, options.assumptions);
    g_autofree char *constants = provenance_text(job);
    printf("%s%sexpected error  %s\n", text, options.assumptions ? constants : "", expected.text);
    if (options.db != NULL)
        printf("recorded        run %" G_GINT64_FORMAT " in %s\n", run, options.db);
    return 0;
}

const Command COMMAND_RUN = {
    .name = "run",
    .usage = "SCENARIO [--set section.key=value]... [--db FILE] [--json] [--assumptions] [--schedule]",
    .summary = "Simulate one training step",
    .run = run_run,
};
