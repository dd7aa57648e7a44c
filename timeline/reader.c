// timeline/reader.c: reading runs, lanes and spans out of a timeline file.
#include "timeline/reader.h"

#include <math.h>
#include <sqlite3.h>

#include "base/error.h"
#include "timeline/database.h"

struct TimelineReader {
    sqlite3 *database; // owned
    char *path;        // owned
};

TimelineReader *timeline_reader_new(const char *path, GError **error)
{
    g_autoptr(TimelineReader) reader = g_new0(TimelineReader, 1);
    reader->path = g_strdup(path);
    reader->database = timeline_database_new(path, TIMELINE_DATABASE_READ, error);
    if (reader->database == NULL || !timeline_database_check(reader->database, path, NULL, error) ||
        !timeline_database_run(reader->database, path, "PRAGMA query_only = ON", error))
        return NULL;
    return g_steal_pointer(&reader);
}

void timeline_reader_free(TimelineReader *reader)
{
    if (reader == NULL)
        return;
    timeline_database_free(reader->database);
    g_free(reader->path);
    g_free(reader);
}

void timeline_reader_free_run(TimelineRun *run)
{
    if (run == NULL)
        return;
    char *texts[] = {run->created, run->name, run->fidelity,   run->model,
                     run->machine, run->chip, run->fingerprint};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(run);
}

static void reader_free_lane(gpointer data)
{
    TimelineLane *lane = data;
    g_free(lane->stream);
    g_free(lane);
}

static gint64 reader_number(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_INTEGER ? sqlite3_column_int64(statement, column)
                                                                    : -1;
}

static gint64 reader_natural(sqlite3_stmt *statement, int column)
{
    return MAX(-1, reader_number(statement, column));
}

static double reader_real(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    double value = type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_column_double(statement, column)
                                                                  : (double)NAN;
    return isfinite(value) ? value : (double)NAN;
}

// The longest text that is read: a name, not a book.
enum { READER_LONGEST = 1000 };

static char *reader_text(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
        return g_strdup("?");
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (text == NULL) // no memory for it
        return g_strdup("?");
    return g_utf8_make_valid(text, MIN(sqlite3_column_bytes(statement, column), READER_LONGEST));
}

// Steps once: TRUE for a row, FALSE at the end or with an error set.
static gboolean reader_next(TimelineReader *reader, sqlite3_stmt *statement, GError **error)
{
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        timeline_database_refuse(reader->database, reader->path, error);
    return code == SQLITE_ROW;
}

static TimelineRun *reader_run(sqlite3_stmt *statement)
{
    TimelineRun *run = g_new0(TimelineRun, 1);
    int at = 0;
    run->id = sqlite3_column_int64(statement, at++);
    run->created = reader_text(statement, at++);
    run->name = reader_text(statement, at++);
    run->fidelity = reader_text(statement, at++);
    run->model = reader_text(statement, at++);
    run->machine = reader_text(statement, at++);
    run->chip = reader_text(statement, at++);
    run->fingerprint = reader_text(statement, at++);
    run->ranks = reader_natural(statement, at++);
    run->last_rank = reader_natural(statement, at++);
    run->step = reader_natural(statement, at++);
    run->exposed_comm = reader_natural(statement, at++);
    run->mfu = reader_real(statement, at++);
    run->hfu = reader_real(statement, at++);
    run->tokens_per_s = reader_real(statement, at);
    return run;
}

#define READER_RUN                                                                                           \
    "SELECT id, created, name, fidelity, model, machine, chip, fingerprint, ranks, last_rank, step_ps,"      \
    " exposed_comm_ps, mfu, hfu, tokens_per_s FROM run "

GPtrArray *timeline_reader_read_runs(TimelineReader *reader, GError **error)
{
    static const char SQL[] = READER_RUN "ORDER BY id";
    g_autoptr(GError) local = NULL;
    sqlite3_stmt *statement = timeline_database_prepare(reader->database, reader->path, SQL, error);
    if (statement == NULL)
        return NULL;
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify)timeline_reader_free_run);
    while (reader_next(reader, statement, &local))
        g_ptr_array_add(runs, reader_run(statement));
    sqlite3_finalize(statement);
    if (local != NULL) {
        g_propagate_error(error, g_steal_pointer(&local));
        return NULL;
    }
    return g_steal_pointer(&runs);
}

