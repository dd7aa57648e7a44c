// tests/test-machines-fabric.c: fabrics: counts, ways by level, rails, oversubscription, hashed and adaptive
// routing.
#include "tests/machine.h"

#include "machines/fabric.h"

enum { US = 1000000 };

#define NODE                                                                                                 \
    "[machine]\nchip = h100-sxm\nkind = islands\ngpus_per_node = 4\nnvlink_bandwidth = 370 GB/s\n"           \
    "nvlink_latency = 0.6 us\nnetwork_bandwidth = 50 GB/s\nnetwork_latency = 2.8 us\npcie_bandwidth = 60 "   \
    "GB/s\n"
#define LEAF_SPINE NODE "fabric = leaf-spine\nnodes_per_leaf = 4\nswitch_latency = 0.5 us\n"
#define CLOS       NODE "fabric = clos\nnodes_per_leaf = 2\nnodes_per_pod = 8\nswitch_latency = 0.5 us\n"
#define RAIL       NODE "fabric = rail\nnodes_per_leaf = 4\nswitch_latency = 0.5 us\n"

static TopoMachine *must_read(const char *text, guint32 gpus)
{
    g_autoptr(GError) error = NULL;
    TopoMachine *machine = machine_read(text, gpus, &error);
    check_fine(error);
    return machine;
}

// What the links from switches a .. a + n - 1 to switches b .. b + m - 1 (by number) carry together, bytes/s.
static double capacity(const TopoGraph *graph, guint32 a, guint32 n, guint32 b, guint32 m)
{
    double sum = 0;
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        const TopoNode *from = topo_graph_node(graph, link->from), *to = topo_graph_node(graph, link->to);
        if (from->kind == TOPO_NODE_SWITCH && to->kind == TOPO_NODE_SWITCH && from->number - a < n &&
            to->number - b < m)
            sum += link->bandwidth;
    }
    return sum;
}

// Latency and switches of the ways from GPU 0 to GPUs at each distance; counts; capacity of the two cuts.
static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        guint32 gpus; // nodes of 4
        guint32 leaves, spines, cores;
        double leaf_up;   // of leaf 0, bytes/s
        double cable;     // the slowest link of switches
        guint32 far;      // a GPU that is farthest
        guint32 switches; // on the way to it
    } cases[] = {
        {NODE "gpus = 64\nfabric = single\nnics_per_node = 4\n", 0, 1, 0, 0, 0, 0, 63, 1},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\n", 0, 4, 16, 0, 800e9, 50e9, 63, 3},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\nspines = 4\n", 0, 4, 4, 0, 800e9, 50e9, 63, 3},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\noversubscription = 2\n", 0, 4, 8, 0, 400e9, 50e9, 63, 3},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\noversubscription = 7\n", 0, 4, 3, 0, 800e9 / 7, 800e9 / 21,
         63, 3},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\noversubscription = 2\nspines = 3\n", 0, 4, 3, 0, 400e9,
         400e9 / 9, 63, 3},
        {LEAF_SPINE "gpus = 64\nrouting = adaptive\noversubscription = 2\n", 0, 4, 1, 0, 400e9, 400e9, 63, 3},
        {LEAF_SPINE "gpus = 20\nrouting = ecmp\n", 0, 2, 16, 0, 800e9, 50e9, 19, 3},
        {LEAF_SPINE "gpus = 16\nrouting = ecmp\n", 0, 1, 0, 0, 0, 0, 15, 1},
        {CLOS "gpus = 96\nrouting = ecmp\n", 0, 12, 24, 32, 400e9, 50e9, 95, 5},
        {CLOS "gpus = 96\nrouting = ecmp\nspines = 4\ncores = 2\n", 0, 12, 12, 8, 400e9, 50e9, 95, 5},
        {CLOS "gpus = 96\nrouting = adaptive\npod_oversubscription = 7\n", 0, 12, 3, 1, 400e9, 1600e9 / 7, 95,
         5},
        {CLOS "gpus = 32\nrouting = ecmp\n", 0, 4, 8, 0, 400e9, 50e9, 31, 3},
        {RAIL "gpus = 64\nrouting = ecmp\n", 0, 16, 4, 0, 200e9, 50e9, 63, 3},
        {RAIL "gpus = 16\nrouting = ecmp\n", 0, 4, 4, 0, 200e9, 50e9, 15, 3},
        {RAIL "gpus = 64\nrouting = adaptive\nnodes_per_pod = 8\npod_oversubscription = 2\n", 0, 16, 2, 1,
         200e9, 200e9, 63, 5},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(TopoMachine) machine = must_read(cases[i].text, cases[i].gpus);
        const TopoGraph *graph = machine->graph;
        guint32 l = cases[i].leaves, s = cases[i].spines, c = cases[i].cores;
        assert_int_equal(graph->counts[TOPO_NODE_SWITCH], l + s + c);
        double up = capacity(graph, 0, 1, l, s), down = capacity(graph, l, s, 0, 1), slowest = G_MAXDOUBLE;
        for (guint32 k = 0; k < graph->links->len; k++) {
            const TopoLink *link = topo_graph_link(graph, k);
            if (topo_graph_node(graph, link->from)->kind == TOPO_NODE_SWITCH &&
                topo_graph_node(graph, link->to)->kind == TOPO_NODE_SWITCH)
                slowest = MIN(slowest, link->bandwidth);
        }
        if (l > 1 && (!machine_near(up, cases[i].leaf_up) || !machine_near(down, up) ||
                      !machine_near(slowest, cases[i].cable)))
            fail_msg("case %u: a leaf sends %g up, gets %g, cables from %g", i, up, down, slowest);
        g_autoptr(TopoRouter) router = topo_router_new(graph, 5);
        MachineWay far = machine_both_ways(router, graph, 0, cases[i].far);
        assert_int_equal(far.switches, cases[i].switches);
        assert_int_equal(far.latency, 2800000 + (cases[i].switches - 1) * US / 2);
        assert_int_equal(machine_both_ways(router, graph, 0, 1).latency, 600000);
    }
}

