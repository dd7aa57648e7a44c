// cli/validate-published.c: stepline validate: published training runs beside simulated ones.
#include "cli/validate-published.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/published-print.h"
#include "published/store.h"
#include "scenarios/scenario.h"
#include "step/run.h"
#include "timeline/store.h"

typedef struct {
    char *points, *models, *run, *db;
    char *family, *report; // of words: here only for --help
    gboolean rows, families, csv, json, all;
    int jobs;
} ValidateOptions;

static void validate_options_clear(ValidateOptions *options)
{
    g_free(options->points);
    g_free(options->models);
    g_free(options->run);
    g_free(options->family);
    g_free(options->report);
    g_free(options->db);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ValidateOptions, validate_options_clear)

static gboolean validate_progress(gpointer user, guint done, guint all)
{
    progress_show_points(user, done, all);
    return TRUE;
}

// One run as a scenario that 'stepline run' takes, with what is assumed of it.
static int validate_print_run(const char *id, const GPtrArray *runs, GHashTable *models, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < runs->len; i++) {
        const PublishedRun *run = runs->pdata[i];
        g_ptr_array_add(names, run->id);
        if (strcmp(run->id, id) != 0)
            continue;
        g_autoptr(PublishedRecipe) recipe = published_recipe(run, models, NULL);
        if (recipe->scenario == NULL) {
            base_error_set(error, BASE_ERROR_FAILED, run->id, "cannot be run: %s", recipe->reason);
            return BASE_ERROR_FAILED;
        }
        printf("%s", recipe->scenario);
        for (guint j = 0; j < recipe->assumptions->len; j++)
            printf("# assumed: %s\n", (const char *)recipe->assumptions->pdata[j]);
        return 0;
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = suggest_hint(id, (const char *const *)names->pdata),
                    *quoted = base_error_quote(id);
    base_error_set(error, BASE_ERROR_USAGE, "--run", "found no run '%s' in the table%s", quoted, hint);
    return BASE_ERROR_USAGE;
}

// The deck's two steps of LLaMA 7B on 64 H100, which it computed and nobody measured
// (validation/data/deck.csv).
static gboolean validate_print_deck(GError **error)
{
    static const struct {
        const char *scenario, *what;
        double step, mfu;
    } rows[] = {{"llama7b-64xh100-wait", "no overlap", 2.17, 0.357},
                {"llama7b-64xh100-overlap", "perfect overlap", 1.64, 0.473}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(Ini) ini = scenario_open(rows[i].scenario, error);
        g_autoptr(StepJob) job = ini == NULL ? NULL : scenario_read(ini, NULL, error);
        g_autoptr(StepResult) result = job == NULL ? NULL : step_run(job, NULL, NULL, error);
        if (result == NULL)
            return FALSE;
        double step = units_seconds(result->step);
        printf("the deck's LLaMA 7B on 64 H100, %s: %.2f s and %.1f %% MFU as printed, %.3f s and %.1f %% "
               "simulated "
               "(%+.1f %%)\n",
               rows[i].what, rows[i].step, 100 * rows[i].mfu, step, 100 * result->mfu,
               100 * (step / rows[i].step - 1));
    }
    printf("\n");
    return TRUE;
}

static int validate_simulate(const ValidateOptions *options, const GPtrArray *runs, GHashTable *models,
                             GError **error)
{
    if (options->db != NULL && !timeline_store_check(options->db, error))
        return BASE_ERROR_FAILED;
    g_autoptr(GPtrArray) cases = published_cases(runs, models);
    Progress progress;
    progress_init(&progress);
    published_simulate(cases, NULL, 0, PUBLISHED_WHOLE, (guint)options->jobs, validate_progress, &progress);
    for (guint i = 0; i < cases->len; i++)
        published_range(cases->pdata[i], models);
    progress_clear(&progress);
    if (options->db != NULL && !published_store(options->db, cases, error))
        return BASE_ERROR_FAILED;
    if (options->json) {
        options_print_json(published_print_json(cases));
        return 0;
    }
    if (options->csv) {
        published_print_csv(cases);
        return 0;
    }
    if (options->rows)
        published_print_rows(cases);
    published_print_headline(cases);
    if (options->points == NULL && !validate_print_deck(error))
        return BASE_ERROR_FAILED;
    published_print_scores(cases, options->families ? 0 : 12);
    published_print_reasons(cases);
    return 0;
}

int validate_published_run(int argc, char **argv, GError **error)
{
    g_auto(ValidateOptions) options = {.jobs = (int)g_get_num_processors()};
    const GOptionEntry entries[] = {
        {"points", 0, 0, G_OPTION_ARG_FILENAME, &options.points, "Runs of this table instead of our own",
         "FILE"},
        {"models", 0, 0, G_OPTION_ARG_FILENAME, &options.models, "Models of this table beside our own",
         "FILE"},
        {"rows", 0, 0, G_OPTION_ARG_NONE, &options.rows, "Print every row as well", NULL},
        {"families", 0, 0, G_OPTION_ARG_NONE, &options.families, "Print every family, not only the worst",
         NULL},
        {"run", 0, 0, G_OPTION_ARG_STRING, &options.run,
         "Print one run as a scenario, and what is assumed of it", "ID"},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &options.csv, "Print every row as CSV", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
        {"db", 0, 0, G_OPTION_ARG_FILENAME, &options.db, "Add every row to this database", "FILE"},
        {"family", 0, 0, G_OPTION_ARG_STRING, &options.family, "collectives: only rows of this family",
         "NAME"},
        {"report", 0, 0, G_OPTION_ARG_STRING, &options.report, "reports: only this one", "N"},
        {"all", 0, 0, G_OPTION_ARG_NONE, &options.all, "collectives: also rows that take minutes", NULL},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &options.jobs, "Threads (default: one a core)", "N"},
        {0}};
    static const char details[] =
        "Published training runs. With a word instead ('stepline validate WORD --help' tells more):\n"
        "collectives: measured collectives, by family of machines. buckets: gradient buckets as PyTorch "
        "formed them.\n"
        "layers: published times of single layers. reports: questions of users whose answer is known.";
    if (!options_parse(&COMMAND_VALIDATE, entries, details, 0, 0, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    if (options.family != NULL || options.report != NULL || options.all) {
        base_error_set(error, BASE_ERROR_USAGE, "validate",
                       "found --family, --report or --all, wanted a word before: collectives or reports");
        return BASE_ERROR_USAGE;
    }
    if (options.jobs < 1 || options.jobs > 256) {
        base_error_set(error, BASE_ERROR_USAGE, "--jobs", "found %d, wanted 1 to 256", options.jobs);
        return BASE_ERROR_USAGE;
    }
    g_autoptr(GPtrArray) runs =
        options.points == NULL ? published_runs_library(error) : published_runs_read(options.points, error);
    g_autoptr(GHashTable) models = runs == NULL ? NULL : published_models_library(error);
    if (models == NULL || (options.models != NULL && !published_models_read(models, options.models, error)))
        return BASE_ERROR_FAILED;
    return options.run != NULL ? validate_print_run(options.run, runs, models, error)
                               : validate_simulate(&options, runs, models, error);
}
