// tests/test-machines-machine.c: machine and chip files: the library's, spelt-out graphs, and everything that
// is refused.
#include "tests/check.h"

#include <glib/gstdio.h>

#include "base/library.h"
#include "machines/machine.h"
#include "topo/route.h"

typedef struct {
    char *folder; // owned
    char *path;   // owned: folder/m.ini
} Place;

static int set_up(void **state)
{
    Place *place = g_new0(Place, 1);
    place->folder = g_dir_make_tmp("stepline-XXXXXX", NULL);
    place->path = g_build_filename(place->folder, "m.ini", NULL);
    *state = place;
    return place->folder == NULL;
}

static int tear_down(void **state)
{
    Place *place = *state;
    g_unlink(place->path);
    g_rmdir(place->folder);
    g_free(place->path);
    g_free(place->folder);
    g_free(place);
    return 0;
}

static TopoMachine *read_text(const Place *place, const char *text, guint32 gpus, GError **error)
{
    assert_true(g_file_set_contents(place->path, text, -1, NULL));
    return topo_machine_read(place->path, gpus, NULL, error);
}

// Latency, bottleneck and number of links of the route between two GPUs, both ways alike.
static void check_path(const TopoGraph *graph, guint32 a, guint32 b, guint32 n, Ps latency, double bottleneck)
{
    g_autoptr(TopoRouter) router = topo_router_new(graph, 3);
    for (guint way = 0; way < 2; way++) {
        g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
        guint32 from = topo_graph_gpu(graph, way == 0 ? a : b), to = topo_graph_gpu(graph, way == 0 ? b : a);
        assert_true(topo_router_find(router, from, to, links));
        Ps sum = 0;
        double least = G_MAXDOUBLE;
        for (guint i = 0; i < links->len; i++) {
            const TopoLink *link = topo_graph_link(graph, g_array_index(links, guint32, i));
            sum += link->latency;
            least = MIN(least, link->bandwidth);
        }
        assert_int_equal(links->len, n);
        assert_int_equal(sum, latency);
        assert_true(least >= bottleneck && least <= bottleneck);
    }
}

static void test_library(void **state)
{
    (void)state;
    enum { US = 1000000 };
    static const struct {
        const char *name;
        guint32 gpus; // asked for
        guint32 have;
        guint32 last_links; // of the path from gpu0 to the last GPU
        Ps first, last;     // latencies: gpu0 to gpu1, to the last
        double first_rate, last_rate;
    } machines[] = {
        {"deck-nvlink-8", 0, 8, 2, 5 * US, 5 * US, 450e9, 450e9},
        {"deck-nvlink-8", 3, 3, 2, 5 * US, 5 * US, 450e9, 450e9},
        {"deck-network-400g", 0, 64, 4, 10 * US, 10 * US, 50e9, 50e9},
        {"deck-network-400g", 7, 7, 4, 10 * US, 10 * US, 50e9, 50e9},
        {"deck-network-400g", 1024, 1024, 4, 10 * US, 10 * US, 50e9, 50e9},
        {"deck-wan-100g", 0, 64, 4, 10 * US, 10 * US, 12.5e9, 12.5e9},
        {"h100-8rail", 0, 64, 4, 5 * US, 10 * US, 450e9, 50e9},
        {"h100-8rail", 8, 8, 2, 5 * US, 5 * US, 450e9, 450e9},
        {"h100-8rail", 16384, 16384, 4, 5 * US, 10 * US, 450e9, 50e9},
        {"wan-2x32", 0, 64, 7, 5 * US, 20010 * (Ps)US, 450e9, 12.5e9},
        {"pcie4-8", 0, 8, 5, 2 * US, 4500000, 25e9, 16e9},
        {"primer-nvlink-8", 0, 8, 2, 0, 0, 900e9, 900e9},
        {"primer-pcie4-8", 0, 8, 2, 0, 0, 25e9, 25e9},
        {"primer-100g-8", 0, 8, 4, 0, 0, 12.5e9, 12.5e9},
        {"primer-10g-8", 0, 8, 4, 0, 0, 1.25e9, 1.25e9},
    };
    for (guint i = 0; i < G_N_ELEMENTS(machines); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(machines[i].name, machines[i].gpus, NULL, &error);
        check_fine(error);
        const TopoGraph *graph = machine->graph;
        assert_int_equal(graph->gpus->len, machines[i].have);
        assert_string_equal(machine->name, machines[i].name);
        check_path(graph, 0, 1, machines[i].first < machines[i].last ? 2 : machines[i].last_links,
                   machines[i].first, machines[i].first_rate);
        check_path(graph, 0, machines[i].have - 1, machines[i].last_links, machines[i].last,
                   machines[i].last_rate);
    }
}