TimelineRun *timeline_reader_read_run(TimelineReader *reader, gint64 id, GError **error)
{
    static const char ONE[] = READER_RUN "WHERE id = ?", LAST[] = READER_RUN "ORDER BY id DESC LIMIT 1";
    g_autoptr(GError) local = NULL;
    sqlite3_stmt *statement =
        timeline_database_prepare(reader->database, reader->path, id == 0 ? LAST : ONE, error);
    if (statement == NULL)
        return NULL;
    if (id != 0)
        sqlite3_bind_int64(statement, 1, id);
    TimelineRun *run = reader_next(reader, statement, &local) ? reader_run(statement) : NULL;
    sqlite3_finalize(statement);
    if (local != NULL)
        g_propagate_error(error, g_steal_pointer(&local));
    else if (run == NULL && id == 0)
        base_error_set(error, BASE_ERROR_FAILED, reader->path, "found no run");
    else if (run == NULL)
        base_error_set(error, BASE_ERROR_FAILED, reader->path,
                       "found no run %" G_GINT64_FORMAT ", wanted one that 'stepline runs' lists", id);
    return run;
}

GPtrArray *timeline_reader_read_lanes(TimelineReader *reader, gint64 run, GError **error)
{
    static const char SQL[] =
        "SELECT id, rank, stream, first_span, spans FROM lane WHERE run = ? AND typeof(rank) ="
        " 'integer' AND rank >= 0 ORDER BY rank, id";
    g_autoptr(GError) local = NULL;
    sqlite3_stmt *statement = timeline_database_prepare(reader->database, reader->path, SQL, error);
    if (statement == NULL)
        return NULL;
    g_autoptr(GPtrArray) lanes = g_ptr_array_new_with_free_func(reader_free_lane);
    sqlite3_bind_int64(statement, 1, run);
    while (reader_next(reader, statement, &local)) {
        TimelineLane *lane = g_new0(TimelineLane, 1);
        lane->id = reader_number(statement, 0);
        lane->rank = reader_number(statement, 1);
        lane->stream = reader_text(statement, 2);
        lane->first_span = reader_natural(statement, 3);
        lane->spans = reader_natural(statement, 4);
        g_ptr_array_add(lanes, lane);
    }
    sqlite3_finalize(statement);
    if (local != NULL) {
        g_propagate_error(error, g_steal_pointer(&local));
        return NULL;
    }
    return g_steal_pointer(&lanes);
}

static SimKind reader_kind(const char *text)
{
    guint kind = 0;
    while (kind < SIM_KINDS && g_strcmp0(text, SIM_KIND_NAMES[kind]) != 0)
        kind++;
    return (SimKind)kind;
}

GArray *timeline_reader_read_spans(TimelineReader *reader, gint64 run, const TimelineLane *lane, Ps from,
                                   Ps to, GError **error)
{
    static const char SQL[] =
        "SELECT t0_ps, t1_ps, kind, layer FROM span WHERE id BETWEEN ? AND ? AND run = ? AND lane"
        " = ? AND typeof(t0_ps) = 'integer' AND typeof(t1_ps) = 'integer' AND t0_ps >= 0 AND"
        " t1_ps >= t0_ps AND t1_ps >= ? AND t0_ps <= ? ORDER BY t0_ps, t1_ps";
    g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TimelineSpan));
    if (lane->spans <= 0 || lane->first_span < 0)
        return g_steal_pointer(&spans);
    g_autoptr(GError) local = NULL;
    sqlite3_stmt *statement = timeline_database_prepare(reader->database, reader->path, SQL, error);
    if (statement == NULL)
        return NULL;
    gint64 room = G_MAXINT64 - lane->first_span;
    sqlite3_bind_int64(statement, 1, lane->first_span);
    sqlite3_bind_int64(statement, 2, lane->first_span + MIN(lane->spans - 1, room));
    sqlite3_bind_int64(statement, 3, run);
    sqlite3_bind_int64(statement, 4, lane->id);
    sqlite3_bind_int64(statement, 5, from);
    sqlite3_bind_int64(statement, 6, to);
    while (reader_next(reader, statement, &local)) {
        TimelineSpan span = {.start = sqlite3_column_int64(statement, 0),
                             .end = sqlite3_column_int64(statement, 1),
                             .layer = reader_natural(statement, 3),
                             .kind = reader_kind((const char *)sqlite3_column_text(statement, 2))};
        g_array_append_val(spans, span);
    }
    sqlite3_finalize(statement);
    if (local != NULL) {
        g_propagate_error(error, g_steal_pointer(&local));
        return NULL;
    }
    return g_steal_pointer(&spans);
}
