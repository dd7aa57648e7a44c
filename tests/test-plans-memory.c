// tests/test-plans-memory.c: memory against published formulas and measurements, and what must always hold.
#include "tests/memory.h"

#include <stdlib.h>

#include "base/csv.h"
#include "base/library.h"
#include "models/count.h"

// Models of Korthikanti et al. 2022 (table 3), tensor parallel 8, sequences of 2,048 tokens.
typedef struct {
    const char *name;
    gint64 layers, hidden, heads;
    guint32 pp, chunks;
    gint64 micro_batch, micro_batches;
    double billions; // parameters
} Paper;

static const Paper PAPERS[] = {
    {"22B", 48, 6144, 64, 1, 1, 4, 1, 22.06},
    {"175B", 96, 12288, 96, 8, 3, 1, 64, 174.6},
    {"530B", 105, 20480, 128, 35, 3, 1, 280, 529.5},
    {"1T", 128, 25600, 160, 64, 1, 1, 512, 1008},
};

static ModelSpec paper_model(const Paper *paper)
{
    return (ModelSpec){.name = (char *)(guintptr)paper->name,
                       .layers = paper->layers,
                       .hidden = paper->hidden,
                       .heads = paper->heads,
                       .kv_heads = paper->heads,
                       .head_dim = paper->hidden / paper->heads,
                       .ffn = 4 * paper->hidden,
                       .vocabulary = 51200,
                       .tied = TRUE,
                       .norm = MODEL_NORM_LAYER,
                       .norm_parameters = TRUE,
                       .bias = TRUE,
                       .dropout = TRUE,
                       .positions = 2048,
                       .sequence = 2048};
}

static Plan paper_plan(const Paper *paper, const ModelSpec *model, gboolean sp, PlanRecompute recompute)
{
    Plan plan;
    plan_init(&plan);
    plan.tp = 8;
    plan.pp = paper->pp;
    plan.gpus = 8 * paper->pp;
    plan.chunks = paper->chunks;
    plan.schedule = paper->chunks > 1 ? &PIPE_INTERLEAVED : &PIPE_1F1B;
    plan.sequence = 2048;
    plan.micro_batch = paper->micro_batch;
    plan.batch = paper->micro_batch * paper->micro_batches;
    plan.sp = sp;
    plan.recompute = recompute;
    memory_legal(&plan, model);
    return plan;
}

// The paper's table 2, bytes a layer over s b h: without parallelism 34 + 5 a s / h; tensor parallel 10 +
// 24/t
// + 5 a s / (h t); with sequence parallelism 34/t + 5 a s / (h t); selective drops the last term; full: 2.
static double paper_layer(const Paper *paper, gboolean sp, PlanRecompute recompute)
{
    double t = 8, a = (double)paper->heads, h = (double)paper->hidden, s = 2048;
    if (recompute == PLAN_RECOMPUTE_FULL)
        return sp ? 2 / t : 2;
    double scores = recompute == PLAN_RECOMPUTE_SELECTIVE ? 0 : 5 * a * s / (h * t);
    return (sp ? 34 / t : 10 + 24 / t) + scores;
}

static void test_paper_layers(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("a100-sxm-80g");
    for (guint i = 0; i < G_N_ELEMENTS(PAPERS); i++) {
        ModelSpec model = paper_model(&PAPERS[i]);
        double unit = 2048.0 * (double)PAPERS[i].micro_batch * (double)model.hidden;
        for (int sp = 0; sp <= 1; sp++) {
            for (guint r = PLAN_RECOMPUTE_NONE; r <= PLAN_RECOMPUTE_FULL; r++) {
                Plan plan = paper_plan(&PAPERS[i], &model, sp, (PlanRecompute)r);
                PlanMemoryStage memory = plan_memory_stage(&plan, &model, device, &MEMORY_SCORES, 0);
                memory_near(PAPERS[i].name, (double)memory.layer_kept,
                            unit * paper_layer(&PAPERS[i], sp, (PlanRecompute)r), 0.001);
            }
        }
        // Equation 1: no parallelism.
        Plan plan = paper_plan(&PAPERS[i], &model, FALSE, PLAN_RECOMPUTE_NONE);
        plan.tp = 1;
        plan.gpus /= 8;
        memory_legal(&plan, &model);
        PlanMemoryStage memory = plan_memory_stage(&plan, &model, device, &MEMORY_SCORES, 0);
        double scores = 5.0 * (double)model.heads * 2048 / (double)model.hidden;
        memory_near(PAPERS[i].name, (double)memory.layer, unit * (34 + scores), 0.001);
    }
}

