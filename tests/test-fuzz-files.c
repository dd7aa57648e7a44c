// tests/test-fuzz-files.c: chips, machines, models and frameworks of the library, broken in a thousand ways:
// each is read or refused in one line (scenarios: test-fuzz-steps).
//
// The cases are the same in every run (fixed seeds). A case that hangs is ended by an alarm.
#include "tests/fuzz.h"

#include "machines/machine.h"
#include "models/count.h"
#include "models/ops.h"
#include "models/spec.h"
#include "models/tensor.h"
#include "plans/framework.h"

static gboolean read_chip(const char *path, GError **error)
{
    g_autoptr(TopoDevice) device = topo_device_read(path, NULL, error);
    return device != NULL;
}

static gboolean read_framework(const char *path, GError **error)
{
    g_autoptr(PlanFramework) framework = plan_framework_read(path, NULL, error);
    return framework != NULL;
}

static gboolean read_machine(const char *path, GError **error)
{
    g_autoptr(TopoMachine) machine = topo_machine_read(path, 0, NULL, error);
    if (machine == NULL)
        return FALSE;
    assert_true(machine->graph->gpus->len >= 1);
    return TRUE;
}

static gboolean read_model(const char *path, GError **error)
{
    g_autoptr(ModelSpec) spec = model_spec_read(path, NULL, error);
    if (spec == NULL)
        return FALSE;
    g_autoptr(GArray) tensors = model_tensors(spec);
    gint64 sum = 0;
    for (guint i = 0; i < tensors->len; i++)
        sum += g_array_index(tensors, ModelTensor, i).parameters;
    assert_int_equal(sum, model_count_parameters(spec));
    ModelShard shard = {.sequences = 3, .sequence = MODEL_SEQUENCE_MAX, .tp = 7, .cp = 5};
    for (guint i = 0; i < 6; i++) {
        g_autoptr(GArray) ops = model_ops(spec, &shard, (ModelBlock)(i / 2), i % 2 == 0);
        for (guint j = 0; j < ops->len; j++)
            assert_true(g_array_index(ops, ModelOp, j).saved >= 0);
    }
    return TRUE;
}

static void test_chips(void **state)
{
    fuzz_folder(*state, read_chip, "topo/data/chips");
}

static void test_machines(void **state)
{
    fuzz_folder(*state, read_machine, "topo/data/machines");
}

static void test_models(void **state)
{
    fuzz_folder(*state, read_model, "models/data");
}

static void test_frameworks(void **state)
{
    fuzz_folder(*state, read_framework, "plans/data/frameworks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chips, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_models, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_frameworks, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
