// timeline/sweep.c: writing a sweep into a timeline file, point by point.
#include "timeline/sweep.h"

#include "base/error.h"
#include "config.h"
#include "timeline/database.h"
#include "timeline/run-row.h"

struct TimelineSweep {
    sqlite3 *database; // owned
    char *path;        // owned
    gint64 id;
};

void timeline_sweep_free(TimelineSweep *sweep)
{
    if (sweep == NULL)
        return;
    timeline_database_free(sweep->database);
    g_free(sweep->path);
    g_free(sweep);
}

gint64 timeline_sweep_id(const TimelineSweep *sweep)
{
    return sweep->id;
}

// The number that a statement with one text gives; 0 where it gives no row.
static gboolean sweep_number(const TimelineSweep *sweep, const char *sql, const char *text, gint64 *number,
                             GError **error)
{
    *number = 0;
    sqlite3_stmt *statement = timeline_database_prepare(sweep->database, sweep->path, sql, error);
    if (statement == NULL)
        return FALSE;
    timeline_run_row_bind(statement, 1, text);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *number = sqlite3_column_int64(statement, 0);
    else if (code != SQLITE_DONE)
        timeline_database_refuse(sweep->database, sweep->path, error);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

static gboolean sweep_commit(const TimelineSweep *sweep, GError **error)
{
    return timeline_database_run(sweep->database, sweep->path, "COMMIT", error);
}

// Finds or makes the sweep's own row.
static gboolean sweep_begin(TimelineSweep *sweep, const TimelineSweepHead *head, GError **error)
{
    static const char FIND[] = "SELECT id FROM sweep WHERE hash = ? ORDER BY id DESC LIMIT 1";
    static const char MAKE[] =
        "INSERT INTO sweep (created, name, scenario, axes, mode, hash, points) VALUES (?, ?, ?, ?, ?, ?, ?)";
    if (!timeline_run_row_begin(sweep->database, sweep->path, error) ||
        !sweep_number(sweep, FIND, head->hash, &sweep->id, error))
        return FALSE;
    if (sweep->id > 0)
        return sweep_commit(sweep, error);
    sqlite3_stmt *statement = timeline_database_prepare(sweep->database, sweep->path, MAKE, error);
    if (statement == NULL)
        return FALSE;
    g_autofree char *created = timeline_run_row_now();
    const char *texts[] = {created, head->name, head->scenario, head->axes, head->mode, head->hash};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        timeline_run_row_bind(statement, (int)i + 1, texts[i]);
    sqlite3_bind_int64(statement, 7, head->points);
    gboolean fine = timeline_run_row_insert(sweep->database, sweep->path, statement, error);
    sqlite3_finalize(statement);
    sweep->id = sqlite3_last_insert_rowid(sweep->database);
    return fine && sweep_commit(sweep, error);
}

TimelineSweep *timeline_sweep_new(const char *path, const TimelineSweepHead *head, GError **error)
{
    gboolean made = timeline_database_is_absent(path);
    TimelineSweep *sweep = g_new0(TimelineSweep, 1);
    sweep->path = g_strdup(path);
    sweep->database = timeline_database_new(path, TIMELINE_DATABASE_WRITE, error);
    if (sweep->database != NULL && sweep_begin(sweep, head, error))
        return sweep;
    timeline_database_abandon(g_steal_pointer(&sweep->database), path, made);
    timeline_sweep_free(sweep);
    return NULL;
}

// The row of a point; run 0 is none.
static gboolean sweep_write(const TimelineSweep *sweep, const TimelineSweepPoint *point, gint64 run,
                            const char *failure, GError **error)
{
    static const char SQL[] =
        "INSERT OR REPLACE INTO point (sweep, id, axes, hash, run, error) VALUES (?, ?, ?, ?, ?, ?)";
    sqlite3_stmt *statement = timeline_database_prepare(sweep->database, sweep->path, SQL, error);
    if (statement == NULL)
        return FALSE;
    sqlite3_bind_int64(statement, 1, sweep->id);
    sqlite3_bind_int64(statement, 2, point->id);
    timeline_run_row_bind(statement, 3, point->axes);
    timeline_run_row_bind(statement, 4, point->hash);
    if (run > 0)
        sqlite3_bind_int64(statement, 5, run);
    else
        timeline_run_row_bind(statement, 6, failure);
    gboolean fine = timeline_run_row_insert(sweep->database, sweep->path, statement, error);
    sqlite3_finalize(statement);
    return fine;
}

gboolean timeline_sweep_resume(TimelineSweep *sweep, const TimelineSweepPoint *points, guint n,
                               TimelinePoint **found, GError **error)
{
    static const char FIND[] =
        "SELECT run.id FROM point JOIN run ON run.id = point.run WHERE point.hash = ? AND "
        "run.version = '" VERSION "' ORDER BY run.id LIMIT 1";
    for (guint i = 0; i < n; i++)
        found[i] = NULL;
    gboolean fine = timeline_run_row_begin(sweep->database, sweep->path, error);
    for (guint i = 0; fine && i < n; i++) {
        gint64 run = 0;
        fine = sweep_number(sweep, FIND, points[i].hash, &run, error);
        if (!fine || run <= 0)
            continue;
        found[i] = timeline_point_read(sweep->database, sweep->path, run, error);
        fine = found[i] != NULL && sweep_write(sweep, &points[i], run, NULL, error);
    }
    if (fine && sweep_commit(sweep, error))
        return TRUE;
    timeline_database_run(sweep->database, sweep->path, "ROLLBACK", NULL);
    return FALSE;
}

gboolean timeline_sweep_add(TimelineSweep *sweep, const TimelineSweepPoint *point, const StepResult *result,
                            const char *failure, GError **error)
{
    gint64 run = 0;
    if (timeline_run_row_begin(sweep->database, sweep->path, error) &&
        (result == NULL || timeline_run_row_add(sweep->database, sweep->path, result, &run, error)) &&
        sweep_write(sweep, point, run, failure, error) && sweep_commit(sweep, error))
        return TRUE;
    timeline_database_run(sweep->database, sweep->path, "ROLLBACK", NULL);
    return FALSE;
}
