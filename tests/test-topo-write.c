// tests/test-topo-write.c: a graph that is written and read back is the same graph; what a file cannot hold
// is refused.
#include "tests/check.h"

#include "base/library.h"
#include "tests/graphs.h"

static void test_library(void **state)
{
    (void)state;
    g_auto(GStrv) names = library_list("topo/data/machines", ".ini");
    guint written = 0;
    for (guint i = 0; names[i] != NULL; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(names[i], 0, NULL, &error);
        check_fine(error);
        if (machine->graph->links->len > 10000)
            continue; // longer than what is read back
        const TopoWrite what = {
            .title = "Round trip", .source = "tests", .chip = machine->device->name, .graph = machine->graph};
        g_autofree char *text = topo_write_machine(&what, &error);
        if (text == NULL) { // a file holds one link each way
            check_says(error, "two links from");
            continue;
        }
        graphs_check_round_trip(machine->graph, machine->device->name);
        written++;
    }
    assert_true(written >= 10);
}

// Numbers that no short text is exact for, one-way links, islands, GPUs that forward.
static void test_numbers(void **state)
{
    (void)state;
    g_autoptr(TopoGraph) graph = topo_graph_new();
    for (guint32 i = 0; i < 4; i++)
        topo_graph_add_node(graph, TOPO_NODE_GPU, i / 2);
    guint32 nic = topo_graph_add_node(graph, TOPO_NODE_NIC, G_MAXUINT32);
    topo_graph_add_cable(graph, 0, 1, TOPO_LINK_NVLINK, 1e9 / 3, 1);
    topo_graph_add_link(graph, 1, 2, TOPO_LINK_PCIE, 14.0625e9, 1234567);
    topo_graph_add_link(graph, 2, 1, TOPO_LINK_PCIE, 14.0625e9, 1234568);
    topo_graph_add_cable(graph, 2, 3, TOPO_LINK_CPU, 1, 0);
    topo_graph_add_link(graph, 0, nic, TOPO_LINK_WAN, 0.1e18, 60 * PS_PER_SECOND);
    graph->gpu_forward = TRUE;
    graphs_check_round_trip(graph, "h100-sxm");
}

static TopoGraph *new_pair(void)
{
    TopoGraph *graph = topo_graph_new();
    topo_graph_add_node(graph, TOPO_NODE_GPU, 0);
    topo_graph_add_node(graph, TOPO_NODE_GPU, 0);
    topo_graph_add_cable(graph, 0, 1, TOPO_LINK_NVLINK, 1e9, 1);
    return graph;
}

static TopoGraph *new_parallel(void)
{
    TopoGraph *graph = new_pair();
    topo_graph_add_link(graph, 0, 1, TOPO_LINK_NVLINK, 1e9, 1);
    return graph;
}

static TopoGraph *new_alone(void)
{
    TopoGraph *graph = new_pair();
    topo_graph_add_node(graph, TOPO_NODE_NIC, 0);
    return graph;
}

static TopoGraph *new_mixed(void)
{
    TopoGraph *graph = topo_graph_new();
    guint32 nic = topo_graph_add_node(graph, TOPO_NODE_NIC, 0);
    guint32 gpu = topo_graph_add_node(graph, TOPO_NODE_GPU, 0);
    topo_graph_add_cable(graph, nic, gpu, TOPO_LINK_PCIE, 1e9, 1);
    return graph;
}

static TopoGraph *new_uneven(void)
{
    TopoGraph *graph = new_pair();
    topo_graph_add_node(graph, TOPO_NODE_GPU, 2);
    topo_graph_add_cable(graph, 0, 2, TOPO_LINK_NVLINK, 1e9, 1);
    return graph;
}

static TopoGraph *new_long(void)
{
    TopoGraph *graph = topo_graph_new();
    for (guint32 i = 0; i < 40000; i++)
        topo_graph_add_node(graph, TOPO_NODE_GPU, 0);
    for (guint32 i = 1; i < 40000; i++)
        topo_graph_add_cable(graph, 0, i, TOPO_LINK_NVLINK, 1e9, 1);
    return graph;
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        TopoGraph *(*new)(void);
        const char *says;
    } cases[] = {
        {new_parallel, "two links from gpu0 to gpu1"}, {new_alone, "a node without a link"},
        {new_mixed, "do not stand by kind"},           {new_uneven, "islands of one size"},
        {new_long, "longer than the 1 MiB"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoGraph) graph = cases[i].new();
        const TopoWrite write = {.graph = graph, .title = "Test"};
        assert_null(topo_write_machine(&write, &error));
        check_says(error, cases[i].says);
        check_says(error, "Test: cannot be written");
    }
}

// A file without a chip says what is missing, and its lines for people stay comments.
static void test_open_chip(void **state)
{
    (void)state;
    g_autoptr(TopoGraph) graph = new_pair();
    g_autoptr(GPtrArray) comments = g_ptr_array_new();
    g_ptr_array_add(comments, (gpointer) "one\n[machine]\nchip = x");
    const TopoWrite write = {.graph = graph, .comments = comments};
    g_autofree char *text = topo_write_machine(&write, NULL);
    assert_non_null(strstr(text, "\n# one [machine] chip = x\n[machine]\n# chip = NAME"));
    assert_non_null(strstr(text, "\n[links]\ngpu0 gpu1 = 1 GB/s, 1e-06 us, nvlink\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_open_chip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
