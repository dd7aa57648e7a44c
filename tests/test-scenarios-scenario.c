// tests/test-scenarios-scenario.c: a scenario is read whole or refused with file, line and key.
#include "tests/check.h"

#include "base/error.h"
#include "base/library.h"
#include "scenarios/grid.h"
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
        {"job.dp=6", "--set: job.dp: found 6, wanted 8, which with tp 1 x cp 1 x pp 1 makes the 8 GPUs"},
        {"job.dp=atuo", "--set: job.dp: found 'atuo', wanted a number of ranks, or auto"},
        {"job.dp=-1", "--set: job.dp: found '-1' (negative)"},
        {"job.tokens=nan", "--set: job.tokens: found 'nan' (not a number)"},
        {"job.tokens=1e300", "job.tokens: found '1e300' (out of range)"},
        {"job.tokens=1000", "wanted a multiple of 32768 (8 ranks x sequences of 4096 tokens)"},
        {"job.tokens=0", "job.tokens: found 0, wanted at least 1"},
        {"job.micro_batch=3",
         "wanted a multiple of 98304 (8 ranks x micro-batches of 3 sequences of 4096 tokens)"},
        {"job.batch=8", "s.ini:7: job.tokens: found beside batch"},
        {"job.tp=0", "--set: job.tp: found 0, wanted a whole number from 1"},
        {"job.zero=4", "--set: job.zero: found 4, wanted a whole number from 0 to 3"},
        {"job.order=tp-dp", "job.order: found order 'tp-dp', wanted tp, cp, dp and pp, each once"},
        {"job.order=tp-tp-dp-pp", "job.order: found order 'tp-tp-dp-pp'"},
        {"job.schedule=zigzag", "job.schedule: found schedule 'zigzag', wanted one of: gpipe, 1f1b"},
        {"job.layers_first=2", "job.layers_first: found with one stage"},
        {"job.recompute=all", "job.recompute: found 'all', wanted one of: none, selective, full"},
        {"job.gradients=hole", "did you mean 'whole'"},
        {"job.gradient_dtype=fp8", "wanted one of: bf16, fp16, fp32"},
        {"job.buckets=ddp", "job.buckets: found 'ddp', wanted one of: torch, megatron"},
        {"job.recompute_every=0", "job.recompute_every: found 0"},
        {"compute.framework=megatron-core", "compute.framework: found beside efficiency"},
        {"compute.gradient_norm=maybe", "compute.gradient_norm: found 'maybe'"},
        {"reality.slow_ranks=9", "reality.slow_ranks: found 9, wanted a whole number from 0 to 8"},
        {"reality.slow_factor=2", "reality.slow_factor: means nothing without slow_ranks"},
        {"reality.jitter=5", "reality.jitter: found '5' (more than 1)"},
        {"reality.seed=1", "reality.seed: means nothing without jitter"},
        {"reality.loader=0", "reality.loader: found 0 sequences a second"},
        {"reality.slow_link=8", "reality.slow_link: found 8, wanted a whole number from 0 to 7"},
        {"reality.slow_link_factor=2", "reality.slow_link_factor: means nothing without slow_link"},
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
        {"simulate.fidelity=flow", "wanted one of: auto, messages, folded"},
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

// A file with every key of a split; what is read of it is checked below.
static const char SPLIT[] =
    "[model]\nuse = llama3-8b\nsequence = 4096\n[machine]\nuse = dgx-h100\ngpus = 64\n"
    "[job]\ntp = 2\nsp = yes\ntp_overlap = 4\ncp = 2\ncp_balanced = no\npp = 4\norder = tp-cp-pp-dp\n"
    "batch = 64\nmicro_batch = 2\nschedule = interleaved\nchunks = 2\nlayers_first = 3\nlayers_last = 2\n"
    "zero = 2\nshard = 4\ngradients = whole\ncopies = last\ngradient_dtype = fp32\noverlap = "
    "no\noverlap_gather = yes\n"
    "buckets = megatron\nbucket = 40 MiB\nfirst_bucket = 2 MiB\nrecompute = full\nrecompute_every = 2\n"
    "offload_optimizer = yes\noffload_weights = yes\nprefetch = 3\nlimiter = no\noffload_activations = yes\n"
    "optimizer = adam-fp32\n"
    "[compute]\nframework = pytorch-fsdp\ngradient_norm = no\n"
    "[reality]\nslow_ranks = 3\nslow_factor = 1.5\njitter = 2 %\nseed = 7\nloader = 100\nslow_link = 1\n"
    "slow_link_factor = 4\n";

