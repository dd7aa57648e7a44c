// cli/sweep-run.c: running a sweep.
#include "cli/sweep-run.h"

#include "cli/progress.h"
#include "scenarios/pool.h"
#include "timeline/sweep.h"

// What stands behind the calls of the pool.
typedef struct {
    SweepRun *run;
    TimelineSweep *sweep; // owned; NULL: no database
    GArray *words;        // of TimelineSweepPoint, by point
    GPtrArray *texts;     // theirs; owned
    GArray *left;         // of guint: points to be run
    guint done;           // of them
    Progress progress;
} Sweep;

static void sweep_clear(Sweep *sweep)
{
    progress_clear(&sweep->progress);
    timeline_sweep_free(sweep->sweep);
    g_array_unref(sweep->words);
    g_ptr_array_unref(sweep->texts);
    g_array_unref(sweep->left);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sweep, sweep_clear)

void sweep_run_free(SweepRun *run)
{
    if (run == NULL)
        return;
    g_ptr_array_unref(run->points);
    g_free(run);
}

static void sweep_tick(gpointer user)
{
    Sweep *sweep = user;
    progress_show_points(&sweep->progress, sweep->done, sweep->left->len);
}

static gboolean sweep_done(gpointer user, guint point, const StepResult *result, const GError *failure,
                           GError **error)
{
    Sweep *sweep = user;
    const char *message = result == NULL ? failure->message : NULL;
    if (sweep->sweep != NULL &&
        !timeline_sweep_add(sweep->sweep, &g_array_index(sweep->words, TimelineSweepPoint, point), result,
                            message, error))
        return FALSE;
    sweep->run->points->pdata[point] =
        result == NULL ? timeline_point_new_failed(message) : timeline_point_new(result);
    sweep->run->failed += result == NULL;
    sweep->done++;
    sweep_tick(sweep);
    return TRUE;
}

// Opens the sweep in the database, and takes what is there.
static gboolean sweep_resume(Sweep *sweep, const ScenarioGrid *grid, const char *name, const char *db,
                             GError **error)
{
    g_autofree char *axes = scenario_grid_json_all(grid);
    g_autofree char *hash = scenario_grid_hash_all(grid);
    TimelineSweepHead head = {.name = name,
                              .scenario = grid->text,
                              .axes = axes,
                              .mode = grid->zip ? "zip" : "product",
                              .hash = hash,
                              .points = grid->points};
    for (guint i = 0; i < grid->points; i++) {
        TimelineSweepPoint point = {
            .id = i, .axes = scenario_grid_json(grid, i), .hash = scenario_grid_hash(grid, i)};
        g_ptr_array_add(sweep->texts, (gpointer)point.axes);
        g_ptr_array_add(sweep->texts, (gpointer)point.hash);
        g_array_append_val(sweep->words, point);
    }
    sweep->sweep = timeline_sweep_new(db, &head, error);
    if (sweep->sweep == NULL)
        return FALSE;
    sweep->run->id = timeline_sweep_id(sweep->sweep);
    return timeline_sweep_resume(sweep->sweep, (const TimelineSweepPoint *)(const void *)sweep->words->data,
                                 grid->points, (TimelinePoint **)sweep->run->points->pdata, error);
}

SweepRun *sweep_run_new(const ScenarioGrid *grid, const char *name, const char *db, guint jobs,
                        GError **error)
{
    g_autoptr(SweepRun) run = g_new0(SweepRun, 1);
    run->points = g_ptr_array_new_with_free_func((GDestroyNotify)timeline_point_free);
    g_ptr_array_set_size(run->points, (int)grid->points);
    g_auto(Sweep) sweep = {.run = run,
                           .words = g_array_new(FALSE, FALSE, sizeof(TimelineSweepPoint)),
                           .texts = g_ptr_array_new_with_free_func(g_free),
                           .left = g_array_new(FALSE, FALSE, sizeof(guint))};
    progress_init(&sweep.progress);
    if (db != NULL && !sweep_resume(&sweep, grid, name, db, error))
        return NULL;
    for (guint i = 0; i < grid->points; i++)
        if (run->points->pdata[i] == NULL)
            g_array_append_val(sweep.left, i);
    run->there = grid->points - sweep.left->len;
    if (!scenario_pool_run(grid, (const guint *)(const void *)sweep.left->data, sweep.left->len, jobs,
                           sweep_done, sweep_tick, &sweep, error))
        return NULL;
    return g_steal_pointer(&run);
}
