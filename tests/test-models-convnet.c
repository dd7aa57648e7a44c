// tests/test-models-convnet.c: residual networks have the parameters that torchvision prints.
#include "tests/check.h"

#include "models/convnet.h"

static void test_totals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        gint64 parameters;
        guint tensors; // convolutions, twice as many norms' vectors, and two of the linear layer
    } cases[] = {
        {"resnet-18", 11689512, 3 * 20 + 2},   {"resnet-34", 21797672, 3 * 36 + 2},
        {"resnet-50", 25557032, 3 * 53 + 2},   {"resnet-101", 44549160, 3 * 104 + 2},
        {"resnet-152", 60192808, 3 * 155 + 2},
    };
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(GError) error = NULL;
        const ModelConvnet *net = model_convnet_find(cases[c].name, NULL, &error);
        check_fine(error);
        g_autoptr(GArray) tensors = model_convnet_tensors(net);
        gint64 sum = 0;
        for (guint i = 0; i < tensors->len; i++)
            sum += g_array_index(tensors, gint64, i);
        assert_int_equal(sum, cases[c].parameters);
        assert_int_equal(tensors->len, cases[c].tensors);
    }
    for (guint i = 0; MODEL_CONVNETS[i].name != NULL; i++)
        assert_string_equal(MODEL_CONVNETS[i].name, cases[i].name);
}

static void test_unknown(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    assert_null(model_convnet_find("resnet-5", "t.csv:2: model", &error));
    check_says(error, "t.csv:2: model: found 'resnet-5', wanted one of: resnet-18, resnet-34");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