// Section 4.2.3: the first stage holds the activations of L layers whatever the stages are, and with
// interleaving 1 + (p - 1)/(p v) times as many; beside them the embedding's mask (s b h, over t with sp) for
// each micro-batch in flight, which the paper takes as p (with v chunks the first one has up to 2p), and
// without a pipeline the head's 4 s b h. Logits are counted apart. The paper prints no bytes; its section 5
// and figure 7 say in words that both techniques together take the memory to a fifth of tensor parallelism's,
// full recomputation to a tenth.
static void test_paper_totals(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("a100-sxm-80g");
    for (guint i = 0; i < G_N_ELEMENTS(PAPERS); i++) {
        const Paper *paper = &PAPERS[i];
        ModelSpec model = paper_model(paper);
        double p = paper->pp, v = paper->chunks,
               unit = 2048.0 * (double)paper->micro_batch * (double)model.hidden;
        double layers = (double)model.layers * (v > 1 ? 1 + (p - 1) / (p * v) : 1);
        double baseline = 0;
        for (int sp = 0; sp <= 1; sp++) {
            for (guint r = PLAN_RECOMPUTE_NONE; r <= PLAN_RECOMPUTE_FULL; r++) {
                Plan plan = paper_plan(paper, &model, sp, (PlanRecompute)r);
                PlanMemoryStage memory = plan_memory_stage(&plan, &model, device, &MEMORY_SCORES, 0);
                PlanMemoryPeak peak = plan_memory_peak(&plan, &model, device, &MEMORY_SCORES, 0);
                double kept =
                    (double)(peak.kind[PLAN_MEMORY_ACTIVATIONS] - (peak.at_loss ? 0 : memory.layer_work));
                double ends = ((v > 1 ? 2 * p : p) + (p > 1 ? 0 : 4)) / (sp ? 8 : 1);
                double wanted = unit * (layers * paper_layer(paper, sp, (PlanRecompute)r) + ends);
                memory_near(paper->name, kept, wanted, 0.001);
                if (sp == 0 && r == PLAN_RECOMPUTE_NONE)
                    baseline = kept;
                if (sp == 1 && r == PLAN_RECOMPUTE_SELECTIVE)
                    assert_true(kept / baseline > 0.15 && kept / baseline < 0.215);
                if (sp == 0 && r == PLAN_RECOMPUTE_FULL)
                    assert_true(kept / baseline > 0.07 && kept / baseline < 0.14);
            }
        }
    }
}

