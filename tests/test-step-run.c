// tests/test-step-run.c: a simulated step: the deck's figures, what sums to the step, and what the documents
// say in words.
#include "tests/check.h"

#include <math.h>

#include "scenarios/scenario.h"
#include "step/explain.h"
#include "step/run.h"

// Runs a scenario of the library with overrides (a list that ends in NULL).
static StepResult *run(const char *scenario, const char *const *sets)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini = scenario_open(scenario, &error);
    check_fine(error);
    g_autoptr(StepJob) job = scenario_read(ini, sets, &error);
    check_fine(error);
    StepResult *result = step_run(job, NULL, NULL, &error);
    check_fine(error);
    return result;
}

static void check_digits(double value, int digits, const char *wanted)
{
    g_autofree char *found = g_strdup_printf("%.*f", digits, value);
    assert_string_equal(found, wanted);
}

static void test_deck(void **state)
{
    (void)state;
    g_autoptr(StepResult) wait = run("llama7b-64xh100-wait", NULL);
    check_digits(units_seconds(wait->step), 2, "2.17");
    check_digits(wait->mfu * 100, 1, "35.7");
    check_digits(units_seconds(wait->compute), 2, "1.64");
    check_digits(units_seconds(wait->exposed_comm), 2, "0.53");
    assert_int_equal(wait->buckets, 1);

    g_autoptr(StepResult) overlap = run("llama7b-64xh100-overlap", NULL);
    check_digits(units_seconds(overlap->compute), 2, "1.64");
    check_digits(units_seconds(overlap->perfect_overlap), 2, "1.64");
    double ceiling =
        overlap->model_flops / (overlap->peak_flops * 64 * units_seconds(overlap->perfect_overlap));
    check_digits(ceiling * 100, 1, "47.3");
    // What cannot hide is the embedding's all-reduce, 262,144,000 bytes over 64 ranks: 2 x 63 (10 us +
    // 4,096,000 B / 50 GB/s) = 11.58 ms.
    assert_int_equal(overlap->exposed_comm, 126 * (G_GINT64_CONSTANT(10000000) + 4096000 * 20));
    assert_int_equal(overlap->exposures->len, 1);
    assert_int_equal(overlap->buckets, 226);
    g_autofree char *words = step_explain_words(overlap, 0, step_explain_stretch(overlap, 0));
    assert_non_null(strstr(words, "embedding"));
    assert_int_equal(overlap->step, overlap->compute + overlap->exposed_comm);
}

// Properties of any run: classes sum, nothing overlaps on a stream, every bucket comes after its gradients,
// bytes are those of the closed form, no link is over its capacity, the bound is one.
static void check_properties(const StepResult *result)
{
    assert_int_equal(result->step, result->compute + result->exposed_comm + result->idle);
    assert_true(result->idle >= 0 && result->bound <= result->step && result->mfu <= 1);
    guint streams = step_result_program(result, 0)->streams->len;
    g_autofree Ps *last = g_new0(Ps, result->ranks * streams);
    Ps exposed = 0;
    for (guint i = 0; i < result->trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, i);
        guint lane = span->rank * streams + step_result_op(result, span)->stream;
        assert_true(span->start >= last[lane] && span->end >= span->start);
        last[lane] = span->end;
    }
    assert_int_equal(result->trace.spans->len, result->ranks * step_result_program(result, 0)->ops->len);
    for (guint i = 0; i < result->exposures->len; i++) {
        const StepExposure *exposure = &g_array_index(result->exposures, StepExposure, i);
        exposed += exposure->end - exposure->start;
    }
    assert_int_equal(exposed, result->exposed_comm);
    double out = 0;
    for (guint i = 0; i < result->links->len; i++) {
        const StepLinkUse *use = result->links->pdata[i];
        assert_true(use->busy <= result->step);
        if (g_str_has_prefix(use->name, "gpu"))
            out += (double)use->bytes;
    }
    double p = result->ranks;
    assert_true(fabs(out - 2 * (p - 1) * (double)result->gradient_bytes) < 1);
}

