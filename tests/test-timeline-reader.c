// tests/test-timeline-reader.c: what was stored is read back, and what was edited by hand does no harm.
#include "tests/check.h"

#include <glib/gstdio.h>
#include <math.h>
#include <sqlite3.h>

#include "tests/synthetic.h"
#include "timeline/reader.h"
#include "timeline/store.h"

static char *path; // of this test's file

static int set_up(void **state)
{
    (void)state;
    int handle = g_file_open_tmp("stepline-test-XXXXXX.db", &path, NULL);
    return handle < 0 || !g_close(handle, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    g_unlink(path);
    g_free(path);
    return 0;
}

// A file with one run of three ranks, edited.
static void make(const char *sql)
{
    g_unlink(path);
    g_autoptr(StepResult) result = synthetic_result(3);
    assert_true(timeline_store_write(path, result, NULL, NULL));
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    sqlite3_close(database);
}

static void test_back(void **state)
{
    (void)state;
    make("");
    g_autoptr(GError) error = NULL;
    g_autoptr(TimelineReader) reader = timeline_reader_new(path, &error);
    check_fine(error);
    g_autoptr(GPtrArray) runs = timeline_reader_read_runs(reader, &error);
    assert_int_equal(runs->len, 1);
    g_autoptr(TimelineRun) run = timeline_reader_read_run(reader, 0, &error);
    assert_int_equal(run->id, 1);
    assert_string_equal(run->name, "llama7b-64xh100-overlap");
    assert_string_equal(run->fingerprint, "00c0ffee12345678");
    assert_int_equal(run->ranks, 3);
    assert_true(run->mfu == 0.4698);
    g_autoptr(GPtrArray) lanes = timeline_reader_read_lanes(reader, 1, &error);
    assert_int_equal(lanes->len, 6);
    const TimelineLane *lane = g_ptr_array_index(lanes, 3);
    assert_int_equal(lane->rank, 1);
    assert_string_equal(lane->stream, "dp");
    g_autoptr(GArray) all = timeline_reader_read_spans(reader, 1, lane, 0, G_MAXINT64, &error);
    assert_int_equal(all->len, SYNTHETIC_BUCKETS);
    assert_int_equal(g_array_index(all, TimelineSpan, 0).kind, SIM_KIND_ALL_REDUCE);
    assert_int_equal(g_array_index(all, TimelineSpan, 0).layer, -1);
    const TimelineSpan *second = &g_array_index(all, TimelineSpan, 1);
    g_autoptr(GArray) one =
        timeline_reader_read_spans(reader, 1, lane, second->start + 1, second->end - 1, &error);
    assert_int_equal(one->len, 1);
    check_fine(error);
    assert_null(timeline_reader_read_run(reader, 2, &error));
    check_says(error, "found no run 2");
}

static void test_hostile(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        gint64 ranks; // that are read
        gint64 step;  // -1: not known; 0: any
        guint spans;  // of rank 0's compute lane; 0: any
    } cases[] = {
        {"UPDATE run SET ranks = -5, step_ps = 'soon', mfu = 9e999, name = x'00ff', created = 12", -1, -1,
         265},
        {"UPDATE run SET name = char(27) || '[2J' || char(10) || '''\"' || char(0) || 'x', step_ps = 1e30", 3,
         -1, 265},
        {"PRAGMA legacy_alter_table = ON; CREATE TABLE a AS SELECT * FROM run; DROP TABLE run; ALTER TABLE a "
         "RENAME TO run; UPDATE run SET "
         "step_ps = NULL,"
         " mfu = NULL, name = NULL, ranks = NULL, fingerprint = NULL",
         -1, -1, 265},
        {"UPDATE run SET id = 9223372036854775807; UPDATE lane SET run = 9223372036854775807; UPDATE span "
         "SET run ="
         " 9223372036854775807",
         3, 0, 265},
        {"UPDATE span SET t0_ps = -1 WHERE id <= 10", 3, 0, 255},
        {"UPDATE span SET t1_ps = t0_ps - 1 WHERE id <= 10", 3, 0, 255},
        {"UPDATE span SET t1_ps = 'x' WHERE id <= 10", 3, 0, 255},
        {"UPDATE span SET t0_ps = 0, t1_ps = 9223372036854775807", 3, 0, 265},
        {"UPDATE span SET kind = x'ff00', layer = 9223372036854775807, name = ''", 3, 0, 265},
        {"UPDATE lane SET first_span = 9223372036854775807, spans = 9223372036854775807", 3, 0, 0},
        {"UPDATE lane SET first_span = -9223372036854775807, spans = 9223372036854775807", 3, 0, 0},
        {"UPDATE lane SET first_span = 0, spans = 9223372036854775807", 3, 0, 265},
        {"UPDATE lane SET stream = x'c3' || char(10), first_span = 'a'", 3, 0, 0},
        {"UPDATE run SET name = hex(zeroblob(4000000))", 3, 0, 265},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        make(cases[i].sql);
        g_autoptr(GError) error = NULL;
        g_autoptr(TimelineReader) reader = timeline_reader_new(path, &error);
        check_fine(error);
        g_autoptr(GPtrArray) runs = timeline_reader_read_runs(reader, &error);
        check_fine(error);
        assert_int_equal(runs->len, 1);
        const TimelineRun *run = g_ptr_array_index(runs, 0);
        assert_int_equal(run->ranks, cases[i].ranks);
        if (cases[i].step != 0)
            assert_int_equal(run->step, cases[i].step);
        assert_true(g_utf8_validate(run->name, -1, NULL) && strlen(run->name) < 4000);
        g_autoptr(GPtrArray) lanes = timeline_reader_read_lanes(reader, run->id, &error);
        check_fine(error);
        assert_int_equal(lanes->len, 6);
        const TimelineLane *lane = g_ptr_array_index(lanes, 0);
        assert_true(g_utf8_validate(lane->stream, -1, NULL));
        g_autoptr(GArray) spans = timeline_reader_read_spans(reader, run->id, lane, 0, G_MAXINT64, &error);
        check_fine(error);
        if (cases[i].spans != 0)
            assert_int_equal(spans->len, cases[i].spans);
        for (guint j = 0; j < spans->len; j++) {
            const TimelineSpan *span = &g_array_index(spans, TimelineSpan, j);
            assert_true(span->start >= 0 && span->end >= span->start && span->kind <= SIM_KINDS);
        }
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"DROP TABLE span", "without all its tables"},
        {"DROP TABLE run; CREATE VIEW run AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM "
         "n) SELECT * "
         "FROM n",
         "without all its tables"},
        {"DROP TABLE lane; CREATE VIRTUAL TABLE lane USING rtree (id, a, b)", "without all its tables"},
        {"PRAGMA application_id = 5", "another program (application_id 5)"},
        {"PRAGMA user_version = 7", "newer stepline (version 7)"},
        {"PRAGMA user_version = 2", "older stepline (version 2), wanted version 3: a new file"},
        {"PRAGMA user_version = -7", "without all its tables"},
        {"ALTER TABLE run RENAME COLUMN mfu TO gone", "no such column: mfu"},
        {"DELETE FROM run", "found no run"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        make(cases[i].sql);
        g_autoptr(GError) error = NULL;
        g_autoptr(TimelineReader) reader = timeline_reader_new(path, &error);
        g_autoptr(TimelineRun) run = reader == NULL ? NULL : timeline_reader_read_run(reader, 0, &error);
        assert_null(run);
        check_says(error, cases[i].says);
    }
    g_autoptr(GError) error = NULL;
    assert_null(timeline_reader_new("/nowhere/x.db", &error));
    check_says(error, "/nowhere/x.db: cannot be opened: No such file");
    g_clear_error(&error);
    assert_null(timeline_reader_new("/", &error));
    check_says(error, "found a folder, wanted a file");
    g_clear_error(&error);
    assert_true(g_file_set_contents(path, "", 0, NULL));
    assert_null(timeline_reader_new(path, &error));
    check_says(error, "found an empty database");
}

