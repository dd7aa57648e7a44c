// tests/test-base-units.c: quantities are read with their units or refused, and printed for people.
#include "tests/check.h"

#include "base/error.h"
#include "base/units.h"

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        UnitsKind kind;
        const char *text;
        double value;
    } good[] = {
        {UNITS_BYTES, "25 MiB", 26214400},
        {UNITS_BYTES, "25MiB", 26214400},
        {UNITS_BYTES, "13476298752 B", 13476298752.0},
        {UNITS_BYTES, "0 B", 0},
        {UNITS_BYTES, "1.5 KiB", 1536},
        {UNITS_BYTES, "0.1 GB", 1e8},
        {UNITS_RATE, "400 Gb/s", 50e9},
        {UNITS_RATE, "450 GB/s", 450e9},
        {UNITS_RATE, "100 Gbit/s", 12.5e9},
        {UNITS_TIME, "2.5 us", 2.5e-6},
        {UNITS_TIME, "2.5 \xc2\xb5s", 2.5e-6},
        {UNITS_COUNT, "7e9", 7e9},
        {UNITS_FRACTION, "47.3 %", 0.473},
        {UNITS_FRACTION, "0.473", 0.473},
        {UNITS_FLOPS, "989 TFLOP/s", 989e12},
    };
    for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
        g_autoptr(GError) error = NULL;
        double value = -1;
        if (!units_parse(good[i].kind, good[i].text, NULL, &value, &error))
            fail_msg("%s: %s", good[i].text, error->message);
        assert_true(ABS(value - good[i].value) <= 1e-15 * good[i].value);
    }
}

static void test_refuse(void **state)
{
    (void)state;
    static const struct {
        UnitsKind kind;
        const char *text, *says;
    } bad[] = {
        {UNITS_RATE, "400 GB", "(a size), wanted a rate"},
        {UNITS_BYTES, "400 Gb/s", "(a rate), wanted a size"},
        {UNITS_BYTES, "400", "(no unit)"},
        {UNITS_BYTES, "-1 B", "(negative)"},
        {UNITS_BYTES, "nan B", "(not a number)"},
        {UNITS_NUMBER, "inf", "(not a number)"},
        {UNITS_NUMBER, "1e999", "(out of range)"},
        {UNITS_BYTES, "1e300 PB", "(out of range)"},
        {UNITS_BYTES, "0.3 B", "(not a whole number)"},
        {UNITS_COUNT, "0x10", "unknown unit 'x10'"},
        {UNITS_COUNT, "1.5", "(not a whole number)"},
        {UNITS_COUNT, "", "(nothing)"},
        {UNITS_COUNT, "1e16", "(out of range)"},
        {UNITS_COUNT, "64 GPUs", "unknown unit 'GPUs'"},
        {UNITS_FRACTION, "47.3", "(more than 1)"},
        {UNITS_RATE, "400 gb/s", "did you mean"},
        {UNITS_TIME, "5 parsec", "unknown unit"},
        {UNITS_TIME, "5 1 us", "unknown unit"},
        {UNITS_NUMBER, "1,5", "unknown unit ',5'"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        double value = -1;
        if (units_parse(bad[i].kind, bad[i].text, "f.ini:3: a.b", &value, &error))
            fail_msg("'%s' was read as %g", bad[i].text, value);
        assert_true(value == -1);
        assert_true(error->domain == BASE_ERROR);
        assert_true(g_str_has_prefix(error->message, "f.ini:3: a.b: found '"));
        if (strstr(error->message, bad[i].says) == NULL)
            fail_msg("'%s' gave '%s', wanted '%s'", bad[i].text, error->message, bad[i].says);
    }
}

static void test_ps(void **state)
{
    (void)state;
    Ps ps = 0;
    assert_true(units_parse_ps("2.5 us", NULL, &ps, NULL));
    assert_int_equal(ps, 2500000);
    assert_true(units_parse_ps("0.1 ps", NULL, &ps, NULL));
    assert_int_equal(ps, 1); // rounded up
    assert_true(units_ps_from_seconds(0, &ps));
    assert_int_equal(ps, 0);
    assert_false(units_ps_from_seconds(-1, &ps));
    assert_false(units_ps_from_seconds(1e9, &ps));
}

static void test_pace(void **state)
{
    (void)state;
    UnitsPace pace = units_pace(50e9);
    assert_int_equal(pace.num, 20);
    assert_int_equal(pace.den, 1);
    pace = units_pace(450e9);
    assert_int_equal(units_pace_time(pace, 450), 1000);
    assert_int_equal(units_pace_time(pace, 451), 1003); // 1002.2 rounded up
    assert_int_equal(units_pace_time(pace, 0), 0);
    // Past 64 bits in the product: 9 PB at 1e9+7 bytes/s.
    pace = units_pace(1000000007);
    assert_int_equal(units_pace_time(pace, 9000000000000000), 8999999937000000441);
    assert_true(units_pace_fits(pace, 1000000000));
    assert_false(units_pace_fits(pace, G_MAXINT64));
}

static void test_format(void **state)
{
    (void)state;
    static const struct {
        char *(*format)(double);
        double value;
        const char *text;
    } cases[] = {
        {units_format_seconds, 0.011582, "11.58 ms"},
        {units_format_seconds, 2.1735, "2.174 s"},
        {units_format_seconds, 0, "0 s"},
        {units_format_seconds, 0.99999, "1 s"},
        {units_format_bytes, 13476298752.0, "13.48 GB"},
        {units_format_binary, 26214400, "25 MiB"},
        {units_format_rate, 50e9, "50 GB/s"},
        {units_format_flops, 989e12, "989 TFLOP/s"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = cases[i].format(cases[i].value);
        assert_string_equal(text, cases[i].text);
    }
    g_autofree char *count = units_format_count(6738149376);
    assert_string_equal(count, "6,738,149,376");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse), cmocka_unit_test(test_refuse), cmocka_unit_test(test_ps),
        cmocka_unit_test(test_pace),  cmocka_unit_test(test_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