static void test_split(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(StepJob) job = read(SPLIT, NULL, &error);
    check_fine(error);
    const Plan *plan = &job->plan;
    assert_true(plan->gpus == 64 && plan->tp == 2 && plan->cp == 2 && plan->pp == 4 && plan->dp == 4);
    assert_true(plan->sp && plan->tp_overlap == 4 && !plan->cp_balanced);
    assert_true(plan->order[2] == PLAN_DIMENSION_PP && plan->order[3] == PLAN_DIMENSION_DP);
    assert_true(plan->batch == 64 && plan->micro_batch == 2 && plan->micro_batches == 8);
    assert_true(plan->schedule == &PIPE_INTERLEAVED && plan->chunks == 2);
    assert_true(plan->layers_first == 3 && plan->layers_last == 2);
    assert_true(plan->zero == 2 && plan->shard == 4 && plan->gradients == PLAN_GRADIENTS_WHOLE);
    assert_true(plan->copies_last);
    assert_true(plan->gradient_bytes == 4 && !plan->overlap && plan->overlap_gather);
    assert_true(plan->buckets == PLAN_BUCKETS_MEGATRON && plan->bucket == 40 << 20);
    assert_true(plan->first_bucket == 2 << 20);
    assert_true(plan->recompute == PLAN_RECOMPUTE_FULL && plan->recompute_every == 2);
    assert_true(plan->offload_optimizer && plan->offload_weights && plan->offload_activations);
    assert_true(plan->prefetch == 3 && !plan->limiter);
    assert_true(plan->optimizer == PLAN_OPTIMIZER_ADAM_FP32);
    assert_string_equal(job->framework->name, "pytorch-fsdp");
    assert_true(job->efficiency == 0 && !job->gradient_norm);
    assert_true(job->reality.slow_ranks == 3 && job->reality.slow_factor == 1.5);
    assert_true(job->reality.jitter == 0.02 && job->reality.seed == 7 && job->reality.loader == 100);
    // The degraded GPU's links, and nobody else's.
    const TopoGraph *graph = job->machine->graph;
    g_autoptr(StepJob) whole = read(SPLIT, (const char *const[]){"reality.slow_link_factor=1", NULL}, &error);
    check_fine(error);
    guint slow = 0;
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        guint32 node = topo_graph_gpu(graph, 1);
        double fourth = topo_graph_link(whole->machine->graph, i)->bandwidth / link->bandwidth;
        assert_true(fourth == (link->from == node || link->to == node ? 4 : 1));
        slow += fourth == 4;
    }
    assert_true(slow >= 2);
}

