// tests/test-models-ops.c: the operators of a block: activations as Korthikanti et al. 2022 give them,
// parameters and FLOPs that sum to the model's.
#include "tests/check.h"

#include "base/hash.h"
#include "base/library.h"
#include "models/count.h"
#include "models/ops.h"
#include "models/tensor.h"

static ModelSpec *get(const char *name)
{
    g_autoptr(GError) error = NULL;
    ModelSpec *spec = model_spec_read(name, NULL, &error);
    check_fine(error);
    return spec;
}

typedef struct {
    double saved, kept; // all, and without what selective recomputation drops
    double model, hardware;
    gint64 parameters;
} Sum;

static Sum sum(const ModelSpec *spec, const ModelShard *shard, ModelBlock block, gboolean flash)
{
    g_autoptr(GArray) ops = model_ops(spec, shard, block, flash);
    Sum all = {0};
    for (guint i = 0; i < ops->len; i++) {
        const ModelOp *op = &g_array_index(ops, ModelOp, i);
        assert_true(op->saved >= 0 && op->exchanged >= 0 && op->n_tensors <= MODEL_OP_TENSORS);
        assert_true(op->kernels_forward >= 1 && op->kernels_backward >= 1);
        assert_true(op->bytes_forward > 0 && op->bytes_backward > 0);
        assert_true((op->kind == MODEL_OP_MEMORY) == (op->memory != MODEL_MEMORY_NONE));
        assert_true(op->join == MODEL_JOIN_NONE || op->exchanged > 0);
        all.saved += (double)op->saved;
        all.kept += op->selective ? 0 : (double)op->saved;
        all.model += op->flops_model;
        all.hardware += op->flops_forward + op->flops_backward;
        for (guint j = 0; j < op->n_tensors; j++)
            all.parameters += op->tensors[j];
    }
    return all;
}

static void check_near(const char *what, double found, double wanted, double error)
{
    if (!(found >= wanted * (1 - error) && found <= wanted * (1 + error)))
        fail_msg("%s: found %.9g, wanted %.9g", what, found, wanted);
}

// Equations 1, 2, 4 and 6, and table 2's row of selective recomputation without sequence parallelism: to the
// byte.
static void test_korthikanti(void **state)
{
    (void)state;
    static const char *const names[] = {"megatron-22b", "megatron-175b", "megatron-530b", "megatron-1t"};
    static const gint64 micro[] = {4, 1, 1, 1}; // table 3
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(ModelSpec) spec = get(names[i]);
        double b = (double)micro[i], s = 2048, h = (double)spec->hidden, a = (double)spec->heads, t = 8;
        ModelShard shard = {.sequences = micro[i], .sequence = 2048, .tp = 1, .cp = 1};
        Sum whole = sum(spec, &shard, MODEL_BLOCK_LAYER, FALSE);
        check_near(names[i], whole.saved, s * b * h * (34 + 5 * a * s / h), 1e-12);
        check_near(names[i], whole.kept, s * b * h * 34, 1e-12);
        shard.tp = 8;
        Sum split = sum(spec, &shard, MODEL_BLOCK_LAYER, FALSE);
        check_near(names[i], split.saved, s * b * h * (10 + 24 / t + 5 * a * s / (h * t)), 1e-12);
        check_near(names[i], split.kept, s * b * h * (10 + 24 / t), 1e-12);
        shard.sp = TRUE;
        Sum parallel = sum(spec, &shard, MODEL_BLOCK_LAYER, FALSE);
        check_near(names[i], parallel.saved, s * b * h / t * (34 + 5 * a * s / h), 1e-12);
        check_near(names[i], parallel.kept, s * b * h / t * 34, 1e-12);
        // FlashAttention keeps one number a row instead of the scores.
        Sum flash = sum(spec, &shard, MODEL_BLOCK_LAYER, TRUE);
        check_near(names[i], flash.saved, s * b * h / t * (18 + 4 * (double)spec->ffn / h), 0.01);
        // Section 4.3: embedding s b h / t of masks; head 4 s b h (1 + v / h) / t.
        assert_true(sum(spec, &shard, MODEL_BLOCK_EMBEDDING, FALSE).saved == s * b * h / t);
        check_near(names[i], sum(spec, &shard, MODEL_BLOCK_HEAD, FALSE).saved,
                   4 * s * b * h / t * (1 + (double)spec->vocabulary / h), 1e-12);
    }
}