// Every file of the library is read, says what it is and where its numbers come from.
static void test_library_whole(void **state)
{
    (void)state;
    g_auto(GStrv) machines = library_list("topo/data/machines", ".ini");
    g_auto(GStrv) chips = library_list("topo/data/chips", ".ini");
    assert_true(g_strv_length(machines) >= 10 && g_strv_length(chips) >= 6);
    for (guint i = 0; machines[i] != NULL; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(machines[i], 0, NULL, &error);
        check_fine(error);
        assert_string_not_equal(machine->title, machines[i]);
        assert_string_not_equal(machine->source, "not stated");
        assert_true(machine->graph->first_out != NULL);
    }
    for (guint i = 0; chips[i] != NULL; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoDevice) device = topo_device_read(chips[i], NULL, &error);
        check_fine(error);
        assert_string_not_equal(device->title, chips[i]);
        assert_string_not_equal(device->source, "not stated");
        assert_true(device->memory > G_GINT64_CONSTANT(11000000000) && device->memory_bandwidth > 5e11);
    }
}

static void test_chips(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double bf16, fp16;
        double memory; // MiB
    } chips[] = {{"h100-sxm", 989e12, 989e12, 81559},     {"h200-sxm", 989e12, 989e12, 143771},
                 {"a100-sxm-80g", 312e12, 312e12, 81920}, {"a100-sxm-40g", 312e12, 312e12, 40960},
                 {"v100-sxm", 0, 125e12, 16160},          {"tpu-v4", 275e12, 0, 32768}};
    for (guint i = 0; i < G_N_ELEMENTS(chips); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoDevice) device = topo_device_read(chips[i].name, NULL, &error);
        check_fine(error);
        assert_int_equal(device->peak[TOPO_PRECISION_BF16], chips[i].bf16);
        assert_int_equal(device->peak[TOPO_PRECISION_FP16], chips[i].fp16);
        assert_int_equal(device->memory, chips[i].memory * 1048576.0);
    }
    g_autoptr(GError) error = NULL;
    assert_null(topo_device_read("h100-sxn", "m.ini:2: machine.chip", &error));
    check_says(error,
               "m.ini:2: machine.chip: found no chip 'h100-sxn' in the library (did you mean 'h100-sxm'?)");
}

#define CHIP "[chip]\nmemory = 1 GiB\nmemory_bandwidth = 1 TB/s\n[peak]\nbf16 = 1 TFLOP/s\n"

