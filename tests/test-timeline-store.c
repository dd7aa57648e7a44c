// tests/test-timeline-store.c: runs are stored whole or not at all, and files that are not ours stay as they
// are.
#define _XOPEN_SOURCE 700 // for limits and signals
#include "tests/check.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/folder.h"
#include "tests/synthetic.h"
#include "timeline/store.h"

static int set_up(void **state)
{
    (void)state;
    return !folder_make();
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove();
    return 0;
}

// The one value that a query gives, as text. Caller frees.
static char *ask(const char *path, const char *sql)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    char *text = NULL;
    if (sqlite3_step(statement) == SQLITE_ROW)
        text = g_strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return text;
}

static void check_asked(const char *path, const char *sql, const char *wanted)
{
    g_autofree char *found = ask(path, sql);
    if (g_strcmp0(found, wanted) != 0)
        fail_msg("%s: found %s, wanted %s", sql, found, wanted);
}

static void test_contents(void **state)
{
    (void)state;
    g_autofree char *path = folder_file("contents.db");
    g_autoptr(StepResult) result = synthetic_result(64);
    g_autoptr(GError) error = NULL;
    gint64 id = 0;
    timeline_store_write(path, result, &id, &error);
    check_fine(error);
    assert_int_equal(id, 1);
    static const struct {
        const char *sql, *wanted;
    } cases[] = {
        {"SELECT count(*) FROM run", "1"},
        {"SELECT fingerprint FROM run", "00c0ffee12345678"},
        {"SELECT scenario FROM run", "[model]\nuse = llama-7b\n"},
        {"SELECT created GLOB '20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z' FROM run",
         "1"},
        {"SELECT value = 0.4698 FROM metric WHERE name = 'mfu'", "1"},
        {"SELECT value * 1e12 = step_ps FROM metric JOIN run ON run.id = metric.run WHERE metric.name = "
         "'step_s'",
         "1"},
        {"SELECT text FROM assumption", "Every GPU has a node of its own."},
        {"SELECT count(*) FROM lane WHERE rank IS NOT NULL", "128"},
        {"SELECT count(*) FROM lane JOIN link_use USING (run, link)", "128"},
        {"SELECT count(*) FROM span", "31424"},
        {"SELECT count(*) FROM span_ms WHERE rank = 41", "491"},
        {"SELECT group_concat(DISTINCT kind) FROM span", "forward,backward,optimizer,all_reduce"},
        {"SELECT count(*) FROM span WHERE (kind = 'all_reduce') <> (bytes IS NOT NULL)", "0"},
        {"SELECT max(layer) || ' ' || min(layer) || ' ' || count(micro_batch) FROM span WHERE layer IS NOT "
         "NULL",
         "33 0 16896"},
        // A lane's spans follow each other, in the file and in time.
        {"SELECT count(*) FROM lane JOIN span ON span.id BETWEEN first_span AND first_span + spans - 1 WHERE "
         "span.lane = "
         "lane.id",
         "31424"},
        {"SELECT count(*) FROM span a JOIN span b ON b.id = a.id + 1 AND b.lane = a.lane WHERE b.t0_ps < "
         "a.t1_ps",
         "0"},
        {"SELECT name || round(exposed_ms, 2) FROM exposed_by_operation", "bucket 225 all-reduce11.58"},
        {"SELECT round(utilisation, 3) FROM busiest_links LIMIT 1", "0.324"},
        {"SELECT round(total_ms, 2) FROM time_by_kind WHERE rank = 41 AND kind = 'all_reduce'", "541.46"},
        {"PRAGMA user_version", "3"},
        {"PRAGMA integrity_check", "ok"},
        {"PRAGMA foreign_key_check", NULL},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        check_asked(path, cases[i].sql, cases[i].wanted);

    // A second run changes nothing of the first.
    timeline_store_write(path, result, &id, &error);
    check_fine(error);
    assert_int_equal(id, 2);
    check_asked(path, "SELECT count(*) FROM span WHERE run = 2", "31424");
    check_asked(path,
                "SELECT count(*) FROM span a JOIN span b ON b.id = a.id + 31424 WHERE a.run = 1 AND b.run = "
                "2 AND a.lane "
                "= b.lane AND a.t0_ps = b.t0_ps AND a.name = b.name",
                "31424");
    check_asked(path, "SELECT count(DISTINCT first_span) FROM lane", "256");
}

// A result without a trace, without links, without anything.
static void test_bare(void **state)
{
    (void)state;
    g_autofree char *path = folder_file("bare.db");
    g_autoptr(StepResult) result = step_result_new();
    result->runs = g_new0(guint32, 1);
    g_autoptr(GError) error = NULL;
    timeline_store_write(path, result, NULL, &error);
    check_fine(error);
    check_asked(path, "SELECT count(*) FROM run", "1");
    check_asked(path, "SELECT count(*) FROM span", "0");
}

static void make_foreign(const char *path, const char *sql)
{
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void test_refusals(void **state)
{
    (void)state;
    g_autofree char *text = folder_file("text.db"), *foreign = folder_file("foreign.db"),
                    *newer = folder_file("newer.db"), *partial = folder_file("partial.db"),
                    *short_file = folder_file("short.db");
    assert_true(
        g_file_set_contents(text,
                            "These are not the bytes of a database, however long one looks at them ......."
                            "................................................................",
                            -1, NULL));
    assert_true(g_file_set_contents(short_file, "abc", -1, NULL));
    make_foreign(foreign, "CREATE TABLE run (id INTEGER)");
    make_foreign(
        newer, "PRAGMA application_id = 1937010796; PRAGMA user_version = 4; CREATE TABLE run (id INTEGER)");
    make_foreign(
        partial,
        "PRAGMA application_id = 1937010796; PRAGMA user_version = 3; CREATE TABLE run (id INTEGER)");
    g_autofree char *nowhere = g_build_filename(folder, "no", "such.db", NULL);
    g_autofree char *under_file = g_build_filename(text, "x.db", NULL);
    const struct {
        const char *path, *says;
    } cases[] = {
        {folder, "found a folder, wanted a file"},
        {"/dev/null", "found a device or pipe, wanted a file"},
        {"/dev/full", "found a device or pipe, wanted a file"},
        {text, "found a file that is no SQLite database"},
        {short_file, "found a file that is no SQLite database"},
        {foreign, "found a database of another program (application_id 0)"},
        {newer, "found a timeline of a newer stepline (version 4), wanted version 3"},
        {partial, "found a timeline without all its tables"},
        {nowhere, "cannot be made: No such file or directory"},
        {under_file, "cannot be opened"},
        {"/proc/stepline.db", "cannot be made: "},
        {"", "found '' for a database"},
    };
    g_autoptr(StepResult) result = synthetic_result(2);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *before = NULL, *after = NULL;
        gsize n_before = 0, n_after = 0;
        gboolean regular = g_file_test(cases[i].path, G_FILE_TEST_IS_REGULAR);
        if (regular)
            g_file_get_contents(cases[i].path, &before, &n_before, NULL);
        gint64 id = 77;
        assert_false(timeline_store_check(cases[i].path, &error));
        check_says(error, cases[i].says);
        g_clear_error(&error);
        assert_false(timeline_store_write(cases[i].path, result, &id, &error));
        check_says(error, cases[i].says);
        if (!g_str_has_prefix(error->message, cases[i].path))
            fail_msg("'%s' does not name the file", error->message);
        assert_int_equal(id, 77);
        if (regular) {
            assert_true(g_file_get_contents(cases[i].path, &after, &n_after, NULL));
            assert_int_equal(n_before, n_after);
            assert_memory_equal(before, after, n_before);
        } else if (i > 2) {
            assert_false(g_file_test(cases[i].path, G_FILE_TEST_EXISTS));
        }
    }
}

// Names that SQLite would understand in its own way are files like others.
static void test_odd_names(void **state)
{
    (void)state;
    g_autofree char *before = g_get_current_dir();
    assert_int_equal(g_chdir(folder), 0);
    g_autoptr(StepResult) result = synthetic_result(2);
    static const char *const names[] = {":memory:", "file:x?mode=memory", "a 'b\".db"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GError) error = NULL;
        timeline_store_check(names[i], &error);
        check_fine(error);
        assert_false(g_file_test(names[i], G_FILE_TEST_EXISTS));
        timeline_store_write(names[i], result, NULL, &error);
        check_fine(error);
        timeline_store_check(names[i], &error);
        check_fine(error);
        assert_true(g_file_test(names[i], G_FILE_TEST_IS_REGULAR));
    }
    assert_int_equal(g_chdir(before), 0);
}