// The paper's figure 1 and section 5: 5 a s / h is 80 for GPT-3 and 64 for MT-NLG 530B; so selective
// recomputation drops 70 % and 65 % of the activations.
static void test_selective(void **state)
{
    (void)state;
    ModelShard shard = {.sequences = 1, .sequence = 2048, .tp = 8, .cp = 1, .sp = TRUE};
    g_autoptr(ModelSpec) gpt = get("megatron-175b");
    Sum whole = sum(gpt, &shard, MODEL_BLOCK_LAYER, FALSE);
    check_near("GPT-3", 1 - whole.kept / whole.saved, 0.70, 0.01);
    g_autoptr(ModelSpec) nlg = get("megatron-530b");
    whole = sum(nlg, &shard, MODEL_BLOCK_LAYER, FALSE);
    check_near("MT-NLG", 1 - whole.kept / whole.saved, 0.65, 0.01);
}

// Llama 2 7B: no dropout, a gated MLP: norms 4, inputs of GEMMs 4, q k v 6, out 2, and three widths of the
// MLP.
static void test_gated(void **state)
{
    (void)state;
    g_autoptr(ModelSpec) spec = get("llama2-7b");
    ModelShard shard = {.sequences = 2, .sequence = 4096, .tp = 4, .cp = 1, .sp = TRUE};
    double tokens = 2 * 4096, h = 4096, f = 11008;
    double row = tokens * 4 * 32; // 4 bytes a row and head
    check_near("llama2-7b", sum(spec, &shard, MODEL_BLOCK_LAYER, TRUE).saved,
               (tokens * (16 * h + 6 * f) + row) / 4, 1e-12);
    // Context parallelism halves all of it.
    shard.cp = 2;
    check_near("llama2-7b", sum(spec, &shard, MODEL_BLOCK_LAYER, TRUE).saved,
               (tokens * (16 * h + 6 * f) + row) / 8, 1e-12);
}

// Every model of the library: the tensors of all blocks are the model's, in number and, within an operator,
// in order.
static void test_parameters(void **state)
{
    (void)state;
    g_auto(GStrv) names = library_list("models/data", ".ini");
    ModelShard shard = {.sequences = 1, .sequence = 128, .tp = 1, .cp = 1};
    for (guint i = 0; names[i] != NULL; i++) {
        g_autoptr(ModelSpec) spec = get(names[i]);
        spec->parameters = 0;
        gint64 all = sum(spec, &shard, MODEL_BLOCK_EMBEDDING, TRUE).parameters +
                     spec->layers * sum(spec, &shard, MODEL_BLOCK_LAYER, TRUE).parameters +
                     sum(spec, &shard, MODEL_BLOCK_HEAD, TRUE).parameters;
        assert_int_equal(all, model_count_parameters(spec));
    }
}

// The sources' totals.
static void test_totals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double billions, half; // as printed, and half of its last digit
    } totals[] = {
        {"megatron-1.7b", 1.7, .05},   {"megatron-3.6b", 3.6, .05},   {"megatron-7.5b", 7.5, .05},
        {"megatron-18b", 18.4, .05},   {"megatron-39b", 39.1, .05},   {"megatron-76b", 76.1, .05},
        {"megatron-146b", 145.6, .05}, {"megatron-310b", 310.1, .05}, {"megatron-530b", 529.6, .05},
        {"megatron-1t", 1008.0, .05},  {"megatron-22b", 22, .5},      {"megatron-175b", 175, .5},
        {"palm-540b", 540.35, .01}, // 540.356 with its norms
    };
    for (guint i = 0; i < G_N_ELEMENTS(totals); i++) {
        g_autoptr(ModelSpec) spec = get(totals[i].name);
        double found = (double)model_count_parameters(spec) / 1e9;
        if (!(found >= totals[i].billions - totals[i].half && found <= totals[i].billions + totals[i].half))
            fail_msg("%s: found %.3f, wanted %.3f", totals[i].name, found, totals[i].billions);
    }
}

