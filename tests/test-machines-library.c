// tests/test-machines-library.c: every machine of the library at its own size and at twice it; damaged copies
// of their files never crash the reader.
#include "tests/machine.h"

#include "base/library.h"

static void check_ways(const TopoMachine *machine)
{
    const TopoGraph *graph = machine->graph;
    g_autoptr(TopoRouter) router = topo_router_new(graph, 1);
    guint32 last = graph->gpus->len - 1;
    for (guint32 step = 1; step <= last; step *= 3)
        machine_both_ways(router, graph, 0, step);
    for (guint32 rank = 0; rank <= last; rank += 1 + last / 64)
        machine_both_ways(router, graph, rank, last - rank == rank ? 0 : last - rank);
}

static void test_sizes(void **state)
{
    (void)state;
    // The boxes, which do not grow.
    static const char *const boxes[] = {"a100-pcie",
                                        "deck-nvlink-8",
                                        "dgx1-v100-box",
                                        "h100-pcie-pair",
                                        "l40s-pcie",
                                        "l40s-pcie-p2p",
                                        "pcie4-8",
                                        "perlmutter-a100",
                                        "primer-nvlink-8",
                                        "primer-pcie4-8",
                                        "rtx2080ti-2",
                                        "rtx4090-8",
                                        "rtx5090-8",
                                        "rtx2080ti-nvlink-2",
                                        "v100-pcie-box",
                                        "h100-1gpu-4nic",
                                        NULL};
    g_auto(GStrv) names = library_list("topo/data/machines", ".ini");
    for (guint i = 0; names[i] != NULL; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(names[i], 0, NULL, &error);
        check_fine(error);
        check_ways(machine);
        guint32 gpus = machine->graph->gpus->len;
        g_autoptr(TopoMachine) twice = topo_machine_read(names[i], 2 * gpus, "--gpus", &error);
        if (g_strv_contains(boxes, names[i])) {
            assert_null(twice);
            gboolean spelt_out = strcmp(names[i], "h100-1gpu-4nic") == 0;
            g_autofree char *most = g_strdup_printf(spelt_out ? "wanted %u: " : "wanted at most %u", gpus);
            check_says(error, most);
            continue;
        }
        check_fine(error);
        assert_int_equal(twice->graph->gpus->len, 2 * gpus);
        check_ways(twice);
    }
}

// Parts of one node, and the shapes that runs are published for.
static void test_parts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        guint32 gpus;
    } cases[] = {
        {"dgx-h100", 1},       {"dgx-h100", 2},       {"dgx-h100", 4},        {"dgx-h100", 8},
        {"dgx-h100", 16384},   {"dgx-a100", 3072},    {"dgx-a100", 2520},     {"hgx-h200", 4},
        {"dgx-b200", 8},       {"dgx-b300", 8},       {"gb200-nvl72", 8},     {"gb200-nvl72", 64},
        {"gb200-nvl72", 1440}, {"gb200-nvl64", 256},  {"gb300-nvl64", 512},   {"a100-40g-cloud", 8},
        {"a100-40g-cloud", 3}, {"dgx1-v100", 1},      {"dgx1-v100-1nic", 64}, {"tpu-v4", 192},
        {"tpu-v5p", 2048},     {"tpu-v5p", 4},        {"tpu-v5e", 8},         {"tpu-v6e", 512},
        {"llama3-24k", 8192},  {"llama3-24k", 16384}, {"h100-gt96", 8},       {"mi350x-8", 1},
        {"mi355x-8", 2},       {"mi355x-8", 1024},    {"gaudi2-8", 4},        {"gaudi2-8", 256},
        {"trn1-32xl", 2},      {"trn1-32xl", 256},    {"trn2-ultra", 16},     {"trn2-ultra", 256},
        {"tpu-v7x", 256},      {"tpu-v3", 4096},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(cases[i].name, cases[i].gpus, NULL, &error);
        check_fine(error);
        assert_int_equal(machine->graph->gpus->len, cases[i].gpus);
        if (cases[i].gpus > 1)
            check_ways(machine);
    }
}

// Rates that measurements are held against: the slowest link on the way, inside a node and out of it.
static void test_rates(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        guint32 gpus, far;
        double near_rate, far_rate;
    } cases[] = {
        {"dgx-h100", 16, 8, 370.8e9, 48.5e9}, {"dgx-a100", 16, 8, 240e9, 24e9},
        {"dgx-b200", 16, 8, 721.8e9, 48.5e9}, {"h800", 16, 8, 164.8e9, 48.5e9},
        {"dgx1-v100", 16, 8, 22.6e9, 12e9},   {"l40s-pcie", 0, 7, 24e9, 4.6e9},
        {"a100-pcie", 0, 7, 21e9, 15e9},      {"tpu-v5p", 0, 63, 90e9, 90e9},
        {"rtx4090-8", 0, 7, 20e9, 16e9},      {"llama3-24k", 0, 24575, 370.8e9, 48.5e9},
        {"mi355x-8", 16, 8, 402e9, 48.5e9},   {"gaudi2-8", 16, 8, 256.5e9, 36.6e9},
        {"trn1-32xl", 32, 16, 43.2e9, 90e9},  {"trn2-ultra", 0, 63, 96e9, 96e9},
        {"tpu-v7x", 0, 63, 90e9, 90e9},       {"tpu-v3", 0, 31, 73.8e9, 73.8e9},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(cases[i].name, cases[i].gpus, NULL, &error);
        check_fine(error);
        g_autoptr(TopoRouter) router = topo_router_new(machine->graph, 1);
        double near_rate = machine_both_ways(router, machine->graph, 0, 1).bottleneck;
        double far_rate = machine_both_ways(router, machine->graph, 0, cases[i].far).bottleneck;
        if (!machine_near(near_rate, cases[i].near_rate) || !machine_near(far_rate, cases[i].far_rate))
            fail_msg("%s: %g B/s near, %g B/s far", cases[i].name, near_rate, far_rate);
    }
}

static void read_damaged(const char *name, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TopoMachine) machine = machine_read(text, 0, &error);
    if (machine == NULL && (error == NULL || strchr(error->message, '\n') != NULL))
        fail_msg("%s damaged: no error, or one of several lines, for '%s'", name, text);
}

// Truncations at every byte and flipped bits of one file of each kind (small ones: each is built where it
// reads).
static void test_damaged(void **state)
{
    (void)state;
    static const char *const names[] = {"dgx1-v100",  "dgx1-v100-box", "l40s-pcie", "tpu-v4",
                                        "l40s-nodes", "wan-100g-50ms", "dgx-h100"};
    guint32 random = 12345;
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_strdup_printf("topo/data/machines/%s.ini", names[i]);
        g_autoptr(GBytes) bytes = library_find(path);
        gsize size = 0;
        const char *text = g_bytes_get_data(bytes, &size);
        const char *section = g_strstr_len(text, (gssize)size, "[machine]");
        gsize start = (gsize)(section - text);
        for (gsize length = start; length < size; length++) {
            g_autofree char *part = g_strndup(section, length - start);
            read_damaged(names[i], part);
        }
        for (guint k = 0; k < 300; k++) {
            g_autofree char *flipped = g_strndup(section, size - start);
            for (guint bits = 0; bits <= k % 3; bits++) {
                random = random * 1664525u + 1013904223u;
                flipped[(random >> 8) % (size - start)] ^= (char)(1 << (random >> 29));
            }
            read_damaged(names[i], flipped);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
