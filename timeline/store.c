// timeline/store.c: writing what a run leaves behind into an SQLite file.
#include "timeline/store.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <sqlite3.h>

#include "base/error.h"
#include "timeline/database.h"
#include "timeline/run-row.h"

// Rows of one INSERT of spans: each row costs a call less, and past some dozens nothing is gained.
enum { STORE_ROWS = 50, STORE_COLUMNS = 9 };

typedef struct {
    sqlite3 *database;        // borrowed
    const char *path;         // borrowed
    const StepResult *result; // borrowed
    gint64 run;
    gint64 first_span;  // id of the run's first span
    const guint *bases; // [track]: its first lane; borrowed
} Store;

static gboolean store_insert(const Store *store, sqlite3_stmt *statement, GError **error)
{
    return timeline_run_row_insert(store->database, store->path, statement, error);
}

// -1 stands for "none" in the program, NULL in the file.
static void store_bind_optional(sqlite3_stmt *statement, int column, gint64 number)
{
    if (number < 0)
        sqlite3_bind_null(statement, column);
    else
        sqlite3_bind_int64(statement, column, number);
}

static gboolean store_add_assumptions(const Store *store, GError **error)
{
    static const char SQL[] = "INSERT INTO assumption (run, id, text) VALUES (?, ?, ?)";
    sqlite3_stmt *statement = timeline_database_prepare(store->database, store->path, SQL, error);
    gboolean fine = statement != NULL;
    for (guint i = 0; fine && i < store->result->assumptions->len; i++) {
        sqlite3_bind_int64(statement, 1, store->run);
        sqlite3_bind_int64(statement, 2, i);
        timeline_run_row_bind(statement, 3, g_ptr_array_index(store->result->assumptions, i));
        fine = store_insert(store, statement, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

// starts[lane] is the number of spans on the lanes before it; one entry more than lanes.
static gboolean store_add_lanes(const Store *store, const gint64 *starts, GError **error)
{
    static const char SQL[] =
        "INSERT INTO lane (run, id, rank, stream, link, first_span, spans) VALUES (?, ?, ?, ?, ?, ?, ?)";
    sqlite3_stmt *statement = timeline_database_prepare(store->database, store->path, SQL, error);
    gboolean fine = statement != NULL;
    const StepResult *result = store->result;
    gint64 lane = 0;
    for (guint rank = 0; fine && rank < result->tracks; rank++) {
        const SimProgram *program = step_result_program(result, rank);
        for (guint stream = 0; fine && stream < sim_program_streams(program); stream++, lane++) {
            gint64 spans = starts[lane + 1] - starts[lane];
            sqlite3_bind_int64(statement, 1, store->run);
            sqlite3_bind_int64(statement, 2, lane);
            sqlite3_bind_int64(statement, 3, step_result_rank(result, rank));
            timeline_run_row_bind(statement, 4, g_ptr_array_index(program->streams, stream));
            sqlite3_bind_null(statement, 5);
            store_bind_optional(statement, 6, spans == 0 ? -1 : store->first_span + starts[lane]);
            sqlite3_bind_int64(statement, 7, spans);
            fine = store_insert(store, statement, error);
        }
    }
    for (guint i = 0; fine && i < result->links->len; i++, lane++) {
        const StepLinkUse *use = g_ptr_array_index(result->links, i);
        sqlite3_clear_bindings(statement);
        sqlite3_bind_int64(statement, 1, store->run);
        sqlite3_bind_int64(statement, 2, lane);
        sqlite3_bind_int64(statement, 5, use->link);
        sqlite3_bind_int64(statement, 7, 0);
        fine = store_insert(store, statement, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static gboolean store_add_links(const Store *store, GError **error)
{
    static const char SQL[] = "INSERT INTO link_use (run, link, name, class, bandwidth, bytes, busy_ps) "
                              "VALUES (?, ?, ?, ?, ?, ?, ?)";
    sqlite3_stmt *statement = timeline_database_prepare(store->database, store->path, SQL, error);
    gboolean fine = statement != NULL;
    for (guint i = 0; fine && i < store->result->links->len; i++) {
        const StepLinkUse *use = g_ptr_array_index(store->result->links, i);
        sqlite3_bind_int64(statement, 1, store->run);
        sqlite3_bind_int64(statement, 2, use->link);
        timeline_run_row_bind(statement, 3, use->name);
        timeline_run_row_bind(statement, 4, use->class_name);
        sqlite3_bind_double(statement, 5, use->bandwidth);
        sqlite3_bind_int64(statement, 6, use->bytes);
        sqlite3_bind_int64(statement, 7, use->busy);
        fine = store_insert(store, statement, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static gboolean store_add_exposures(const Store *store, GError **error)
{
    static const char SQL[] = "INSERT INTO exposure (run, t0_ps, t1_ps, name) VALUES (?, ?, ?, ?)";
    sqlite3_stmt *statement = timeline_database_prepare(store->database, store->path, SQL, error);
    gboolean fine = statement != NULL;
    for (guint i = 0; fine && i < store->result->exposures->len; i++) {
        const StepExposure *exposure = &g_array_index(store->result->exposures, StepExposure, i);
        const SimProgram *program = step_result_program(store->result, store->result->last_track);
        sqlite3_bind_int64(statement, 1, store->run);
        sqlite3_bind_int64(statement, 2, exposure->start);
        sqlite3_bind_int64(statement, 3, exposure->end);
        g_autofree char *title = sim_program_title(program, exposure->op);
        timeline_run_row_bind(statement, 4, title);
        fine = store_insert(store, statement, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static gboolean store_add_memory(const Store *store, GError **error)
{
    static const char SQL[] = "INSERT INTO memory (run, rank, t_ps, kind, bytes) VALUES (?, ?, ?, ?, ?)";
    sqlite3_stmt *statement = timeline_database_prepare(store->database, store->path, SQL, error);
    gboolean fine = statement != NULL;
    for (guint stage = 0; fine && stage < store->result->usage->len; stage++) {
        const StepUsage *usage = store->result->usage->pdata[stage];
        for (guint i = 0; fine && i < usage->points->len; i++) {
            const StepUsagePoint *point = &g_array_index(usage->points, StepUsagePoint, i);
            sqlite3_bind_int64(statement, 1, store->run);
            sqlite3_bind_int64(statement, 2, usage->rank);
            sqlite3_bind_int64(statement, 3, point->time);
            timeline_run_row_bind(statement, 4, PLAN_MEMORY_NAMES[point->kind]);
            sqlite3_bind_int64(statement, 5, point->bytes);
            fine = store_insert(store, statement, error);
        }
    }
    sqlite3_finalize(statement);
    return fine;
}

// An INSERT of rows rows of spans, from constant pieces.
static sqlite3_stmt *store_prepare_spans(const Store *store, guint rows, GError **error)
{
    g_autoptr(GString) sql =
        g_string_new("INSERT INTO span (run, lane, kind, name, t0_ps, t1_ps, bytes, layer, "
                     "micro_batch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (guint i = 1; i < rows; i++)
        g_string_append(sql, ", (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    return timeline_database_prepare(store->database, store->path, sql->str, error);
}

// bases[rank] is the lane of its first stream.
static guint store_lane(const Store *store, const SimSpan *span)
{
    g_assert(span->rank < store->result->tracks);
    return store->bases[span->rank] + step_result_op(store->result, span)->stream;
}

static void store_bind_span(const Store *store, sqlite3_stmt *statement, int at, const SimSpan *span)
{
    const SimProgram *program = step_result_program(store->result, span->rank);
    const SimOp *op = sim_program_op(program, span->op);
    sqlite3_bind_int64(statement, at, store->run);
    sqlite3_bind_int64(statement, at + 1, store_lane(store, span));
    timeline_run_row_bind(statement, at + 2, SIM_KIND_NAMES[op->kind]);
    sqlite3_bind_text(statement, at + 3, sim_program_title(program, span->op), -1, g_free);
    sqlite3_bind_int64(statement, at + 4, span->start);
    sqlite3_bind_int64(statement, at + 5, span->end);
    store_bind_optional(statement, at + 6, op->work == SIM_WORK_JOINT ? op->bytes : -1);
    store_bind_optional(statement, at + 7, op->layer);
    store_bind_optional(statement, at + 8, sim_program_turn(program, span->op)->micro_batch);
}

// order holds the ids of the trace's spans, by lane.
static gboolean store_add_spans(const Store *store, const guint32 *order, guint n, GError **error)
{
    sqlite3_stmt *many = store_prepare_spans(store, STORE_ROWS, error);
    sqlite3_stmt *one = many == NULL ? NULL : store_prepare_spans(store, 1, error);
    gboolean fine = one != NULL;
    for (guint i = 0; fine && i < n;) {
        guint rows = n - i >= STORE_ROWS ? STORE_ROWS : 1;
        sqlite3_stmt *statement = rows > 1 ? many : one;
        for (guint row = 0; row < rows; row++, i++)
            store_bind_span(store, statement, 1 + (int)row * STORE_COLUMNS,
                            &g_array_index(store->result->trace.spans, SimSpan, order[i]));
        fine = store_insert(store, statement, error);
    }
    sqlite3_finalize(many);
    sqlite3_finalize(one);
    return fine;
}

// The spans follow each other in the file by lane, and by time within one: the trace's order among ties may
// depend on the simulator's queue, a lane's does not; and one lane is read without an index.
static gboolean store_add_lanes_and_spans(Store *store, GError **error)
{
    const StepResult *result = store->result;
    const GArray *spans = result->trace.spans;
    guint n = spans == NULL ? 0 : spans->len, lanes = 0;
    g_autofree guint *bases = g_new(guint, result->tracks + 1);
    for (guint rank = 0; rank < result->tracks; rank++) {
        bases[rank] = lanes;
        lanes += sim_program_streams(step_result_program(result, rank));
    }
    store->bases = bases;
    g_autofree gint64 *starts = g_new0(gint64, lanes + 1);
    g_autofree gint64 *next = g_new0(gint64, lanes + 1);
    g_autofree guint32 *order = g_new(guint32, n);
    for (guint i = 0; i < n; i++)
        starts[store_lane(store, &g_array_index(spans, SimSpan, i)) + 1]++;
    for (guint lane = 0; lane < lanes; lane++)
        next[lane + 1] = starts[lane + 1] += starts[lane];
    for (guint i = 0; i < n; i++)
        order[next[store_lane(store, &g_array_index(spans, SimSpan, i))]++] = i;
    gboolean fine = store_add_lanes(store, starts, error) && store_add_spans(store, order, n, error);
    store->bases = NULL;
    return fine;
}

// The next span's id. An absurd one (edited by hand) would leave no room above it.
static gboolean store_find_first_span(Store *store, GError **error)
{
    static const char SQL[] = "SELECT max(id) FROM span";
    sqlite3_stmt *statement = timeline_database_prepare(store->database, store->path, SQL, error);
    if (statement == NULL)
        return FALSE;
    gboolean fine = sqlite3_step(statement) == SQLITE_ROW;
    if (fine)
        store->first_span = MAX(0, sqlite3_column_int64(statement, 0));
    else
        timeline_database_refuse(store->database, store->path, error);
    sqlite3_finalize(statement);
    if (fine && store->first_span > G_MAXINT64 / 2)
        return base_error_set(error, BASE_ERROR_FAILED, store->path, "found span ids with no room for more");
    store->first_span++;
    return fine;
}

static gboolean store_write(Store *store, GError **error)
{
    return timeline_run_row_begin(store->database, store->path, error) &&
           timeline_run_row_add(store->database, store->path, store->result, &store->run, error) &&
           store_find_first_span(store, error) && store_add_assumptions(store, error) &&
           store_add_lanes_and_spans(store, error) && store_add_links(store, error) &&
           store_add_exposures(store, error) && store_add_memory(store, error) &&
           timeline_database_run(store->database, store->path, "COMMIT", error);
}

gboolean timeline_store_write(const char *path, const StepResult *result, gint64 *run_id, GError **error)
{
    gboolean ours = timeline_database_is_absent(path); // so it is made here
    Store store = {.path = path, .result = result};
    store.database = timeline_database_new(path, TIMELINE_DATABASE_WRITE, error);
    gboolean fine = store.database != NULL && store_write(&store, error);
    if (!fine)
        timeline_database_abandon(store.database, path, ours);
    else
        timeline_database_free(store.database);
    if (fine && run_id != NULL)
        *run_id = store.run;
    return fine;
}

// Whether a file could be made beside path: the name itself is left alone, for another program may be about
// to make it.
static gboolean store_check_folder(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *other = g_build_filename(folder, ".stepline-XXXXXX", NULL);
    int handle = g_mkstemp(other);
    if (handle < 0)
        return base_error_set(error, BASE_ERROR_FAILED, path, "cannot be made: %s", g_strerror(errno));
    g_unlink(other);
    return g_close(handle, NULL);
}

gboolean timeline_store_check(const char *path, GError **error)
{
    GStatBuf status;
    if (*path != '\0' && g_stat(path, &status) != 0 && errno == ENOENT)
        return g_file_test(path, G_FILE_TEST_IS_SYMLINK) || store_check_folder(path, error);
    sqlite3 *database = timeline_database_new(path, TIMELINE_DATABASE_READ, error);
    gboolean empty = FALSE, fine = database != NULL && timeline_database_check(database, path, &empty, error);
    if (fine && sqlite3_db_readonly(database, "main") == 1)
        fine = base_error_set(error, BASE_ERROR_FAILED, path, "cannot be written: it is read-only");
    timeline_database_free(database);
    return fine;
}