// Between pods: what all cores send into one pod is its leaves' rate over the oversubscription.
static void test_pods(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) ecmp = must_read(CLOS "gpus = 96\nrouting = ecmp\npod_oversubscription = 7\n", 0);
    // 12 leaves, 3 pods of 8 spines, each with 4 leaf cables: 4 / 7 rounds up to one uplink, to one core a
    // spine.
    assert_int_equal(ecmp->graph->counts[TOPO_NODE_SWITCH], 12 + 24 + 8);
    for (guint32 pod = 0; pod < 3; pod++) {
        assert_true(machine_near(capacity(ecmp->graph, 12 + 24, 8, 12 + 8 * pod, 8), 4 * 400e9 / 7));
        assert_true(machine_near(capacity(ecmp->graph, 12 + 8 * pod, 8, 4 * pod, 4), 4 * 400e9));
    }
    g_autoptr(TopoRouter) router = topo_router_new(ecmp->graph, 0);
    assert_int_equal(machine_both_ways(router, ecmp->graph, 0, 31).switches, 3);
    assert_int_equal(machine_both_ways(router, ecmp->graph, 0, 32).switches, 5);
}

// NIC i of a node reaches NIC i of another node of its unit by its leaf alone; other units and rails by a
// spine.
static void test_rails(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) machine = must_read(RAIL "gpus = 64\nrouting = ecmp\n", 0);
    const TopoGraph *graph = machine->graph;
    g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
    for (guint32 a = 0; a < 64; a++)
        for (guint32 b = 0; b < a; b++) {
            MachineWay way = machine_both_ways(router, graph, a, b);
            gboolean node = a / 4 == b / 4, rail = a % 4 == b % 4, unit = a / 16 == b / 16;
            assert_int_equal(way.switches, node ? 0 : unit && rail ? 1 : 3);
            assert_int_equal(way.links, node ? 2 : unit && rail ? 4 : 6);
        }
    // PXN: the sender's NVSwitch reaches the NIC of the receiver's rail, so that only other units need a
    // spine.
    g_autoptr(TopoMachine) pxn = must_read(RAIL "gpus = 64\nrouting = ecmp\npxn = yes\n", 0);
    g_autoptr(TopoRouter) ways = topo_router_new(pxn->graph, 0);
    for (guint32 a = 0; a < 64; a++)
        for (guint32 b = 0; b < a; b++) {
            gboolean node = a / 4 == b / 4, rail = a % 4 == b % 4, unit = a / 16 == b / 16;
            g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
            MachineWay way = machine_way(ways, pxn->graph, a, b, links);
            assert_int_equal(way.switches, node ? 0 : unit ? 1 : 3);
            if (unit && !node && !rail) {
                assert_int_equal(way.links, 5);
                assert_int_equal(way.latency, 2800000 + 600000);
                assert_true(machine_near(way.bottleneck, 50e9));
            }
        }
}

