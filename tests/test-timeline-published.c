// tests/test-timeline-published.c: validations go into a file as a whole, are read again to the bit, and
// edited files do no harm.
#include "tests/check.h"

#include <math.h>
#include <sqlite3.h>

#include "tests/folder.h"
#include "timeline/published.h"

static char *path; // owned: in the folder

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

// One that was simulated, and one that cannot be.
static GPtrArray *rows(void)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(timeline_published_free);
    for (guint i = 0; i < 2; i++) {
        TimelinePublished *row = timeline_published_new();
        row->name = g_strdup_printf("run %u", i);
        row->source = g_strdup("palm");
        row->model = g_strdup("palm-540B");
        row->chip = g_strdup("TPUv4");
        row->precision = g_strdup("bf16");
        row->split = g_strdup(i == 0 ? "headline" : "calib");
        row->gpus = 6144;
        row->published = 17.6009;
        if (i == 0) {
            row->framework = g_strdup("xla-2022");
            row->machine = g_strdup("tpu-v4-palm");
            row->simulated = 17.1;
            row->mfu = 0.46;
            row->bubble = 0;
            row->peak_bytes = 3e10;
        } else {
            row->reason = g_strdup("mixtures of experts are not simulated yet");
        }
        g_ptr_array_add(rows, row);
    }
    return rows;
}

static gint64 fill(void)
{
    g_autoptr(GPtrArray) all = rows();
    g_autoptr(GError) error = NULL;
    gint64 validation = 0;
    timeline_published_write(path, all, &validation, &error);
    check_fine(error);
    return validation;
}

static void test_columns(void **state)
{
    (void)state;
    g_remove(path);
    assert_int_equal(fill(), 1);
    assert_int_equal(fill(), 2);
    assert_int_equal(ask("SELECT count(*) FROM published"), 4);
    assert_int_equal(ask("SELECT count(*) FROM run"), 0);
    assert_int_equal(
        ask("SELECT count(*) FROM published WHERE id = 0 AND name = 'run 0' AND source = 'palm' AND "
            "model = 'palm-540B' AND chip = 'TPUv4' AND precision = 'bf16' AND gpus = 6144 AND "
            "split = 'headline' AND framework = 'xla-2022' AND machine = 'tpu-v4-palm' AND "
            "published_s = 17.6009 AND simulated_s = 17.1 AND mfu = 0.46 AND bubble_s = 0 AND "
            "peak_bytes = 3e10 AND low_s IS NULL AND high_s IS NULL AND hfu IS NULL AND compute_s IS "
            "NULL AND exposed_s IS NULL AND rest_s IS NULL AND reason IS NULL AND created > '2' AND "
            "version != ''"),
        2);
    assert_int_equal(
        ask("SELECT count(*) FROM published WHERE id = 1 AND simulated_s IS NULL AND machine IS NULL "
            "AND framework IS NULL AND reason LIKE 'mixtures %' AND published_s = 17.6009"),
        2);
}

static void test_read(void **state)
{
    (void)state;
    g_remove(path);
    fill();
    fill();
    ask("UPDATE published SET name = 'other' WHERE validation = 1");
    g_autoptr(GError) error = NULL;
    gint64 validation = 0;
    g_autoptr(GPtrArray) last = timeline_published_read(path, &validation, &error);
    check_fine(error);
    assert_int_equal(validation, 2);
    assert_int_equal(last->len, 2);
    g_autoptr(GPtrArray) wanted = rows();
    for (guint i = 0; i < 2; i++) {
        const TimelinePublished *row = last->pdata[i], *want = wanted->pdata[i];
        assert_string_equal(row->name, want->name);
        assert_string_equal(row->split, want->split);
        assert_int_equal(g_strcmp0(row->machine, want->machine), 0);
        assert_int_equal(g_strcmp0(row->reason, want->reason), 0);
        assert_int_equal(row->gpus, 6144);
        assert_true(row->published == want->published);
        assert_true(i == 0 ? row->simulated == want->simulated && row->bubble == 0 && row->peak_bytes == 3e10
                           : isnan(row->simulated) && isnan(row->bubble) && isnan(row->peak_bytes));
        assert_true(isnan(row->low) && isnan(row->rest));
    }
    validation = 1;
    g_autoptr(GPtrArray) first = timeline_published_read(path, &validation, &error);
    check_fine(error);
    assert_string_equal(((const TimelinePublished *)first->pdata[0])->name, "other");
    validation = 3;
    g_autoptr(GPtrArray) none = timeline_published_read(path, &validation, &error);
    assert_null(none);
    check_says(error, "found no validation 3");
}

static void test_edited(void **state)
{
    (void)state;
    const struct {
        const char *sql, *words; // NULL: it is read all the same
    } cases[] = {
        {"DELETE FROM published", "found no validation, wanted one: 'stepline validate --db'"},
        {"UPDATE published SET validation = 'x'", "found no validation, wanted one"},
        {"UPDATE published SET validation = -5", "found no validation -6"},
        {"PRAGMA user_version = 2", "older stepline (version 2)"},
        {"DROP TABLE published", "without all its tables"},
        {"UPDATE published SET simulated_s = 'x', gpus = 'many', published_s = 9e999", NULL},
        {"UPDATE published SET gpus = -1, name = x'00ff', source = char(27) || '[2J'", NULL},
        {"UPDATE published SET id = 'x' || id, reason = zeroblob(1000000)", NULL},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_remove(path);
        fill();
        ask(cases[i].sql);
        g_autoptr(GError) error = NULL;
        gint64 validation = i == 2 ? -6 : 0;
        g_autoptr(GPtrArray) read = timeline_published_read(path, &validation, &error);
        if (cases[i].words != NULL) {
            assert_null(read);
            check_says(error, cases[i].words);
            continue;
        }
        check_fine(error);
        assert_int_equal(read->len, 2);
        const TimelinePublished *row = read->pdata[0];
        assert_true(row->gpus >= 0 && (isnan(row->simulated) || row->simulated == 17.1));
        assert_null(strpbrk(row->source, "\033\n"));
        assert_true(row->reason == NULL || strlen(row->reason) < 100);
    }
}

// Numbers begin anew where none is one; a file that cannot take rows stays as it is.
static void test_write(void **state)
{
    (void)state;
    g_remove(path);
    fill();
    ask("UPDATE published SET validation = -5");
    assert_int_equal(fill(), 1);
    ask("UPDATE published SET validation = 9223372036854775807 WHERE validation = 1");
    g_autoptr(GPtrArray) all = rows();
    g_autoptr(GError) error = NULL;
    assert_false(timeline_published_write(path, all, NULL, &error));
    check_says(error, "no room for more");
    assert_int_equal(ask("SELECT count(*) FROM published"), 4);
    g_clear_error(&error);
    ask("PRAGMA user_version = 2");
    assert_false(timeline_published_write(path, all, NULL, &error));
    check_says(error, "older stepline (version 2), wanted version 3: a new file");
    g_clear_error(&error);
    g_remove(path);
    assert_false(timeline_published_write("/nowhere/x.db", all, NULL, &error));
    check_says(error, "/nowhere/x.db: cannot be made");
}

static int set_up(void **state)
{
    (void)state;
    if (!folder_make())
        return 1;
    path = folder_file("validation.db");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns), cmocka_unit_test(test_read),
                                       cmocka_unit_test(test_edited), cmocka_unit_test(test_write)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
