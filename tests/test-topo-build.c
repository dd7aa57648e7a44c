// tests/test-topo-build.c: the builders' machines: sizes, exact path latencies, bottlenecks, the same both
// ways.
#include "tests/check.h"

#include "topo/build.h"
#include "topo/route.h"

typedef struct {
    guint32 links;
    Ps latency;
    double bottleneck;
} Way;

static Way find(TopoRouter *router, const TopoGraph *graph, guint32 a, guint32 b)
{
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    assert_true(topo_router_find(router, topo_graph_gpu(graph, a), topo_graph_gpu(graph, b), links));
    Way way = {.links = links->len, .bottleneck = G_MAXDOUBLE};
    for (guint i = 0; i < links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(links, guint32, i));
        way.latency += link->latency;
        way.bottleneck = MIN(way.bottleneck, link->bandwidth);
    }
    return way;
}

static void check_way(TopoRouter *router, const TopoGraph *graph, guint32 a, guint32 b, Way wanted)
{
    Way there = find(router, graph, a, b), back = find(router, graph, b, a);
    assert_int_equal(there.links, wanted.links);
    assert_int_equal(there.latency, wanted.latency);
    assert_true(there.bottleneck >= wanted.bottleneck && there.bottleneck <= wanted.bottleneck);
    assert_int_equal(back.links, wanted.links);
    assert_int_equal(back.latency, wanted.latency);
    assert_true(back.bottleneck >= wanted.bottleneck && back.bottleneck <= wanted.bottleneck);
}

static void check_sound(TopoGraph *graph)
{
    g_autoptr(GError) error = NULL;
    topo_graph_check(graph, "machine", &error);
    check_fine(error);
    for (guint32 rank = 0; rank < graph->gpus->len; rank++)
        assert_int_equal(topo_graph_gpu(graph, rank), rank);
}

// Latencies that the number of links does not divide, none, and one picosecond.
static const Ps LATENCIES[] = {5000000, 5000001, 9999999, 10000003, 7, 3, 1, 0};

static void test_island(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(LATENCIES); i++) {
        for (guint32 gpus = 1; gpus <= 9; gpus += 4) {
            TopoBuildIsland spec = {gpus, 450e9, LATENCIES[i]};
            g_autoptr(TopoGraph) graph = topo_build_island(&spec);
            check_sound(graph);
            assert_int_equal(graph->nodes->len, gpus + 1);
            assert_int_equal(graph->links->len, 2 * gpus);
            g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
            for (guint32 a = 0; a < gpus; a++)
                for (guint32 b = 0; b < a; b++)
                    check_way(router, graph, a, b, (Way){2, LATENCIES[i], 450e9});
        }
    }
}

static void test_islands(void **state)
{
    (void)state;
    static const guint32 per_node[] = {1, 2, 3, 6};
    for (guint i = 0; i < G_N_ELEMENTS(LATENCIES); i++) {
        for (guint k = 0; k < G_N_ELEMENTS(per_node); k++) {
            TopoBuildIslands spec = {.gpus = 6,
                                     .gpus_per_node = per_node[k],
                                     .inside = {0, 450e9, LATENCIES[i] / 2},
                                     .network_bandwidth = 50e9,
                                     .network_latency = LATENCIES[i],
                                     .pcie_bandwidth = 63e9};
            g_autoptr(TopoGraph) graph = topo_build_islands(&spec);
            check_sound(graph);
            assert_int_equal(graph->counts[TOPO_NODE_NVSWITCH], per_node[k] > 1 ? 6 / per_node[k] : 0);
            assert_int_equal(graph->counts[TOPO_NODE_NIC], 6);
            g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
            for (guint32 a = 0; a < 6; a++) {
                assert_int_equal(topo_graph_node(graph, a)->island, a / per_node[k]);
                for (guint32 b = 0; b < a; b++)
                    check_way(router, graph, a, b,
                              a / per_node[k] == b / per_node[k] ? (Way){2, LATENCIES[i] / 2, 450e9}
                                                                 : (Way){4, LATENCIES[i], 50e9});
            }
        }
    }
}

static void test_pcie(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(LATENCIES); i++) {
        TopoBuildPcie spec = {.gpus = 11, // one place of twelve stays empty
                              .switches = 6,
                              .gpus_per_switch = 2,
                              .sockets = 3,
                              .bandwidth = 25e9,
                              .latency = LATENCIES[i],
                              .socket_bandwidth = 16e9,
                              .socket_latency = 500001};
        g_autoptr(TopoGraph) graph = topo_build_pcie(&spec);
        check_sound(graph);
        assert_int_equal(graph->nodes->len, 11 + 6 + 3);
        assert_int_equal(graph->links->len, 2 * (11 + 6 + 3));
        g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
        for (guint32 a = 0; a < 11; a++)
            for (guint32 b = 0; b < a; b++)
                check_way(router, graph, a, b,
                          a / 2 == b / 2   ? (Way){2, LATENCIES[i], 25e9}
                          : a / 4 == b / 4 ? (Way){4, 2 * LATENCIES[i], 25e9}
                                           : (Way){5, 2 * LATENCIES[i] + 500001, 16e9});
    }
}

static void test_wan(void **state)
{
    (void)state;
    static const double rates[] = {12.5e9, 400e9}; // slower and faster than a NIC
    for (guint i = 0; i < G_N_ELEMENTS(LATENCIES); i++) {
        for (guint k = 0; k < G_N_ELEMENTS(rates); k++) {
            TopoBuildWan spec = {.sites = 3,
                                 .site = {.gpus = 4,
                                          .gpus_per_node = 2,
                                          .inside = {0, 450e9, 0},
                                          .network_bandwidth = 50e9,
                                          .network_latency = LATENCIES[i],
                                          .pcie_bandwidth = 50e9},
                                 .wan_bandwidth = rates[k],
                                 .wan_latency = 20000000001};
            g_autoptr(TopoGraph) graph = topo_build_wan(&spec);
            check_sound(graph);
            assert_int_equal(graph->counts[TOPO_NODE_GATEWAY], 3);
            g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
            for (guint32 a = 0; a < 12; a++)
                for (guint32 b = 0; b < a; b++)
                    check_way(router, graph, a, b,
                              a / 2 == b / 2   ? (Way){2, 0, 450e9}
                              : a / 4 == b / 4 ? (Way){4, LATENCIES[i], 50e9}
                                               : (Way){7, LATENCIES[i] + 20000000001, MIN(50e9, rates[k])});
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_island),
        cmocka_unit_test(test_islands),
        cmocka_unit_test(test_pcie),
        cmocka_unit_test(test_wan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
