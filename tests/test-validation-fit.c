// tests/test-validation-fit.c: known constants come back out of noise, and what cannot be told is said.
#include "tests/check.h"

#include <math.h>

#include "validation/fit.h"

static GArray *points_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(ValidationNcclPoint));
}

static void points_add(GArray *points, double bytes, double time)
{
    ValidationNcclPoint point = {bytes, time};
    g_array_append_val(points, point);
}

static void assert_near(double found, double wanted, double tolerance, const char *what)
{
    if (!(fabs(found / wanted - 1) <= tolerance))
        fail_msg("%s: found %g, wanted %g within %g %%", what, found, wanted, tolerance * 100);
}

// A law of up to three branches, and how well it must come back.
static const struct {
    const char *what;
    guint branches;
    ValidationFitBranch branch[3];
    double noise; // times by 1 +- noise
    guint every;  // one point in so many is five times too slow; 0: none
    double tolerance;
} LAWS[] = {
    {"one line", 1, {{20e-6, 50e9}}, 0, 0, 1e-9},
    {"one line, noise", 1, {{20e-6, 50e9}}, 0.02, 0, 0.03},
    {"two lines", 2, {{16.5e-6, 216e9}, {64e-6, 455e9}}, 0, 0, 1e-6},
    {"two lines, noise", 2, {{23e-6, 40e9}, {86e-6, 224e9}}, 0.02, 0, 0.12},
    {"two lines, outliers", 2, {{23e-6, 40e9}, {86e-6, 224e9}}, 0.01, 7, 0.12},
    {"three lines", 3, {{12e-6, 2e9}, {20e-6, 40e9}, {80e-6, 300e9}}, 0, 0, 1e-6},
};

static void test_laws(void **state)
{
    (void)state;
    const double c = 1.75;
    for (guint i = 0; i < G_N_ELEMENTS(LAWS); i++) {
        g_autoptr(GArray) points = points_new();
        g_autoptr(GRand) rand = g_rand_new_with_seed(7);
        for (guint power = 3; power <= 34; power++) {
            double bytes = pow(2, power), time = HUGE_VAL;
            for (guint j = 0; j < LAWS[i].branches; j++)
                time = MIN(time, LAWS[i].branch[j].alpha + bytes * c / LAWS[i].branch[j].bandwidth);
            time *= 1 + LAWS[i].noise * g_rand_double_range(rand, -1, 1);
            if (LAWS[i].every > 0 && power % LAWS[i].every == 2)
                time *= 5;
            points_add(points, bytes, time);
        }
        ValidationFit fit;
        g_autoptr(GError) error = NULL;
        assert_true(validation_fit_run(points, c, NULL, &fit, &error));
        check_fine(error);
        if (fit.branches != LAWS[i].branches)
            fail_msg("%s: found %u branches, wanted %u", LAWS[i].what, fit.branches, LAWS[i].branches);
        for (guint j = 0; j < fit.branches; j++) {
            assert_near(fit.branch[j].alpha, LAWS[i].branch[j].alpha, LAWS[i].tolerance, LAWS[i].what);
            assert_near(fit.branch[j].bandwidth, LAWS[i].branch[j].bandwidth, LAWS[i].tolerance,
                        LAWS[i].what);
        }
        assert_true(fit.all.median <= MAX(LAWS[i].noise, 1e-9));
        if (LAWS[i].every > 0)
            assert_true(fit.all.most > 0.5);
        else
            assert_near(fit.bandwidth, LAWS[i].branch[fit.branches - 1].bandwidth, 0.03, "bandwidth");
        assert_int_equal(fit.error[0].points + fit.error[1].points + fit.error[2].points, fit.all.points);
        // The same points, the same law, to the bit.
        ValidationFit again;
        assert_true(validation_fit_run(points, c, NULL, &again, &error));
        assert_memory_equal(fit.branch, again.branch, sizeof fit.branch);
    }
}

static void test_degenerate(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    ValidationFit fit;
    g_autoptr(GArray) none = points_new();
    assert_false(validation_fit_run(none, 1, "t", &fit, &error));
    check_says(error, "t: found no size with a usable time");
    g_clear_error(&error);

    g_autoptr(GArray) one = points_new();
    points_add(one, 1e6, 1e-3);
    assert_true(validation_fit_run(one, 2, NULL, &fit, &error));
    assert_near(fit.bandwidth, 2e9, 1e-12, "one size");
    assert_near(validation_fit_time(&fit, 1e6), 1e-3, 1e-12, "one size");
    assert_non_null(strstr(fit.words, "one size only"));
    assert_true(isnan(fit.latency) && isnan(fit.error[0].median));

    g_autoptr(GArray) two = points_new();
    points_add(two, 1024, 10e-6);
    points_add(two, 1e8, 1e-3);
    assert_true(validation_fit_run(two, 1, NULL, &fit, &error));
    assert_near(fit.latency, 10e-6, 1e-12, "latency of two");
    assert_near(validation_fit_time(&fit, 1e8), 1e-3, 1e-9, "two sizes");

    g_autoptr(GArray) flat = points_new();
    for (guint i = 0; i < 20; i++)
        points_add(flat, 8 << i, 30e-6);
    assert_true(validation_fit_run(flat, 1, NULL, &fit, &error));
    assert_int_equal(fit.branches, 1);
    assert_true(isinf(fit.branch[0].bandwidth));
    assert_near(validation_fit_time(&fit, 1e12), 30e-6, 1e-12, "flat");
    assert_non_null(strstr(fit.words, "do not grow with size"));

    g_autoptr(GArray) falling = points_new();
    for (guint i = 0; i < 20; i++)
        points_add(falling, 8 << i, 1e-3 / (i + 1));
    assert_true(validation_fit_run(falling, 1, NULL, &fit, &error));
    for (guint i = 0; i < fit.branches; i++)
        assert_true(fit.branch[i].alpha >= 0 && fit.branch[i].bandwidth > 0);
    assert_true(fit.all.most > 0.5);
    check_fine(error);
}

static void test_thinned(void **state)
{
    (void)state;
    g_autoptr(GArray) points = points_new();
    for (guint i = 1; i <= 20000; i++) {
        double bytes = 1024.0 * i;
        points_add(points, bytes, 15e-6 + bytes / 10e9);
    }
    ValidationFit fit;
    g_autoptr(GError) error = NULL;
    assert_true(validation_fit_run(points, 1, NULL, &fit, &error));
    check_fine(error);
    assert_int_equal(fit.points, 20000);
    assert_near(fit.branch[0].alpha, 15e-6, 0.02, "alpha");
    assert_near(fit.branch[0].bandwidth, 10e9, 0.02, "bandwidth");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
