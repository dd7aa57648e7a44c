// tests/test-plans-budget.c: the primer's numbers, the bands of MFU, and nonsense refused.
#include "tests/check.h"

#include <math.h>

#include "plans/budget.h"

static void near(double found, double want, double within)
{
    if (!(fabs(found - want) <= within))
        fail_msg("found %.12g, wanted %.12g", found, want);
}

static void test_primer(void **state)
{
    (void)state;
    PlanBudget budget;
    plan_budget_init(&budget, 7e9, 8);
    g_autoptr(GError) error = NULL;
    assert_true(plan_budget_check(&budget, &error));
    near(plan_budget_gradient_bytes(&budget), 14e9, 0);
    near(plan_budget_sent(&budget), 24.5e9, 0);
    near(plan_budget_flops(&budget), 1376.256e12, 1e3);
    near(plan_budget_compute(&budget), 0.43487, 1e-5);
    near(plan_budget_all_reduce(&budget, 900e9), 24.5 / 900, 1e-12);
    near(plan_budget_all_reduce(&budget, 450e9), 2 * plan_budget_all_reduce(&budget, 900e9), 1e-15);
    near(plan_budget_step(&budget, 25e9), 0.43487 + 0.98, 1e-5);
    near(plan_budget_sync_share(&budget, 1.25e9), 19.6 / 20.03487, 1e-6);
    near(plan_budget_tokens_per_s(&budget, 0.40), 8 * 989e12 * 0.4 / 42e9, 1e-6);
    near(plan_budget_mfu(&budget, plan_budget_tokens_per_s(&budget, 0.376)), 0.376, 1e-12);
    // The throughput of the compute alone is that of the MFU it was given.
    near(8 * 4096 / plan_budget_compute(&budget), plan_budget_tokens_per_s(&budget, budget.mfu), 1e-6);
    budget.latency = 5e-6;
    near(plan_budget_all_reduce(&budget, 450e9), 24.5 / 450 + 14 * 5e-6, 1e-12);
    plan_budget_init(&budget, 7e9, 1);
    near(plan_budget_all_reduce(&budget, 1), 0, 0);
    near(plan_budget_sync_share(&budget, 1), 0, 0);
}

static void test_nonsense(void **state)
{
    (void)state;
    static const struct {
        double parameters;
        gint64 gpus;
        double tokens, peak, mfu, latency;
        const char *says;
    } bad[] = {
        {7e9, 0, 1, 1e12, 0.4, 0, "gpus: found 0, wanted at least 1"},
        {7e9, -8, 1, 1e12, 0.4, 0, "gpus: found -8, wanted at least 1"},
        {0, 8, 1, 1e12, 0.4, 0, "params: found 0, wanted at least 1"},
        {(double)NAN, 8, 1, 1e12, 0.4, 0, "params: found nan"},
        {(double)INFINITY, 8, 1, 1e12, 0.4, 0, "params: found inf"},
        {7e9, 8, 0, 1e12, 0.4, 0, "tokens: found 0, wanted"},
        {7e9, 8, 1, 0, 0.4, 0, "peak: found 0, wanted"},
        {7e9, 8, 1, 1e12, 0, 0, "mfu: found 0, wanted"},
        {7e9, 8, 1, 1e12, 1.01, 0, "mfu: found 1.01, wanted"},
        {7e9, 8, 1, 1e12, 0.4, -1, "latency: found -1, wanted"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        PlanBudget budget;
        plan_budget_init(&budget, bad[i].parameters, bad[i].gpus);
        budget.tokens = bad[i].tokens;
        budget.peak = bad[i].peak;
        budget.mfu = bad[i].mfu;
        budget.latency = bad[i].latency;
        assert_false(plan_budget_check(&budget, &error));
        check_says(error, bad[i].says);
        assert_int_equal(error->code, 2);
    }
}

static void test_verdict(void **state)
{
    (void)state;
    static const struct {
        double mfu;
        const char *name;
    } cases[] = {
        {0, "cpu"},
        {0.0999, "cpu"},
        {0.10, "loader"},
        {0.20, "loader"},
        {0.224, "loader"},
        {0.225, "communication"},
        {0.30, "communication"},
        {0.357, "communication"},
        {0.374, "communication"},
        {0.376, "healthy"},
        {0.473, "healthy"},
        {0.50, "healthy"},
        {0.501, "above"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_string_equal(plan_budget_verdict(cases[i].mfu)->name, cases[i].name);
}

static void test_conventions(void **state)
{
    (void)state;
    assert_string_equal(plan_budget_find_both(900e9), "H100");
    assert_string_equal(plan_budget_find_each(900e9), "B200");
    assert_string_equal(plan_budget_find_each(450e9), "H100");
    assert_string_equal(plan_budget_find_both(600e9), "A100");
    assert_string_equal(plan_budget_find_both(1.8e12), "B200");
    assert_string_equal(plan_budget_find_both(300e9), "V100");
    assert_null(plan_budget_find_both(450e9));
    assert_null(plan_budget_find_both(50e9));
    assert_null(plan_budget_find_each(50e9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primer),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_conventions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
