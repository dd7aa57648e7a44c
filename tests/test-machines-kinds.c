// tests/test-machines-kinds.c: the kinds of machines with direct links and without peer-to-peer (cube, torus,
// pcie), and nodes: counts, ways, NICs, what is refused.
#include "tests/machine.h"

#include "machines/kind.h"

enum { US = 1000000 };

static guint32 count_links(const TopoGraph *graph, TopoLinkClass class)
{
    guint32 count = 0;
    for (guint32 i = 0; i < graph->links->len; i++)
        count += topo_graph_link(graph, i)->class == class;
    return count;
}

static TopoMachine *must_read(const char *text, guint32 gpus)
{
    g_autoptr(GError) error = NULL;
    TopoMachine *machine = machine_read(text, gpus, &error);
    check_fine(error);
    return machine;
}

#define CUBE                                                                                                 \
    "[machine]\nchip = v100-sxm\nkind = cube\ngpus = 8\nnvlink_bandwidth = 20 GB/s\nnvlink_latency = 0.6 "   \
    "us\n"                                                                                                   \
    "pcie_bandwidth = 12 GB/s\npcie_latency = 1 us\nsocket_bandwidth = 6 GB/s\nsocket_latency = 0.5 us\n"

// NVLinks between every two GPUs of a DGX-1 as nvidia-smi topo -m prints them.
static const guint8 CUBE_LINKS[8][8] = {
    {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
    {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
};

static void test_cube(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) machine = must_read(CUBE, 0);
    const TopoGraph *graph = machine->graph;
    assert_int_equal(graph->nodes->len, 8 + 4 + 2);
    assert_int_equal(count_links(graph, TOPO_LINK_NVLINK), 2 * 16);
    g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
    double out[8] = {0};
    for (guint32 a = 0; a < 8; a++)
        for (guint32 b = 0; b < 8; b++) {
            if (a == b)
                continue;
            MachineWay way = machine_both_ways(router, graph, a, b);
            assert_int_equal(way.links, CUBE_LINKS[a][b] > 0 ? 1 : 2);
            assert_int_equal(way.latency, (CUBE_LINKS[a][b] > 0 ? 1 : 2) * 600000);
            assert_true(way.bottleneck >= 20e9 * MAX(CUBE_LINKS[a][b], 1) * (1 - 1e-12));
            out[a] += CUBE_LINKS[a][b] * 20e9;
        }
    for (guint32 a = 0; a < 8; a++)
        assert_true(machine_near(out[a], 120e9)); // six links each
    g_autoptr(TopoMachine) part = must_read(CUBE, 3);
    assert_int_equal(part->graph->gpus->len, 3);
    assert_int_equal(count_links(part->graph, TOPO_LINK_NVLINK), 2 * 3);
}

#define TORUS(dims, wrap)                                                                                    \
    "[machine]\nchip = tpu-v4\nkind = torus\ndims = " dims "\nwrap = " wrap                                  \
    "\nlink_bandwidth = 45 GB/s\nlink_latency = 1 us\nchips_per_host = 4\nnetwork_bandwidth = 25 GB/s\n"     \
    "network_latency = 50 us\n"

// The number of hops between chips a and b: Manhattan, the short way round where it wraps.
static guint32 hops(const guint32 dims[3], gboolean wrap, guint32 a, guint32 b)
{
    guint32 sum = 0;
    for (guint i = 0; i < 3; i++) {
        guint32 x = a % dims[i], y = b % dims[i], d = x > y ? x - y : y - x;
        sum += wrap && dims[i] > 2 ? MIN(d, dims[i] - d) : d;
        a /= dims[i];
        b /= dims[i];
    }
    return sum;
}

static void test_torus(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        guint32 dims[3];
        gboolean wrap;
        guint32 links; // NVLINK class, both directions
    } cases[] = {
        {TORUS("4x4x4", "yes"), {4, 4, 4}, TRUE, 64 * 6},
        {TORUS("4x4x4", "no"), {4, 4, 4}, FALSE, 2 * 3 * 48},
        {TORUS("6x4", "yes"), {6, 4, 1}, TRUE, 24 * 4},
        {TORUS("2x2x5", "yes"), {2, 2, 5}, TRUE, 20 * 4}, // rows of two have one cable
        {TORUS("8x1", "yes"), {8, 1, 1}, TRUE, 8 * 2},
        {TORUS("8x4", "no"), {8, 4, 1}, FALSE, 2 * (7 * 4 + 8 * 3)},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(TopoMachine) machine = must_read(cases[i].text, 0);
        const TopoGraph *graph = machine->graph;
        guint32 chips = cases[i].dims[0] * cases[i].dims[1] * cases[i].dims[2];
        assert_int_equal(graph->gpus->len, chips);
        assert_int_equal(graph->counts[TOPO_NODE_NIC], chips / 4);
        assert_int_equal(count_links(graph, TOPO_LINK_NVLINK), cases[i].links);
        g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
        for (guint32 a = 0; a < chips; a++)
            for (guint32 b = 0; b < a; b++) {
                MachineWay way = machine_both_ways(router, graph, a, b);
                guint32 wanted = hops(cases[i].dims, cases[i].wrap, a, b);
                assert_int_equal(way.links, wanted);
                assert_int_equal(way.latency, wanted * US);
                assert_true(machine_near(way.bottleneck, 45e9));
            }
    }
}

