// cli/fit-published.c: stepline fit published: estimates, their errors, and what they are worth elsewhere.
#include "cli/fit-published.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/published-read.h"
#include "published/expected.h"
#include "published/fit.h"

typedef struct {
    char *points, *models, *expected;
    gboolean no_cross;
    int jobs;
} FitOptions;

static void fit_options_clear(FitOptions *options)
{
    g_free(options->points);
    g_free(options->models);
    g_free(options->expected);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FitOptions, fit_options_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PublishedFit, published_fit_clear)

static void fit_progress(gpointer user, guint done, guint all)
{
    progress_show_points(user, done, all);
}

static void fit_print_estimates(const PublishedFit *fit)
{
    printf("%-66s%8s%7s%9s%9s%20s%9s%6s\n", "constant", "prior", "+- %", "library", "fitted", "95 %",
           "effect", "rows");
    for (guint j = 0; j < fit->estimates->len; j++) {
        const PublishedEstimate *e = &g_array_index(fit->estimates, PublishedEstimate, j);
        printf("%-66s%8.4g%7.0f%9.4g%9.4g  %8.4g ..%7.4g%7.2f %%%6u%s\n", e->constant->where,
               e->constant->prior, 100 * e->constant->sigma, e->before, e->value,
               e->value * exp(-1.96 * e->error), e->value * exp(1.96 * e->error), 100 * e->effect, e->rows,
               e->at_limit ? "  at the end of its range" : "");
    }
    printf("+- %%: of the prior; effect: by how much a family's step changes, on average, where the constant "
           "is 10 %% larger\n\n");
}

static void fit_print_line(const char *what, const PublishedFit *fit, const double *errors)
{
    double median, bias, mean = published_fit_mean(fit, errors, &median, &bias);
    printf("%-24s%8.2f%8.2f%+8.2f\n", what, 100 * mean, 100 * median, 100 * bias);
}

// Errors of the rows fitted, and of groups of them left out.
static gboolean fit_print_errors(PublishedFit *fit, const FitOptions *options, Progress *progress,
                                 GError **error)
{
    g_autofree double *errors = g_new0(double, MAX(fit->rows->len, 1));
    for (guint i = 0; i < fit->rows->len; i++)
        errors[i] = exp(fit->residual[i]) - 1;
    printf("%-24s%8s%8s%8s   |error| of step time, %%, families weighted equally\n", "", "mean", "median",
           "bias");
    fit_print_line("fitted", fit, errors);
    static const char *const names[] = {"one model left out", "one source left out", "one chip left out"};
    for (guint k = 0; !options->no_cross && k < PUBLISHED_LEAVES; k++) {
        published_fit_leave(fit, (PublishedLeave)k, errors);
        progress_clear(progress);
        fit_print_line(names[k], fit, errors);
        if (k != PUBLISHED_LEAVE_MODEL || options->expected == NULL)
            continue;
        g_autofree char *table = published_expected_table(fit, errors);
        if (!g_file_set_contents(options->expected, table, -1, error))
            return FALSE;
    }
    return TRUE;
}

static int fit_run(const FitOptions *options, const GPtrArray *runs, GHashTable *models, GError **error)
{
    g_autoptr(GPtrArray) cases = published_cases(runs, models);
    Progress progress;
    progress_init(&progress);
    g_auto(PublishedFit) fit = {0};
    published_fit(&fit, cases, (guint)options->jobs, fit_progress, &progress);
    progress_clear(&progress);
    if (fit.rows->len == 0) {
        base_error_set(error, BASE_ERROR_FAILED, NULL,
                       "found no row of split calib that can be run, wanted some");
        return BASE_ERROR_FAILED;
    }
    fit_print_estimates(&fit);
    if (!fit_print_errors(&fit, options, &progress, error))
        return BASE_ERROR_FAILED;
    for (guint j = 0; j < fit.estimates->len; j++)
        if (g_array_index(fit.estimates, PublishedEstimate, j).at_limit)
            return BASE_ERROR_INFEASIBLE;
    return 0;
}

int fit_published_run(int argc, char **argv, GError **error)
{
    g_auto(FitOptions) options = {.jobs = (int)g_get_num_processors()};
    const GOptionEntry entries[] = {
        {"points", 0, 0, G_OPTION_ARG_FILENAME, &options.points, "Runs of this table instead of our own",
         "FILE"},
        {"models", 0, 0, G_OPTION_ARG_FILENAME, &options.models, "Models of this table beside our own",
         "FILE"},
        {"no-cross", 0, 0, G_OPTION_ARG_NONE, &options.no_cross,
         "Do not leave models, sources and chips out in turn", NULL},
        {"expected", 0, 0, G_OPTION_ARG_FILENAME, &options.expected,
         "Write the errors to expect by chip and framework", "FILE"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &options.jobs, "Threads (default: one a core)", "N"},
        {0}};
    if (!options_parse(&COMMAND_FIT, entries, NULL, 1, 1, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    if (options.no_cross && options.expected != NULL) {
        base_error_set(error, BASE_ERROR_USAGE, "--expected",
                       "found it beside --no-cross, whose errors it would write");
        return BASE_ERROR_USAGE;
    }
    g_autoptr(GPtrArray) runs = NULL;
    g_autoptr(GHashTable) models = NULL;
    int status = published_read(options.points, options.models, options.jobs, &runs, &models, error);
    if (status != 0)
        return status;
    return fit_run(&options, runs, models, error);
}
