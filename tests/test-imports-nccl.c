// tests/test-imports-nccl.c: what NCCL topology files mean: nodes, links, rates, what is assumed, and what is
// refused.
#include "tests/graphs.h"

#include "imports/import.h"
#include "topo/route.h"

// Pieces of files, all made up for the tests.
#define CPU(id, inside)                                                                                      \
    "<cpu numaid='" #id "' arch='x86_64' vendor='AuthenticAMD' familyid='143' modelid='49'>" inside "</"     \
    "cpu>\n"
#define PCI(bus, class, inside)                                                                              \
    "<pci busid='0000:" #bus ":00.0' class='" class "' link_speed='16.0 GT/s PCIe' link_width='16'>" inside  \
                                                    "</pci>\n"
#define GPU(bus, dev, inside)                                                                                \
    PCI(bus, "0x030200", "<gpu dev='" #dev "' sm='80' rank='0' gdr='1'>" inside "</gpu>")
#define NVLINK(target, count, class) "<nvlink target='" target "' count='" #count "' tclass='" class "'/>"
#define NVSWITCH(count)              NVLINK("0000:f0:00.0", count, "0x068000")
#define PEER(bus, count)             NVLINK("0000:" #bus ":00.0", count, "0x030200")
#define NET(name, guid, speed)                                                                               \
    "<net name='" name "' dev='0' speed='" speed "' port='1' guid='" guid "' maxconn='1' gdr='1'/>"
#define SYSTEM(inside) "<system version='1'>\n" inside "</system>\n"

static gboolean read_bytes(const char *text, gsize length, Import *import, GError **error)
{
    import_init(import);
    return IMPORT_NCCL.read("t.xml", text, length, import, error);
}

static void read_fine(const char *text, Import *import)
{
    g_autoptr(GError) error = NULL;
    gboolean fine = read_bytes(text, strlen(text), import, &error);
    check_fine(error);
    assert_true(fine && import->graph->first_out != NULL);
    graphs_check_round_trip(import->graph, "h100-sxm");
}

static gboolean says(const GPtrArray *words, const char *wanted)
{
    for (guint i = 0; i < words->len; i++)
        if (strstr(words->pdata[i], wanted) != NULL)
            return TRUE;
    return FALSE;
}

// The id of the link from one named node to another; G_MAXUINT32: none.
static guint32 find_link(const TopoGraph *graph, const char *from, const char *to)
{
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        g_autofree char *a = topo_graph_name(graph, link->from), *b = topo_graph_name(graph, link->to);
        if (strcmp(a, from) == 0 && strcmp(b, to) == 0)
            return i;
    }
    return G_MAXUINT32;
}

// One link, both ways alike; gigabytes 0: there is none.
static void check_link(const TopoGraph *graph, const char *a, const char *b, TopoLinkClass class,
                       double gigabytes)
{
    guint32 out = find_link(graph, a, b), back = find_link(graph, b, a);
    if (gigabytes <= 0) {
        assert_true(out == G_MAXUINT32 && back == G_MAXUINT32);
        return;
    }
    if (out == G_MAXUINT32 || back == G_MAXUINT32)
        fail_msg("no link of %s and %s", a, b);
    for (guint way = 0; way < 2; way++) {
        const TopoLink *link = topo_graph_link(graph, way == 0 ? out : back);
        assert_int_equal(link->class, class);
        if (link->bandwidth < gigabytes * 0.999999e9 || link->bandwidth > gigabytes * 1.000001e9)
            fail_msg("%s to %s: %g B/s, wanted %g GB/s", a, b, link->bandwidth, gigabytes);
    }
}

static char *data_path(const char *name)
{
    const char *source = g_getenv("STEPLINE_SOURCE");
    return g_build_filename(source == NULL ? ".." : source, "tests", "data", name, NULL);
}

