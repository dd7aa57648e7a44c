// tests/test-scenarios-scenario.c: a scenario is read whole or refused with file, line and key.
#include "tests/check.h"

#include "base/error.h"
#include "base/library.h"
#include "scenarios/scenario.h"

static const char GOOD[] = "[model]\nuse = llama-7b\n[machine]\nuse = deck-network-400g\ngpus = 8\n"
                           "[job]\ntokens = 32768\n[compute]\nefficiency = 0.5\n";

static StepJob *read(const char *text, const char *const *sets, GError **error)
{
    g_autoptr(Ini) ini = ini_read_text("s.ini", text, strlen(text), error);
    return ini == NULL ? NULL : scenario_read(ini, sets, error);
}

static void test_defaults(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(StepJob) job = read(GOOD, NULL, &error);
    check_fine(error);
    assert_string_equal(job->name, "s");
    assert_int_equal(job->plan.dp, 8);
    assert_int_equal(job->plan.sequence, 4096);
    assert_int_equal(job->plan.bucket, 25 << 20);
    assert_int_equal(job->plan.first_bucket, 1 << 20);
    assert_true(job->plan.overlap && !job->plan.bucket_split);
    assert_true(job->update == STEP_UPDATE_MEMORY);
}

static void test_sets(void **state)
{
    (void)state;
    const char *const sets[] = {"job.bucket=whole", "machine.gpus = 4", "model.layers=2",
                                "simulate.queue=heap", NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(StepJob) job = read(GOOD, sets, &error);
    check_fine(error);
    assert_int_equal(job->plan.dp, 4);
    assert_int_equal(job->model->layers, 2);
    assert_true(job->plan.bucket == G_MAXINT64);
    assert_non_null(strstr(job->text, "# --set model.layers=2\n"));
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *set, *says;
    } bad[] = {
        {"job.dp=6", "--set: job.dp: found 6, wanted 8"},
        {"job.dp=-1", "--set: job.dp: found '-1' (negative)"},
        {"job.tokens=nan", "--set: job.tokens: found 'nan' (not a number)"},
        {"job.tokens=1e300", "job.tokens: found '1e300' (out of range)"},
        {"job.tokens=1000", "wanted a multiple of 32768 (8 ranks x sequences of 4096 tokens)"},
        {"job.zero=1", "wanted 0: sharded steps are not simulated yet"},
        {"job.bucket=25", "job.bucket: found '25' (no unit)"},
        {"job.bucket=400 Gb/s", "(a rate), wanted a size"},
        {"job.bucket=0 B", "job.bucket: found less than 1 KiB"},
        {"job.first_bucket=1 B", "job.first_bucket: found less than 1 KiB"},
        {"job.bukket=25 MiB", "--set: job.bukket: unknown key (did you mean 'bucket'?)"},
        {"job.overlap=true", "wanted one of: no, yes"},
        {"job.optimizer=adamw", "did you mean 'adam'"},
        {"compute.efficiency=0", "compute.efficiency: found 0, wanted a fraction of peak"},
        {"compute.efficiency=47.3", "(more than 1)"},
        {"compute.precision=bf15", "did you mean 'bf16'"},
        {"compute.counting=7N", "wanted one of: 6N, 6N+12LHQT"},
        {"compute.bucket=1 MiB", "unknown key (did you mean 'job.bucket'?)"},
        {"simulate.fidelity=folded", "wanted one of: messages"},
        {"simulate.chunk=1 B", "simulate.chunk: found less than 4 KiB"},
        {"collective.algorithm=rings", "did you mean 'ring'"},
        {"machine.use=deck-network", "did you mean"},
        {"machine.gpus=0", "machine.gpus: found 0, wanted a whole number from 1"},
        {"machine.gpus=1000000", "machine.gpus: found 1000000"},
        {"machine.use=deck-nvlink-9", "did you mean 'deck-nvlink-8'"},
        {"model.use=llama-7", "did you mean 'llama-7b'"},
        {"model.use=./no-such.ini", "no such file"},
        {"model.kv_heads=5", "model."},
        {"model.sequence=0", "model.sequence: found 0"},
        {"modle.use=x", "unknown key"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        const char *const sets[] = {bad[i].set, NULL};
        g_autoptr(GError) error = NULL;
        g_autoptr(StepJob) job = read(GOOD, sets, &error);
        if (job != NULL)
            fail_msg("%s was accepted", bad[i].set);
        assert_true(error->domain == BASE_ERROR);
        check_says(error, bad[i].says);
    }
    g_autoptr(GError) error = NULL;
    assert_null(
        read("[model]\nuse = llama-7b\n[machine]\nuse = deck-nvlink-8\n[job]\n[compute]\nefficiency = 1\n",
             NULL, &error));
    check_says(error, "s.ini: job.tokens: missing");
    g_clear_error(&error);
    assert_null(
        read("[model]\nuse = llama-7b\n\n[machine]\nuse = deck-nvlink-8\ngpus = 400 GB\n", NULL, &error));
    check_says(error, "s.ini:6: machine.gpus: found '400 GB' (a size), wanted a whole number");
}

// A node of the library (or an imported one) joined to a fabric, in the scenario itself.
static void test_node(void **state)
{
    (void)state;
    static const char text[] =
        "[model]\nuse = llama-7b\n[machine]\nnode = dgx1-v100-box\nnodes = 2\nnic = 100 Gb/s\n"
        "[job]\ntokens = 65536\n[compute]\nefficiency = 0.5\nprecision = fp16\n";
    g_autoptr(GError) error = NULL;
    g_autoptr(StepJob) job = read(text, NULL, &error);
    check_fine(error);
    assert_int_equal(job->plan.dp, 16);
    assert_true(job->machine->notes->len > 0); // what was assumed of the fabric
    const char *const both[] = {"machine.use=deck-nvlink-8", NULL};
    g_autoptr(StepJob) refused = read(text, both, &error);
    assert_null(refused);
    check_says(error, "machine.use: found beside node");
    g_clear_error(&error);
    const char *const typo[] = {"machine.ndoes=3", NULL};
    g_autoptr(StepJob) mistyped = read(text, typo, &error);
    assert_null(mistyped);
    check_says(error, "machine.ndoes: unknown key (did you mean 'nodes'?)");
}

static void test_library(void **state)
{
    (void)state;
    g_auto(GStrv) names = library_list("scenarios", ".ini");
    assert_true(g_strv_length(names) >= 2);
    for (guint i = 0; names[i] != NULL; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Ini) ini = scenario_open(names[i], &error);
        check_fine(error);
        g_autoptr(StepJob) job = scenario_read(ini, NULL, &error);
        check_fine(error);
        assert_string_equal(job->name, names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_sets), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_library),  cmocka_unit_test(test_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