// A file that cannot grow stands for a disk that is full. Where ignored, the program lives to say so; where
// not, it is killed in the middle of its transaction.
static gboolean write_limited(const char *path, const StepResult *result, gboolean ignored, GError **error)
{
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 200000;
    signal(SIGXFSZ, ignored ? SIG_IGN : SIG_DFL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    gboolean fine = timeline_store_write(path, result, NULL, error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    return fine;
}

static void check_no_file(const char *path)
{
    g_autofree char *journal = g_strconcat(path, "-journal", NULL);
    assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
}

static void test_full(void **state)
{
    (void)state;
    g_autoptr(StepResult) big = synthetic_result(64);
    g_autoptr(StepResult) small = synthetic_result(1);
    g_autoptr(GError) error = NULL;
    g_autofree char *fresh = folder_file("fresh.db"), *old = folder_file("old.db");
    assert_false(write_limited(fresh, big, TRUE, &error));
    check_says(error, "fresh.db: cannot be");
    check_no_file(fresh);
    g_clear_error(&error);

    assert_true(timeline_store_write(old, small, NULL, &error));
    assert_false(write_limited(old, big, TRUE, &error));
    check_says(error, "old.db: cannot be");
    check_asked(old, "SELECT count(*) || ' ' || (SELECT count(*) FROM span) FROM run", "1 491");
    check_asked(old, "PRAGMA integrity_check", "ok");
}

static void test_killed(void **state)
{
    (void)state;
    g_autoptr(StepResult) big = synthetic_result(64);
    g_autoptr(StepResult) small = synthetic_result(1);
    g_autoptr(GError) error = NULL;
    g_autofree char *path = folder_file("killed.db");
    assert_true(timeline_store_write(path, small, NULL, &error));
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        write_limited(path, big, FALSE, NULL);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    gint64 id = 0;
    timeline_store_write(path, small, &id, &error);
    check_fine(error);
    assert_int_equal(id, 2);
    check_asked(path, "SELECT count(*) || ' ' || (SELECT count(*) FROM span) FROM run", "2 982");
    check_asked(path, "PRAGMA integrity_check", "ok");
}

static gpointer write_in_thread(gpointer path)
{
    g_autoptr(StepResult) result = synthetic_result(16);
    GError *error = NULL;
    timeline_store_write(path, result, NULL, &error);
    return error;
}

static void test_two_at_once(void **state)
{
    (void)state;
    g_autofree char *path = folder_file("both.db");
    GThread *threads[4];
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = g_thread_new("writer", write_in_thread, path);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_autoptr(GError) error = g_thread_join(threads[i]);
        check_fine(error);
    }
    check_asked(path, "SELECT group_concat(id) FROM run", "1,2,3,4");
    check_asked(path, "SELECT count(*) FROM span", "31424");
}

// Triggers and views that somebody put into a file do not run.
static void test_triggers(void **state)
{
    (void)state;
    g_autofree char *path = folder_file("trigger.db");
    g_autoptr(StepResult) result = synthetic_result(1);
    g_autoptr(GError) error = NULL;
    assert_true(timeline_store_write(path, result, NULL, &error));
    make_foreign(path, "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM span; END");
    assert_true(timeline_store_write(path, result, NULL, &error));
    check_asked(path, "SELECT count(*) FROM span", "982");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),    cmocka_unit_test(test_bare),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_odd_names),   cmocka_unit_test(test_full),     cmocka_unit_test(test_killed),
        cmocka_unit_test(test_two_at_once), cmocka_unit_test(test_triggers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
