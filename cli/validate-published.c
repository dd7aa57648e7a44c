// cli/validate-published.c: stepline validate: published training runs beside simulated ones.
#include "cli/validate-published.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "published/simulate.h"

int validate_published_run(int argc, char **argv, GError **error)
{
    g_autofree char *points = NULL, *models_file = NULL, *run_id = NULL;
    gboolean csv = FALSE;
    int jobs = (int)g_get_num_processors();
    const GOptionEntry entries[] = {
        {"points", 0, 0, G_OPTION_ARG_FILENAME, &points, "Runs of this table instead of our own", "FILE"},
        {"models", 0, 0, G_OPTION_ARG_FILENAME, &models_file, "Models of this table beside our own", "FILE"},
        {"run", 0, 0, G_OPTION_ARG_STRING, &run_id, "Print one run as a scenario", "ID"},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &csv, "Every row, as CSV", NULL},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &jobs, "Threads", "N"},
        {0}};
    if (!options_parse(&COMMAND_VALIDATE, entries, NULL, 0, 0, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    g_autoptr(GPtrArray) runs =
        points == NULL ? published_runs_library(error) : published_runs_read(points, error);
    if (runs == NULL)
        return BASE_ERROR_FAILED;
    g_autoptr(GHashTable) models = published_models_library(error);
    if (models == NULL || (models_file != NULL && !published_models_read(models, models_file, error)))
        return BASE_ERROR_FAILED;
    if (run_id != NULL) {
        for (guint i = 0; i < runs->len; i++) {
            const PublishedRun *run = runs->pdata[i];
            if (strcmp(run->id, run_id) != 0)
                continue;
            g_autoptr(PublishedRecipe) recipe = published_recipe(run, models, NULL);
            printf("%s", recipe->scenario != NULL ? recipe->scenario : recipe->reason);
            for (guint j = 0; j < recipe->assumptions->len; j++)
                printf("# assumed: %s\n", (const char *)recipe->assumptions->pdata[j]);
            return 0;
        }
        return BASE_ERROR_USAGE;
    }
    g_autoptr(GPtrArray) cases = published_cases(runs, models);
    gint64 start = g_get_monotonic_time();
    published_simulate(cases, NULL, 0, PUBLISHED_WHOLE, (guint)MAX(jobs, 1), NULL, NULL);
    printf("run,source,chip,precision,model,gpus,framework,published,step,ratio,compute,exposed,bubble,rest,"
           "mfu,peak,split,reason\n");
    for (guint i = 0; i < cases->len; i++) {
        const PublishedCase *own = cases->pdata[i];
        printf("%s,%s,%s,%s,%s,%u,%s,%.6g,%.6g,%.4f,%.4g,%.4g,%.4g,%.4g,%.4f,%.3f,%s,\"%s\"\n", own->run->id,
               own->run->source_key, own->run->chip, published_precision(own->run), own->run->model,
               own->run->gpus, own->recipe->framework ? own->recipe->framework : "", own->published,
               own->step, own->published > 0 ? own->step / own->published : 0, own->compute, own->exposed,
               own->bubble, own->rest, own->mfu, own->memory > 0 ? own->peak_bytes / own->memory : 0,
               own->run->split, own->reason ? own->reason : "");
    }
    fprintf(stderr, "%.2f s\n", (double)(g_get_monotonic_time() - start) * 1e-6);
    return 0;
}
