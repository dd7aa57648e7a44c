// cli/validate-runs.c: stepline validate runs: published training runs beside simulated ones.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/published-print.h"
#include "cli/published-read.h"
#include "cli/validate-verb.h"
#include "published/store.h"
#include "timeline/store.h"
#include "validation/tables.h"

static void validate_progress(gpointer user, guint done, guint all)
{
    progress_show_points(user, done, all);
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

// The deck's two steps of LLaMA 7B on 64 H100, which it computed and nobody measured.
static gboolean validate_print_deck(GError **error)
{
    g_autoptr(GPtrArray) rows = validation_tables_run("deck", error);
    for (guint i = 0; rows != NULL && i < rows->len; i++) {
        const ValidationTablesRow *row = rows->pdata[i];
        gboolean asked = strcmp(row->quantity, "step") == 0 || strcmp(row->quantity, "mfu") == 0;
        if (strcmp(row->table, "step") == 0 && asked)
            printf("the deck's LLaMA 7B, %s, %s: %s %s printed, %.4g %s simulated\n", row->case_name,
                   row->quantity, row->printed, row->unit, row->simulated, row->unit);
    }
    printf("\n");
    return rows != NULL;
}

static int validate_simulate(const ValidateArguments *arguments, const GPtrArray *runs, GHashTable *models,
                             GError **error)
{
    if (arguments->db != NULL && !timeline_store_check(arguments->db, error))
        return BASE_ERROR_FAILED;
    g_autoptr(GPtrArray) cases = published_cases(runs, models);
    Progress progress;
    progress_init(&progress);
    published_simulate(cases, NULL, 0, PUBLISHED_WHOLE, (guint)arguments->jobs, validate_progress, &progress);
    for (guint i = 0; i < cases->len; i++)
        published_range(cases->pdata[i], models);
    progress_clear(&progress);
    if (arguments->db != NULL && !published_store(arguments->db, cases, error))
        return BASE_ERROR_FAILED;
    if (arguments->json) {
        options_print_json(published_print_json(cases));
        return 0;
    }
    if (arguments->csv) {
        published_print_csv(cases);
        return 0;
    }
    if (arguments->rows)
        published_print_rows(cases);
    published_print_headline(cases);
    if (arguments->points == NULL && !validate_print_deck(error))
        return BASE_ERROR_FAILED;
    published_print_scores(cases, arguments->families ? 0 : 12);
    published_print_reasons(cases);
    return 0;
}

static int runs_run(const ValidateArguments *arguments, GError **error)
{
    const gboolean given[] = {arguments->json, arguments->csv, arguments->rows || arguments->families,
                              arguments->run != NULL};
    guint ways = 0;
    for (guint i = 0; i < G_N_ELEMENTS(given); i++)
        ways += given[i] ? 1 : 0;
    if (ways > 1) {
        base_error_set(error, BASE_ERROR_USAGE, "validate runs",
                       "found more than one of --json, --csv, --run, and --rows or --families, wanted one");
        return BASE_ERROR_USAGE;
    }
    if (arguments->run != NULL && arguments->db != NULL) {
        base_error_set(error, BASE_ERROR_USAGE, "validate runs",
                       "found --db beside --run, which simulates nothing");
        return BASE_ERROR_USAGE;
    }
    g_autoptr(GPtrArray) runs = NULL;
    g_autoptr(GHashTable) models = NULL;
    int status = published_read(arguments->points, arguments->models, arguments->jobs, &runs, &models, error);
    if (status != 0)
        return status;
    return arguments->run != NULL ? validate_print_run(arguments->run, runs, models, error)
                                  : validate_simulate(arguments, runs, models, error);
}

static const char *const TAKES[] = {"--points", "--models", "--rows", "--families", "--run",
                                    "--csv",    "--db",     "--jobs", NULL};

const ValidateVerb VALIDATE_VERB_RUNS = {
    .name = "runs",
    .usage = "[--points FILE] [--models FILE] [--rows] [--families] [--run ID] [--csv] [--json] [--db FILE] "
             "[-j N]",
    .takes = TAKES,
    .run = runs_run,
};