// The file that has most of the traps: emulated switch, no widths, unknown NVSwitch, hex, odd order of dev,
// nets.
static void test_switch(void **state)
{
    (void)state;
    g_autofree char *path = data_path("nccl-switch-2.xml"), *text = NULL;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    Import import;
    read_fine(text, &import);
    const TopoGraph *graph = import.graph;
    const guint32 counts[TOPO_NODE_KINDS] = {2, 1, 1, 2, 2, 0, 0};
    assert_memory_equal(graph->counts, counts, sizeof counts);
    assert_string_equal(import.chip, "h100-sxm");
    assert_false(graph->gpu_forward);
    check_link(graph, "gpu0", "nvswitch0", TOPO_LINK_NVLINK, 450);
    check_link(graph, "gpu1", "nvswitch0", TOPO_LINK_NVLINK, 450);
    check_link(graph, "gpu0", "cpu1", TOPO_LINK_PCIE, 12);   // dev 0 stands second in the file; speed unknown
    check_link(graph, "gpu1", "pcie0", TOPO_LINK_PCIE, 48);  // width 0
    check_link(graph, "pcie0", "cpu0", TOPO_LINK_PCIE, 48);  // emulated
    check_link(graph, "nic0", "pcie0", TOPO_LINK_PCIE, 25);  // 200 Gb/s on x16 of PCIe 5
    check_link(graph, "nic1", "cpu1", TOPO_LINK_PCIE, 1.25); // speed -1
    check_link(graph, "cpu0", "cpu1", TOPO_LINK_CPU, 22);
    static const char *const assumed[] = {
        "line 7: pci.link_width '0'",
        "line 13: pci.link_width '-1'",
        "line 22: pci.link_width ''",
        "line 22: pci.link_speed 'Unknown'",
        "line 6: PCI bridges of 2.5 GT/s x1",
        "line 28: nets with names of virtual",
        "line 29: net.speed '-1'",
        "line 29: net 'eth0' has no <pci>",
        "line 30: net that was listed before",
        "read and of no effect: cpu.numaid, cpu.affinity, gpu.rank",
    };
    for (guint i = 0; i < G_N_ELEMENTS(assumed); i++)
        if (!says(import.assumed, assumed[i]))
            fail_msg("nothing assumed says '%s'", assumed[i]);
    assert_true(says(import.notes, "gpu0 0000:04:00.0 (dev 0), gpu1 0000:02:00.0 (dev 1)"));
    assert_true(says(import.notes, "nic0 mlx5_0 25 GB/s, nic1 eth0 1.25 GB/s"));
    import_clear(&import);
}

// A mesh where not all are joined: GPUs forward, and two hops of NVLink win over PCIe.
static void test_mesh(void **state)
{
    (void)state;
    Import import;
    read_fine(SYSTEM(CPU(0, GPU(01, 0, PEER(02, 2)) GPU(02, 1, PEER(01, 2) PEER(03, 1)))
                         CPU(1, GPU(03, 2, PEER(02, 1)) GPU(04, 3, ""))),
              &import);
    const TopoGraph *graph = import.graph;
    assert_true(graph->gpu_forward);
    check_link(graph, "gpu0", "gpu1", TOPO_LINK_NVLINK, 50);
    check_link(graph, "gpu1", "gpu2", TOPO_LINK_NVLINK, 25);
    check_link(graph, "gpu0", "gpu2", TOPO_LINK_NVLINK, 0);
    check_link(graph, "gpu3", "cpu1", TOPO_LINK_PCIE, 24);
    check_link(graph, "cpu0", "cpu1", TOPO_LINK_CPU, 16);
    g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    assert_true(topo_router_find(router, topo_graph_gpu(graph, 0), topo_graph_gpu(graph, 2), links));
    assert_int_equal(links->len, 2);
    assert_int_equal(topo_graph_link(graph, g_array_index(links, guint32, 0))->class, TOPO_LINK_NVLINK);
    assert_true(says(import.assumed, "a GPU with 0 NVLinks where others have 3"));
    import_clear(&import);
}

