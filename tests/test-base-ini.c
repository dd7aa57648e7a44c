// tests/test-base-ini.c: scenario files are read with lines, and nothing in them goes unseen.
#include "tests/check.h"

#include "base/ini.h"
#include "base/library.h"
#include "base/suggest.h"

static Ini *read(const char *text, GError **error)
{
    return ini_read_text("f.ini", text, strlen(text), error);
}

static void test_getters(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini =
        read("# words\n[a]\ncount = 64 \nrate = 400 Gb/s\non = yes\nname = x y\n\n[b]\nt = 5 us\n", &error);
    check_fine(error);
    gint64 count = 0;
    double rate = 0;
    gboolean on = FALSE;
    Ps time = 0;
    g_autofree char *name = NULL;
    assert_true(ini_get_count(ini, "a", "count", INI_REQUIRED, 1, 100, &count, &error));
    assert_true(ini_get(ini, "a", "rate", INI_REQUIRED, UNITS_RATE, &rate, &error));
    assert_true(ini_get_flag(ini, "a", "on", INI_REQUIRED, &on, &error));
    assert_true(ini_get_text(ini, "a", "name", INI_REQUIRED, &name, &error));
    assert_true(ini_get_ps(ini, "b", "t", INI_REQUIRED, &time, &error));
    assert_true(ini_get_ps(ini, "b", "absent", INI_OPTIONAL, &time, &error));
    check_fine(error);
    assert_int_equal(count, 64);
    assert_true(rate == 50e9);
    assert_true(on);
    assert_string_equal(name, "x y");
    assert_int_equal(time, 5000000);
    assert_true(ini_finish(ini, &error));
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"[a]\nx = 1\nx = 2\n", "f.ini:3: a.x: found twice, first in line 2"},
        {"[a]\nx = 1\n[b]\n[a]\nx = 2\n", "f.ini:5: a.x: found twice"},
        {"x = 1\n", "f.ini:1: found a key before the first [section]"},
        {"[a\nx = 1\n", "f.ini:1: found a broken section header"},
        {"[a]\nx\n", "f.ini:2: found 'x', wanted 'key = value'"},
        {"[a]\nx = \xff\n", "not UTF-8"},
        {"[a]\nx = \033[31mred\n", "f.ini:2: found a control character, wanted plain text"},
        {"[a]\nx = 1\ry = 2\n", "f.ini:2: found a lone carriage return"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Ini) ini = read(bad[i].text, &error);
        assert_null(ini);
        check_says(error, bad[i].says);
    }
    g_autoptr(GError) error = NULL;
    assert_null(ini_read_text("f.ini", "[a]\nx=\0y\n", 10, &error));
    check_says(error, "not UTF-8");
    g_clear_error(&error);
    assert_null(ini_read_file("/no/such/file.ini", &error));
    check_says(error, "/no/such/file.ini: no such file");
    g_clear_error(&error);
    assert_null(ini_read_file("/", &error));
    check_says(error, "no regular file");
}

static void test_marks(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini = read("\xef\xbb\xbf[a]\r\nx = 1\r\n", &error); // as Windows saves it
    check_fine(error);
    gint64 x = 0;
    assert_true(ini_get_whole(ini, "a", "x", INI_REQUIRED, UNITS_COUNT, &x, &error));
    assert_int_equal(x, 1);
    assert_false(ini_set(ini, "a.y=\033[2J", &error));
    check_says(error, "--set: found 'a.y=?[2J' with a control character, wanted plain text");
    g_clear_error(&error);
    assert_false(ini_set(ini, "a.y=\xff", &error));
    check_says(error, "not UTF-8");
}

static void test_values(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini = read("[job]\ndp = 0\noverlap = maybe\nbuckett = 25 MiB\nempty =\n", &error);
    check_fine(error);
    gint64 dp = 7, bucket = 9;
    gboolean overlap = FALSE;
    g_autofree char *text = NULL;
    assert_false(ini_get_count(ini, "job", "dp", INI_REQUIRED, 1, 8, &dp, &error));
    check_says(error, "f.ini:2: job.dp: found 0, wanted a whole number from 1 to 8");
    assert_int_equal(dp, 7);
    g_clear_error(&error);
    assert_false(ini_get_flag(ini, "job", "overlap", INI_REQUIRED, &overlap, &error));
    check_says(error, "f.ini:3: job.overlap: found 'maybe', wanted one of: no, yes");
    g_clear_error(&error);
    assert_true(ini_get_whole(ini, "job", "bucket", INI_OPTIONAL, UNITS_BYTES, &bucket, &error));
    assert_int_equal(bucket, 9);
    assert_false(ini_get_text(ini, "job", "empty", INI_OPTIONAL, &text, &error));
    check_says(error, "f.ini:5: job.empty: found nothing");
    g_clear_error(&error);
    assert_false(ini_get_text(ini, "job", "gone", INI_REQUIRED, &text, &error));
    check_says(error, "f.ini: job.gone: missing");
    g_clear_error(&error);
    assert_false(ini_get_text(ini, "jobs", "bucket_t", INI_REQUIRED, &text, &error));
    check_says(error, "f.ini: jobs.bucket_t: missing (line 4 has job.buckett)");
    g_clear_error(&error);
    assert_false(ini_finish(ini, &error));
    check_says(error, "f.ini:4: job.buckett: unknown key (did you mean 'bucket'?)");
}

static void test_set(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini = read("[job]\ndp = 8\n", &error);
    check_fine(error);
    gint64 dp = 0, mp = 0;
    assert_true(ini_set(ini, "job.dp=16", &error));
    assert_true(ini_set(ini, " job.mp = 3", &error));
    assert_true(ini_get_whole(ini, "job", "dp", INI_REQUIRED, UNITS_COUNT, &dp, &error));
    assert_true(ini_get_whole(ini, "job", "mp", INI_REQUIRED, UNITS_COUNT, &mp, &error));
    assert_int_equal(dp, 16);
    assert_int_equal(mp, 3);
    static const char *const bad[] = {"job", "job.dp", "dp=3", ".dp=3", "job.=3", "=", ""};
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        assert_false(ini_set(ini, bad[i], &error));
        check_says(error, "--set: found");
        g_clear_error(&error);
    }
    assert_true(ini_set(ini, "job.typo=3", &error));
    assert_false(ini_finish(ini, &error));
    check_says(error, "--set: job.typo: unknown key");
}

static void test_suggest(void **state)
{
    (void)state;
    const char *const names[] = {"bucket", "overlap", "bucket_split", NULL};
    assert_string_equal(suggest_find("buckt", names), "bucket");
    assert_string_equal(suggest_find("ovrelap", names), "overlap");
    assert_string_equal(suggest_find("Bucket-Split", names), "bucket_split");
    assert_null(suggest_find("zebra", names));
    assert_string_equal(
        suggest_find("overlpa_with", (const char *const[]){"overlap_with_more_than_that", NULL}),
        "overlap_with_more_than_that");
    assert_null(suggest_find("", names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_getters), cmocka_unit_test(test_refusals), cmocka_unit_test(test_marks),
        cmocka_unit_test(test_values),  cmocka_unit_test(test_set),      cmocka_unit_test(test_suggest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
