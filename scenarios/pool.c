// scenarios/pool.c: the points of a grid, simulated by threads.
#include "scenarios/pool.h"

#include <string.h>

#include "scenarios/scenario.h"
#include "step/run.h"

typedef struct {
    const ScenarioGrid *grid; // borrowed
    const guint *points;      // borrowed
    guint n;
    ScenarioPoolDone done;
    ScenarioPoolTick tick;
    gpointer user;
    GMutex mutex;  // of all that follows, and of the two calls
    guint next;    // the first of points that nobody has taken
    GError *error; // owned; set: no more work
} Pool;

static gboolean pool_progress(gpointer user, Ps now, guint64 events)
{
    (void)now;
    (void)events;
    Pool *pool = user;
    g_mutex_lock(&pool->mutex);
    gboolean on = pool->error == NULL;
    if (on)
        pool->tick(pool->user);
    g_mutex_unlock(&pool->mutex);
    return on;
}

static StepResult *pool_run_point(Pool *pool, guint point, GError **error)
{
    const ScenarioGrid *grid = pool->grid;
    g_autoptr(Ini) ini = ini_read_text(grid->file, grid->text, strlen(grid->text), error);
    if (ini == NULL)
        return NULL;
    g_auto(GStrv) sets = scenario_grid_sets(grid, point);
    g_autoptr(StepJob) job = scenario_read(ini, (const char *const *)sets, error);
    if (job == NULL)
        return NULL;
    job->one_thread = TRUE;
    return step_run(job, pool_progress, pool, error);
}

// One worker: takes the next point until there is none.
static gpointer pool_work(gpointer data)
{
    Pool *pool = data;
    g_mutex_lock(&pool->mutex);
    while (pool->error == NULL && pool->next < pool->n) {
        guint point = pool->points[pool->next++];
        g_mutex_unlock(&pool->mutex);
        g_autoptr(GError) failure = NULL;
        g_autoptr(StepResult) result = pool_run_point(pool, point, &failure);
        g_mutex_lock(&pool->mutex);
        if (pool->error == NULL)
            pool->done(pool->user, point, result, failure, &pool->error);
    }
    g_mutex_unlock(&pool->mutex);
    return NULL;
}

gboolean scenario_pool_run(const ScenarioGrid *grid, const guint *points, guint n, guint jobs,
                           ScenarioPoolDone done, ScenarioPoolTick tick, gpointer user, GError **error)
{
    g_assert(jobs >= 1 && jobs <= SCENARIO_POOL_JOBS_MAX);
    Pool pool = {.grid = grid, .points = points, .n = n, .done = done, .tick = tick, .user = user};
    g_mutex_init(&pool.mutex);
    GThread *threads[SCENARIO_POOL_JOBS_MAX];
    guint started = 0;
    while (started + 1 < MIN(jobs, n) &&
           (threads[started] = g_thread_try_new("sweep", pool_work, &pool, NULL)) != NULL)
        started++; // where the system gives no more threads, fewer do the work
    pool_work(&pool);
    for (guint i = 0; i < started; i++)
        g_thread_join(threads[i]);
    g_mutex_clear(&pool.mutex);
    if (pool.error == NULL)
        return TRUE;
    g_propagate_error(error, pool.error);
    return FALSE;
}
