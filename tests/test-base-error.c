// tests/test-base-error.c: a message is one printable line, whatever it quotes.
#include "tests/check.h"

#include "base/error.h"

static void test_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *where, *text, *message;
    } cases[] = {
        {"f.ini:3", "plain", "f.ini:3: plain"},
        {NULL, "plain", "plain"},
        {"", "plain", "plain"},
        {"a\033[31mb", "x\ny\tz", "a?[31mb: x?y?z"},
        {"\xff.ini", "\x01\x7f", "?.ini: ??"},
        {"\xc3\xa9.ini", "\xc2\x9b", "\xc3\xa9.ini: ?"},  // a C1 control
        {"x", "a\xe2\x80\xa8z\xe2\x80\xaez", "x: a?z?z"}, // line separator, right-to-left override
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        assert_false(base_error_set(&error, BASE_ERROR_USAGE, cases[i].where, "%s", cases[i].text));
        assert_string_equal(error->message, cases[i].message);
        assert_int_equal(error->code, BASE_ERROR_USAGE);
    }
    assert_false(base_error_set(NULL, BASE_ERROR_FAILED, "x", "y"));
}

static void test_lengths(void **state)
{
    (void)state;
    g_autofree char *endless = g_strnfill(1000000, 'a');
    g_autoptr(GError) error = NULL;
    base_error_set(&error, BASE_ERROR_FAILED, endless, "%s", endless);
    assert_true(strlen(error->message) < 4100);
    assert_true(g_str_has_suffix(error->message, "..."));
    g_autofree char *quoted = base_error_quote(endless);
    assert_int_equal(strlen(quoted), 83);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_line), cmocka_unit_test(test_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