// What flows from every GPU of one half to the other half get when each takes one path.
static double worst_load(const TopoGraph *graph, guint64 seed, double *spread)
{
    g_autoptr(TopoRouter) router = topo_router_new(graph, seed);
    g_autofree guint32 *load = g_new0(guint32, graph->links->len);
    guint32 half = graph->gpus->len / 2;
    for (guint32 a = 0; a < half; a++) {
        g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
        machine_way(router, graph, a, a + half, links);
        for (guint i = 0; i < links->len; i++)
            load[g_array_index(links, guint32, i)]++;
    }
    double worst = 0;
    guint32 used = 0, all = 0;
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        worst = MAX(worst, load[i] * 50e9 / link->bandwidth); // times slower than a NIC alone
        if (topo_graph_node(graph, link->from)->kind == TOPO_NODE_SWITCH &&
            topo_graph_node(graph, link->to)->kind == TOPO_NODE_SWITCH) {
            all++;
            used += load[i] > 0;
        }
    }
    *spread = all == 0 ? 0 : (double)used / all;
    return worst;
}

// A permutation over a fabric that does not block: adaptive routing carries it at full rate, hashed paths
// collide, differently with another seed, the same with the same one.
static void test_routing(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) adaptive = must_read(LEAF_SPINE "gpus = 256\nrouting = adaptive\n", 0);
    g_autoptr(TopoMachine) ecmp = must_read(LEAF_SPINE "gpus = 256\nrouting = ecmp\n", 0);
    g_autoptr(TopoMachine) again = must_read(LEAF_SPINE "gpus = 256\nrouting = ecmp\n", 0);
    double spread = 0, other = 0;
    assert_true(machine_near(worst_load(adaptive->graph, 1, &spread), 1));
    guint differing = 0;
    for (guint64 seed = 0; seed < 8; seed++) {
        double worst = worst_load(ecmp->graph, seed, &spread);
        assert_true(worst >= 2 && worst <= 8); // 16 flows over 16 cables: the fullest has 3 or 4 as a rule
        assert_true(spread > 0.2 &&
                    spread < 0.5); // half of the directions could be used: 1 - 1/e of these are
        assert_true(machine_near(worst_load(again->graph, seed, &other), worst) &&
                    machine_near(spread, other));
        differing +=
            !machine_near(worst_load(ecmp->graph, seed + 100, &other), worst) || !machine_near(spread, other);
    }
    assert_true(differing >= 4);
}