// Any byte of a file may be wrong: an error or some answer, never a crash.
static void test_damaged(void **state)
{
    (void)state;
    make("");
    g_autofree char *bytes = NULL;
    gsize length = 0;
    assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    for (guint64 i = 0; i < 300; i++) {
        // Mostly the first pages: the schema and the roots of the tables.
        gsize at = (gsize)(hash_random(1, i) % (i % 3 == 0 ? length : 12000)),
              n = (gsize)(hash_random(2, i) % 40 + 1);
        g_autofree char *copy = g_memdup2(bytes, length);
        for (gsize j = at; j < MIN(at + n, length); j++)
            copy[j] = (char)hash_random(3 + i, j);
        assert_true(g_file_set_contents(path, copy, (gssize)(i % 5 == 0 ? at : length), NULL));
        g_autoptr(TimelineReader) reader = timeline_reader_new(path, NULL);
        if (reader == NULL)
            continue;
        g_autoptr(GPtrArray) runs = timeline_reader_read_runs(reader, NULL);
        g_autoptr(GPtrArray) lanes = timeline_reader_read_lanes(reader, 1, NULL);
        assert_true(runs == NULL || runs->len < 100000);
        for (guint lane = 0; lanes != NULL && lane < MIN(lanes->len, 10); lane++) {
            g_autoptr(GArray) spans =
                timeline_reader_read_spans(reader, 1, g_ptr_array_index(lanes, lane), 0, G_MAXINT64, NULL);
            assert_true(spans == NULL || spans->len < 100000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_back),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