static void test_bad_chips(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "chip.memory: missing"},
        {"[chip]\nmemory = 80 GiB\n", "chip.memory_bandwidth: missing"},
        {"[chip]\nmemory = 80\nmemory_bandwidth = 1 TB/s\n[peak]\nbf16 = 1 TFLOP/s\n",
         ":2: chip.memory: found '80'"},
        {"[chip]\nmemory = 0 B\nmemory_bandwidth = 1 TB/s\n[peak]\nbf16 = 1 TFLOP/s\n",
         ":2: chip.memory: found 0"},
        {"[chip]\nmemory = 1 GiB\nmemory_bandwidth = 0 B/s\n[peak]\nbf16 = 1 TFLOP/s\n",
         "memory_bandwidth: found 0"},
        {"[chip]\nmemory = 1 GiB\nmemory_bandwidth = 1 TB\n", "memory_bandwidth: found '1 TB' (a size)"},
        {"[chip]\nmemory = 1 GiB\nmemory_bandwidth = 1 TB/s\n",
         "m.ini: peak: found none, wanted at least one of"},
        {"[chip]\nmemory = 1 GiB\nmemory_bandwidth = 1 TB/s\n[peak]\nbf16 = 0 FLOP/s\n",
         ":5: peak.bf16: found 0"},
        {"[chip]\nmemory = 1 GiB\nmemory_bandwidth = 1 TB/s\n[peak]\nbf17 = 1 TFLOP/s\n",
         ":5: peak.bf17: unknown key (did you mean 'bf16'?)"},
        {"[chip]\nmemory = 1 GiB\nmemory_bandwidth = 1 TB/s\nwatts = 7\n[peak]\nbf16 = 1 TFLOP/s\n",
         ":4: chip.watts: unknown key"},
        {CHIP "[compute]\nwaves = 2\n", ":7: compute.waves: found"},
        {CHIP "[compute]\nkernel_time = 2 h\n", ":7: compute.kernel_time: found 7200, wanted 0 to 1"},
        {CHIP "[compute]\nmultiprocessors = 40\ncollective_blocks = 30\n",
         ":8: compute.collective_blocks: found 30, wanted at most half of the 40"},
        {CHIP "[efficiency]\nbf16 = 0\n", ":7: efficiency.bf16: found 0"},
        {CHIP "[attention]\nrate_128 = 1 TFLOP/s\n", "attention.rate_128: found only one of"},
        {CHIP "[attention]\nbackward = 1\n", "attention.rate_128: found no rate at all"},
        {CHIP "[attention-flash4]\nrate_128 = 1 TFLOP/s\n", "attention-flash4"},
    };
    const Place *place = *state;
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_true(g_file_set_contents(place->path, bad[i].text, -1, NULL));
        assert_null(topo_device_read(place->path, NULL, &error));
        check_says(error, bad[i].says);
    }
}

