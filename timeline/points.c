// timeline/points.c: reading a sweep out of a timeline file.
#include "timeline/points.h"

#include <json-glib/json-glib.h>

#include "base/error.h"
#include "timeline/database.h"

static void points_free_row(gpointer data)
{
    TimelinePointsRow *row = data;
    g_strfreev(row->values);
    timeline_point_free(row->out);
    g_free(row);
}

void timeline_points_free(TimelinePoints *points)
{
    if (points == NULL)
        return;
    g_free(points->name);
    g_ptr_array_unref(points->axes);
    g_ptr_array_unref(points->rows);
    g_free(points);
}

// A column's text for people; "?" where it is none.
static char *points_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text == NULL ? g_strdup("?") : base_error_quote(text);
}

// A column as a JSON object; NULL where it is none. Caller unrefs.
static JsonObject *points_object(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    JsonNode *node = text == NULL ? NULL : json_from_string(text, NULL);
    JsonObject *object =
        node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_object_ref(json_node_get_object(node)) : NULL;
    if (node != NULL)
        json_node_unref(node);
    return object;
}

// The sweep's own row. FALSE with an error.
static gboolean points_read_head(sqlite3 *database, const char *path, gint64 id, TimelinePoints *points,
                                 GError **error)
{
    static const char SQL[] =
        "SELECT id, name, mode, axes FROM sweep WHERE ?1 IN (0, id) ORDER BY id DESC LIMIT 1";
    sqlite3_stmt *statement = timeline_database_prepare(database, path, SQL, error);
    if (statement == NULL)
        return FALSE;
    sqlite3_bind_int64(statement, 1, id);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        points->id = sqlite3_column_int64(statement, 0);
        points->name = points_text(statement, 1);
        g_autofree char *mode = points_text(statement, 2);
        points->zip = g_strcmp0(mode, "zip") == 0;
        g_autoptr(JsonObject) axes = points_object(statement, 3);
        g_autoptr(GList) names = axes == NULL ? NULL : json_object_get_members(axes);
        for (const GList *name = names; name != NULL; name = name->next)
            g_ptr_array_add(points->axes, g_strdup(name->data));
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        timeline_database_refuse(database, path, error);
    else if (code == SQLITE_DONE && id == 0)
        base_error_set(error, BASE_ERROR_FAILED, path, "found no sweep, wanted one: 'stepline sweep --db'");
    else if (code == SQLITE_DONE)
        base_error_set(error, BASE_ERROR_FAILED, path, "found no sweep %" G_GINT64_FORMAT, id);
    else if (points->axes->len == 0)
        base_error_set(error, BASE_ERROR_FAILED, path, "found a sweep without axes");
    sqlite3_finalize(statement);
    return points->axes->len > 0;
}

static char **points_values(const TimelinePoints *points, JsonObject *axes)
{
    GPtrArray *values = g_ptr_array_new();
    for (guint i = 0; i < points->axes->len; i++) {
        JsonNode *node = axes == NULL ? NULL : json_object_get_member(axes, points->axes->pdata[i]);
        const char *text = node != NULL && json_node_get_value_type(node) == G_TYPE_STRING
                               ? json_node_get_string(node)
                               : "?";
        g_ptr_array_add(values, base_error_quote(text));
    }
    g_ptr_array_add(values, NULL);
    return (char **)g_ptr_array_free(values, FALSE);
}

static gboolean points_read_rows(sqlite3 *database, const char *path, TimelinePoints *points, GError **error)
{
    static const char SQL[] =
        "SELECT id, axes, run, error FROM point WHERE sweep = ? AND typeof(id) = 'integer'"
        " ORDER BY id";
    sqlite3_stmt *statement = timeline_database_prepare(database, path, SQL, error);
    if (statement == NULL)
        return FALSE;
    sqlite3_bind_int64(statement, 1, points->id);
    int code = SQLITE_DONE;
    gboolean fine = TRUE;
    while (fine && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        TimelinePointsRow *row = g_new0(TimelinePointsRow, 1);
        g_ptr_array_add(points->rows, row);
        row->id = sqlite3_column_int64(statement, 0);
        g_autoptr(JsonObject) axes = points_object(statement, 1);
        row->values = points_values(points, axes);
        g_autofree char *failure = points_text(statement, 3);
        row->out = sqlite3_column_type(statement, 2) != SQLITE_INTEGER
                       ? timeline_point_new_failed(failure)
                       : timeline_point_read(database, path, sqlite3_column_int64(statement, 2), error);
        fine = row->out != NULL;
    }
    if (fine && code != SQLITE_DONE)
        fine = timeline_database_refuse(database, path, error);
    sqlite3_finalize(statement);
    return fine;
}

TimelinePoints *timeline_points_read(const char *path, gint64 id, GError **error)
{
    g_autoptr(TimelinePoints) points = g_new0(TimelinePoints, 1);
    points->axes = g_ptr_array_new_with_free_func(g_free);
    points->rows = g_ptr_array_new_with_free_func(points_free_row);
    sqlite3 *database = timeline_database_new(path, TIMELINE_DATABASE_READ, error);
    gboolean fine = database != NULL && timeline_database_check(database, path, NULL, error) &&
                    timeline_database_run(database, path, "PRAGMA query_only = ON", error) &&
                    points_read_head(database, path, id, points, error) &&
                    points_read_rows(database, path, points, error);
    timeline_database_free(database);
    return fine ? g_steal_pointer(&points) : NULL;
}