static void test_split_defaults(void **state)
{
    (void)state;
    static const char text[] = "[model]\nuse = llama3-8b\n[machine]\nuse = dgx-h100\ngpus = 16\n"
                               "[job]\nbatch = 64\n";
    g_autoptr(GError) error = NULL;
    const char *const tp[] = {"job.tp=4", "job.dp=auto", NULL}, *const pp[] = {"job.pp=4", NULL},
                      *const chunks[] = {"job.pp=2", "job.chunks=2", NULL},
                      *const fsdp[] = {"job.zero=3", "job.micro_batch=2", NULL},
                      *const fixed[] = {"compute.efficiency=0.4", NULL};
    g_autoptr(StepJob) plain = read(text, NULL, &error);
    check_fine(error);
    assert_true(plain->plan.dp == 16 && plain->plan.micro_batch == 4 && plain->plan.micro_batches == 1);
    assert_true(plain->plan.cp_balanced && plain->plan.limiter && plain->plan.reshard && !plain->plan.sp);
    assert_true(plain->plan.recompute == PLAN_RECOMPUTE_NONE && plain->plan.gradient_bytes == 2);
    assert_string_equal(plain->framework->name, "megatron-core");
    assert_true(plain->gradient_norm);
    g_autoptr(StepJob) tensor = read(text, tp, &error); // dp: what tp leaves
    check_fine(error);
    assert_true(tensor->plan.dp == 4 && tensor->plan.micro_batch == 16);
    g_autoptr(StepJob) stages = read(text, pp, &error); // a pipeline: micro-batches of one
    check_fine(error);
    assert_true(stages->plan.dp == 4 && stages->plan.micro_batch == 1 && stages->plan.micro_batches == 16);
    assert_true(stages->plan.schedule == &PIPE_1F1B);
    g_autoptr(StepJob) interleaved = read(text, chunks, &error);
    check_fine(error);
    assert_true(interleaved->plan.schedule == &PIPE_INTERLEAVED);
    g_autoptr(StepJob) sharded = read(text, fsdp, &error);
    check_fine(error);
    assert_true(sharded->plan.shard == 16 && sharded->plan.micro_batches == 2);
    assert_true(sharded->plan.gradients == PLAN_GRADIENTS_SHARDED && sharded->plan.prefetch == 1);
    g_autoptr(StepJob) share = read(text, fixed, &error);
    check_fine(error);
    assert_true(share->framework == NULL && !share->gradient_norm && share->efficiency == 0.4);
}