// Parameters as the paper prints them; 16 bytes each under mixed-precision Adam, over the ranks that share
// them: matrices divide, norms and biases of rows are on every rank, the table stands on both ends.
static void test_paper_states(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("a100-sxm-80g");
    for (guint i = 0; i < G_N_ELEMENTS(PAPERS); i++) {
        ModelSpec model = paper_model(&PAPERS[i]);
        memory_near(PAPERS[i].name, (double)model_count_parameters(&model), PAPERS[i].billions * 1e9, 0.001);
        Plan plan = paper_plan(&PAPERS[i], &model, FALSE, PLAN_RECOMPUTE_NONE);
        gint64 sum = 0;
        for (guint32 stage = 0; stage < plan.pp; stage++) {
            PlanMemoryStage memory = plan_memory_stage(&plan, &model, device, &MEMORY_SCORES, stage);
            sum += memory.parameters;
            assert_int_equal(memory.fixed[PLAN_MEMORY_WEIGHTS], 2 * memory.parameters);
            assert_int_equal(memory.fixed[PLAN_MEMORY_GRADIENTS], 2 * memory.parameters);
            assert_int_equal(memory.fixed[PLAN_MEMORY_OPTIMIZER], 12 * memory.parameters);
        }
        gint64 h = model.hidden, t = 8;
        gint64 layer = 12 * h * h / t + (3 * h + 4 * h) / t + 2 * h + 4 * h;
        gint64 ends = 51200 * h / t * (plan.pp > 1 ? 2 : 1) + 2048 * h + 2 * h;
        assert_int_equal(sum, model.layers * layer + ends);
    }
}

static double printed_half(const char *digits)
{
    return 0.5 * pow(10, -atoi(digits)) * (1 + 1e-9);
}

// One figure of a document's tables "zero" and "memory" beside ours; FALSE: it is not one of memory.
static gboolean figure(const char *document, char **fields, const ModelSpec *model, const TopoDevice *device)
{
    gboolean gib = strcmp(fields[4], "GiB") == 0;
    if ((strcmp(fields[0], "zero") != 0 && strcmp(fields[0], "memory") != 0) ||
        strcmp(fields[2], "sent_per_step") == 0)
        return FALSE;
    const char *stage = strstr(fields[1], "stage "), *d = strstr(fields[1], "d=");
    Plan plan =
        memory_data_plan(model, d != NULL ? (guint32)atoi(d + 2) : 8, stage != NULL ? atoi(stage + 6) : 0);
    PlanMemoryPeak peak = plan_memory_peak(&plan, model, device, NULL, 0);
    const struct {
        const char *words;
        double bytes;
    } figures[] = {
        {"weights", (double)peak.kind[PLAN_MEMORY_WEIGHTS]},
        {"gradients", (double)peak.kind[PLAN_MEMORY_GRADIENTS]},
        {"optimizer", (double)peak.kind[PLAN_MEMORY_OPTIMIZER]},
        {"fp32 master copy", (double)peak.kind[PLAN_MEMORY_OPTIMIZER] / 3},
        {"momentum", (double)peak.kind[PLAN_MEMORY_OPTIMIZER] / 3},
        {"variance", (double)peak.kind[PLAN_MEMORY_OPTIMIZER] / 3},
    };
    double bytes = (double)plan_memory_states(&peak);
    for (guint i = 0; i < G_N_ELEMENTS(figures); i++)
        if (strcmp(fields[2], figures[i].words) == 0 ||
            (strcmp(fields[0], "memory") == 0 && strstr(fields[1], figures[i].words) != NULL))
            bytes = figures[i].bytes;
    if (strcmp(fields[4], "bool") == 0)
        bytes = bytes <= 80 * GIB ? 1e9 : 0;
    double found = bytes / (gib ? GIB : 1e9), printed = g_ascii_strtod(fields[3], NULL);
    if (fabs(found - printed) > printed_half(fields[5]))
        fail_msg("%s, %s, %s: found %.6g, printed %s %s", document, fields[1], fields[2], found, fields[3],
                 fields[4]);
    return TRUE;
}

static void test_documents(void **state)
{
    (void)state;
    static const struct {
        const char *document, *model;
        guint rows;
    } documents[] = {{"primer", "primer-7b", 15}, {"deck", "llama-7b", 32}};
    g_autoptr(TopoDevice) device = memory_device("h100-sxm");
    for (guint i = 0; i < G_N_ELEMENTS(documents); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path = g_strdup_printf("validation/data/%s.csv", documents[i].document);
        g_autoptr(GBytes) bytes = library_find(path);
        gsize length = 0;
        const char *text = g_bytes_get_data(bytes, &length);
        g_autoptr(Csv) csv = csv_read_text(path, text, length, &error);
        check_fine(error);
        g_autoptr(ModelSpec) model = memory_model(documents[i].model);
        guint rows = 0;
        for (guint row = 0; row < csv_rows(csv); row++)
            rows += figure(documents[i].document, csv_get(csv, row)->fields, model, device) ? 1 : 0;
        assert_int_equal(rows, documents[i].rows);
    }
}

