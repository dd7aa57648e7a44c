// tests/test-plans-memory-plans.c: memory of plans: what recomputes, shards and gathers, random plans,
// remedies.
#include "tests/memory.h"

#include "base/hash.h"
#include "models/count.h"

// Full recomputation keeps less than selective, and that less than none; every k-th layer lies between.
static void test_recompute(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("h100-sxm");
    g_autoptr(ModelSpec) model = memory_model("llama3-8b");
    const PlanFramework *const frameworks[] = {NULL, &MEMORY_SCORES};
    for (guint f = 0; f < G_N_ELEMENTS(frameworks); f++) {
        gint64 peaks[4];
        for (guint i = 0; i < G_N_ELEMENTS(peaks); i++) {
            Plan plan = memory_data_plan(model, 8, 3);
            plan.recompute = (PlanRecompute)MIN(i, PLAN_RECOMPUTE_FULL);
            plan.recompute_every = i == 2 ? 2 : 1;
            memory_legal(&plan, model);
            peaks[i] = plan_memory_fullest(&plan, model, device, frameworks[f]).peak;
        }
        assert_true(peaks[0] > peaks[1] && peaks[1] > peaks[3] && peaks[0] > peaks[2] && peaks[2] > peaks[3]);
        // Where attention keeps no scores, the attention core is almost nothing
        // (NVIDIA/Megatron-LM#1225: 25.52 GB became 24.94).
        assert_true(f == 1 || (double)peaks[1] > 0.97 * (double)peaks[0]);
    }
}

// The gathered units of ZeRO 3: pytorch/pytorch#98354.
static void test_gathered(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("h100-sxm");
    g_autoptr(ModelSpec) model = memory_model("llama2-7b");
    Plan plan = memory_data_plan(model, 8, 3);
    plan.limiter = plan.reshard = TRUE;
    plan.prefetch = 1;
    PlanMemoryStage memory = plan_memory_stage(&plan, model, device, NULL, 0);
    assert_int_equal(memory.unit, 2 * (4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096));
    assert_int_equal(memory.unit_ends, 2 * (32000 * 4096 + 4096));
    assert_int_equal(plan_memory_gathered(&plan, model, &memory, 0), memory.unit_ends + 2 * memory.unit);
    plan.limiter = FALSE;
    assert_int_equal(plan_memory_gathered(&plan, model, &memory, 0), 2 * model_count_parameters(model));
    plan.limiter = TRUE;
    plan.reshard = FALSE;
    assert_int_equal(plan_memory_gathered(&plan, model, &memory, 0), 2 * model_count_parameters(model));
    plan.zero = 2;
    memory = plan_memory_stage(&plan, model, device, NULL, 0);
    assert_int_equal(plan_memory_gathered(&plan, model, &memory, 0), 0);
}

// NVIDIA-NeMo/Megatron-Bridge#5077: layers of 1, 2, 2 and 3 on four stages are not two on each; embedding and
// head stand on the ends, a tied head on both.
static void test_uneven(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("h100-sxm");
    g_autoptr(ModelSpec) model = memory_model("llama3-8b");
    model->layers = 8;
    for (int tied = 0; tied <= 1; tied++) {
        model->tied = tied;
        Plan plan = memory_data_plan(model, 1, 0);
        plan.gpus = plan.pp = 4;
        plan.layers_first = 1;
        plan.layers_last = 3;
        plan.batch = 8;
        memory_legal(&plan, model);
        gint64 layer = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096, table = 128256 * 4096;
        const gint64 wanted[] = {layer + table, 2 * layer, 2 * layer, 3 * layer + table + 4096};
        for (guint32 stage = 0; stage < 4; stage++)
            assert_int_equal(plan_memory_stage(&plan, model, device, NULL, stage).parameters, wanted[stage]);
        assert_int_equal(plan_memory_fullest(&plan, model, device, NULL).stage, 3);
    }
}