// A key that would do nothing is refused, and the error says beside what it would.
static void test_meaning(void **state)
{
    (void)state;
    static const struct {
        const char *sets[3], *says;
    } bad[] = {
        {{"job.sp=yes"}, "--set: job.sp: means nothing here, wanted tp above 1 beside it"},
        {{"job.tp_overlap=2"}, "job.tp_overlap: means nothing here, wanted tp above 1"},
        {{"job.tp=2", "job.tp_overlap=2"},
         "tp_overlap: found 2, wanted it with tp of at least 2 and sp = yes"},
        {{"job.cp_balanced=no"}, "wanted cp above 1"},
        {{"job.schedule=gpipe"}, "job.schedule: means nothing here, wanted pp above 1"},
        {{"job.chunks=2"}, "wanted pp above 1"},
        {{"job.pp=2", "job.scatter_gather=yes"}, "wanted pp and tp above 1, and sp = no"},
        {{"job.shard=4"}, "wanted zero = 1, 2 or 3"},
        {{"job.zero=1", "job.gradients=whole"}, "job.gradients: means nothing here, wanted zero = 2 or 3"},
        {{"job.zero=3", "job.copies=last"},
         "job.copies: means nothing here, wanted zero = 1, 2 or 3 and shard"},
        {{"job.zero=3", "job.overlap_gather=yes"}, "wanted zero = 1 or 2"},
        {{"job.zero=2", "job.prefetch=2"}, "wanted zero = 3 or offload_weights = yes"},
        {{"job.limiter=no"}, "wanted zero = 3 or offload_weights = yes"},
        {{"job.zero=2", "job.reshard=no"}, "job.reshard: means nothing here, wanted zero = 3"},
        {{"job.zero=3", "job.buckets=megatron"}, "wanted zero below 3"},
        {{"job.zero=3", "job.bucket_split=yes"}, "wanted zero below 3"},
        {{"job.recompute=selective", "job.recompute_every=2"}, "wanted recompute = full"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(StepJob) job = read(GOOD, bad[i].sets, &error);
        if (job != NULL)
            fail_msg("%s was accepted", bad[i].sets[0]);
        check_says(error, bad[i].says);
    }
}

// Sizes of buckets that nothing asks for are said.
static void test_ignored(void **state)
{
    (void)state;
    static const struct {
        const char *sets[4];
        guint says;
        const char *first;
    } cases[] = {
        {{NULL}, 0, NULL},
        {{"job.bucket=10 MiB", "job.first_bucket=2 MiB"}, 0, NULL},
        {{"job.zero=3", "job.bucket=10 MiB", "job.first_bucket=2 MiB"}, 2, "zero = 3"},
        {{"job.buckets=megatron", "job.first_bucket=2 MiB"}, 1, "buckets = megatron"},
        {{"job.bucket=whole", "job.first_bucket=2 MiB"}, 1, "bucket = whole"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(StepJob) job = read(GOOD, cases[i].sets, &error);
        check_fine(error);
        assert_int_equal(job->notes->len, cases[i].says);
        if (cases[i].first != NULL)
            assert_non_null(strstr(job->notes->pdata[0], cases[i].first));
    }
}

// Every broken rule in one error.
static void test_rules(void **state)
{
    (void)state;
    static const struct {
        const char *sets[6];
        const char *says[6];
    } bad[] = {
        {{"job.tp=3"}, // 8 GPUs, 32 heads; nothing about the tokens of ranks that are wrong themselves
         {"s.ini: job: 5 rules are broken: ", "tp 3 x cp 1 x pp 1 = 3 does not divide the 8 GPUs",
          "divisor of the 32 heads of llama-7b", "divisor of the MLP's width of 11008",
          "model.vocabulary = 32256 pads it"}},
        {{"job.cp=4", "model.sequence=1000", "job.tokens=32000", "job.pp=2", "job.layers_first=40",
          "job.micro_batch=3"},
         {"2 rules are broken: layers_first: found 40 layers",
          "tokens: found 32000, wanted a multiple of 3000 (1 ranks x "
          "micro-batches of 3"}},
        {{"job.pp=2", "job.schedule=interleaved", "job.cp=2", "job.micro_batch=2", "model.sequence=4095",
          "job.tokens=32760"},
         {"2 rules are broken: ", "cp: found 2, wanted 2 x cp to divide the sequence of 4095",
          "interleaved wants at least 2 chunks"}},
        {{"job.zero=2", "job.shard=3", "job.tokens=1000"},
         {"2 rules are broken: ", "shard: found 3, wanted a divisor of the 8 data-parallel ranks",
          "tokens: found 1000, wanted a multiple of 32768"}},
        {{"job.zero=2", "job.sync_every=yes", "job.gradients=whole"},
         {"--set: job.sync_every: found yes with gradients = whole"}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        const char *sets[7] = {NULL};
        for (guint j = 0; j < 6; j++)
            sets[j] = bad[i].sets[j];
        g_autoptr(GError) error = NULL;
        g_autoptr(StepJob) job = read(GOOD, sets, &error);
        if (job != NULL)
            fail_msg("%s was accepted", bad[i].sets[0]);
        for (guint j = 0; j < 6 && bad[i].says[j] != NULL; j++)
            check_says(error, bad[i].says[j]);
    }
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
        g_autoptr(ScenarioGrid) grid = scenario_grid_new(ini, NULL, FALSE, NULL);
        for (guint point = 0; point < (grid == NULL ? 1 : grid->points); point++) {
            g_autoptr(Ini) own = scenario_open(names[i], &error);
            g_auto(GStrv) sets = grid == NULL ? NULL : scenario_grid_sets(grid, point);
            g_autoptr(StepJob) job = scenario_read(own, (const char *const *)sets, &error);
            check_fine(error);
            assert_string_equal(job->name, names[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_sets),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_library),
        cmocka_unit_test(test_node),           cmocka_unit_test(test_split),
        cmocka_unit_test(test_split_defaults), cmocka_unit_test(test_meaning),
        cmocka_unit_test(test_rules),          cmocka_unit_test(test_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