// The states of any data-parallel plan are those of plans/states.h, rounded up to a byte each.
static void test_states(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("h100-sxm");
    static const char *const names[] = {"primer-7b", "llama-7b", "llama3-8b", "gpt2", "gpt3-175b"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(ModelSpec) model = memory_model(names[i]);
        for (guint optimizer = 0; PLAN_OPTIMIZER_NAMES[optimizer] != NULL; optimizer++) {
            for (int zero = 0; zero <= 3; zero++) {
                Plan plan = memory_data_plan(model, 24, zero);
                plan.optimizer = (PlanOptimizer)optimizer;
                PlanMemoryPeak peak = plan_memory_peak(&plan, model, device, NULL, 0);
                PlanStates states = plan_states(model_count_parameters(model), plan.optimizer, zero, 24);
                double more = (double)plan_memory_states(&peak) - states.total;
                assert_true(more > -1 && more < 3);
            }
        }
    }
}

// NVIDIA/Megatron-LM#654: 18 bytes a parameter with fp32 gradients, 6 + 12/d with the distributed optimizer.
static void test_megatron_rule(void **state)
{
    (void)state;
    g_autoptr(TopoDevice) device = memory_device("a100-sxm-80g");
    g_autoptr(ModelSpec) model = memory_model("llama2-7b");
    double n = (double)model_count_parameters(model);
    for (guint32 dp = 1; dp <= 64; dp *= 4) {
        Plan plan = memory_data_plan(model, dp, 1);
        plan.gradient_bytes = 4;
        plan.buckets = PLAN_BUCKETS_MEGATRON;
        PlanMemoryPeak peak = plan_memory_peak(&plan, model, device, NULL, 0);
        memory_near("distributed optimizer", (double)plan_memory_states(&peak), n * (6 + 12.0 / dp), 1e-9);
        plan.zero = 0;
        peak = plan_memory_peak(&plan, model, device, NULL, 0);
        memory_near("plain", (double)plan_memory_states(&peak), n * 18, 1e-9);
    }
}

// karpathy/llm.c#309, ZeRO 1, GPT-2 with its vocabulary padded to 50,304: 124,475,904 parameters, MiB of
// weights, of gradients, and of each of AdamW's m and v, rounded down.
static void test_llmc(void **state)
{
    (void)state;
    static const struct {
        guint32 workers;
        int moment;
    } rows[] = {{1, 474}, {2, 237}, {8, 59}};
    g_autoptr(TopoDevice) device = memory_device("a100-sxm-80g");
    g_autoptr(ModelSpec) model = memory_model("gpt2");
    model->vocabulary = 50304;
    assert_int_equal(model_count_parameters(model), 124475904);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Plan plan = memory_data_plan(model, rows[i].workers, 1);
        PlanMemoryPeak peak = plan_memory_peak(&plan, model, device, NULL, 0);
        assert_int_equal(peak.kind[PLAN_MEMORY_WEIGHTS] >> 20, 237);
        assert_int_equal(peak.kind[PLAN_MEMORY_GRADIENTS] >> 20, 237);
        assert_int_equal((peak.kind[PLAN_MEMORY_OPTIMIZER] / 3) >> 20, rows[i].moment);
    }
}