static void test_words(void **state)
{
    (void)state;
    static const struct {
        guint32 pp, chunks;
        const PipeKind *schedule;
        guint32 stage;
        const char *words;
    } rows[] = {
        {1, 1, &PIPE_1F1B, 0, "stage 0, at the loss: 1 micro-batch in flight"},
        {8, 1, &PIPE_1F1B, 0, "stage 0, after warm-up: 8 micro-batches in flight"},
        {8, 1, &PIPE_1F1B, 7, "stage 7, at the loss: 1 micro-batch in flight"},
        {8, 1, &PIPE_GPIPE, 3, "stage 3, after the last forward pass: 32 micro-batches in flight"},
        {8, 2, &PIPE_INTERLEAVED, 0, "stage 0, after warm-up: 23 micro-batches of one chunk in flight"},
    };
    g_autoptr(TopoDevice) device = memory_device("h100-sxm");
    g_autoptr(ModelSpec) model = memory_model("llama3-8b");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Plan plan = memory_data_plan(model, 1, 0);
        plan.gpus = plan.pp = rows[i].pp;
        plan.chunks = rows[i].chunks;
        plan.schedule = rows[i].schedule;
        plan.batch = 32;
        memory_legal(&plan, model);
        PlanMemoryPeak peak = plan_memory_peak(&plan, model, device, NULL, rows[i].stage);
        g_autofree char *words = plan_memory_words(&plan, &peak);
        assert_string_equal(words, rows[i].words);
    }
}

// The n-th of a stream of whole numbers below limit.
static guint32 roll(guint64 seed, guint *n, guint32 limit)
{
    return (guint32)(hash_random(seed, (*n)++) % limit);
}

static Plan random_plan(guint64 seed, const ModelSpec *model)
{
    guint n = 0;
    Plan plan;
    plan_init(&plan);
    plan.tp = 1u << roll(seed, &n, 4);
    plan.cp = 1u << roll(seed, &n, 3);
    plan.dp = 1 + roll(seed, &n, 6);
    plan.pp = 1 + roll(seed, &n, 9);
    plan.gpus = plan.tp * plan.cp * plan.dp * plan.pp;
    plan.sp = roll(seed, &n, 2) == 0;
    plan.chunks = plan.pp > 1 && roll(seed, &n, 2) == 0 ? 2 + roll(seed, &n, 3) : 1;
    plan.schedule = plan.chunks > 1 ? &PIPE_INTERLEAVED : roll(seed, &n, 2) == 0 ? &PIPE_GPIPE : &PIPE_1F1B;
    plan.sequence = model->sequence;
    plan.micro_batch = 1 + roll(seed, &n, 4);
    plan.batch = plan.micro_batch * plan.dp * plan.pp * (1 + roll(seed, &n, 3));
    plan.zero = (int)roll(seed, &n, 4);
    plan.shard = plan.zero > 0 && roll(seed, &n, 2) == 0 ? 2 : 0;
    plan.gradients = (PlanGradients)roll(seed, &n, 2);
    plan.gradient_bytes = 2 + 2 * roll(seed, &n, 2);
    plan.overlap = roll(seed, &n, 2) == 0;
    plan.buckets = (PlanBuckets)roll(seed, &n, 2);
    plan.limiter = roll(seed, &n, 2) == 0;
    plan.reshard = roll(seed, &n, 2) == 0;
    plan.prefetch = roll(seed, &n, 3);
    plan.recompute = (PlanRecompute)roll(seed, &n, 3);
    plan.recompute_every = plan.recompute == PLAN_RECOMPUTE_FULL ? 1 + roll(seed, &n, 3) : 1;
    plan.offload_optimizer = roll(seed, &n, 4) == 0;
    plan.offload_weights = roll(seed, &n, 4) == 0;
    plan.offload_activations = roll(seed, &n, 4) == 0;
    plan.optimizer = (PlanOptimizer)roll(seed, &n, 3);
    return plan;
}

