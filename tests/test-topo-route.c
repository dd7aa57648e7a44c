// tests/test-topo-route.c: routes are the cheapest ones, the same every time, and never lead through a GPU.
#include "tests/check.h"

#include "topo/build.h"
#include "topo/route.h"

enum { MOST = 10 }; // nodes of a random graph

typedef struct {
    Ps latency;
    guint32 links;
    double width;
} Cost;

// The best of all simple paths from at to goal, by trying them all.
static void search(const TopoGraph *graph, guint32 at, guint32 goal, Cost sofar, guint32 visited, Cost *best)
{
    if (at == goal) {
        if (sofar.latency < best->latency ||
            (sofar.latency == best->latency &&
             (sofar.links < best->links || (sofar.links == best->links && sofar.width > best->width))))
            *best = sofar;
        return;
    }
    if (sofar.links > 0 && !topo_graph_forwards(graph, at))
        return;
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        if (link->from != at || (visited & (1u << link->to)) != 0)
            continue;
        Cost next = {sofar.latency + link->latency, sofar.links + 1, MIN(sofar.width, link->bandwidth)};
        search(graph, link->to, goal, next, visited | (1u << link->to), best);
    }
}

// Fails unless links lead from a to b through forwarding nodes only; returns what they cost.
static Cost walk(const TopoGraph *graph, guint32 a, guint32 b, const GArray *links)
{
    Cost cost = {0, links->len, G_MAXDOUBLE};
    guint32 at = a;
    for (guint i = 0; i < links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(links, guint32, i));
        assert_int_equal(link->from, at);
        assert_true(i == 0 || topo_graph_forwards(graph, at));
        at = link->to;
        cost.latency += link->latency;
        cost.width = MIN(cost.width, link->bandwidth);
    }
    assert_int_equal(at, b);
    return cost;
}

static guint32 island_of(guint round, guint32 node)
{
    return round % 2 == 0 ? 0 : node % 4 == 3 ? G_MAXUINT32 : node % 2;
}

// Small random graphs with many ties (latencies 0..2, three bandwidths), every pair of nodes, against all
// paths. In every other one GPUs forward and islands are joined through nodes of none (topo/border.h).
static void test_against_all_paths(void **state)
{
    (void)state;
    static const double rates[] = {1e9, 2e9, 4e9};
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 found = 0, lost = 0;
    for (guint round = 0; round < 400; round++) {
        g_autoptr(TopoGraph) graph = topo_graph_new();
        guint32 nodes = (guint32)g_rand_int_range(rand, 2, MOST + 1);
        for (guint32 i = 0; i < nodes; i++)
            topo_graph_add_node(graph, i < 3 ? TOPO_NODE_GPU : TOPO_NODE_SWITCH, island_of(round, i));
        graph->gpu_forward = round % 5 == 0 || round % 2 == 1;
        gint32 n = g_rand_int_range(rand, 1, 3 * (gint32)nodes);
        for (gint32 i = 0; i < n; i++) {
            guint32 from = (guint32)g_rand_int_range(rand, 0, (gint32)nodes);
            guint32 to = (guint32)g_rand_int_range(rand, 0, (gint32)nodes);
            guint32 one = island_of(round, from), other = island_of(round, to);
            if (from != to && (one == other || one == G_MAXUINT32 || other == G_MAXUINT32))
                topo_graph_add_link(graph, from, to, TOPO_LINK_NETWORK, rates[g_rand_int_range(rand, 0, 3)],
                                    g_rand_int_range(rand, 0, 3));
        }
        topo_graph_check(graph, NULL, NULL); // freezes; whether it is sound does not matter here
        g_autoptr(TopoRouter) router = topo_router_new(graph, round);
        for (guint32 a = 0; a < nodes; a++) {
            for (guint32 b = 0; b < nodes; b++) {
                Cost best = {PS_MAX, G_MAXUINT32, 0};
                search(graph, a, b, (Cost){0, 0, G_MAXDOUBLE}, 1u << a, &best);
                g_array_set_size(links, 0);
                if (best.links == G_MAXUINT32) {
                    assert_false(topo_router_find(router, a, b, links));
                    assert_int_equal(links->len, 0);
                    lost++;
                    continue;
                }
                assert_true(topo_router_find(router, a, b, links));
                Cost cost = walk(graph, a, b, links);
                assert_int_equal(cost.latency, best.latency);
                assert_int_equal(cost.links, best.links);
                assert_true(cost.width >= best.width && cost.width <= best.width);
                found++;
            }
        }
    }
    assert_true(found > 1000 && lost > 1000);
}

// Two leaves with four GPUs each, four spines, every link twice.
static TopoGraph *make_spines(void)
{
    TopoGraph *graph = topo_graph_new();
    for (guint32 i = 0; i < 8; i++)
        topo_graph_add_node(graph, TOPO_NODE_GPU, i / 4);
    for (guint32 i = 0; i < 6; i++)
        topo_graph_add_node(graph, TOPO_NODE_SWITCH, G_MAXUINT32);
    for (guint32 i = 0; i < 8; i++)
        topo_graph_add_cable(graph, i, 8 + i / 4, TOPO_LINK_NETWORK, 1e9, 1);
    for (guint32 leaf = 8; leaf < 10; leaf++)
        for (guint32 i = 0; i < 8; i++)
            topo_graph_add_cable(graph, leaf, 10 + i / 2, TOPO_LINK_NETWORK, 1e9, 1);
    assert_true(topo_graph_check(graph, NULL, NULL));
    return graph;
}

