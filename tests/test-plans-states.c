// tests/test-plans-states.c: bytes of model states against the figures that the two documents print.
#include "tests/check.h"

#include <math.h>

#include "plans/states.h"

// Whether value prints as printed with that many digits after the point.
static void check_printed(double value, double printed, int digits)
{
    double half = 0.5 * pow(10, -digits);
    if (fabs(value - printed) > half * (1 + 1e-9))
        fail_msg("computed %.6f, printed %.*f", value, digits, printed);
}

// The deck: LLaMA 7B (6,738,149,376 parameters), mixed-precision Adam, GB (1e9).
static void test_deck(void **state)
{
    (void)state;
    static const struct {
        gint64 workers;
        int zero;
        double weights, gradients, optimizer, total, sent;
    } rows[] = {
        {8, 0, 13.48, 13.48, 80.86, 107.81, 23.58},  {8, 1, 13.48, 13.48, 10.11, 37.06, 23.58},
        {8, 2, 13.48, 1.68, 10.11, 25.27, 23.58},    {8, 3, 1.68, 1.68, 10.11, 13.48, 35.38},
        {64, 0, 13.48, 13.48, 80.86, 107.81, 26.53}, {64, 1, 13.48, 13.48, 1.26, 28.22, 26.53},
        {64, 2, 13.48, 0.21, 1.26, 14.95, 26.53},    {64, 3, 0.21, 0.21, 1.26, 1.68, 39.80},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        PlanStates states = plan_states(6738149376, PLAN_OPTIMIZER_ADAM_MIXED, rows[i].zero, rows[i].workers);
        check_printed(states.weights / 1e9, rows[i].weights, 2);
        check_printed(states.gradients / 1e9, rows[i].gradients, 2);
        check_printed(states.optimizer / 1e9, rows[i].optimizer, 2);
        check_printed(states.total / 1e9, rows[i].total, 2);
        check_printed(plan_states_sent(6738149376, rows[i].zero, rows[i].workers) / 1e9, rows[i].sent, 2);
    }
}

// The primer: 7e9 parameters, 8 workers, mixed-precision Adam, GiB (2^30).
static void test_primer(void **state)
{
    (void)state;
    static const struct {
        double total;
        gboolean fits; // a card of 80 GiB
    } rows[] = {{104.3, FALSE}, {35.9, TRUE}, {24.4, TRUE}, {13.0, TRUE}};
    const double gib = 1024.0 * 1024 * 1024;
    for (int zero = 0; zero <= 3; zero++) {
        PlanStates states = plan_states(7000000000, PLAN_OPTIMIZER_ADAM_MIXED, zero, 8);
        check_printed(states.total / gib, rows[zero].total, 1);
        assert_int_equal(states.total <= 80 * gib, rows[zero].fits);
    }
    check_printed(plan_states_sent(7000000000, 0, 8) / 1e9, 24.5, 1);
}

static void test_rules(void **state)
{
    (void)state;
    static const struct {
        PlanOptimizer optimizer;
        const char *name;
        double bytes, wide; // the rule; its fp32 parts
    } rules[] = {
        {PLAN_OPTIMIZER_SGD_MOMENTUM, "sgd-momentum", 8, 4},
        {PLAN_OPTIMIZER_ADAM_MIXED, "adam", 16, 12},
        {PLAN_OPTIMIZER_ADAM_FP32, "adam-fp32", 20, 16},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        assert_string_equal(PLAN_OPTIMIZER_NAMES[rules[i].optimizer], rules[i].name);
        assert_true(plan_states_bytes_per_parameter(rules[i].optimizer) == rules[i].bytes);
        guint count;
        const PlanStatePart *parts = plan_states_parts(rules[i].optimizer, &count);
        double sum = 0, wide = 0;
        for (guint j = 0; j < count; j++) {
            sum += parts[j].bytes;
            wide += strncmp(parts[j].name, "fp32", 4) == 0 ? parts[j].bytes : 0;
        }
        assert_true(sum == rules[i].bytes);
        assert_true(wide == rules[i].wide);
        // One worker shards nothing, whatever the stage; and sends nothing.
        for (int zero = 0; zero <= 3; zero++) {
            assert_true(plan_states(1000, rules[i].optimizer, zero, 1).total == 1000 * rules[i].bytes);
            assert_true(plan_states_sent(1000, zero, 1) == 0);
        }
        // Stage 3 shards all of it.
        assert_true(plan_states(1000, rules[i].optimizer, 3, 8).total == 125 * rules[i].bytes);
    }
    assert_null(PLAN_OPTIMIZER_NAMES[G_N_ELEMENTS(rules)]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deck),
        cmocka_unit_test(test_primer),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