#define HEAD        "[machine]\nchip = h100-sxm\n"
#define ISLAND      HEAD "kind = island\ngpus = 8\nbandwidth = 450 GB/s\n"
#define NETWORK     "network_bandwidth = 50 GB/s\nnetwork_latency = 10 us\n"
#define NVLINK      "nvlink_bandwidth = 450 GB/s\nnvlink_latency = 5 us\n"
#define ISLANDS     HEAD "kind = islands\ngpus = 16\n"
#define PCIE        HEAD "kind = pcie\nbandwidth = 25 GB/s\nlatency = 2 us\n"
#define SOCKET      "socket_bandwidth = 16 GB/s\nsocket_latency = 1 us\n"
#define WAN         HEAD "kind = wan\n" NETWORK NVLINK "wan_bandwidth = 1 GB/s\nwan_latency = 9 ms\n"
#define GRAPH       HEAD "kind = graph\n"
#define LINK(where) where " = 450 GB/s, 2.5 us, nvlink\n"

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        guint32 gpus;
        const char *says;
    } bad[] = {
        {"", 0, "m.ini: machine.chip: missing"},
        {HEAD, 0, "m.ini: machine.kind: missing"},
        {"[machine]\nchip = h100-smx\nkind = island\n", 0, "m.ini:2: machine.chip: found no chip 'h100-smx'"},
        {HEAD "kind = iland\n", 0,
         "m.ini:3: machine.kind: found 'iland', wanted one of: island, islands, pcie, wan, "
         "graph, cube, torus, nodes (did you mean 'island'?)"},
        {ISLAND, 0, "machine.latency: missing"},
        {ISLAND "latency = 5\n", 0, "m.ini:6: machine.latency: found '5' (no unit)"},
        {ISLAND "latency = -5 us\n", 0, "(negative)"},
        {ISLAND "latency = nan us\n", 0, "(not a number)"},
        {ISLAND "latency = 61 s\n", 0,
         "m.ini:6: machine.latency: found a latency of 61 s, wanted at most a minute"},
        {ISLAND "latency = 5 us\nlatncy = 5 us\n", 0,
         "m.ini:7: machine.latncy: unknown key (did you mean 'latency'?)"},
        {ISLAND "latency = 5 us\nsockets = 2\n", 0, "m.ini:7: machine.sockets: unknown key"},
        {ISLAND "latency = 5 us\n[links]\n" LINK("gpu0 gpu1"), 0, "m.ini:8: links.gpu0 gpu1: unknown key"},
        {ISLAND "latency = 5 us\n", 9, "found 9 GPUs, wanted at most 8"},
        {ISLAND "latency = 5 us\n", G_MAXUINT32, "found 4294967295 GPUs, wanted at most 65536"},
        {HEAD "kind = island\ngpus = 1000000000\n", 0,
         "m.ini:4: machine.gpus: found 1000000000, wanted a whole number from 1 to 65536"},
        {HEAD "kind = island\ngpus = 0\n", 0, "machine.gpus: found 0"},
        {HEAD "kind = island\ngpus = 8\nbandwidth = 450 GB\n", 0,
         "machine.bandwidth: found '450 GB' (a size)"},
        {HEAD "kind = island\ngpus = 8\nbandwidth = 0 GB/s\n", 0,
         "machine.bandwidth: found 0 B/s, wanted at least 1"},
        {HEAD "kind = island\ngpus = 8\nbandwidth = 1e9 TB/s\n", 0, "less than 1e18 B/s"},
        {ISLANDS "gpus_per_node = 3\n" NETWORK NVLINK, 0,
         "m.ini:4: machine.gpus: found 16, wanted a multiple of 3"},
        {ISLANDS "gpus_per_node = 8\n" NETWORK NVLINK, 12, "found 12 GPUs, wanted a multiple of 8"},
        {ISLANDS "gpus_per_node = 8\n" NETWORK, 0, "machine.nvlink_bandwidth: missing"},
        {ISLANDS "gpus_per_node = 1\n" NETWORK NVLINK, 0,
         "m.ini:8: machine.nvlink_bandwidth: found with gpus_per_node"},
        {ISLANDS "gpus_per_node = 8\n" NETWORK NVLINK "pcie_bandwidth = 49 GB/s\n", 0,
         "m.ini:10: machine.pcie_bandwidth: found less than network_bandwidth"},
        {ISLANDS "gpus_per_node = 8\n" NETWORK "nvlink_bandwidth = 1 GB/s\nnvlink_latency = 11 us\n", 0,
         "m.ini:9: machine.nvlink_latency: found more than network_latency"},
        {PCIE "gpus = 8\ngpus_per_switch = 3\nsockets = 2\n" SOCKET, 0,
         "machine.gpus: found 8, wanted a multiple of"},
        {PCIE "gpus = 8\ngpus_per_switch = 4\nsockets = 4\n" SOCKET, 0, "gpus_per_switch x sockets = 16"},
        {PCIE "gpus = 8\ngpus_per_switch = 9\nsockets = 1\n", 0, "machine.gpus_per_switch: found 9"},
        {PCIE "gpus = 8\ngpus_per_switch = 4\nsockets = 1\n" SOCKET, 0,
         "socket_bandwidth: found with sockets = 1"},
        {PCIE "gpus = 8\ngpus_per_switch = 4\nsockets = 2\n", 0, "machine.socket_bandwidth: missing"},
        {PCIE "gpus = 8\ngpus_per_switch = 4\nsockets = 2\n" SOCKET, 10, "found 10 GPUs, wanted at most 8"},
        {WAN "sites = 1\n", 0, "machine.sites: found 1"},
        {WAN "sites = 3\ngpus_per_node = 8\ngpus = 64\n", 0,
         "machine.gpus: found 64, wanted a multiple of 24"},
        {WAN "sites = 2\ngpus_per_node = 8\ngpus = 64\n", 72, "found 72 GPUs, wanted a multiple of 16"},
        {WAN "sites = 64\ngpus_per_node = 65536\ngpus = 64\n", 0, "wanted a multiple of 4194304"},
        {GRAPH, 0, "m.ini: links: found none"},
        {GRAPH "gpu_forward = true\n[links]\n" LINK("gpu0 gpu1"), 0, "machine.gpu_forward: found 'true'"},
        {GRAPH "gpus = 2\n[links]\n" LINK("gpu0 gpu1"), 0, "m.ini:4: machine.gpus: unknown key"},
        {GRAPH "[links]\n" LINK("gpu0 gpu1"), 3, "found 3 GPUs, wanted 2"},
        {GRAPH "[links]\n" LINK("gpu0 gpu1 gpu2"), 0, "m.ini:5: links.gpu0 gpu1 gpu2: wanted two nodes"},
        {GRAPH "[links]\n" LINK("gpu0"), 0, "links.gpu0: wanted two nodes"},
        {GRAPH "[links]\n" LINK("gpu0 > > gpu1"), 0, "wanted two nodes"},
        {GRAPH "[links]\n" LINK("> gpu0 gpu1"), 0, "wanted two nodes"},
        {GRAPH "[links]\n" LINK("gpu0 nvswich0"), 0,
         "found node 'nvswich0', wanted a number after one of: gpu, "
         "nvswitch, pcie, cpu, nic, switch, gateway (did you mean "
         "'nvswitch'?)"},
        {GRAPH "[links]\n" LINK("gpu0 switch"), 0, "found node 'switch', wanted a name such as 'switch0'"},
        {GRAPH "[links]\n" LINK("gpu0 gpu-1"), 0, "found node 'gpu-1'"},
        {GRAPH "[links]\n" LINK("gpu0 gpu01"), 0, "found node 'gpu01', wanted a name such as 'gpu0'"},
        {GRAPH "[links]\n" LINK("gpu0 gpu1x"), 0, "found node 'gpu1x'"},
        {GRAPH "[links]\n" LINK("gpu0 gpu65536"), 0, "found node 'gpu65536', wanted a number below 65536"},
        {GRAPH "[links]\n" LINK("gpu0 gpu99999999999999999999999"), 0, "wanted a number below 65536"},
        {GRAPH "[links]\n" LINK("gpu0 gpu0"), 0,
         "m.ini:5: links.gpu0 gpu0: found a link from a node to itself"},
        {GRAPH "[links]\n" LINK("gpu0 gpu2"), 0, "m.ini:5: links.gpu0 gpu2: found gpu2 but no gpu1"},
        {GRAPH "[links]\n" LINK("gpu0 nic1"), 0, "found nic1 but no nic0"},
        {GRAPH "[links]\n" LINK("gpu0 gpu1") LINK("gpu1 gpu0"), 0,
         "m.ini:6: links.gpu1 gpu0: found a direction that"},
        {GRAPH "[links]\n" LINK("gpu0 > gpu1") LINK("gpu0   >  gpu1"), 0, "found a direction that"},
        {GRAPH "[links]\ngpu0 gpu1 = 450 GB/s, 2.5 us\n", 0,
         "found '450 GB/s, 2.5 us', wanted 'bandwidth, latency, "
         "class'"},
        {GRAPH "[links]\ngpu0 gpu1 =\n", 0, "m.ini:5: links.gpu0 gpu1: found nothing"},
        {GRAPH "[links]\ngpu0 gpu1 = 450, 2.5 us, nvlink\n", 0,
         "m.ini:5: links.gpu0 gpu1: found '450' (no unit)"},
        {GRAPH "[links]\ngpu0 gpu1 = 0 B/s, 2.5 us, nvlink\n", 0, "found 0 B/s"},
        {GRAPH "[links]\ngpu0 gpu1 = 1 GB/s, 2 h, nvlink\n", 0, "wanted at most a minute"},
        {GRAPH "[links]\ngpu0 gpu1 = 1 GB/s, 2 us, nvlnk\n", 0,
         "found class 'nvlnk', wanted one of: nvlink, pcie, cpu, "
         "network, wan (did you mean 'nvlink'?)"},
        {GRAPH "[links]\n" LINK("nic0 switch0"), 0, "m.ini: found no GPU"},
        {GRAPH "[links]\n" LINK("gpu0 > gpu1"), 0, "m.ini: gpu1 cannot reach gpu0: no link leaves gpu1"},
        {GRAPH "[links]\n" LINK("gpu0 nic0") LINK("gpu1 nic1"), 0, "m.ini: gpu0 cannot reach gpu1"},
        {GRAPH "[links]\n" LINK("gpu0 gpu1") LINK("gpu1 gpu2"), 0,
         "m.ini: gpu0 cannot reach gpu2: the only way"},
    };
    const Place *place = *state;
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(read_text(place, bad[i].text, bad[i].gpus, &error));
        check_says(error, bad[i].says);
    }
    g_autoptr(GError) error = NULL;
    assert_null(topo_machine_read("deck-nvlink8", 0, "s.ini:4: machine.use", &error));
    check_says(
        error,
        "s.ini:4: machine.use: found no machine 'deck-nvlink8' in the library (did you mean 'deck-nvlink-8'");
    g_clear_error(&error);
    assert_null(topo_machine_read("deck-nvlink-8", 16, "s.ini:5: machine.gpus", &error));
    check_says(error, "s.ini:5: machine.gpus: found 16 GPUs, wanted at most 8: deck-nvlink-8 has 8 GPUs");
    g_clear_error(&error);
    assert_null(topo_machine_read("./no-such.ini", 0, NULL, &error));
    check_says(error, "./no-such.ini: no such file");
}

