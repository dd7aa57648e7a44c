// tests/test-topo-graph.c: a graph keeps what it is given, and the check finds the GPU that cannot reach
// another.
#include "tests/check.h"

#include "topo/graph.h"

// n GPUs (ids 0..n-1) and then the other kinds of "kinds" in order.
static TopoGraph *make(guint32 gpus, const TopoNodeKind *kinds, guint n)
{
    TopoGraph *graph = topo_graph_new();
    for (guint32 i = 0; i < gpus; i++)
        topo_graph_add_node(graph, TOPO_NODE_GPU, 0);
    for (guint i = 0; i < n; i++)
        topo_graph_add_node(graph, kinds[i], G_MAXUINT32);
    return graph;
}

static void test_build(void **state)
{
    (void)state;
    static const TopoNodeKind kinds[] = {TOPO_NODE_NIC, TOPO_NODE_SWITCH, TOPO_NODE_NIC};
    g_autoptr(TopoGraph) graph = make(2, kinds, 3);
    assert_int_equal(topo_graph_add_node(graph, TOPO_NODE_GPU, 1), 5);
    static const char *const names[] = {"gpu0", "gpu1", "nic0", "switch0", "nic1", "gpu2"};
    for (guint32 i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *name = topo_graph_name(graph, i);
        assert_string_equal(name, names[i]);
    }
    assert_int_equal(topo_graph_gpu(graph, 2), 5);
    assert_int_equal(graph->counts[TOPO_NODE_NIC], 2);
    assert_int_equal(topo_graph_add_cable(graph, 0, 3, TOPO_LINK_NETWORK, 5e9, 7), 0);
    assert_int_equal(topo_graph_add_link(graph, 3, 5, TOPO_LINK_WAN, 1e9, 0), 2);
    assert_int_equal(topo_graph_link(graph, 1)->from, 3);
    assert_int_equal(topo_graph_link(graph, 1)->to, 0);
    assert_int_equal(topo_graph_link(graph, 1)->latency, 7);
    guint32 *first = NULL, *ids = NULL;
    topo_graph_group(graph, FALSE, &first, &ids);
    assert_int_equal(first[3], 1);
    assert_int_equal(first[4], 3);
    assert_int_equal(ids[1], 1);
    assert_int_equal(ids[2], 2);
    g_free(first);
    g_free(ids);
    topo_graph_group(graph, TRUE, &first, &ids);
    assert_int_equal(ids[first[5]], 2);
    assert_int_equal(first[6] - first[5], 1);
    g_free(first);
    g_free(ids);
}

typedef struct {
    guint32 from, to;
    gboolean cable;
} Edge;

// Four GPUs are nodes 0..3, two switches 4 and 5.
static const struct {
    guint32 gpus;
    gboolean forward;
    Edge edges[9];
    guint n;
    const char *says; // NULL: sound
} CASES[] = {
    {1, FALSE, {{0}}, 0, NULL},
    {2, FALSE, {{0}}, 0, "m.ini: gpu0 cannot reach gpu1: no link leaves gpu0"},
    {2, FALSE, {{0, 1, TRUE}}, 1, NULL},
    {2, FALSE, {{0, 1, FALSE}}, 1, "m.ini: gpu1 cannot reach gpu0: no link leaves gpu1"},
    {2, FALSE, {{1, 0, FALSE}, {0, 4, FALSE}}, 2, "m.ini: gpu0 cannot reach gpu1"},
    {4, FALSE, {{0, 4, TRUE}, {1, 4, TRUE}, {2, 4, TRUE}, {3, 4, TRUE}}, 4, NULL},
    {4,
     FALSE,
     {{0, 4, TRUE}, {1, 4, TRUE}, {2, 4, TRUE}, {4, 3, FALSE}},
     4,
     "gpu3 cannot reach gpu0: no link leaves"},
    {4,
     FALSE,
     {{0, 4, TRUE}, {1, 4, TRUE}, {2, 4, TRUE}, {3, 4, FALSE}},
     4,
     "gpu0 cannot reach gpu3: no link reaches"},
    {4, FALSE, {{0, 4, TRUE}, {1, 4, TRUE}, {2, 5, TRUE}, {3, 5, TRUE}}, 4, "m.ini: gpu0 cannot reach gpu2"},
    // one way through two switches: no strongly connected switch, and sound
    {2, FALSE, {{0, 4, FALSE}, {1, 4, FALSE}, {4, 5, FALSE}, {5, 0, FALSE}, {5, 1, FALSE}}, 5, NULL},
    // no node that all share: only GPU pairs and private switches
    {3, FALSE, {{0, 1, TRUE}, {1, 2, TRUE}, {0, 4, TRUE}, {2, 4, TRUE}}, 4, NULL},
    // a chain over gpu1: sound only where GPUs forward
    {3, FALSE, {{0, 4, TRUE}, {1, 4, TRUE}, {1, 5, TRUE}, {2, 5, TRUE}}, 4, "through another GPU"},
    {3, TRUE, {{0, 4, TRUE}, {1, 4, TRUE}, {1, 5, TRUE}, {2, 5, TRUE}}, 4, NULL},
    // gpu0 is the middle of the chain: it reaches all and all reach it, yet gpu1 does not reach gpu2
    {3,
     FALSE,
     {{1, 4, TRUE}, {0, 4, TRUE}, {0, 5, TRUE}, {2, 5, TRUE}},
     4,
     "gpu1 cannot reach gpu2: the only way"},
    {2, FALSE, {{0, 4, TRUE}, {1, 4, TRUE}, {4, 4, FALSE}}, 3, "m.ini: found a link from switch0 to itself"},
};