static void test_slices(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) two = must_read(TORUS("4x4", "yes") "slices = 2\n", 0);
    assert_int_equal(two->graph->gpus->len, 32);
    g_autoptr(TopoRouter) router = topo_router_new(two->graph, 0);
    MachineWay way = machine_both_ways(router, two->graph, 0, 16);
    assert_int_equal(way.links, 4);
    assert_int_equal(way.latency, 50 * US);
    assert_true(machine_near(way.bottleneck, 25e9));
    g_autoptr(TopoMachine) three = must_read(TORUS("4x4", "yes"), 48);
    assert_int_equal(three->graph->gpus->len, 48);
    assert_int_equal(topo_graph_node(three->graph, 47)->island, 2);
    // Shapes that grow: links of a torus of so many chips, and the longest way.
    static const struct {
        const char *text;
        guint32 chips, links, far, distance;
    } cases[] = {
        {TORUS("4x4x4", "yes") "largest = 16x16x24\nwrap_from = 4\n", 128, 128 * 6, 127,
         3}, // 4x4x8: 1+1+1 from the end
        {TORUS("4x4x4", "yes") "largest = 16x16x24\nwrap_from = 4\n", 512, 512 * 6, 292,
         12},                                                                       // 8x8x8: its middle
        {TORUS("4x4x4", "yes") "largest = 16x16x24\nwrap_from = 4\n", 8, 24, 7, 3}, // 2x2x2, no wrap
        {TORUS("16x16", "yes") "largest = 16x16\nwrap_from = 16\n", 64, 2 * 2 * 56, 63, 14}, // 8x8, no wrap
        {TORUS("16x16", "yes") "largest = 16x16\nwrap_from = 16\n", 512, 2 * 256 * 4, 255, 2},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(TopoMachine) machine = must_read(cases[i].text, cases[i].chips);
        assert_int_equal(machine->graph->gpus->len, cases[i].chips);
        assert_int_equal(count_links(machine->graph, TOPO_LINK_NVLINK), cases[i].links);
        g_autoptr(TopoRouter) ways = topo_router_new(machine->graph, 0);
        assert_int_equal(machine_both_ways(ways, machine->graph, 0, cases[i].far).links, cases[i].distance);
    }
}

#define BOX                                                                                                  \
    "[machine]\nchip = l40s\nkind = pcie\ngpus = 8\ngpus_per_switch = 2\nsockets = 2\nbandwidth = 24 GB/s\n" \
    "latency = 1 us\nsocket_bandwidth = 16 GB/s\nsocket_latency = 0.5 us\n"

// Every way passes the copy of the sending socket, and nothing turns round below it.
static void test_no_p2p(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) machine = must_read(BOX "p2p = no\nhost_bandwidth = 10 GB/s\n", 0);
    const TopoGraph *graph = machine->graph;
    assert_int_equal(graph->nodes->len, 8 + 2 * 4 + 2 * 2);
    g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
    for (guint32 a = 0; a < 8; a++)
        for (guint32 b = 0; b < 8; b++) {
            if (a == b)
                continue;
            MachineWay way = machine_both_ways(router, graph, a, b);
            gboolean across = a / 4 != b / 4;
            assert_int_equal(way.links, across ? 6 : 5);
            assert_int_equal(way.latency, 2 * US + (across ? US / 2 : 0));
            assert_true(machine_near(way.bottleneck, 10e9));
            g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
            machine_way(router, graph, a, b, links);
            const TopoLink *copy = topo_graph_link(graph, g_array_index(links, guint32, 2));
            assert_int_equal(copy->class, TOPO_LINK_CPU);
            assert_int_equal(topo_graph_node(graph, copy->from)->number, a / 4);
        }
    g_autoptr(TopoMachine) with = must_read(BOX "p2p = yes\n", 0);
    assert_int_equal(with->graph->nodes->len, 8 + 4 + 2);
}

