// cli/published-read.c: reading tables of published runs.
#include "cli/published-read.h"

#include "base/error.h"
#include "published/architecture.h"
#include "published/run.h"

int published_read(const char *points, const char *models_file, int jobs, GPtrArray **runs,
                   GHashTable **models, GError **error)
{
    enum { JOBS_MAX = 256 };
    *runs = NULL;
    *models = NULL;
    if (jobs < 1 || jobs > JOBS_MAX) {
        base_error_set(error, BASE_ERROR_USAGE, "--jobs", "found %d, wanted 1 to %d", jobs, JOBS_MAX);
        return BASE_ERROR_USAGE;
    }
    *runs = points == NULL ? published_runs_library(error) : published_runs_read(points, error);
    if (*runs != NULL && (*runs)->len == 0) {
        base_error_set(error, BASE_ERROR_FAILED, points, "found no run, wanted a row below the header");
        return BASE_ERROR_FAILED;
    }
    *models = *runs == NULL ? NULL : published_models_library(error);
    if (*models == NULL || (models_file != NULL && !published_models_read(*models, models_file, error)))
        return BASE_ERROR_FAILED;
    return 0;
}