// Unequal links, one-way links and nodes in any order: ids go by kind and number.
static void test_graph(void **state)
{
    const Place *place = *state;
    g_autoptr(GError) error = NULL;
    g_autoptr(TopoMachine) machine = read_text(place,
                                               GRAPH "gpus_per_node = 2\n[links]\n"
                                                     "switch0 gpu2 = 10 GB/s, 3 us, network\n"
                                                     "gpu0 > switch0 = 40 GB/s, 1 us, network\n"
                                                     "switch0 > gpu0 = 20 GB/s, 2 us, network\n"
                                                     "gpu1\tswitch0 = 8 Gb/s , 0 s,wan\n"
                                                     "gpu0 gpu1 = 5 GB/s, 1.5 us, nvlink\n",
                                               0, &error);
    check_fine(error);
    const TopoGraph *graph = machine->graph;
    assert_int_equal(graph->nodes->len, 4);
    assert_int_equal(graph->links->len, 8);
    assert_int_equal(topo_graph_node(graph, 3)->kind, TOPO_NODE_SWITCH);
    assert_int_equal(topo_graph_node(graph, 1)->island, 0);
    assert_int_equal(topo_graph_node(graph, 2)->island, 1);
    assert_int_equal(topo_graph_node(graph, 3)->island, G_MAXUINT32);
    check_path(graph, 1, 2, 2, 3000000, 1e9);
    g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
    static const struct {
        guint32 a, b, n;
        Ps latency;
    } ways[] = {{0, 2, 2, 4000000}, {2, 0, 2, 5000000}, {0, 1, 2, 1000000}, {1, 0, 1, 1500000}};
    for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
        assert_true(topo_router_find(router, ways[i].a, ways[i].b, links));
        Ps sum = 0;
        for (guint k = 0; k < links->len; k++)
            sum += topo_graph_link(graph, g_array_index(links, guint32, k))->latency;
        assert_int_equal(links->len, ways[i].n);
        assert_int_equal(sum, ways[i].latency);
    }
    g_autoptr(TopoMachine) chain =
        read_text(place, GRAPH "gpu_forward = yes\n[links]\n" LINK("gpu0 gpu1") LINK("gpu1 gpu2"), 3, &error);
    check_fine(error);
    check_path(chain->graph, 0, 2, 2, 5000000, 450e9);
}

// The largest files that are read at all end quickly, sound or not: 20,000 GPUs in a line, and as a star.
static void test_large_files(void **state)
{
    const Place *place = *state;
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) line = g_string_new(GRAPH "gpu_forward = yes\n[links]\n");
    g_autoptr(GString) star = g_string_new(GRAPH "[links]\n");
    for (guint i = 0; i < 20000; i++) {
        g_string_append_printf(line, "gpu%u gpu%u = 1 GB/s,60 s,nvlink\n", i, i + 1);
        g_string_append_printf(star, "gpu%u switch0 = 1 GB/s,1 s,network\n", i);
    }
    g_autoptr(TopoMachine) a = read_text(place, line->str, 0, &error);
    check_fine(error);
    check_path(a->graph, 0, 20000, 20000, (Ps)20000 * 60 * PS_PER_SECOND, 1e9);
    g_autoptr(TopoMachine) b = read_text(place, star->str, 0, &error);
    check_fine(error);
    assert_int_equal(b->graph->gpus->len, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_library_whole),
        cmocka_unit_test(test_chips),
        cmocka_unit_test_setup_teardown(test_bad_chips, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_graph, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