// A route depends on (from, to, seed) only: not on what was asked before.
static void test_same_every_time(void **state)
{
    (void)state;
    g_autoptr(TopoGraph) graph = make_spines();
    g_autoptr(TopoGraph) again = make_spines();
    g_autoptr(TopoRouter) one = topo_router_new(graph, 42), two = topo_router_new(again, 42);
    g_autoptr(GArray) kept = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 pair = 0; pair < 64; pair++)
        assert_true(topo_router_find(one, pair / 8, pair % 8, kept));
    for (guint32 pair = 64; pair-- > 0;) { // backwards, with a fresh router and a warm one
        for (guint k = 0; k < 2; k++) {
            g_array_set_size(links, 0);
            assert_true(topo_router_find(k == 0 ? one : two, pair / 8, pair % 8, links));
            assert_memory_equal(links->data, kept->data + (kept->len - links->len) * sizeof(guint32),
                                links->len * sizeof(guint32));
        }
        g_array_set_size(kept, kept->len - links->len);
    }
    assert_int_equal(kept->len, 0);
}

// Equal routes are all used, about equally: 4 spines x 2 links up, over many seeds.
static void test_spread(void **state)
{
    (void)state;
    enum { SEEDS = 4000 };
    g_autoptr(TopoGraph) graph = make_spines();
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 uses[64] = {0};
    for (guint64 seed = 0; seed < SEEDS; seed++) {
        g_autoptr(TopoRouter) router = topo_router_new(graph, seed);
        g_array_set_size(links, 0);
        assert_true(topo_router_find(router, 0, 7, links));
        assert_int_equal(links->len, 4);
        assert_int_equal(walk(graph, 0, 7, links).latency, 4);
        uses[g_array_index(links, guint32, 1)]++;
    }
    guint32 used = 0;
    for (guint32 i = 0; i < 64; i++) {
        if (uses[i] == 0)
            continue;
        used++;
        assert_in_range(uses[i], SEEDS / 8 * 3 / 4, SEEDS / 8 * 5 / 4);
    }
    assert_int_equal(used, 8);
}

// A machine with zero latencies takes the fewest links, and the widest of those.
static void test_ties(void **state)
{
    (void)state;
    g_autoptr(TopoGraph) graph = topo_graph_new();
    for (guint32 i = 0; i < 2; i++)
        topo_graph_add_node(graph, TOPO_NODE_GPU, 0);
    for (guint32 i = 0; i < 4; i++)
        topo_graph_add_node(graph, TOPO_NODE_SWITCH, 0);
    static const struct {
        guint32 a, b;
        double bandwidth;
    } cables[] = {{0, 2, 9e9}, {2, 3, 9e9}, {3, 1, 9e9}, {0, 4, 1e9}, {4, 1, 9e9}, {0, 5, 2e9}, {5, 1, 2e9}};
    for (guint i = 0; i < G_N_ELEMENTS(cables); i++)
        topo_graph_add_cable(graph, cables[i].a, cables[i].b, TOPO_LINK_NVLINK, cables[i].bandwidth, 0);
    assert_true(topo_graph_check(graph, NULL, NULL));
    for (guint64 seed = 0; seed < 20; seed++) {
        g_autoptr(TopoRouter) router = topo_router_new(graph, seed);
        g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
        assert_true(topo_router_find(router, 0, 1, links));
        assert_int_equal(links->len, 2);
        assert_int_equal(topo_graph_link(graph, g_array_index(links, guint32, 0))->to, 5);
        guint before = links->len;
        assert_true(topo_router_find(router, 1, 1, links)); // to itself: nothing to add
        assert_int_equal(links->len, before);
    }
}

// One query per rank of a machine with 16,384 GPUs touches a handful of links each, not the whole switch; a
// router that searched it all would need 10^9 steps here and run into the suite's time limit.
static void test_large(void **state)
{
    (void)state;
    enum { RANKS = 16384 };
    static const guint32 per_node[] = {1, 8};
    for (guint k = 0; k < G_N_ELEMENTS(per_node); k++) {
        g_autoptr(TopoGraph) graph = topo_build_islands(&(TopoBuildIslands){.gpus = RANKS,
                                                                            .gpus_per_node = per_node[k],
                                                                            .inside = {0, 450e9, 5000000},
                                                                            .network_bandwidth = 50e9,
                                                                            .network_latency = 10000000,
                                                                            .pcie_bandwidth = 50e9});
        g_autoptr(GError) error = NULL;
        topo_graph_check(graph, NULL, &error);
        check_fine(error);
        g_autoptr(TopoRouter) router = topo_router_new(graph, 1);
        g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (guint32 rank = 0; rank < RANKS; rank++) {
            guint32 next = (rank + 1) % RANKS;
            gboolean inside = per_node[k] > 1 && rank / per_node[k] == next / per_node[k];
            g_array_set_size(links, 0);
            assert_true(topo_router_find(router, rank, next, links));
            Cost cost = walk(graph, rank, next, links);
            assert_int_equal(cost.links, inside ? 2 : 4);
            assert_int_equal(cost.latency, inside ? 5000000 : 10000000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_paths),
        cmocka_unit_test(test_same_every_time),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
