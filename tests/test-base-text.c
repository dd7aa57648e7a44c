// tests/test-base-text.c: text files are read whole, and what is no plain text is refused with its line.
#include "tests/check.h"

#include <glib/gstdio.h>

#include "base/text.h"

static void test_check(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gsize length;     // 0: strlen
        const char *says; // NULL: fine
    } cases[] = {
        {"", 0, NULL},
        {"a = b\tc\r\nd = \xc3\xa9\n", 0, NULL},
        {"a\r", 0, NULL},
        {"a\nb\rc\n", 0, "f:2: found a lone carriage return, wanted lines that end in LF or CR LF"},
        {"a\nb\n\033[2J", 0, "f:3: found a control character"},
        {"a\x7f", 0, "f:1: found a control character"},
        {"a\xc2\x9b\x33\x31m", 0, "f:1: found a control character"},
        {"a\xe2\x80\xa8", 0, "f:1: found a control character"},
        {"a\xff", 0, "f: found bytes that are not UTF-8 text, wanted words"},
        {"a\xc3", 0, "f: found bytes that are not UTF-8 text, wanted words"},
        {"a\0b", 3, "f: found bytes that are not UTF-8 text, wanted words"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        gsize length = cases[i].length > 0 ? cases[i].length : strlen(cases[i].text);
        g_autofree char *exact = g_memdup2(cases[i].text, length); // no NUL behind it
        gboolean fine = text_check("f", exact == NULL ? "" : exact, length, "words", &error);
        assert_true(fine == (cases[i].says == NULL));
        if (cases[i].says != NULL)
            check_says(error, cases[i].says);
    }
}

static void test_files(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    gsize length = 0;
    assert_null(text_read_file("/no/such", 10, "a table", &length, &error));
    check_says(error, "/no/such: no such file");
    g_clear_error(&error);
    assert_null(text_read_file("/", 10, "a table", &length, &error));
    check_says(error, "/: found no regular file, wanted a table");
    g_clear_error(&error);
    if (g_file_test("/proc/self/mem", G_FILE_TEST_IS_REGULAR)) { // its first page is not there
        assert_null(text_read_file("/proc/self/mem", 10, "a table", &length, &error));
        check_says(error, "/proc/self/mem: cannot be read: ");
        g_clear_error(&error);
    }
    g_autofree char *folder = g_dir_make_tmp("stepline-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "t", NULL);
    assert_true(g_file_set_contents(path, "0123456789abc", 13, NULL));
    static const struct {
        gsize limit, length;
    } limits[] = {{9, 10}, {12, 13}, {13, 13}, {100, 13}};
    for (guint i = 0; i < G_N_ELEMENTS(limits); i++) {
        g_autofree char *text = text_read_file(path, limits[i].limit, "a table", &length, &error);
        check_fine(error);
        assert_int_equal(length, limits[i].length);
        assert_int_equal(strlen(text), length);
    }
    g_unlink(path);
    g_rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_check), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
