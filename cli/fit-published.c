// cli/fit-published.c: stepline fit published: estimates, their errors, and what they are worth elsewhere.
#include "cli/fit-published.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "published/fit.h"
#include "published/score.h"

static gboolean fit_progress(gpointer user, guint done, guint all)
{
    progress_show_points(user, done, all);
    return TRUE;
}

static void fit_print_estimates(const PublishedFit *fit)
{
    printf("%-58s%9s%9s%8s%9s%9s%8s%6s\n", "constant", "prior", "before", "fitted", "95 %", "", "effect",
           "rows");
    for (guint j = 0; j < fit->estimates->len; j++) {
        const PublishedEstimate *e = &g_array_index(fit->estimates, PublishedEstimate, j);
        printf("%-58s%9.4g%9.4g%8.4g%9.4g%9.4g%7.1f%%%6u%s\n", e->constant->where, e->constant->prior,
               e->before, e->value, e->value * exp(-1.96 * e->error), e->value * exp(1.96 * e->error),
               100 * e->effect, e->rows, e->at_limit ? "  at its limit" : "");
    }
}

int fit_published_run(int argc, char **argv, GError **error)
{
    gboolean cross = FALSE;
    int jobs = (int)g_get_num_processors();
    const GOptionEntry entries[] = {
        {"cross", 0, 0, G_OPTION_ARG_NONE, &cross, "Cross-validate as well", NULL},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &jobs, "Threads", "N"},
        {0}};
    if (!options_parse(&COMMAND_FIT, entries, NULL, 1, 1, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    g_autoptr(GPtrArray) runs = published_runs_library(error);
    g_autoptr(GHashTable) models = published_models_library(error);
    if (runs == NULL || models == NULL)
        return BASE_ERROR_FAILED;
    g_autoptr(GPtrArray) cases = published_cases(runs, models);
    Progress progress;
    progress_init(&progress);
    PublishedFit fit;
    guint threads = (guint)MAX(jobs, 1);
    published_fit(&fit, cases, threads, fit_progress, &progress);
    progress_clear(&progress);
    fit_print_estimates(&fit);
    g_autofree double *errors = g_new0(double, MAX(fit.rows->len, 1));
    for (guint i = 0; i < fit.rows->len; i++)
        errors[i] = exp(fit.residual[i]) - 1;
    double median, bias, mean = published_fit_mean(&fit, errors, &median, &bias);
    printf("calib: mean %.2f median %.2f bias %+.2f %% (%u rounds)\n", 100 * mean, 100 * median, 100 * bias,
           fit.rounds);
    static const char *const names[] = {"model", "source", "chip"};
    for (guint k = 0; cross && k < PUBLISHED_LEAVES; k++) {
        published_fit_leave(&fit, (PublishedLeave)k, threads, errors, fit_progress, &progress);
        progress_clear(&progress);
        mean = published_fit_mean(&fit, errors, &median, &bias);
        printf("leave one %s out: mean %.2f median %.2f bias %+.2f %%\n", names[k], 100 * mean, 100 * median,
               100 * bias);
    }
    published_simulate(cases, NULL, 0, PUBLISHED_WHOLE, threads, fit_progress, &progress);
    progress_clear(&progress);
    if (g_getenv("STEPLINE_ROWS") != NULL) {
        FILE *out = fopen(g_getenv("STEPLINE_ROWS"), "w");
        fprintf(out, "run,source,chip,precision,model,gpus,framework,published,step,ratio,compute,exposed,"
                     "bubble,rest,mfu,peak,split,reason\n");
        for (guint i = 0; i < cases->len; i++) {
            const PublishedCase *own = cases->pdata[i];
            fprintf(out, "%s,%s,%s,%s,%s,%u,%s,%.6g,%.6g,%.4f,%.4g,%.4g,%.4g,%.4g,%.4f,%.3f,%s,\"%s\"\n",
                    own->run->id, own->run->source_key, own->run->chip, published_precision(own->run),
                    own->run->model, own->run->gpus, own->recipe->framework ? own->recipe->framework : "",
                    own->published, own->step, own->published > 0 ? own->step / own->published : 0,
                    own->compute, own->exposed, own->bubble, own->rest, own->mfu,
                    own->memory > 0 ? own->peak_bytes / own->memory : 0, own->run->split,
                    own->reason ? own->reason : "");
        }
        fclose(out);
    }
    published_fit_clear(&fit);
    return 0;
}
