// timeline/point.c: what a sweep keeps of one point.
#include "timeline/point.h"

#include <math.h>

#include "base/error.h"
#include "timeline/database.h"

const char *const TIMELINE_POINT_NAMES[TIMELINE_POINT_TEXTS] = {"model",    "machine",     "chip",
                                                                "counting", "fingerprint", "fidelity"};

TimelinePoint *timeline_point_new(const StepResult *result)
{
    TimelinePoint *point = g_new0(TimelinePoint, 1);
    const char *texts[] = {result->model, result->machine, result->chip, result->counting};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        point->texts[i] = g_strdup(texts[i]);
    point->texts[4] = g_strdup_printf("%016" G_GINT64_MODIFIER "x", result->fingerprint);
    point->texts[5] = g_strdup(result->fidelity);
    timeline_metrics(result, point->values);
    return point;
}

TimelinePoint *timeline_point_new_failed(const char *error)
{
    TimelinePoint *point = g_new0(TimelinePoint, 1);
    point->error = g_strdup(error);
    return point;
}

void timeline_point_free(TimelinePoint *point)
{
    if (point == NULL)
        return;
    for (guint i = 0; i < TIMELINE_POINT_TEXTS; i++)
        g_free(point->texts[i]);
    g_free(point->error);
    g_free(point);
}

static gboolean point_read_texts(sqlite3 *database, const char *path, gint64 run, TimelinePoint *point,
                                 GError **error)
{
    static const char SQL[] =
        "SELECT model, machine, chip, counting, fingerprint, fidelity FROM run WHERE id = ?";
    sqlite3_stmt *statement = timeline_database_prepare(database, path, SQL, error);
    if (statement == NULL)
        return FALSE;
    sqlite3_bind_int64(statement, 1, run);
    int code = sqlite3_step(statement);
    for (int i = 0; code == SQLITE_ROW && i < TIMELINE_POINT_TEXTS; i++) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        point->texts[i] = g_utf8_make_valid(text == NULL ? "?" : text, -1);
    }
    if (code == SQLITE_DONE)
        base_error_set(error, BASE_ERROR_FAILED, path,
                       "found a point of run %" G_GINT64_FORMAT ", which is not there", run);
    else if (code != SQLITE_ROW)
        timeline_database_refuse(database, path, error);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW;
}

TimelinePoint *timeline_point_read(sqlite3 *database, const char *path, gint64 run, GError **error)
{
    static const char SQL[] = "SELECT name, value FROM metric WHERE run = ?";
    g_autoptr(TimelinePoint) point = g_new0(TimelinePoint, 1);
    for (guint i = 0; i < TIMELINE_METRICS; i++)
        point->values[i] = (double)NAN;
    if (!point_read_texts(database, path, run, point, error))
        return NULL;
    sqlite3_stmt *statement = timeline_database_prepare(database, path, SQL, error);
    if (statement == NULL)
        return NULL;
    sqlite3_bind_int64(statement, 1, run);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        int at = name == NULL ? -1 : timeline_metrics_find(name);
        if (at >= 0 && sqlite3_column_type(statement, 1) == SQLITE_FLOAT)
            point->values[at] = sqlite3_column_double(statement, 1);
    }
    if (code != SQLITE_DONE)
        timeline_database_refuse(database, path, error);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? g_steal_pointer(&point) : NULL;
}
