// tests/test-plots-timeline.c: the picture of a run is drawn, says what it shows, and takes nothing as code.
#include "tests/check.h"

#include <sqlite3.h>

#include "plots/lanes.h"
#include "plots/plot.h"
#include "plots/timeline.h"
#include "tests/folder.h"
#include "tests/synthetic.h"
#include "timeline/store.h"

static char *database; // owned: in the folder

static int set_up(void **state)
{
    (void)state;
    if (!folder_make())
        return 1;
    database = folder_file("run.db");
    g_autoptr(StepResult) result = synthetic_result(64);
    return !timeline_store_write(database, result, NULL, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove();
    g_free(database);
    return 0;
}

// Whether this machine can draw; without gnuplot the tests that need it are skipped.
static gboolean can_draw(void)
{
    g_autofree char *program = g_find_program_in_path("gnuplot");
    return program != NULL;
}

static void test_drawn(void **state)
{
    (void)state;
    if (!can_draw())
        skip();
    static const struct {
        const char *name, *ranks, *shown;
        Ps from, to;
        guint height;
    } cases[] = {
        {"a.png", NULL, "run 1, 8 of 64 ranks: 0, 9, 18, 27, 41 (finishes last), 45, 54, 63", 0, -1,
         8 * 72 + 170},
        {"b.png", "3,5-6", "run 1, 3 of 64 ranks: 3, 5, 6", 0, PS_PER_SECOND, 3 * 72 + 170},
        {"c.png", "41", "run 1, 1 of 64 ranks: 41 (finishes last)", 1600000000000, 1600000000010, 72 + 170},
        {"d.png", "0-63", "run 1, all 64 ranks", 0, -1, 64 * 72 + 170},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path = folder_file(cases[i].name), *shown = NULL, *bytes = NULL;
        PlotTimeline what = {.ranks = cases[i].ranks, .from = cases[i].from, .to = cases[i].to};
        plot_timeline_write(database, &what, path, &shown, &error);
        check_fine(error);
        assert_string_equal(shown, cases[i].shown);
        gsize length = 0;
        assert_true(g_file_get_contents(path, &bytes, &length, NULL));
        assert_true(length > 1000);
        assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
        const guint8 *size = (const guint8 *)bytes + 16; // width and height, big-endian
        assert_int_equal((guint)size[2] << 8 | size[3], 1600);
        assert_int_equal((guint)size[6] << 8 | size[7], cases[i].height);
    }
}

static void edit(const char *sql)
{
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(database, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(handle));
    sqlite3_close(handle);
}

// The scalable picture is text: what is drawn can be read.
static void test_words(void **state)
{
    (void)state;
    if (!can_draw())
        skip();
    g_autoptr(GError) error = NULL;
    g_autofree char *path = folder_file("words.svg"), *text = NULL;
    PlotTimeline what = {.to = -1};
    plot_timeline_write(database, &what, path, NULL, &error);
    check_fine(error);
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    static const char *const words[] = {
        ">llama7b-64xh100-overlap<",
        "step 1.639 s",
        "MFU 47.0 %",
        "exposed communication 11.58 ms",
        ">rank 41 (last)<",
        ">dp<",
        ">forward<",
        ">backward<",
        ">optimizer<",
        ">all-reduce<",
        ">idle<",
        ">exposed 11.58 ms<",
        "41 (finishes last)",
        "time (ms)",
        "llama-7b on deck-network-400g",
    };
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (strstr(text, words[i]) == NULL)
            fail_msg("the picture does not say '%s'", words[i]);
    assert_null(strstr(text, ">reduce-scatter<"));
}

static void test_no_code(void **state)
{
    (void)state;
    if (!can_draw())
        skip();
    g_autoptr(StepResult) result = synthetic_result(2);
    g_free(result->name);
    result->name =
        g_strdup("`touch m`'; system 'touch m' # \"@a {/b} <&> %s\\n\nsystem(\"touch m\")\nEND\n\033");
    g_free(result->model);
    result->model = g_strdup("a\xff'b "
                             "\303\251\303\251\303\251\303\251\303\251\303\251\303\251\303\251\303\251\303"
                             "\251\303\251\303\251\303\251");
    char **stream = (char **)&g_ptr_array_index(step_result_program(result, 0)->streams, 1);
    g_free(*stream);
    *stream = g_strdup("'\nEND\n%s%n\"");
    g_autofree char *hostile = folder_file("hostile.db"), *picture = folder_file("hostile.svg"), *text = NULL;
    g_autofree char *before = g_get_current_dir();
    g_autoptr(GError) error = NULL;
    assert_true(timeline_store_write(hostile, result, NULL, &error));
    assert_int_equal(g_chdir(folder), 0);
    PlotTimeline what = {.to = -1};
    plot_timeline_write(hostile, &what, picture, NULL, &error);
    assert_int_equal(g_chdir(before), 0);
    check_fine(error);
    // Nor is a picture's own name a command.
    assert_int_equal(g_chdir(folder), 0);
    plot_timeline_write(hostile, &what, "|touch m;'\".png", NULL, &error);
    assert_int_equal(g_chdir(before), 0);
    check_fine(error);
    g_autofree char *touched = folder_file("m");
    assert_false(g_file_test(touched, G_FILE_TEST_EXISTS));
    assert_true(g_file_get_contents(picture, &text, NULL, NULL));
    if (strstr(text, "`touch m`'; system 'touch m' # \"@a {/b} &lt;&amp;> %s\\n?syst") == NULL)
        fail_msg("the name is not drawn as it stands: %s", strstr(text, "`touch"));
}

static void test_quote(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", "\"\""},
        {"Two words 2", "\"Two words \\062\""},
        {"'\"`", "\"\\047\\042\\140\""},
        {"a\nb\\", "\"a\\077b\\134\""},
        {"\303\251", "\"\\303\\251\""},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *quoted = plot_quote(cases[i].text);
        assert_string_equal(quoted, cases[i].wanted);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *picture, *ranks;
        gint64 run;
        Ps from, to;
        const char *says;
    } cases[] = {
        {"x.pdf", NULL, 0, 0, -1, "wanted a name that ends in .png or .svg"},
        {"x.png", "64", 0, 0, -1, "--ranks: found rank 64"},
        {"x.png", NULL, 9, 0, -1, "found no run 9"},
        {"x.png", NULL, 0, 5, 5, "--from, --to"},
        {"x.png", NULL, 0, PS_PER_SECOND * 2, -1, "within 0 s to 1.639 s"},
        {"run.db/x.png", NULL, 0, 0, -1, "cannot be written: Not a directory"},
        {"no/x.png", NULL, 0, 0, -1, "no/x.png: cannot be written: No such file or directory"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path = folder_file(cases[i].picture);
        PlotTimeline what = {cases[i].run, cases[i].ranks, cases[i].from, cases[i].to};
        assert_false(plot_timeline_write(database, &what, path, NULL, &error));
        check_says(error, cases[i].says);
        assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    }
}