// Single facts: a file and what must stand in the graph or be said.
static void test_facts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *a, *b;
        double gigabytes; // between a and b, class nvlink where both are GPUs or one is no bridge
        TopoLinkClass class;
        const char *assumed; // NULL: nothing in particular
    } cases[] = {
        {SYSTEM(CPU(0, GPU(01, 0, PEER(01, 12)) GPU(02, 1, PEER(02, 12)))), "gpu0", "gpu1", 300,
         TOPO_LINK_NVLINK, "target is the GPU itself: taken as the other"},
        {SYSTEM(CPU(0, GPU(01, 0, PEER(02, 4)) GPU(02, 1, ""))), "gpu0", "gpu1", 100, TOPO_LINK_NVLINK,
         "do not say the same"},
        {SYSTEM(CPU(0, GPU(01, 0, PEER(07, 4)) GPU(02, 1, ""))), "gpu0", "gpu1", 0, TOPO_LINK_NVLINK,
         "to a GPU that the file does not have"},
        {SYSTEM(CPU(0, GPU(01, 0, PEER(02, 0)) GPU(02, 1, ""))), "gpu0", "gpu1", 0, TOPO_LINK_NVLINK,
         "count=\"0\""},
        {SYSTEM(CPU(0, GPU(01, 0, "<nvlink target='1:0.0' count='2'/>"))), "gpu0", "nvswitch0", 50,
         TOPO_LINK_NVLINK, "nvlink without tclass"},
        {SYSTEM(CPU(0, GPU(01, 0, NVLINK("x", 2, "0x010802")))), "gpu0", "nvswitch0", 50, TOPO_LINK_NVLINK,
         "taken as an NVSwitch"},
        {SYSTEM(CPU(0, PCI(09, "0x060400", GPU(01, 0, NVLINK("ff", 2, "0x068001"))))), "gpu0", "cpu0", 50,
         TOPO_LINK_NVLINK, NULL},
        {SYSTEM(CPU(0, GPU(01, 0, "<c2c bw='44712' count='10'/>"))), "gpu0", "cpu0", 447.12, TOPO_LINK_NVLINK,
         "PCIe link of a GPU to its CPU left out"},
        {SYSTEM(CPU(0, PCI(09, "0x060400", GPU(01, 0, "<c2c bw='0' count='10'/>")))), "gpu0", "cpu0", 447.12,
         TOPO_LINK_NVLINK, "c2c.bw missing or 0"},
        {SYSTEM(CPU(0, PCI(01, "0x120000",
                           "<gpu dev='0' sm='304' gcn='gfx942'><xgmi target='0000:02:00.0' count='2' "
                           "tclass='0x120000'/></gpu>")
                           PCI(02, "0x120000", "<gpu dev='1' sm='304' gcn='gfx942'/>"))),
         "gpu0", "gpu1", 96, TOPO_LINK_NVLINK, NULL},
        {SYSTEM(CPU(0, PCI(01, "0x030200", ""))), "gpu0", "cpu0", 24, TOPO_LINK_PCIE,
         "the file has no <gpu>"},
        {SYSTEM(CPU(0, GPU(01, 0, "") PCI(02, "0x030200", ""))), "gpu0", "cpu0", 24, TOPO_LINK_PCIE,
         "GPUs without a <gpu> beside others"},
        {SYSTEM(CPU(0, GPU(01, 0, "") PCI(02, "0x020000", ""))), "nic0", "cpu0", 24, TOPO_LINK_PCIE,
         "NICs without a <net>"},
        {SYSTEM(
             CPU(0, GPU(01, 0, "") PCI(02, "0x020000",
                                       "<nic>" NET("m0", "1", "100000") NET("m1", "1", "50000") "</nic>"))),
         "nic0", "cpu0", 18.75, TOPO_LINK_PCIE, NULL},
        {SYSTEM(CPU(0, GPU(01, 0, "") PCI(02, "0x020000", "<nic>" NET("m0", "1", "99999999999") "</nic>"))),
         "nic0", "cpu0", 1.25, TOPO_LINK_PCIE, "net.speed '99999999999'"},
        {SYSTEM(CPU(0, GPU(01, 0, "") PCI(02, "0x010802", ""))), "gpu0", "cpu0", 24, TOPO_LINK_PCIE,
         "of class '0x010802' with nothing below"},
        {SYSTEM(CPU(0, GPU(01, 0, "") PCI(02, "0x060400", PCI(03, "0x060400", "")))), "pcie0", "cpu0", 0,
         TOPO_LINK_PCIE, "PCI bridges with no GPU or NIC"},
        {SYSTEM(CPU(0, GPU(01, 0, "")) "<foo><bar/></foo>"), "gpu0", "cpu0", 24, TOPO_LINK_PCIE,
         "<foo> below <system> is not known"},
        {SYSTEM("<cpu numaid='0' numad='1'>" GPU(01, 0, "") "</cpu>"), "gpu0", "cpu0", 24, TOPO_LINK_PCIE,
         "<cpu numad=...> is not known (did you mean 'numaid'?)"},
        {SYSTEM(CPU(0, GPU(01, 0, "") "<nic>" NET("eth0", "1", "100000") "</nic>")), "nic0", "cpu0", 12.5,
         TOPO_LINK_PCIE, "net 'eth0' has no <pci>"},
        {"<system version='2'>" CPU(
             0, PCI(01, "0x030200", "<gpu dev='0' sm='85'>" NVSWITCH(4) "</gpu>")) "</system>",
         "gpu0", "nvswitch0", 100, TOPO_LINK_NVLINK, "the file does not say which chip"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Import import;
        read_fine(cases[i].text, &import);
        check_link(import.graph, cases[i].a, cases[i].b, cases[i].class, cases[i].gigabytes);
        if (cases[i].assumed != NULL && !says(import.assumed, cases[i].assumed))
            fail_msg("case %u: nothing assumed says '%s'", i, cases[i].assumed);
        import_clear(&import);
    }
}

