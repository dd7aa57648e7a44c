// timeline/run-row.c: a run's row and its metrics.
#include "timeline/run-row.h"

#include "base/library.h"
#include "config.h"
#include "timeline/database.h"
#include "timeline/metrics.h"

gboolean timeline_run_row_insert(sqlite3 *database, const char *path, sqlite3_stmt *statement, GError **error)
{
    int code = sqlite3_step(statement);
    if (code != SQLITE_DONE)
        timeline_database_refuse(database, path, error);
    sqlite3_reset(statement);
    return code == SQLITE_DONE;
}

void timeline_run_row_bind(sqlite3_stmt *statement, int column, const char *text)
{
    sqlite3_bind_text(statement, column, text == NULL ? "" : text, -1, SQLITE_STATIC);
}

char *timeline_run_row_now(void)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    return g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
}

static gboolean run_row_make_tables(sqlite3 *database, const char *path, GError **error)
{
    g_autoptr(GBytes) schema = library_find("timeline/schema.sql");
    g_assert(schema != NULL);
    gsize length = 0;
    const char *bytes = g_bytes_get_data(schema, &length);
    g_autofree char *sql = g_strndup(bytes, length);
    return timeline_database_run(database, path, sql, error);
}

gboolean timeline_run_row_begin(sqlite3 *database, const char *path, GError **error)
{
    gboolean empty = FALSE;
    return timeline_database_run(database, path, "BEGIN IMMEDIATE", error) &&
           timeline_database_check(database, path, &empty, error) &&
           (!empty || run_row_make_tables(database, path, error));
}

static gboolean run_row_add(sqlite3 *database, const char *path, const StepResult *result, gint64 *id,
                            GError **error)
{
    static const char SQL[] =
        "INSERT INTO run (created, name, scenario, version, fidelity, fingerprint, model, machine, chip, "
        "counting,"
        " ranks, tokens, step_ps, mfu, hfu, tokens_per_s, model_flops, peak_flops, last_rank, compute_ps,"
        " exposed_comm_ps, idle_ps, communication_ps, gradient_bytes, bound_ps, perfect_overlap_ps, buckets, "
        "events,"
        " messages, wall_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?,"
        " ?, ?, ?)";
    sqlite3_stmt *statement = timeline_database_prepare(database, path, SQL, error);
    if (statement == NULL)
        return FALSE;
    g_autofree char *created = timeline_run_row_now();
    g_autofree char *fingerprint = g_strdup_printf("%016" G_GINT64_MODIFIER "x", result->fingerprint);
    const char *texts[] = {created,     result->name,  result->text,    VERSION,      result->fidelity,
                           fingerprint, result->model, result->machine, result->chip, result->counting};
    int at = 1;
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        timeline_run_row_bind(statement, at++, texts[i]);
    sqlite3_bind_int64(statement, at++, result->ranks);
    sqlite3_bind_double(statement, at++, result->tokens);
    sqlite3_bind_int64(statement, at++, result->step);
    sqlite3_bind_double(statement, at++, result->mfu);
    sqlite3_bind_double(statement, at++, result->hfu);
    sqlite3_bind_double(statement, at++, result->tokens_per_s);
    sqlite3_bind_double(statement, at++, result->model_flops);
    sqlite3_bind_double(statement, at++, result->peak_flops);
    const gint64 counts[] = {result->last_rank,      result->compute,         result->exposed_comm,
                             result->idle,           result->communication,   result->gradient_bytes,
                             result->bound,          result->perfect_overlap, result->buckets,
                             (gint64)result->events, (gint64)result->messages};
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
        sqlite3_bind_int64(statement, at++, counts[i]);
    sqlite3_bind_double(statement, at++, result->wall_s);
    gboolean fine = timeline_run_row_insert(database, path, statement, error);
    sqlite3_finalize(statement);
    *id = sqlite3_last_insert_rowid(database);
    return fine;
}

static gboolean run_row_add_metrics(sqlite3 *database, const char *path, gint64 run, const StepResult *result,
                                    GError **error)
{
    static const char SQL[] = "INSERT INTO metric (run, name, value) VALUES (?, ?, ?)";
    double values[TIMELINE_METRICS];
    timeline_metrics(result, values);
    sqlite3_stmt *statement = timeline_database_prepare(database, path, SQL, error);
    gboolean fine = statement != NULL;
    for (guint i = 0; fine && i < TIMELINE_METRICS; i++) {
        sqlite3_bind_int64(statement, 1, run);
        timeline_run_row_bind(statement, 2, TIMELINE_METRIC_TABLE[i].name);
        sqlite3_bind_double(statement, 3, values[i]);
        fine = timeline_run_row_insert(database, path, statement, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

gboolean timeline_run_row_add(sqlite3 *database, const char *path, const StepResult *result, gint64 *id,
                              GError **error)
{
    return run_row_add(database, path, result, id, error) &&
           run_row_add_metrics(database, path, *id, result, error);
}
