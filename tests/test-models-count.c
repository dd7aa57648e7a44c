// tests/test-models-count.c: the library's models have exactly the parameters and FLOPs that their sources
// give.
#include "tests/check.h"

#include "base/library.h"
#include "models/count.h"

static const struct {
    const char *name;
    gint64 parameters, architecture;
} MODELS[] = {
    {"gpt2", 124439808, 124439808},
    {"gpt2-large", 774030080, 774030080},
    {"gpt2-medium", 354823168, 354823168},
    {"gpt2-xl", 1557611200, 1557611200},
    {"gpt3-175b", 174604259328, 174604259328},
    {"llama-13b", 13015864320, 13015864320},
    {"llama-30b", 32528943616, 32528943616},
    {"llama-65b", 65285660672, 65285660672},
    {"llama-7b", 6738149376, 6738415616}, // the deck leaves the 65 norm vectors of 4,096 out
    {"llama2-13b", 13015864320, 13015864320},
    {"llama2-70b", 68976648192, 68976648192},
    {"llama2-7b", 6738415616, 6738415616},
    {"llama3-405b", 405853388800, 405853388800},
    {"llama3-70b", 70553706496, 70553706496},
    {"llama3-8b", 8030261248, 8030261248},
    {"megatron-1.7b", 1652230656, 1652230656},
    {"megatron-146b", 145622261760, 145622261760},
    {"megatron-175b", 174615846912, 174615846912},
    {"megatron-18b", 18449756160, 18449756160},
    {"megatron-1t", 1008038758400, 1008038758400},
    {"megatron-22b", 22074273792, 22074273792},
    {"megatron-3.6b", 3562168320, 3562168320},
    {"megatron-310b", 310130540544, 310130540544},
    {"megatron-39b", 39096041472, 39096041472},
    {"megatron-530b", 529600819200, 529600819200},
    {"megatron-7.5b", 7467786240, 7467786240},
    {"megatron-76b", 76050739200, 76050739200},
    {"palm-540b", 540356474880, 540356474880},
    {"primer-7b", 7000000000, 6738415616},
};

static void test_totals(void **state)
{
    (void)state;
    g_auto(GStrv) names = library_list("models/data", ".ini");
    assert_int_equal(g_strv_length(names), G_N_ELEMENTS(MODELS)); // no model without a line above
    for (guint i = 0; i < G_N_ELEMENTS(MODELS); i++) {
        assert_string_equal(names[i], MODELS[i].name);
        g_autoptr(GError) error = NULL;
        g_autoptr(ModelSpec) spec = model_spec_read(MODELS[i].name, NULL, &error);
        check_fine(error);
        assert_int_equal(model_count_parameters(spec), MODELS[i].parameters);
        assert_int_equal(model_count_architecture(spec), MODELS[i].architecture);
    }
}

static void test_parts(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(ModelSpec) spec = model_spec_read("llama-7b", NULL, &error);
    check_fine(error);
    ModelParts parts;
    model_count_parts(spec, &parts);
    assert_int_equal(parts.embedding, 131072000);
    assert_int_equal(parts.positions, 0);
    assert_int_equal(parts.attention, 67108864);
    assert_int_equal(parts.attention_bias, 0);
    assert_int_equal(parts.mlp, 135266304);
    assert_int_equal(parts.norms, 8192);
    assert_int_equal(parts.head, 131072000);
    assert_int_equal(model_count_norms(spec), 266240);
    assert_int_equal(model_count_vectors(spec), 0);

    g_autoptr(ModelSpec) gpt2 = model_spec_read("gpt2", NULL, &error);
    check_fine(error);
    model_count_parts(gpt2, &parts);
    assert_int_equal(parts.positions, 786432);
    assert_int_equal(parts.attention_bias, 4 * 768);
    assert_int_equal(parts.mlp_bias, 5 * 768);
    assert_int_equal(parts.norms, 4 * 768);
    assert_int_equal(parts.head, 0);
    assert_int_equal(model_count_vectors(gpt2), 12 * 13 * 768 + 2 * 768);
}

static void test_flops(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(ModelSpec) spec = model_spec_read("llama-7b", NULL, &error);
    check_fine(error);
    assert_true(model_count_flops(spec, MODEL_COUNT_6N, 4096) == 40428896256.0);
    assert_true(model_count_attention(spec, MODEL_COUNT_6N, 4096) == 0);
    assert_true(model_count_attention(spec, MODEL_COUNT_6N_ATTENTION, 4096) == 201326592.0);
    assert_true(model_count_flops(spec, MODEL_COUNT_6N_ATTENTION, 4096) == 46871347200.0);
    // The deck's step: 1,048,576 tokens on 64 GPUs at 0.473 of 989e12 FLOP/s take 1.64 s.
    double seconds = 46871347200.0 * 1048576 / (64 * 989e12 * 0.473);
    assert_true(seconds > 1.635 && seconds < 1.645);
    // The primer's step: 6 x 7e9 x 8 x 4096 tokens are 1376 TFLOP.
    g_autoptr(ModelSpec) primer = model_spec_read("primer-7b", NULL, &error);
    check_fine(error);
    double flops = model_count_flops(primer, MODEL_COUNT_6N, 4096) * 8 * 4096;
    assert_true(flops > 1375.5e12 && flops < 1376.5e12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_flops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