// The number of files in the folder: failures leave none behind.
static guint files(void)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    guint n = 0;
    while (g_dir_read_name(dir) != NULL)
        n++;
    return n;
}

// Any gnuplot: one that is not there, one that fails, one that says nothing.
static void test_gnuplot_fails(void **state)
{
    (void)state;
    static const struct {
        const char *program, *says; // NULL: none
    } cases[] = {
        {NULL, "gnuplot not found (Debian: apt-get install gnuplot-nox)"},
        {"#!/bin/sh\necho >&2; echo 'no ink' >&2; echo more >&2; exit 3\n", "gnuplot: no ink"},
        {"#!/bin/sh\nprintf '\\nplot\\n     ^\\n\"/tmp/x.gp\" line 7: bad \\033 word\\n' >&2; exit 1\n",
         "gnuplot: line 7: bad ? word"},
        {"#!/bin/sh\nkill -9 $$\n", "gnuplot: nothing said"},
        {"#!/bin/sh\nexit 0\n", "gnuplot: nothing said"},
    };
    g_autofree char *old = g_strdup(g_getenv("PATH")), *fake = folder_file("gnuplot"),
                    *path = folder_file("fails.png");
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_setenv("PATH", folder, TRUE);
        if (cases[i].program != NULL) {
            assert_true(g_file_set_contents(fake, cases[i].program, -1, NULL));
            assert_int_equal(g_chmod(fake, 0755), 0);
        }
        g_autoptr(GError) error = NULL;
        guint before = files();
        PlotTimeline what = {.to = -1};
        gboolean fine = plot_timeline_write(database, &what, path, NULL, &error);
        g_setenv("PATH", old, TRUE);
        assert_false(fine);
        check_says(error, cases[i].says);
        assert_int_equal(files(), before);
    }
    g_unlink(fake);
}

// A file edited by hand; last, since it changes the file.
static void test_hostile(void **state)
{
    (void)state;
    if (!can_draw())
        skip();
    static const struct {
        const char *sql, *says; // NULL: drawn
    } cases[] = {
        {"UPDATE span SET kind = 'x' || id, layer = 'y' WHERE id % 3 = 0", NULL},
        {"UPDATE span SET t1_ps = 9223372036854775807 WHERE id % 5 = 0", NULL},
        {"UPDATE span SET t0_ps = -9223372036854775807 WHERE id % 7 = 0", NULL},
        {"UPDATE run SET last_rank = -3, mfu = 'x', exposed_comm_ps = 'y', machine = x'00'", NULL},
        {"DELETE FROM span", NULL},
        {"UPDATE run SET step_ps = 9223372036854775807", NULL},
        {"UPDATE run SET step_ps = 1", NULL},
        {"UPDATE lane SET rank = id * 100000000000000 WHERE rank IS NOT NULL", NULL},
        {"UPDATE lane SET rank = 7", "more than 256 lanes"},
        {"UPDATE run SET step_ps = 0", "no length of the step"},
        {"DELETE FROM lane", "no lanes"},
    };
    edit("WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1300) INSERT INTO "
         "lane (run, id, "
         "spans) SELECT 1, i, 0 FROM n");
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        edit(cases[i].sql);
        g_autoptr(GError) error = NULL;
        g_autofree char *path = folder_file("edited.png");
        PlotTimeline what = {.to = -1};
        plot_timeline_write(database, &what, path, NULL, &error);
        if (cases[i].says == NULL)
            check_fine(error);
        else
            check_says(error, cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drawn),   cmocka_unit_test(test_words),    cmocka_unit_test(test_no_code),
        cmocka_unit_test(test_quote),   cmocka_unit_test(test_refusals), cmocka_unit_test(test_gnuplot_fails),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
