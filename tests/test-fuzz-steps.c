// tests/test-fuzz-steps.c: scenarios, broken in a thousand ways: each is read or refused in one line, and
// what is read can be lowered, checked and, where it is small, simulated.
#include "tests/fuzz.h"

#include "coll/choice.h"
#include "coll/fabric.h"
#include "coll/group.h"
#include "machines/machine.h"
#include "scenarios/grid.h"
#include "scenarios/scenario.h"
#include "step/groups.h"
#include "step/lower.h"
#include "step/run.h"
#include "step/usage.h"

enum { TINY_EVENTS = 20000, ROUTED_GPUS = 512 }; // more take too long to route for thousands of cases

static gboolean read_machine(const char *path, GError **error)
{
    g_autoptr(TopoMachine) machine = topo_machine_read(path, 0, NULL, error);
    if (machine == NULL)
        return FALSE;
    assert_true(machine->graph->gpus->len >= 1);
    return TRUE;
}

static void never_join(gpointer user, guint32 rank, guint32 op)
{
    (void)user;
    (void)rank;
    (void)op;
}

// As step_run does it before it starts. TRUE with *tiny where the whole is a matter of milliseconds.
static gboolean check_job(const StepJob *job, const StepLowered *lowered, gboolean *tiny, GError **error)
{
    SimEngine engine;
    StepGroups groups;
    SimStreams streams;
    SimTrace trace;
    sim_engine_init(&engine, job->queue);
    sim_trace_init(&trace, FALSE);
    sim_streams_init(&streams, &engine, (const SimProgram *const *)(const void *)lowered->programs->pdata,
                     lowered->runs, job->plan.gpus, &trace, never_join, NULL);
    gboolean fine = step_groups_init(&groups, job, lowered, &engine, &streams, error);
    double sends = 2.0 * job->plan.gpus, events = 0;
    for (guint stage = 0; stage < lowered->programs->len; stage++) {
        const SimProgram *program = lowered->programs->pdata[stage];
        for (guint32 i = 0; i < program->ops->len; i++) {
            const SimOp *op = sim_program_op(program, i);
            if (op->work == SIM_WORK_JOINT)
                events += sends * (sends + (double)op->bytes / (double)lowered->chunk);
        }
        events += program->ops->len * (double)job->plan.gpus;
    }
    *tiny = events < TINY_EVENTS;
    if (fine)
        step_groups_clear(&groups);
    sim_streams_clear(&streams);
    sim_trace_clear(&trace);
    sim_engine_clear(&engine);
    return fine;
}

static gboolean read_scenario(const char *path, GError **error)
{
    g_autoptr(Ini) ini = scenario_open(path, error), one = ini == NULL ? NULL : scenario_open(path, NULL);
    // One with lists is read at the last of its points.
    g_autoptr(ScenarioGrid) grid = one == NULL ? NULL : scenario_grid_new(one, NULL, FALSE, NULL);
    g_auto(GStrv) sets = grid == NULL ? NULL : scenario_grid_sets(grid, grid->points - 1);
    g_autoptr(StepJob) job = ini == NULL ? NULL : scenario_read(ini, (const char *const *)sets, error);
    if (job == NULL)
        return FALSE;
    g_autoptr(GError) large = NULL;
    if (!step_lower_check(job, &large)) { // a scenario all the same, of more than can be simulated
        check_refusal(large, path);
        return TRUE;
    }
    StepLowered lowered;
    step_lower(job, &lowered);
    guint ops = 0;
    for (guint stage = 0; stage < lowered.programs->len; stage++) {
        const SimProgram *program = lowered.programs->pdata[stage];
        assert_true(program->ops->len >= 1);
        ops += program->ops->len;
    }
    assert_true(ops <= STEP_LOWER_OPS);
    gboolean tiny = FALSE;
    gboolean fine = job->plan.gpus > ROUTED_GPUS || check_job(job, &lowered, &tiny, error);
    step_lower_clear(&lowered);
    if (!fine || !tiny)
        return fine;
    g_autoptr(StepResult) result = step_run(job, NULL, NULL, error);
    if (result == NULL)
        return FALSE;
    assert_true(result->step >= result->bound && result->step > 0);
    assert_true(result->compute + result->exposed_comm + result->idle == result->step);
    assert_true(result->bubble + result->loader + result->launch == result->idle);
    for (guint stage = 0; stage < result->programs->len; stage++) {
        gint64 left = step_usage_left(result->programs->pdata[stage]);
        if (left != 0)
            fail_msg("%" G_GINT64_FORMAT " bytes are never given back on stage %u of:\n%s", left, stage,
                     job->text);
    }
    return TRUE;
}