// pytorch/torchtitan#1690: Qwen3 32B on cards of 95 GiB, sequences of 4,096, ZeRO 3, full recomputation; the
// log's "memory" is what PyTorch reserved, which leaves out the driver and NCCL (1.3 GiB of ours).
static void test_torchtitan(void **state)
{
    (void)state;
    static const struct {
        guint32 dp, tp;
        gint64 micro_batch;
        double unfused; // of the loss; the first run is compiled
        double gib;     // 0: out of memory
    } rows[] = {{8, 1, 2, 1.5, 81.85},
                {4, 8, 16, 2.5, 43.45},
                {4, 8, 32, 2.5, 70.79},
                {8, 8, 32, 2.5, 63.27},
                {4, 8, 64, 2.5, 0}};
    static const ModelSpec model = {.layers = 64,
                                    .hidden = 5120,
                                    .heads = 64,
                                    .kv_heads = 8,
                                    .head_dim = 128,
                                    .ffn = 25600,
                                    .gated = TRUE,
                                    .vocabulary = 151936,
                                    .norm_parameters = TRUE,
                                    .sequence = 4096};
    g_autoptr(TopoDevice) device = memory_device("h100-sxm");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        PlanFramework framework = {.flash = TRUE};
        framework.bytes[MODEL_MEMORY_LOSS] = rows[i].unfused;
        Plan plan = memory_data_plan(&model, rows[i].dp, 3);
        plan.tp = rows[i].tp;
        plan.sp = rows[i].tp > 1;
        plan.gpus *= plan.tp;
        plan.micro_batch = rows[i].micro_batch;
        plan.batch = plan.micro_batch * plan.dp;
        plan.recompute = PLAN_RECOMPUTE_FULL;
        memory_legal(&plan, &model);
        PlanMemoryPeak peak = plan_memory_fullest(&plan, &model, device, &framework);
        double reserved = (double)peak.peak / GIB;
        if (rows[i].gib > 0)
            memory_near("reserved", reserved, rows[i].gib, 0.12);
        else
            assert_true(reserved > 95);
    }
}

// deepspeedai/DeepSpeed#1302, ZeRO 2, buckets by elements of 2 bytes, MB as nvidia-smi prints them (MiB):
// 21,152 with 5e8; 20,198 without overlap; 19,625 with 1e8; 19,284 with 1e7. The differences are buffers.
static void test_deepspeed_buckets(void **state)
{
    (void)state;
    static const struct {
        double elements;
        gboolean overlap;
        double mib;
    } rows[] = {{5e8, TRUE, 21152}, {5e8, FALSE, 20198}, {1e8, TRUE, 19625}, {1e7, TRUE, 19284}};
    g_autoptr(TopoDevice) device = memory_device("v100-sxm-32g");
    g_autoptr(ModelSpec) model = memory_model("gpt2-xl");
    double first = 0;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Plan plan = memory_data_plan(model, 4, 2);
        plan.bucket = (gint64)(2 * rows[i].elements);
        plan.overlap = rows[i].overlap;
        double mib = (double)plan_memory_fullest(&plan, model, device, NULL).peak / 1048576;
        first = i == 0 ? mib : first;
        double found = mib - first, wanted = rows[i].mib - rows[0].mib;
        if (fabs(found - wanted) > 4)
            fail_msg("row %u: %.0f MiB less, wanted %.0f", i, -found, -wanted);
    }
    // Buckets that hold all gradients are the gradients once, not twice.
    Plan plan = memory_data_plan(model, 4, 2), whole = plan;
    whole.bucket = G_MAXINT64;
    gint64 more = plan_memory_fullest(&whole, model, device, NULL).peak -
                  plan_memory_fullest(&plan, model, device, NULL).peak;
    assert_int_equal(more, 2 * model_count_parameters(model) - 2 * plan.bucket);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper_layers),
        cmocka_unit_test(test_paper_totals),
        cmocka_unit_test(test_paper_states),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_megatron_rule),
        cmocka_unit_test(test_llmc),
        cmocka_unit_test(test_torchtitan),
        cmocka_unit_test(test_deepspeed_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
