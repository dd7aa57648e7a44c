// tests/test-timeline-sweep.c: points go into a file one by one, are found again to the bit, and edited files
// do no harm.
#include "tests/check.h"

#include <sqlite3.h>

#include "tests/folder.h"
#include "tests/synthetic.h"
#include "timeline/points.h"
#include "timeline/sweep.h"

static const TimelineSweepPoint POINTS[] = {{0, "{\"job.bucket\":\"1 MiB\"}", "00000000000000aa"},
                                            {1, "{\"job.bucket\":\"2 MiB\"}", "00000000000000bb"},
                                            {2, "{\"job.bucket\":\"whole\"}", "00000000000000cc"}};

static char *path; // owned: in the folder

static TimelineSweep *begin(const char *hash)
{
    const TimelineSweepHead head = {.name = "case",
                                    .scenario = "[job]\n",
                                    .axes = "{\"job.bucket\":[\"1 MiB\",\"2 MiB\",\"whole\"]}",
                                    .mode = "product",
                                    .hash = hash,
                                    .points = 3};
    g_autoptr(GError) error = NULL;
    TimelineSweep *sweep = timeline_sweep_new(path, &head, &error);
    check_fine(error);
    return sweep;
}

static gint64 ask(const char *sql)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    gint64 number = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return number;
}

// Point 0 well, point 1 failed, point 2 not there yet.
static void fill(void)
{
    g_remove(path);
    g_autoptr(GError) error = NULL;
    g_autoptr(TimelineSweep) sweep = begin("1");
    g_autoptr(StepResult) result = synthetic_result(3);
    result->step = 123456789012345;
    timeline_sweep_add(sweep, &POINTS[0], result, NULL, &error);
    check_fine(error);
    timeline_sweep_add(sweep, &POINTS[1], NULL, "job.bucket: wrong", &error);
    check_fine(error);
    assert_int_equal(timeline_sweep_id(sweep), 1);
}

static void test_small(void **state)
{
    (void)state;
    fill();
    assert_int_equal(ask("SELECT count(*) FROM run"), 1);
    assert_int_equal(ask("SELECT count(*) FROM metric"), TIMELINE_METRICS);
    assert_int_equal(
        ask("SELECT (SELECT count(*) FROM span) + (SELECT count(*) FROM lane) + (SELECT count(*) FROM "
            "link_use) + (SELECT count(*) FROM memory) + (SELECT count(*) FROM assumption)"),
        0);
    assert_int_equal(
        ask("SELECT count(*) FROM sweep_point WHERE step_s IS NULL AND error = 'job.bucket: wrong'"), 1);
    assert_int_equal(ask("SELECT json_extract(axes, '$.\"job.bucket\"') = '1 MiB' FROM point WHERE id = 0"),
                     1);
}

// The same sweep goes on with its row; another takes equal points over; a failure is no result; a run of
// another version is none.
static void test_resume(void **state)
{
    (void)state;
    fill();
    const char *const hashes[] = {"1", "2"};
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TimelineSweep) sweep = begin(hashes[i]);
        assert_int_equal(timeline_sweep_id(sweep), i + 1);
        TimelinePoint *found[3] = {NULL};
        assert_true(timeline_sweep_resume(sweep, POINTS, 3, found, &error));
        assert_non_null(found[0]);
        assert_null(found[1]);
        assert_null(found[2]);
        g_autoptr(StepResult) result = synthetic_result(3);
        result->step = 123456789012345;
        g_autoptr(TimelinePoint) fresh = timeline_point_new(result);
        assert_memory_equal(found[0]->values, fresh->values, sizeof fresh->values);
        for (guint j = 0; j < TIMELINE_POINT_TEXTS; j++)
            assert_string_equal(found[0]->texts[j], fresh->texts[j]);
        timeline_point_free(found[0]);
    }
    assert_int_equal(ask("SELECT count(DISTINCT run) * 100 + count(run) FROM point"), 102);
    ask("UPDATE run SET version = 'another'");
    g_autoptr(TimelineSweep) sweep = begin("1");
    TimelinePoint *found[3] = {NULL};
    assert_true(timeline_sweep_resume(sweep, POINTS, 3, found, NULL));
    assert_null(found[0]);
}

static void test_read(void **state)
{
    (void)state;
    fill();
    g_autoptr(GError) error = NULL;
    g_autoptr(TimelinePoints) points = timeline_points_read(path, 0, &error);
    check_fine(error);
    assert_string_equal(points->name, "case");
    assert_int_equal(points->axes->len, 1);
    assert_int_equal(points->rows->len, 2);
    const TimelinePointsRow *row = points->rows->pdata[1];
    assert_string_equal(row->values[0], "2 MiB");
    assert_string_equal(row->out->error, "job.bucket: wrong");
    g_autoptr(TimelinePoints) none = timeline_points_read(path, 7, &error);
    assert_null(none);
    check_says(error, "found no sweep 7");
}

static void test_edited(void **state)
{
    (void)state;
    const struct {
        const char *sql, *words; // NULL: it is read all the same
    } cases[] = {
        {"DELETE FROM sweep", "found no sweep, wanted one"},
        {"UPDATE sweep SET axes = '{}'", "found a sweep without axes"},
        {"UPDATE sweep SET axes = 'no JSON {'", "found a sweep without axes"},
        {"UPDATE point SET run = 77 WHERE id = 0", "found a point of run 77, which is not there"},
        {"UPDATE point SET axes = '[1, 2]'", NULL},
        {"UPDATE point SET axes = '{\"job.bucket\":{\"a\":1}}'", NULL},
        {"UPDATE point SET run = 'x' WHERE id = 0", NULL},
        {"UPDATE metric SET value = 'x'", NULL},
        {"UPDATE run SET model = x'00ff'", NULL},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        fill();
        ask(cases[i].sql);
        g_autoptr(GError) error = NULL;
        g_autoptr(TimelinePoints) points = timeline_points_read(path, 0, &error);
        if (cases[i].words == NULL) {
            check_fine(error);
            assert_int_equal(points->rows->len, 2);
        } else {
            check_says(error, cases[i].words);
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    if (!folder_make())
        return 1;
    path = folder_file("sweep.db");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove();
    g_free(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_resume),
                                       cmocka_unit_test(test_read), cmocka_unit_test(test_edited)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