static void test_properties(void **state)
{
    (void)state;
    static const char *const cases[][8] = {
        {NULL},
        {"job.bucket_split=yes", NULL},
        {"job.bucket=1 MiB", "model.layers=4", NULL},
        {"job.bucket=whole", NULL},
        {"job.overlap=no", "model.layers=2", NULL},
        {"machine.gpus=1", "job.dp=1", "job.tokens=4096", NULL},
        {"machine.gpus=3", "job.dp=3", "job.tokens=12288", "model.use=gpt2", "model.sequence=1024", NULL},
        {"machine.use=deck-nvlink-8", "machine.gpus=8", "job.dp=8", "compute.optimizer_time=memory", NULL},
        {"machine.use=deck-wan-100g", "machine.gpus=4", "job.dp=4", "model.layers=3", NULL},
        {"machine.use=wan-2x32", "collective.model=plain", "model.use=gpt2-medium", "model.sequence=512",
         "compute.optimizer_time=memory", NULL},
        {"machine.use=h100-8rail", "collective.algorithm=ring", "model.layers=2", NULL},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(StepResult) result = run("llama7b-64xh100-overlap", cases[i]);
        check_properties(result);
    }
}

// Cutting the embedding's gradient shortens the tail, unless the pieces are so small that latency eats it up:
// at 25 MiB the all-reduces take longer than the backward pass.
static void test_split(void **state)
{
    (void)state;
    const char *const fine[] = {"job.bucket_split=yes", NULL};
    const char *const coarse[] = {"job.bucket_split=yes", "job.bucket=100 MiB", NULL};
    g_autoptr(StepResult) whole = run("llama7b-64xh100-overlap", NULL);
    g_autoptr(StepResult) split = run("llama7b-64xh100-overlap", coarse);
    g_autoptr(StepResult) small = run("llama7b-64xh100-overlap", fine);
    assert_true(split->exposed_comm < whole->exposed_comm);
    assert_true(small->exposed_comm > whole->exposed_comm);
    assert_int_equal(split->compute, whole->compute);
    assert_true(small->communication > whole->communication);
}

// More devices on a slow network make the sync's share worse.
static void test_more_devices(void **state)
{
    (void)state;
    double last = -1;
    for (guint gpus = 2; gpus <= 64; gpus *= 2) {
        g_autofree char *count = g_strdup_printf("machine.gpus=%u", gpus);
        g_autofree char *dp = g_strdup_printf("job.dp=%u", gpus);
        g_autofree char *tokens = g_strdup_printf("job.tokens=%u", gpus * 4096);
        const char *const sets[] = {"machine.use=primer-10g-8", count, dp, tokens, NULL};
        g_autoptr(StepResult) result = run("llama7b-64xh100-wait", sets);
        double share = (double)result->exposed_comm / (double)result->step;
        assert_true(share > last);
        last = share;
    }
}

// When the sync is a large share: accumulate (more tokens a step), or a better interconnect.
static void test_moves(void **state)
{
    (void)state;
    const char *const slow[] = {"machine.use=deck-wan-100g", "job.tokens=262144", NULL};
    const char *const accumulate[] = {"machine.use=deck-wan-100g", "job.tokens=1048576", NULL};
    const char *const faster[] = {"job.tokens=262144", NULL};
    g_autoptr(StepResult) base = run("llama7b-64xh100-wait", slow);
    g_autoptr(StepResult) more = run("llama7b-64xh100-wait", accumulate);
    g_autoptr(StepResult) better = run("llama7b-64xh100-wait", faster);
    assert_true(base->mfu < more->mfu && base->mfu < better->mfu);
}

// Over a much slower link no overlap can hide the sync.
static void test_wan(void **state)
{
    (void)state;
    const char *const sets[] = {"machine.use=deck-wan-100g", NULL};
    g_autoptr(StepResult) result = run("llama7b-64xh100-overlap", sets);
    assert_true(result->whole_all_reduce > result->compute);
    assert_true(result->exposed_comm > result->step / 3);
}

static gboolean stop(gpointer user, Ps now, guint64 events)
{
    (void)user;
    (void)now;
    (void)events;
    return FALSE;
}

static void test_stopped(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini = scenario_open("llama7b-64xh100-overlap", &error);
    g_autoptr(StepJob) job = scenario_read(ini, NULL, &error);
    check_fine(error);
    g_autoptr(StepResult) result = step_run(job, stop, NULL, &error);
    assert_null(result);
    check_says(error, "stopped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deck),         cmocka_unit_test(test_properties),
        cmocka_unit_test(test_more_devices), cmocka_unit_test(test_split),
        cmocka_unit_test(test_moves),        cmocka_unit_test(test_wan),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