static guint64 pick(guint64 seed, guint64 *counter, guint64 low, guint64 high)
{
    return low + hash_random(seed, (*counter)++) % (high - low + 1);
}

// Random small models under random splits that divide: model FLOPs over ranks, and parameters over ranks,
// are the model's; hardware FLOPs of the GEMMs do not depend on the split.
static void check_random(guint64 seed)
{
    guint64 n = 0;
    gint64 tp = G_GINT64_CONSTANT(1) << pick(seed, &n, 0, 3), cp = (gint64)pick(seed, &n, 1, 3);
    gint64 kv = tp * (gint64)pick(seed, &n, 1, 2);
    ModelSpec spec = {.layers = (gint64)pick(seed, &n, 1, 3),
                      .hidden = 8 * (gint64)pick(seed, &n, 1, 20),
                      .kv_heads = kv,
                      .heads = kv * (gint64)pick(seed, &n, 1, 3),
                      .head_dim = (gint64)pick(seed, &n, 1, 40),
                      .ffn = tp * (gint64)pick(seed, &n, 1, 50),
                      .vocabulary = tp * (gint64)pick(seed, &n, 1, 50),
                      .gated = pick(seed, &n, 0, 1) == 1,
                      .tied = pick(seed, &n, 0, 1) == 1,
                      .norm = (ModelNorm)pick(seed, &n, 0, 1),
                      .norm_parameters = pick(seed, &n, 0, 3) > 0,
                      .bias = pick(seed, &n, 0, 1) == 1,
                      .positions = (gint64)pick(seed, &n, 0, 1) * 1000,
                      .dropout = pick(seed, &n, 0, 1) == 1,
                      .parallel_block = pick(seed, &n, 0, 2) == 0};
    ModelShard shard = {.sequences = (gint64)pick(seed, &n, 1, 4),
                        .sequence = tp * cp * (gint64)pick(seed, &n, 1, 100),
                        .tp = (guint32)tp,
                        .cp = (guint32)cp,
                        .sp = pick(seed, &n, 0, 1) == 1};
    gboolean flash = pick(seed, &n, 0, 1) == 1, override = pick(seed, &n, 0, 3) == 0;
    if (override)
        spec.parameters = 2 * model_count_architecture(&spec) + 7;
    Sum embedding = sum(&spec, &shard, MODEL_BLOCK_EMBEDDING, flash);
    Sum layer = sum(&spec, &shard, MODEL_BLOCK_LAYER, flash);
    Sum head = sum(&spec, &shard, MODEL_BLOCK_HEAD, flash);
    double tokens = (double)(shard.sequences * shard.sequence), ranks = (double)(tp * cp);
    check_near("model FLOPs", (embedding.model + (double)spec.layers * layer.model + head.model) * ranks,
               model_count_flops(&spec, MODEL_COUNT_6N_ATTENTION, shard.sequence) * tokens, 1e-12);
    ModelShard one = shard;
    one.tp = one.cp = 1;
    check_near("hardware FLOPs", layer.hardware * ranks, sum(&spec, &one, MODEL_BLOCK_LAYER, flash).hardware,
               1e-12);
    if (override)
        return;
    // Whole on every rank: norms, positions, and the biases of what is cut by its inputs.
    gint64 norm = !spec.norm_parameters ? 0 : spec.norm == MODEL_NORM_LAYER ? 2 * spec.hidden : spec.hidden;
    gint64 whole = (spec.parallel_block ? norm : 2 * norm) + (spec.bias ? 2 * spec.hidden : 0);
    gint64 copies = spec.positions * spec.hidden + spec.layers * whole + norm;
    gint64 found = embedding.parameters + spec.layers * layer.parameters + head.parameters;
    assert_int_equal((found - copies) * tp + copies, model_count_parameters(&spec));
}

