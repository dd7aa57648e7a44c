// tests/test-validation-constants.c: fitted lines as a machine's constants: what grows with the islands and
// what does not.
#include "tests/check.h"

#include <math.h>

#include "validation/constants.h"

static ValidationFit fitted(double first, double last)
{
    return (ValidationFit){.factor = 1, .points = 20, .branches = 2, .branch = {{first, 1e9}, {last, 1e11}}};
}

static ValidationConstants constants_of(guint32 gpus, ValidationNcclOp op, double first, double last)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TopoMachine) machine = topo_machine_read("dgx-h100", gpus, NULL, &error);
    check_fine(error);
    ValidationFit fit = fitted(first, last);
    ValidationConstants constants;
    assert_true(validation_constants_get(machine, op, &fit, &constants));
    return constants;
}

// What a line makes of so many islands is what was measured there; how much of it is steps follows NCCL.
static void test_split(void **state)
{
    (void)state;
    static const struct {
        ValidationNcclOp op;
        guint32 gpus;
        double steps;       // of so many islands
        double least, most; // of the latency, in steps
    } cases[] = {
        {VALIDATION_NCCL_ALL_REDUCE, 8, 0, 0, 0},      {VALIDATION_NCCL_ALL_REDUCE, 16, 1, 0.3, 0.6},
        {VALIDATION_NCCL_ALL_REDUCE, 32, 2, 0.5, 0.8}, {VALIDATION_NCCL_ALL_REDUCE, 96, 3.5, 0.6, 0.9},
        {VALIDATION_NCCL_ALL_GATHER, 32, 3, 0.6, 1},   {VALIDATION_NCCL_BROADCAST, 32, 3, 0.5, 1},
        {VALIDATION_NCCL_ALL_TO_ALL, 32, 3, 0, 0},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        ValidationConstants found = constants_of(cases[i].gpus, cases[i].op, 40e-6, 200e-6);
        assert_int_equal(found.islands, cases[i].gpus / 8);
        assert_int_equal(found.fit.ranks, found.islands > 1 ? 0 : cases[i].gpus);
        assert_int_equal(found.fit.lines, 2);
        for (guint l = 0; l < 2; l++) {
            const MachineTuningLine *line = &found.fit.line[l];
            double alpha = l == 0 ? 40e6 : 200e6, part = (double)line->step * cases[i].steps;
            assert_true(line->latency >= 0 && line->step >= 0);
            if (fabs((double)line->latency + part - alpha) > 4)
                fail_msg("case %u, line %u: %g ps + %g ps, wanted %g together", i, l, (double)line->latency,
                         part, alpha);
            if (part < cases[i].least * alpha || part > cases[i].most * alpha)
                fail_msg("case %u, line %u: %g of the latency is steps", i, l, part / alpha);
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(TopoMachine) machine = topo_machine_read("dgx-h100", 8, NULL, &error);
    check_fine(error);
    ValidationFit fit = fitted(1e-5, 1e-4);
    ValidationConstants constants;
    assert_false(validation_constants_get(machine, VALIDATION_NCCL_SEND_RECV, &fit, &constants));
}

// Two and four islands: a step is the difference of the two.
static void test_joined(void **state)
{
    (void)state;
    for (guint turn = 0; turn < 2; turn++) {
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(ValidationConstants));
        ValidationConstants two = constants_of(16, VALIDATION_NCCL_ALL_REDUCE, 20e-6, 200e-6);
        ValidationConstants four = constants_of(32, VALIDATION_NCCL_ALL_REDUCE, 32e-6, 290e-6);
        ValidationConstants gather = constants_of(32, VALIDATION_NCCL_ALL_GATHER, 32e-6, 290e-6);
        four.fit.line[1].bandwidth /= 2;
        assert_false(validation_constants_add(all, &gather));
        assert_false(validation_constants_add(all, turn == 0 ? &two : &four));
        assert_true(validation_constants_add(all, turn == 0 ? &four : &two));
        assert_int_equal(all->len, 2);
        const ValidationConstants *one = &g_array_index(all, ValidationConstants, 1);
        assert_true(ABS(one->fit.line[0].step - 12000000) < 4);
        assert_true(ABS(one->fit.line[0].latency - 8000000) < 4);
        assert_true(ABS(one->fit.line[1].step - 90000000) < 4);
        assert_true(ABS(one->fit.line[1].latency - 110000000) < 4);
        assert_true(one->fit.line[1].bandwidth == 1e11);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