// Large machines are built and routed quickly; the time is printed, not asserted.
static void test_large(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        guint32 gpus;
    } cases[] = {
        {"rail, ECMP",
         NODE "gpus = 16384\nfabric = rail\nnodes_per_leaf = 32\nnodes_per_pod = 256\nswitch_latency = 0.5 "
              "us\nrouting = ecmp\n",
         16384},
        {"rail, adaptive",
         NODE "gpus = 16384\nfabric = rail\nnodes_per_leaf = 32\nnodes_per_pod = 256\nswitch_latency = 0.5 "
              "us\nrouting = adaptive\n",
         16384},
        {"clos, ECMP",
         NODE "gpus = 24576\nfabric = clos\nnodes_per_leaf = 4\nnodes_per_pod = 768\npod_oversubscription = "
              "7\nswitch_latency = 0.5 us\nrouting = ecmp\n",
         24576},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gint64 start = g_get_monotonic_time();
        g_autoptr(TopoMachine) machine = must_read(cases[i].text, 0);
        gint64 built = g_get_monotonic_time();
        guint32 gpus = machine->graph->gpus->len;
        assert_int_equal(gpus, cases[i].gpus);
        g_autoptr(TopoRouter) router = topo_router_new(machine->graph, 1);
        guint32 most = 0;
        for (guint32 rank = 0; rank < gpus; rank++) { // every GPU to its like in the next node
            MachineWay way = machine_way(router, machine->graph, rank, (rank + 4) % gpus, NULL);
            most = MAX(most, way.switches);
        }
        gint64 routed = g_get_monotonic_time();
        assert_int_equal(most, 5);
        print_message("%s, %u GPUs, %u links: built in %.0f ms, a ring per rail routed in %.0f ms\n",
                      cases[i].name, gpus, machine->graph->links->len, (double)(built - start) / 1e3,
                      (double)(routed - built) / 1e3);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {NODE "gpus = 64\nfabric = leafspine\n", "machine.fabric: found 'leafspine', wanted one of: single, "
                                                 "leaf-spine, clos, rail (did you mean 'leaf-spine'?)"},
        {NODE "gpus = 64\nspines = 4\n", "machine.spines: unknown key"},
        {NODE "gpus = 64\nfabric = single\nrouting = ecmp\n", "machine.routing: unknown key"},
        {NODE "gpus = 64\nfabric = leaf-spine\n", "machine.nodes_per_leaf: missing"},
        {LEAF_SPINE "gpus = 64\n", "machine.routing: missing"},
        {LEAF_SPINE "gpus = 64\nrouting = random\n",
         "machine.routing: found 'random', wanted one of: ecmp, adaptive"},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\nspines = 17\n",
         "machine.spines: found 17, wanted at most as many as a leaf has uplinks: 16"},
        {LEAF_SPINE "gpus = 64\nrouting = adaptive\nspines = 4\n",
         "machine.spines: found with routing = adaptive"},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\noversubscription = 0\n",
         "machine.oversubscription: found 0, wanted rate below / rate above"},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\noversubscription = 1e9\n",
         "machine.oversubscription: found 1e+09"},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\noversubscription = nan\n",
         "machine.oversubscription: found 'nan'"},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\noversubscription = 1:7\n",
         "machine.oversubscription: found '1:7'"},
        {LEAF_SPINE "gpus = 64\nrouting = ecmp\nnodes_per_pod = 8\n", "machine.nodes_per_pod: unknown key"},
        {CLOS "gpus = 64\nrouting = ecmp\ncores = 5\n",
         "machine.cores: found 5, wanted at most as many as a spine has uplinks: 4"},
        {NODE "gpus = 64\nfabric = clos\nnodes_per_leaf = 4\nrouting = ecmp\nswitch_latency = 1 us\n",
         "machine.nodes_per_pod: missing"},
        {NODE "gpus = 64\nfabric = clos\nnodes_per_leaf = 4\nnodes_per_pod = 6\nrouting = "
              "ecmp\nswitch_latency = 1 us\n",
         "machine.nodes_per_pod: found 6, wanted a multiple of nodes_per_leaf = 4"},
        {RAIL "gpus = 64\nrouting = ecmp\npod_oversubscription = 2\n",
         "machine.pod_oversubscription: found with no nodes_per_pod"},
        {RAIL "gpus = 65536\nrouting = ecmp\noversubscription = 0.1\nnodes_per_pod = 4\npod_oversubscription "
              "= 0.1\n",
         "machine.nodes_per_leaf: found a fabric of"},
        {NODE "gpus = 64\nnics_per_node = 3\n",
         "machine.nics_per_node: found 3, wanted a number that divides gpus_per_node = 4"},
        {NODE "gpus = 64\nnics_per_node = 5\n", "machine.nics_per_node: found 5"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(machine_read(bad[i].text, 0, &error));
        check_says(error, bad[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_pods),  cmocka_unit_test(test_rails),
        cmocka_unit_test(test_routing), cmocka_unit_test(test_large), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