static void test_random(void **state)
{
    (void)state;
    for (guint64 seed = 0; seed < 2000; seed++)
        check_random(seed);
}

static const ModelOp *find(GArray *ops, const char *name)
{
    for (guint i = 0; i < ops->len; i++)
        if (strcmp(g_array_index(ops, ModelOp, i).name, name) == 0)
            return &g_array_index(ops, ModelOp, i);
    fail_msg("no operator %s", name);
    return NULL;
}

static guint joins(GArray *ops, ModelJoin join)
{
    guint count = 0;
    for (guint i = 0; i < ops->len; i++)
        count += g_array_index(ops, ModelOp, i).join == join;
    return count;
}

static void test_shapes(void **state)
{
    (void)state;
    g_autoptr(ModelSpec) spec = get("llama3-70b"); // 64 heads over 8
    ModelShard shard = {.sequences = 1, .sequence = 8192, .tp = 16, .cp = 2, .sp = TRUE};
    g_autoptr(GArray) ops = model_ops(spec, &shard, MODEL_BLOCK_LAYER, TRUE);
    const ModelOp *qkv = find(ops, "qkv");
    assert_int_equal(qkv->m, 4096);
    assert_int_equal(qkv->n, (4 + 2) * 128); // a key/value head is repeated on two ranks
    assert_int_equal(qkv->k, 8192);
    assert_int_equal(qkv->exchanged, 2 * 4096 * 8192);
    const ModelOp *attention = find(ops, "attention");
    assert_int_equal(attention->queries, 4096);
    assert_int_equal(attention->keys, 8192);
    assert_int_equal(attention->heads, 4);
    assert_int_equal(attention->join, MODEL_JOIN_CONTEXT);
    assert_int_equal(attention->exchanged, 2 * 2 * 8192 * 128);
    assert_true(attention->flops_forward == 2.0 * 4096 * 8192 * 512);
    assert_int_equal(find(ops, "up")->n, 2 * 28672 / 16);
    assert_int_equal(joins(ops, MODEL_JOIN_COLUMN), 2);
    assert_int_equal(joins(ops, MODEL_JOIN_ROW), 2);
    find(ops, "rotary");
    g_autoptr(GArray) head = model_ops(spec, &shard, MODEL_BLOCK_HEAD, TRUE);
    assert_int_equal(find(head, "logits")->n, 128256 / 16);
    assert_int_equal(find(head, "loss")->exchanged, 3 * 4 * 4096);
    // PaLM's block: one norm, one gather, one sum; one key/value head on every rank.
    g_autoptr(ModelSpec) palm = get("palm-540b");
    ModelShard slice = {.sequences = 1, .sequence = 2048, .tp = 12, .cp = 1};
    g_autoptr(GArray) block = model_ops(palm, &slice, MODEL_BLOCK_LAYER, FALSE);
    assert_int_equal(joins(block, MODEL_JOIN_COLUMN), 1);
    assert_int_equal(joins(block, MODEL_JOIN_ROW), 1);
    assert_int_equal(find(block, "qkv")->n, (4 + 2) * 256);
    assert_int_equal(find(block, "scores")->batch, 4);
    // Alone, a rank joins nobody.
    slice.tp = 1;
    g_autoptr(GArray) alone = model_ops(palm, &slice, MODEL_BLOCK_LAYER, FALSE);
    assert_int_equal(joins(alone, MODEL_JOIN_NONE), alone->len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_korthikanti), cmocka_unit_test(test_selective), cmocka_unit_test(test_gated),
        cmocka_unit_test(test_parameters),  cmocka_unit_test(test_totals),    cmocka_unit_test(test_random),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