// One stage of a legal plan: kinds are not negative and sum to the peak, which holds what is fixed; no more
// is in flight than the schedule says.
static PlanMemoryPeak check_stage(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                                  const PlanFramework *framework, guint32 stage)
{
    PlanMemoryStage memory = plan_memory_stage(plan, model, device, framework, stage);
    PlanMemoryPeak peak = plan_memory_peak(plan, model, device, framework, stage);
    gint64 sum = 0;
    for (guint kind = 0; kind < PLAN_MEMORY_KINDS; kind++) {
        assert_true(memory.fixed[kind] >= 0 && peak.kind[kind] >= memory.fixed[kind]);
        sum += peak.kind[kind];
    }
    assert_int_equal(sum, peak.peak);
    assert_true(memory.layer >= 0 && memory.layer_kept >= 0 && memory.layer_work >= 0 && memory.logits >= 0);
    assert_true(memory.layer_kept <= memory.layer);
    guint32 most = plan->schedule->in_flight(stage, plan->pp, (guint32)plan->micro_batches, plan->chunks);
    assert_true(peak.in_flight >= 1 && peak.in_flight <= most);
    assert_true(plan->chunks > 1 || peak.in_flight == most);
    assert_int_equal(peak.stage, stage);
    return peak;
}

// More sharding, more recomputation and a smaller micro-batch never take more.
static void check_monotone(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                           const PlanFramework *framework)
{
    gint64 most = plan_memory_fullest(plan, model, device, framework).peak;
    for (PlanRecompute r = plan->recompute; r <= PLAN_RECOMPUTE_FULL; r++) {
        Plan more = *plan;
        more.recompute = r;
        more.recompute_every = 1;
        gint64 peak = plan_memory_fullest(&more, model, device, framework).peak;
        assert_true(peak <= most);
        most = peak;
    }
    PlanMemoryPeak full = plan_memory_peak(plan, model, device, framework, 0);
    gint64 states = plan_memory_states(&full);
    for (int zero = plan->zero; zero <= 3; zero++) {
        Plan more = *plan;
        more.zero = zero;
        PlanMemoryPeak peak = plan_memory_peak(&more, model, device, framework, 0);
        assert_true(plan_memory_states(&peak) <= states);
        states = plan_memory_states(&peak);
    }
    Plan smaller = *plan;
    smaller.micro_batch = 1;
    PlanMemoryPeak peak = plan_memory_peak(&smaller, model, device, framework, 0);
    assert_true(plan->schedule == &PIPE_GPIPE || peak.peak <= full.peak);
}

static void test_random_plans(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("h100-sxm");
    static const char *const names[] = {"llama3-8b", "llama2-70b", "llama-7b", "llama3-405b", "primer-7b"};
    guint legal = 0;
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(ModelSpec) model = memory_model(names[i]);
        for (guint64 seed = 0; seed < 400; seed++) {
            Plan plan = random_plan(seed * 8 + i, model);
            g_autoptr(GPtrArray) broken = plan_check(&plan, model);
            if (broken->len > 0)
                continue;
            legal++;
            assert_true(plan_memory_bounded(&plan, model));
            const PlanFramework *framework = seed % 2 == 0 ? &MEMORY_SCORES : NULL;
            PlanMemoryPeak full = plan_memory_fullest(&plan, model, device, framework);
            gint64 parameters = 0;
            for (guint32 stage = 0; stage < plan.pp; stage++) {
                PlanMemoryPeak peak = check_stage(&plan, model, device, framework, stage);
                assert_true(peak.peak <= full.peak && peak.capacity == device->memory);
                parameters += plan_memory_stage(&plan, model, device, framework, stage).parameters;
            }
            gint64 all = model_count_parameters(model), missing = all - parameters * plan.tp;
            // Parts are whole parameters, rounded down; norms and repeated heads are on every rank.
            assert_true(missing <= (plan.tp > 1 ? 8 * (model->layers + 2) * plan.tp : plan.pp));
            assert_true(plan.tp > 1 || missing >= 0);
            check_monotone(&plan, model, device, framework);
        }
    }
    if (legal < 400)
        fail_msg("only %u legal plans", legal);
}