static void test_check(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoGraph) graph = topo_graph_new();
        for (guint32 node = 0; node < 4; node++) // the unused ones of four GPUs are NICs that nobody joins
            topo_graph_add_node(graph, node < CASES[i].gpus ? TOPO_NODE_GPU : TOPO_NODE_NIC, 0);
        topo_graph_add_node(graph, TOPO_NODE_SWITCH, G_MAXUINT32);
        topo_graph_add_node(graph, TOPO_NODE_SWITCH, G_MAXUINT32);
        graph->gpu_forward = CASES[i].forward;
        for (guint k = 0; k < CASES[i].n; k++) {
            const Edge *edge = &CASES[i].edges[k];
            topo_graph_add_link(graph, edge->from, edge->to, TOPO_LINK_NVLINK, 1e9, 1);
            if (edge->cable)
                topo_graph_add_link(graph, edge->to, edge->from, TOPO_LINK_NVLINK, 1e9, 1);
        }
        gboolean fine = topo_graph_check(graph, "m.ini", &error);
        if (CASES[i].says == NULL) {
            check_fine(error);
            assert_true(fine);
        } else {
            assert_false(fine);
            check_says(error, CASES[i].says);
        }
        // asking twice changes nothing
        assert_true(topo_graph_check(graph, "m.ini", NULL) == fine);
    }
    g_autoptr(GError) error = NULL;
    static const TopoNodeKind kinds[] = {TOPO_NODE_NIC};
    g_autoptr(TopoGraph) empty = make(0, NULL, 0), no_gpu = make(0, kinds, 1);
    assert_false(topo_graph_check(empty, NULL, &error));
    check_says(error, "found no GPU");
    g_clear_error(&error);
    assert_false(topo_graph_check(no_gpu, "m.ini", &error));
    check_says(error, "m.ini: found no GPU");
}

// The check's quick way against the plain question, over all graphs of a few random ones: does every GPU
// reach every other along links whose inner nodes forward? (Warshall's closure over the forwarding nodes.)
static void test_check_against_closure(void **state)
{
    (void)state;
    enum { GPUS = 4, NODES = 8 };
    guint32 sound = 0, broken = 0;
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (guint round = 0; round < 3000; round++) {
        g_autoptr(TopoGraph) graph = topo_graph_new();
        gboolean reach[NODES][NODES] = {{FALSE}};
        for (guint32 node = 0; node < NODES; node++)
            topo_graph_add_node(graph, node < GPUS ? TOPO_NODE_GPU : TOPO_NODE_SWITCH, 0);
        graph->gpu_forward = round % 4 == 0;
        gint32 links = g_rand_int_range(rand, 10, 45);
        for (gint32 i = 0; i < links; i++) {
            guint32 from = (guint32)g_rand_int_range(rand, 0, NODES),
                    to = (guint32)g_rand_int_range(rand, 0, NODES);
            if (from == to)
                continue;
            topo_graph_add_link(graph, from, to, TOPO_LINK_NVLINK, 1e9, 0);
            reach[from][to] = TRUE;
        }
        for (guint32 k = graph->gpu_forward ? 0 : GPUS; k < NODES; k++)
            for (guint32 i = 0; i < NODES; i++)
                for (guint32 j = 0; j < NODES; j++)
                    reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
        gboolean all = TRUE;
        for (guint32 i = 0; i < GPUS; i++)
            for (guint32 j = 0; j < GPUS; j++)
                all = all && (i == j || reach[i][j]);
        assert_int_equal(topo_graph_check(graph, NULL, NULL), all);
        *(all ? &sound : &broken) += 1;
    }
    assert_true(sound > 200 && broken > 200); // both answers were really asked for
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_against_closure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
