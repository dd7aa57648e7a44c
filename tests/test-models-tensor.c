// tests/test-models-tensor.c: the tensors stand in order, and their sums are the model's count to the last
// parameter.
#include "tests/check.h"

#include "base/library.h"
#include "models/count.h"
#include "models/tensor.h"

static ModelSpec *get(const char *name)
{
    g_autoptr(GError) error = NULL;
    ModelSpec *spec = model_spec_read(name, NULL, &error);
    check_fine(error);
    return spec;
}

static void check_sums(const ModelSpec *spec)
{
    g_autoptr(GArray) tensors = model_tensors(spec);
    gint64 stored = 0, multiplied = 0, cores = 0;
    guint32 block = 0;
    for (guint i = 0; i < tensors->len; i++) {
        const ModelTensor *tensor = &g_array_index(tensors, ModelTensor, i);
        assert_true(tensor->parameters >= 0 && tensor->multiplied >= 0);
        assert_true(tensor->block == block || tensor->block == block + 1);
        block = tensor->block;
        stored += tensor->parameters;
        multiplied += tensor->multiplied;
        cores += tensor->attention;
        assert_int_equal(tensor->attention, strcmp(tensor->name, "o_proj.weight") == 0);
    }
    assert_int_equal(block, spec->layers + 1);
    assert_int_equal(cores, spec->layers);
    assert_int_equal(stored, model_count_parameters(spec));
    assert_int_equal(multiplied, model_count_parameters(spec));
}

static void test_sums(void **state)
{
    (void)state;
    g_auto(GStrv) names = library_list("models/data", ".ini");
    for (guint i = 0; names[i] != NULL; i++) {
        g_autoptr(ModelSpec) spec = get(names[i]);
        check_sums(spec);
        gint64 whole = model_count_parameters(spec);
        const gint64 totals[] = {model_count_vectors(spec) + 1, whole - 1, whole, whole + 1, 2 * whole + 7,
                                 MODEL_PARAMETERS_MAX};
        for (guint j = 0; j < G_N_ELEMENTS(totals); j++) {
            spec->parameters = totals[j];
            check_sums(spec);
        }
    }
}

typedef struct {
    const char *name;
    guint32 block;
    gint64 parameters, multiplied;
} Wanted;

static void check_list(const ModelSpec *spec, const Wanted *wanted, guint count)
{
    g_autoptr(GArray) tensors = model_tensors(spec);
    assert_int_equal(tensors->len, count);
    for (guint i = 0; i < count; i++) {
        const ModelTensor *tensor = &g_array_index(tensors, ModelTensor, i);
        assert_string_equal(tensor->name, wanted[i].name);
        assert_int_equal(tensor->block, wanted[i].block);
        assert_int_equal(tensor->parameters, wanted[i].parameters);
        assert_int_equal(tensor->multiplied, wanted[i].multiplied);
    }
}

static void test_gated(void **state)
{
    (void)state;
    static const Wanted wanted[] = {
        {"embed_tokens.weight", 0, 525336576, 525336576},
        {"q_proj.weight", 1, 16777216, 16777216},
        {"k_proj.weight", 1, 4194304, 4194304},
        {"v_proj.weight", 1, 4194304, 4194304},
        {"o_proj.weight", 1, 16777216, 16777216},
        {"gate_proj.weight", 1, 58720256, 58720256},
        {"up_proj.weight", 1, 58720256, 58720256},
        {"down_proj.weight", 1, 58720256, 58720256},
        {"input_layernorm.weight", 1, 4096, 4096},
        {"post_attention_layernorm.weight", 1, 4096, 4096},
        {"norm.weight", 2, 4096, 4096},
        {"lm_head.weight", 2, 525336576, 525336576},
    };
    g_autoptr(ModelSpec) spec = get("llama3-8b");
    spec->layers = 1;
    check_list(spec, wanted, G_N_ELEMENTS(wanted));
}

static void test_tied(void **state)
{
    (void)state;
    static const Wanted wanted[] = {
        {"embed_tokens.weight", 0, 38597376, 0},
        {"embed_positions.weight", 0, 786432, 786432},
        {"q_proj.weight", 1, 589824, 589824},
        {"q_proj.bias", 1, 768, 768},
        {"k_proj.weight", 1, 589824, 589824},
        {"k_proj.bias", 1, 768, 768},
        {"v_proj.weight", 1, 589824, 589824},
        {"v_proj.bias", 1, 768, 768},
        {"o_proj.weight", 1, 589824, 589824},
        {"o_proj.bias", 1, 768, 768},
        {"up_proj.weight", 1, 2359296, 2359296},
        {"up_proj.bias", 1, 3072, 3072},
        {"down_proj.weight", 1, 2359296, 2359296},
        {"down_proj.bias", 1, 768, 768},
        {"input_layernorm.weight", 1, 768, 768},
        {"input_layernorm.bias", 1, 768, 768},
        {"post_attention_layernorm.weight", 1, 768, 768},
        {"post_attention_layernorm.bias", 1, 768, 768},
        {"norm.weight", 2, 768, 768},
        {"norm.bias", 2, 768, 768},
        {"lm_head.weight", 2, 0, 38597376},
    };
    g_autoptr(ModelSpec) spec = get("gpt2");
    spec->layers = 1;
    check_list(spec, wanted, G_N_ELEMENTS(wanted));
}

// Matrices 40, 16, 16, 16, 16, 32, 32, 40 (208 in all) and norms 12: a total of 324 leaves 312, half as much
// again. 325 gives one parameter more, to the last matrix.
static void test_spread(void **state)
{
    (void)state;
    ModelSpec spec = {.layers = 1,
                      .hidden = 4,
                      .heads = 1,
                      .kv_heads = 1,
                      .head_dim = 4,
                      .ffn = 8,
                      .vocabulary = 10,
                      .norm_parameters = TRUE,
                      .parameters = 325};
    static const Wanted wanted[] = {
        {"embed_tokens.weight", 0, 60, 60},
        {"q_proj.weight", 1, 24, 24},
        {"k_proj.weight", 1, 24, 24},
        {"v_proj.weight", 1, 24, 24},
        {"o_proj.weight", 1, 24, 24},
        {"up_proj.weight", 1, 48, 48},
        {"down_proj.weight", 1, 48, 48},
        {"input_layernorm.weight", 1, 4, 4},
        {"post_attention_layernorm.weight", 1, 4, 4},
        {"norm.weight", 2, 4, 4},
        {"lm_head.weight", 2, 61, 61},
    };
    check_list(&spec, wanted, G_N_ELEMENTS(wanted));

    // Tied: 168 of matrices; 264 are 252 of matrices, 265 one more, to the last that is stored.
    static const Wanted tied[] = {
        {"embed_tokens.weight", 0, 60, 0},
        {"q_proj.weight", 1, 24, 24},
        {"k_proj.weight", 1, 24, 24},
        {"v_proj.weight", 1, 24, 24},
        {"o_proj.weight", 1, 24, 24},
        {"up_proj.weight", 1, 48, 48},
        {"down_proj.weight", 1, 49, 49},
        {"input_layernorm.weight", 1, 4, 4},
        {"post_attention_layernorm.weight", 1, 4, 4},
        {"norm.weight", 2, 4, 4},
        {"lm_head.weight", 2, 0, 60},
    };
    spec.tied = TRUE;
    spec.parameters = 265;
    check_list(&spec, tied, G_N_ELEMENTS(tied));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_gated),
        cmocka_unit_test(test_tied),
        cmocka_unit_test(test_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