// The lines' beginnings (NULL-terminated) stand in this order among them.
static void check_order(GPtrArray *lines, const char *const *wanted)
{
    guint at = 0;
    for (guint i = 0; wanted[i] != NULL; i++, at++) {
        while (at < lines->len && !g_str_has_prefix(lines->pdata[at], wanted[i]))
            at++;
        if (at == lines->len)
            fail_msg("wanted '%s' in its place of %u lines, the first of them '%s'", wanted[i], lines->len,
                     lines->len > 0 ? (const char *)lines->pdata[0] : "");
    }
}

// Every remedy is a legal change of one key that fits, and the cheapest come first.
static void test_remedies(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("h100-sxm");
    g_autoptr(ModelSpec) primer = memory_model("primer-7b");
    Plan plan = memory_data_plan(primer, 8, 0);
    assert_true(plan_memory_fullest(&plan, primer, device, NULL).peak > device->memory);
    static const char *const states[] = {
        "zero = 1: ", "zero = 3: ", "pp = 2, dp = 4: ", "tp = 2, dp = 4: ", "offload_optimizer = yes: ",
        NULL};
    g_autoptr(GPtrArray) lines = plan_memory_remedies(&plan, primer, device, NULL);
    check_order(lines, states);
    // The remedy's peak is that of the changed plan.
    Plan changed = plan;
    changed.zero = 1;
    PlanMemoryPeak peak = plan_memory_fullest(&changed, primer, device, NULL);
    g_autofree char *line = g_strdup_printf("zero = 1: %.2f GiB", (double)peak.peak / GIB);
    assert_string_equal(lines->pdata[0], line);
    // Nothing helps one card with a model of four hundred.
    g_autoptr(ModelSpec) large = memory_model("llama3-405b");
    Plan alone = memory_data_plan(large, 1, 0);
    g_autoptr(GPtrArray) none = plan_memory_remedies(&alone, large, device, NULL);
    assert_int_equal(none->len, 0);
    // Activations with their scores.
    static const char *const moves[] = {"sp = yes: ",
                                        "recompute = selective: ",
                                        "micro_batch = 4: ",
                                        "cp = 2, dp = 1: ",
                                        "recompute = full: ",
                                        "offload_activations = yes: ",
                                        NULL};
    g_autoptr(ModelSpec) llama = memory_model("llama2-7b");
    Plan wide = memory_data_plan(llama, 2, 2);
    wide.gpus = 16;
    wide.tp = 8;
    wide.batch = 64;
    wide.micro_batch = 8;
    memory_legal(&wide, llama);
    assert_true(plan_memory_fullest(&wide, llama, device, &MEMORY_SCORES).peak > device->memory);
    g_autoptr(GPtrArray) others = plan_memory_remedies(&wide, llama, device, &MEMORY_SCORES);
    check_order(others, moves);
    // HSDP: a larger shard group, as large as it takes.
    static const char *const shards[] = {"shard = 32: ", NULL};
    g_autoptr(ModelSpec) seventy = memory_model("llama3-70b");
    Plan hybrid = memory_data_plan(seventy, 64, 3);
    hybrid.shard = 8;
    hybrid.recompute = PLAN_RECOMPUTE_FULL;
    g_autoptr(GPtrArray) larger = plan_memory_remedies(&hybrid, seventy, device, NULL);
    check_order(larger, shards);
}

static void test_bounded(void **state)
{
    (void)state;
    g_autoptr(ModelSpec) model = memory_model("llama3-8b");
    Plan plan = memory_data_plan(model, 1, 0);
    assert_true(plan_memory_bounded(&plan, model));
    plan.sequence = 1000000000;
    plan.batch = 1000000;
    plan.micro_batches = 1000000;
    assert_false(plan_memory_bounded(&plan, model));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recompute),    cmocka_unit_test(test_gathered),
        cmocka_unit_test(test_words),        cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_random_plans), cmocka_unit_test(test_remedies),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