// Some of the library's machines have thousands of GPUs, which takes its time to build: STEPLINE_SLOW=1 tries
// all cases.
static void test_scenarios(void **state)
{
    ((Fuzz *)*state)->sparse *= g_getenv("STEPLINE_SLOW") != NULL ? 1 : 5;
    fuzz_folder(*state, read_scenario, "scenarios");
}

// A machine spelt out link by link, and a step that is small enough to be simulated.
static void test_small(void **state)
{
    static const char machine[] =
        "[machine]\nchip = h100-sxm\nkind = graph\ngpus_per_node = 2\n[links]\n"
        "gpu0 nvswitch0 = 450 GB/s, 2 us, nvlink\ngpu1 nvswitch0 = 450 GB/s, 2 us, nvlink\n"
        "nvswitch0 > gpu2 = 1 GB/s, 1 us, pcie\ngpu2 > nvswitch0 = 2 GB/s, 1 us, pcie\n";
    static const char scenario[] =
        "[model]\nuse = gpt2\nlayers = 2\nsequence = 64\n[machine]\nuse = deck-nvlink-8\n"
        "gpus = 2\n[job]\ndp = 2\ntokens = 128\nbucket = 25 MiB\nfirst_bucket = 1 MiB\n"
        "bucket_split = yes\n[compute]\nefficiency = 0.4\n[simulate]\nchunk = 32 MiB\n";
    // Every split, small enough to be simulated.
#define SMALL_MODEL                                                                                          \
    "[model]\nuse = gpt2\nlayers = 4\nhidden = 64\nheads = 4\nkv_heads = 2\nhead_dim = 16\n"                 \
    "ffn = 128\nvocabulary = 256\nsequence = 32\n[machine]\nuse = dgx-h100\ngpus = 4\n"
    static const char tensor[] = SMALL_MODEL
        "[job]\ntp = 2\nsp = yes\ntp_overlap = 2\npp = 2\nchunks = 2\nschedule = interleaved\n"
        "order = tp-cp-pp-dp\nbatch = 4\nmicro_batch = 1\nlayers_first = 1\nrecompute = selective\n"
        "[compute]\nframework = megatron-core\ngradient_norm = yes\n"
        "[reality]\nslow_ranks = 1\nslow_factor = 1.5\njitter = 5 %\nseed = 3\n";
    static const char sharded[] =
        SMALL_MODEL "[job]\ncp = 2\ncp_balanced = yes\nzero = 3\nshard = 2\nbatch = 4\nmicro_batch = 1\n"
                    "gradients = sharded\ngradient_dtype = fp32\nprefetch = 2\nlimiter = no\nreshard = no\n"
                    "offload_weights = yes\noffload_activations = yes\noffload_optimizer = yes\n"
                    "optimizer = adam-fp32\n[compute]\nframework = pytorch-fsdp\n"
                    "[reality]\nloader = 1000\nslow_link = 1\nslow_link_factor = 3\n";
    static const char staged[] =
        SMALL_MODEL "[job]\ndp = auto\npp = 2\nschedule = gpipe\nlayers_last = 1\ntokens = 256\nzero = 2\n"
                    "gradients = whole\noverlap_gather = yes\nbuckets = megatron\nrecompute = full\n"
                    "recompute_every = 2\n[compute]\nefficiency = 0.4\n[collective]\nmodel = plain\n"
                    "[simulate]\nchunk = 4 KiB\nqueue = heap\nshortcuts = no\n";
    Fuzz *fuzz = *state;
    const struct {
        const char *text;
        FuzzRead read;
    } files[] = {{machine, read_machine},
                 {scenario, read_scenario},
                 {tensor, read_scenario},
                 {sharded, read_scenario},
                 {staged, read_scenario}};
    for (guint f = 0; f < G_N_ELEMENTS(files); f++) {
        guint reads = fuzz->reads;
        fuzz_try(fuzz, files[f].read, files[f].text, strlen(files[f].text), "as it stands");
        if (fuzz->reads == reads)
            fail_msg("small file %u is refused as it stands", f);
        for (guint i = 0; i < (g_getenv("STEPLINE_SLOW") != NULL ? 10 : 3) * MUTATIONS; i++) {
            Dice dice = {.seed = hash_add(f, i)};
            g_autoptr(GString) text = g_string_new(files[f].text);
            mutate(text, &dice);
            g_autofree char *what = g_strdup_printf("small file %u, mutation %u", f, i);
            fuzz_try(fuzz, files[f].read, text->str, text->len, what);
        }
    }
    print_message("small: %u cases, %u read, slowest %" G_GINT64_FORMAT " ms (%s)\n", fuzz->cases,
                  fuzz->reads, fuzz->slowest / 1000, fuzz->slow);
    assert_true(fuzz->reads > fuzz->cases / 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scenarios, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_small, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
