// timeline/published.c: published runs beside simulated ones in a timeline file.
#include "timeline/published.h"

#include <math.h>
#include <stddef.h>

#include "base/error.h"
#include "config.h"
#include "timeline/database.h"
#include "timeline/run-row.h"

// The columns after validation, id, created and version, in the order of both statements.
#define PUBLISHED_COLUMNS                                                                                    \
    "name, source, model, chip, precision, split, framework, machine, reason, gpus, published_s, "           \
    "simulated_s, low_s, high_s, mfu, hfu, compute_s, exposed_s, bubble_s, rest_s, peak_bytes"

enum { PUBLISHED_REQUIRED = 6 }; // texts that are never NULL

static const gsize TEXTS[] = {
    offsetof(TimelinePublished, name),      offsetof(TimelinePublished, source),
    offsetof(TimelinePublished, model),     offsetof(TimelinePublished, chip),
    offsetof(TimelinePublished, precision), offsetof(TimelinePublished, split),
    offsetof(TimelinePublished, framework), offsetof(TimelinePublished, machine),
    offsetof(TimelinePublished, reason),
};
static const gsize NUMBERS[] = {
    offsetof(TimelinePublished, published),  offsetof(TimelinePublished, simulated),
    offsetof(TimelinePublished, low),        offsetof(TimelinePublished, high),
    offsetof(TimelinePublished, mfu),        offsetof(TimelinePublished, hfu),
    offsetof(TimelinePublished, compute),    offsetof(TimelinePublished, exposed),
    offsetof(TimelinePublished, bubble),     offsetof(TimelinePublished, rest),
    offsetof(TimelinePublished, peak_bytes),
};

static char **published_text(const TimelinePublished *row, guint i)
{
    return G_STRUCT_MEMBER_P(row, TEXTS[i]);
}

static double *published_number(const TimelinePublished *row, guint i)
{
    return G_STRUCT_MEMBER_P(row, NUMBERS[i]);
}

TimelinePublished *timeline_published_new(void)
{
    TimelinePublished *row = g_new0(TimelinePublished, 1);
    for (guint i = 0; i < G_N_ELEMENTS(NUMBERS); i++)
        *published_number(row, i) = (double)NAN;
    return row;
}

void timeline_published_free(gpointer row)
{
    for (guint i = 0; row != NULL && i < G_N_ELEMENTS(TEXTS); i++)
        g_free(*published_text(row, i));
    g_free(row);
}

static void published_bind(sqlite3_stmt *statement, const TimelinePublished *row, int at)
{
    for (guint i = 0; i < G_N_ELEMENTS(TEXTS); i++, at++)
        if (i < PUBLISHED_REQUIRED || *published_text(row, i) != NULL)
            timeline_run_row_bind(statement, at, *published_text(row, i));
    sqlite3_bind_int64(statement, at++, row->gpus);
    for (guint i = 0; i < G_N_ELEMENTS(NUMBERS); i++, at++)
        if (isfinite(*published_number(row, i)))
            sqlite3_bind_double(statement, at, *published_number(row, i));
}

static gboolean published_insert(sqlite3 *database, const char *path, const GPtrArray *rows,
                                 gint64 validation, GError **error)
{
    static const char SQL[] = "INSERT INTO published (validation, id, created, version, " PUBLISHED_COLUMNS
                              ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                              " ?, ?)";
    sqlite3_stmt *statement = timeline_database_prepare(database, path, SQL, error);
    gboolean fine = statement != NULL;
    g_autofree char *created = timeline_run_row_now();
    for (guint i = 0; fine && i < rows->len; i++) {
        sqlite3_clear_bindings(statement);
        sqlite3_bind_int64(statement, 1, validation);
        sqlite3_bind_int64(statement, 2, i);
        timeline_run_row_bind(statement, 3, created);
        timeline_run_row_bind(statement, 4, VERSION);
        published_bind(statement, rows->pdata[i], 5);
        fine = timeline_run_row_insert(database, path, statement, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

gboolean timeline_published_write(const char *path, const GPtrArray *rows, gint64 *validation, GError **error)
{
    gboolean made = timeline_database_is_absent(path);
    sqlite3 *database = timeline_database_new(path, TIMELINE_DATABASE_WRITE, error);
    gint64 number = 0;
    gboolean fine =
        database != NULL && timeline_run_row_begin(database, path, error) &&
        timeline_database_number(database, path,
                                 "SELECT max(0, ifnull(max(CASE typeof(validation) WHEN 'integer' THEN"
                                 " validation END), 0)) FROM published",
                                 &number, error);
    if (fine && number > G_MAXINT64 / 2)
        fine = base_error_set(error, BASE_ERROR_FAILED, path,
                              "found numbers of validations with no room for more");
    fine = fine && published_insert(database, path, rows, ++number, error) &&
           timeline_database_run(database, path, "COMMIT", error);
    if (!fine) {
        timeline_database_abandon(database, path, made);
        return FALSE;
    }
    timeline_database_free(database);
    if (validation != NULL)
        *validation = number;
    return TRUE;
}

static TimelinePublished *published_read_row(sqlite3_stmt *statement)
{
    TimelinePublished *row = timeline_published_new();
    int at = 0;
    for (guint i = 0; i < G_N_ELEMENTS(TEXTS); i++, at++) {
        const char *text = (const char *)sqlite3_column_text(statement, at);
        if (text != NULL || i < PUBLISHED_REQUIRED)
            *published_text(row, i) = base_error_quote(text == NULL ? "?" : text);
    }
    row->gpus = MAX(0, sqlite3_column_int64(statement, at));
    at++;
    for (guint i = 0; i < G_N_ELEMENTS(NUMBERS); i++, at++) {
        int type = sqlite3_column_type(statement, at);
        double number = sqlite3_column_double(statement, at);
        if ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(number))
            *published_number(row, i) = number;
    }
    return row;
}

static GPtrArray *published_read_rows(sqlite3 *database, const char *path, gint64 validation, GError **error)
{
    static const char SQL[] = "SELECT " PUBLISHED_COLUMNS " FROM published WHERE validation = ? ORDER BY id";
    sqlite3_stmt *statement = timeline_database_prepare(database, path, SQL, error);
    if (statement == NULL)
        return NULL;
    sqlite3_bind_int64(statement, 1, validation);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(timeline_published_free);
    int code = SQLITE_DONE;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        g_ptr_array_add(rows, published_read_row(statement));
    if (code != SQLITE_DONE)
        timeline_database_refuse(database, path, error);
    else if (rows->len == 0 && validation == 0)
        base_error_set(error, BASE_ERROR_FAILED, path,
                       "found no validation, wanted one: 'stepline validate --db'");
    else if (rows->len == 0)
        base_error_set(error, BASE_ERROR_FAILED, path, "found no validation %" G_GINT64_FORMAT, validation);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE && rows->len > 0 ? g_steal_pointer(&rows) : NULL;
}

GPtrArray *timeline_published_read(const char *path, gint64 *validation, GError **error)
{
    sqlite3 *database = timeline_database_new(path, TIMELINE_DATABASE_READ, error);
    gboolean fine = database != NULL && timeline_database_check(database, path, NULL, error) &&
                    timeline_database_run(database, path, "PRAGMA query_only = ON", error) &&
                    (*validation != 0 ||
                     timeline_database_number(
                         database, path,
                         "SELECT ifnull(max(CASE typeof(validation) WHEN 'integer' THEN validation END), 0)"
                         " FROM published",
                         validation, error));
    GPtrArray *rows = fine ? published_read_rows(database, path, *validation, error) : NULL;
    timeline_database_free(database);
    return rows;
}