#define NODES(node) "[machine]\nkind = nodes\nnode = " node "\nnodes = 3\nnic = 24 GB/s\n"
#define HOST(node)  NODES(node) "pcie_bandwidth = 24 GB/s\npcie_latency = 0.5 us\nfabric_latency = 1.7 us\n"

#define DECK NODES("deck-nvlink-8") "pcie_bandwidth = 24 GB/s\npcie_latency = 0.5 us\nfabric_latency = 6 us\n"

static void test_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        guint32 asked, gpus, nics;
        guint32 near, far; // links from GPU 0 to 1 and to the last GPU
        Ps near_latency, far_latency;
        double far_rate;
    } cases[] = {
        // A NIC per GPU on an NVSwitch box.
        {DECK, 0, 24, 24, 2, 4, 5 * US, 7 * US, 24e9},
        // Two NICs for eight GPUs: four each, whose ways to each other must not pass the NIC.
        {NODES("deck-nvlink-8") "nics_per_node = 2\npcie_latency = 3 us\n", 0, 24, 6, 2, 4, 5 * US, 7700000,
         24e9},
        // PCIe box: the NIC beside its GPUs, below their switch.
        {HOST("l40s-pcie-p2p"), 0, 24, 24, 2, 6, 1 * US, 2700000 + 1 * US, 24e9},
        {HOST("l40s-pcie-p2p") "nics_per_node = 4\n", 0, 24, 12, 2, 6, 1 * US, 3700000, 24e9},
        // Without peer-to-peer the way to the NIC is staged too, at each end.
        {HOST("l40s-pcie") "nics_per_node = 4\n", 0, 24, 12, 5, 12, 2 * US, 1700000 + 2 * 2 * US, 24e9},
        {HOST("dgx1-v100-box") "nics_per_node = 4\n", 0, 24, 12, 1, 6, 600000, 3700000, 12e9},
        {HOST("dgx1-v100-box") "nics_per_node = 1\n", 0, 24, 3, 1, 8, 600000, 4900000, 12e9},
        {HOST("dgx1-v100-box") "nics_per_node = 4\n", 40, 40, 20, 1, 6, 600000, 3700000, 12e9},
        {HOST("dgx1-v100-box") "nics_per_node = 4\n", 4, 4, 2, 1, 1, 600000, 600000, 40e9},
        {DECK, 16, 16, 16, 2, 4, 5 * US, 7 * US, 24e9},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(TopoMachine) machine = must_read(cases[i].text, cases[i].asked);
        const TopoGraph *graph = machine->graph;
        assert_int_equal(graph->gpus->len, cases[i].gpus);
        assert_int_equal(graph->counts[TOPO_NODE_NIC], cases[i].nics);
        for (guint32 rank = 0; rank < cases[i].gpus; rank++) {
            assert_int_equal(topo_graph_gpu(graph, rank), rank);
            assert_int_equal(topo_graph_node(graph, rank)->island, rank / 8);
        }
        g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
        MachineWay close = machine_both_ways(router, graph, 0, 1);
        MachineWay far = machine_both_ways(router, graph, 0, cases[i].gpus - 1);
        if (close.links != cases[i].near || close.latency != cases[i].near_latency ||
            far.links != cases[i].far || far.latency != cases[i].far_latency ||
            far.bottleneck < cases[i].far_rate * 0.999)
            fail_msg("case %u: %u links, %" G_GINT64_FORMAT " ps near; %u links, %" G_GINT64_FORMAT
                     " ps, %g B/s far",
                     i, close.links, close.latency, far.links, far.latency, far.bottleneck);
    }
}