// Two hosts joined by an NVSwitch: their CPUs are not joined, each is an island.
static void test_hosts(void **state)
{
    (void)state;
    Import import;
    read_fine(SYSTEM("<cpu host_hash='0x2'>" GPU(01, 0, NVSWITCH(18)) "</cpu><cpu host_hash='0x1'>" GPU(
                  01, 0, NVSWITCH(18)) "</cpu>"),
              &import);
    assert_int_equal(topo_graph_node(import.graph, 1)->island, 1);
    check_link(import.graph, "cpu0", "cpu1", TOPO_LINK_CPU, 0);
    import_clear(&import);
}

// Broadcom switches that show two levels are one; ports of one card are one NIC.
static void test_merged(void **state)
{
    (void)state;
#define BROADCOM(bus, sub, inside)                                                                           \
    "<pci busid='" #bus "' class='0x060400' vendor='0x1000' device='0xc030' subsystem_vendor='0x1000' "      \
    "subsystem_device='" sub "' link_speed='32.0 GT/s' link_width='16'>" inside "</pci>"
    Import import;
    read_fine(SYSTEM(CPU(0, BROADCOM(1, "0x0072", BROADCOM(2, "0x1003", GPU(01, 0, "")))
                                PCI(8, "0x020000",
                                    "<nic>" NET("a", "1", "100000") "</nic>") "<pci busid='0000:8:00.1' "
                                                                              "class='0x020000' "
                                                                              "link_speed='16 GT/s' "
                                                                              "link_width='16'><nic>" NET(
                                                                                  "b", "2",
                                                                                  "50000") "</nic></pci>")),
              &import);
    assert_int_equal(import.graph->counts[TOPO_NODE_PCIE_SWITCH], 1);
    assert_int_equal(import.graph->counts[TOPO_NODE_NIC], 1);
    check_link(import.graph, "gpu0", "pcie0", TOPO_LINK_PCIE, 24);
    check_link(import.graph, "nic0", "cpu0", TOPO_LINK_PCIE, 18.75);
    import_clear(&import);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"<graphs version='1'></graphs>", "t.xml:1: graphs: found the result of a search"},
        {"<topology/>", "wanted <system>"},
        {"<system version='3'/>", "t.xml:1: system.version: found '3'"},
        {SYSTEM(""), "t.xml: found no GPU"},
        {SYSTEM(CPU(0, "<pci busid='1'/><pci busid='2'/>")), "t.xml: found no GPU"},
        {SYSTEM("<gpu dev='0'/>"), "t.xml:2: gpu: found directly below <system>"},
        {SYSTEM(GPU(01, 0, "")), "pci: found directly below <system>"},
        {SYSTEM(CPU(0, "<pci class='0x030200'/>")), "pci.busid: missing"},
        {SYSTEM(CPU(0, GPU(01, 0, "") GPU(01, 1, ""))),
         "t.xml:3: pci.busid: found the bus id of another GPU"},
        {SYSTEM(CPU(0, GPU(01, 0, PEER(01, 65)))), "nvlink.count: found '65'"},
        {SYSTEM(CPU(0, GPU(01, 0, PEER(01, -1)))), "nvlink.count: found '-1'"},
        {SYSTEM(CPU(0, GPU(01, 0, PEER(01, two)))), "nvlink.count: found 'two'"},
        {SYSTEM(CPU(0, GPU(01, x, ""))), "gpu.dev: found 'x'"},
        {SYSTEM(CPU(0, PCI(01, "0x030200", "<gpu dev='0'/><pci busid='2'/>"))), "found <pci> beside <gpu>"},
        {SYSTEM("<cpu host_hash='1'>" GPU(01, 0, "") "</cpu><cpu host_hash='2'>" GPU(01, 1, "") "</cpu>"),
         "t.xml: gpu0 cannot reach gpu1"},
        {"data:\n  topo.xml: |\n    <system version='1'>", "found other text before <system> in line 3"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        Import import;
        assert_false(read_bytes(cases[i].text, strlen(cases[i].text), &import, &error));
        check_says(error, cases[i].says);
        import_clear(&import);
    }
}