// The NIC is shared where nodes have fewer than GPUs: the ways of two GPUs leave by the same link.
static void test_shared_nic(void **state)
{
    (void)state;
    static const char *const texts[] = {
        NODES("deck-nvlink-8") "nics_per_node = 2\npcie_latency = 3 us\n",
        HOST("l40s-pcie-p2p") "nics_per_node = 2\n",
        HOST("l40s-pcie") "nics_per_node = 2\n",
        "[machine]\nchip = a100-sxm-40g\nkind = islands\ngpus = 24\ngpus_per_node = 8\nnics_per_node = 2\n"
        "nvlink_bandwidth = 240 GB/s\nnvlink_latency = 0.6 us\nnetwork_bandwidth = 12 GB/s\n"
        "network_latency = 5 us\npcie_bandwidth = 24 GB/s\n",
    };
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(TopoMachine) machine = must_read(texts[i], 0);
        const TopoGraph *graph = machine->graph;
        assert_int_equal(graph->counts[TOPO_NODE_NIC], 6);
        g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
        for (guint32 gpu = 0; gpu < 8; gpu++) {
            g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
            machine_way(router, graph, gpu, 20, links);
            guint32 passed = 0;
            for (guint k = 0; k < links->len; k++) {
                const TopoNode *node =
                    topo_graph_node(graph, topo_graph_link(graph, g_array_index(links, guint32, k))->to);
                if (node->kind == TOPO_NODE_NIC && passed++ == 0)
                    assert_int_equal(node->number, gpu / 4);
            }
            assert_int_equal(passed, 2);
        }
    }
}

// A node that brings its NICs keeps them.
static void test_own_nics(void **state)
{
    (void)state;
    g_autofree char *path = NULL;
    int file = g_file_open_tmp("stepline-XXXXXX.ini", &path, NULL);
    assert_true(file >= 0 && g_close(file, NULL));
    assert_true(
        g_file_set_contents(path,
                            "[machine]\nchip = h100-sxm\nkind = graph\n[links]\n"
                            "nic1 pcie0 = 24 GB/s, 0.5 us, pcie\ngpu0 pcie0 = 24 GB/s, 0.5 us, pcie\n"
                            "gpu1 pcie0 = 24 GB/s, 0.5 us, pcie\nnic0 pcie0 = 24 GB/s, 0.5 us, pcie\n",
                            -1, NULL));
    g_autofree char *text = g_strdup_printf(NODES("%s"), path);
    g_autoptr(TopoMachine) machine = must_read(text, 0);
    assert_int_equal(machine->graph->counts[TOPO_NODE_NIC], 6);
    assert_int_equal(machine->graph->gpus->len, 6);
    assert_string_equal(machine->device->name, "h100-sxm");
    assert_string_equal(machine->notes->pdata[machine->notes->len - 1], "the node's own 2 NICs are used");
    g_autofree char *extra = g_strdup_printf(NODES("%s") "pcie_bandwidth = 24 GB/s\n", path);
    g_autoptr(GError) error = NULL;
    assert_null(machine_read(extra, 0, &error));
    check_says(error, "machine.pcie_bandwidth: found with a node that has NICs of its own");
    g_unlink(path);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        guint32 gpus;
        const char *says;
    } bad[] = {
        {CUBE, 9, "found 9 GPUs, wanted at most 8"},
        {"[machine]\nchip = v100-sxm\nkind = cube\ngpus = 16\n", 0,
         "machine.gpus: found 16, wanted a whole number from 1 to 8"},
        {TORUS("4x4x4", "maybe"), 0, "machine.wrap: found 'maybe'"},
        {TORUS("4", "yes"), 0, "machine.dims: found '4', wanted two or three sizes"},
        {TORUS("4x4x4x4", "yes"), 0, "machine.dims: found '4x4x4x4'"},
        {TORUS("4x0", "yes"), 0, "machine.dims: found '4x0'"},
        {TORUS("4x-4", "yes"), 0, "machine.dims: found '4x-4'"},
        {TORUS("x4", "yes"), 0, "machine.dims: found 'x4'"},
        {TORUS("99999x99999", "yes"), 0, "machine.dims: found '99999x99999'"},
        {TORUS("65536x2", "yes"), 0, "65536 chips at most"},
        {TORUS("128x32", "yes"), 0,
         "machine.network_latency: found too little, wanted more than 81 x link_latency"},
        {TORUS("4x4", "yes"), 24, "found 24 GPUs, wanted a multiple of 16"},
        {TORUS("4x4", "yes") "largest = 8x8\n", 70,
         "wanted a multiple of 64, or a number of chips that fits in one slice"},
        {TORUS("4x4", "yes") "largest = 8x8\n", 17, "or a number of chips that fits"},
        {TORUS("4x4", "yes") "largest = 2x8\n", 0, "machine.dims: found more than 'largest'"},
        {TORUS("3x3", "yes"), 0, "machine.chips_per_host: found 4, wanted a number that divides 9 chips"},
        {TORUS("4x4", "yes") "slices = 5000\n", 0, "machine.slices: found 5000"},
        {BOX "p2p = no\n", 0, "machine.host_bandwidth: missing"},
        {BOX "p2p = yes\nhost_bandwidth = 9 GB/s\n", 0, "machine.host_bandwidth: found with peer-to-peer"},
        {BOX "host_bandwidth = 9 GB/s\n", 0, "machine.host_bandwidth: found with peer-to-peer"},
        {BOX "p2p = no\nhost_bandwidth = 0 B/s\n", 0, "machine.host_bandwidth: found 0 B/s"},
        {"[machine]\nkind = nodes\n", 0, "machine.chip: missing"},
        {"[machine]\nchip = h100-sxm\nkind = nodes\n", 0, "machine.node: missing"},
        {"[machine]\nnode = deck-nvlink-8\nnodes = 2\n", 0, "machine.nic: missing"},
        {"[machine]\nnode = deck-nvlink-8\nnic = 24 GB/s\n", 0, "machine.nodes: missing"},
        {"[machine]\nnode = dgx1-v100\nnodes = 2\nnic = 24 GB/s\n", 0,
         "machine.node: found 'dgx1-v100' of kind nodes"},
        {"[machine]\nnode = dgx1-v10\nnodes = 2\nnic = 24 GB/s\n", 0,
         "machine.node: found no machine 'dgx1-v10'"},
        {"[machine]\nkind = island\nnode = deck-nvlink-8\ngpus = 8\nbandwidth = 1 GB/s\nlatency = 1 us\n", 0,
         "machine.node: unknown key"},
        {"[machine]\nnode = deck-nvlink-8\nnodes = 70000\nnic = 24 GB/s\n", 0, "machine.nodes: found 70000"},
        {"[machine]\nnode = deck-nvlink-8\nnodes = 9000\nnic = 24 GB/s\n", 0,
         "machine.nodes: found 9000 nodes of 8 GPUs"},
        {"[machine]\nnode = deck-nvlink-8\nnodes = 2\nnic = 24 GB/s\n", 12,
         "found 12 GPUs, wanted a multiple of 8, or fewer"},
        {HOST("deck-nvlink-8") "nics_per_node = 9\n", 0, "machine.nics_per_node: found 9"},
        {HOST("deck-nvlink-8") "nics_per_node = 2\n", 0,
         "machine.node: found a way from gpu0 to gpu1 that passes a NIC"},
        {HOST("l40s-pcie-p2p") "pxn = yes\n", 0, "machine.pxn: found a node without NVSwitch"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = machine_read(bad[i].text, bad[i].gpus, &error);
        if (machine != NULL)
            fail_msg("case %u reads, wanted '%s'", i, bad[i].says);
        check_says(error, bad[i].says);
    }
}

// The files' keys are those that the table of kinds lists, and a kind is named once.
static void test_table(void **state)
{
    (void)state;
    static const char *const common[] = {"title", "source", "chip", "kind", NULL};
    for (guint i = 0; MACHINE_KINDS[i] != NULL; i++)
        for (guint k = 0; k < i; k++)
            assert_string_not_equal(MACHINE_KINDS[i]->name, MACHINE_KINDS[k]->name);
    static const struct {
        const char *kind, *text;
    } files[] = {{"cube", CUBE}, {"torus", TORUS("4x4", "yes")}, {"pcie", BOX}, {"nodes", DECK}};
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(Ini) ini = ini_read_text("m.ini", files[i].text, strlen(files[i].text), NULL);
        g_auto(GStrv) keys = ini_keys(ini, MACHINE_KIND_SECTION);
        for (guint k = 0; MACHINE_KINDS[k] != NULL; k++)
            for (guint j = 0; strcmp(MACHINE_KINDS[k]->name, files[i].kind) == 0 && keys[j] != NULL; j++)
                assert_true(g_strv_contains(common, keys[j]) ||
                            g_strv_contains(MACHINE_KINDS[k]->keys, keys[j]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube),     cmocka_unit_test(test_torus),   cmocka_unit_test(test_slices),
        cmocka_unit_test(test_no_p2p),   cmocka_unit_test(test_nodes),   cmocka_unit_test(test_shared_nic),
        cmocka_unit_test(test_own_nics), cmocka_unit_test(test_refused), cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