// Many of everything: refused or read, soon.
static void test_limits(void **state)
{
    (void)state;
    static const struct {
        const char *head, *part, *says; // part: printed with a number; says NULL: it is read
        guint n;
    } cases[] = {
        {"", "<cpu numaid='%u'></cpu>", "found 65 <cpu>, wanted at most 64", 65},
        {"<cpu>", "<pci busid='%x' class='0x030000'/>", "found more than 576 GPUs", 577},
        {"<cpu><pci busid='a' class='0x030000'/>", "<pci busid='%x' class='0x%06x'/>", NULL, 20000},
        {"<cpu><pci busid='a' class='0x030000'/>", "<pci busid='%x' x%u='1'/>", NULL, 20000},
        {"<cpu><pci busid='a' class='0x030000'/>", "<pci busid='%x' class='0x020000'/>", NULL, 20000},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GString) text = g_string_new("<system version='1'>");
        g_string_append(text, cases[i].head);
        for (guint k = 0; k < cases[i].n; k++) {
            g_auto(GStrv) parts = g_strsplit(cases[i].part, "%", -1);
            for (guint p = 0; parts[p] != NULL; p++) {
                gsize skip = p == 0 ? 0 : strspn(parts[p], "06") + 1; // past "u", "x" or "06x"
                if (p > 0)
                    g_string_append_printf(text, "%x", 0x100 + k);
                g_string_append(text, parts[p] + skip);
            }
        }
        g_string_append(text, i == 0 ? "</system>" : "</cpu></system>");
        Import import;
        gboolean fine = read_bytes(text->str, text->len, &import, &error);
        if (cases[i].says != NULL)
            check_says(error, cases[i].says);
        else
            check_fine(error);
        assert_true(fine == (cases[i].says == NULL));
        assert_true(import.assumed->len < 200);
        import_clear(&import);
    }
}

// Cut at every byte, and with every bit of some thousand bytes flipped: no crash, and always a graph or an
// error.
static void test_damage(void **state)
{
    (void)state;
    g_autofree char *path = data_path("nccl-switch-2.xml"), *text = NULL;
    gsize length = 0;
    assert_true(g_file_get_contents(path, &text, &length, NULL));
    for (gsize cut = 0; cut < length; cut++) {
        g_autofree char *piece = g_memdup2(text, MAX(cut, 1));
        g_autoptr(GError) error = NULL;
        Import import;
        assert_true(IMPORT_NCCL.sniff(piece, cut) >= 0);
        gboolean fine = read_bytes(piece, cut, &import, &error);
        assert_true(fine == (error == NULL) && (!fine || cut >= length - 1));
        import_clear(&import);
    }
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (guint i = 0; i < 20000; i++) {
        g_autofree char *piece = g_memdup2(text, length);
        for (gint32 flips = g_rand_int_range(rand, 1, 4); flips > 0; flips--) {
            gint32 bit = g_rand_int_range(rand, 0, (gint32)length * 8);
            piece[bit / 8] = (char)(piece[bit / 8] ^ (1 << bit % 8));
        }
        g_autoptr(GError) error = NULL;
        Import import;
        gboolean fine = read_bytes(piece, length, &import, &error);
        assert_true(fine == (error == NULL));
        import_clear(&import);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch), cmocka_unit_test(test_mesh),   cmocka_unit_test(test_facts),
        cmocka_unit_test(test_hosts),  cmocka_unit_test(test_merged), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
