// tests/test-imports-import-smi.c: graphs made of 'nvidia-smi topo -m': switches or cables, PCIe trees that
// yield the distances, what is assumed; and the files of a local collection, where there is one.
#include "tests/check.h"

#include "imports/import.h"
#include "imports/smi-table.h"
#include "imports/smi-tree.h"
#include "topo/route.h"

static gboolean says(const GPtrArray *lines, const char *words)
{
    for (guint i = 0; i < lines->len; i++)
        if (strstr(g_ptr_array_index(lines, i), words) != NULL)
            return TRUE;
    return FALSE;
}

static void read_text(const char *text, Import *import)
{
    g_autoptr(GError) error = NULL;
    import_init(import);
    IMPORT_SMI.read("box.txt", text, strlen(text), import, &error);
    check_fine(error);
}

// A matrix of n GPUs with the same cell everywhere, on two sockets. Caller frees.
static char *uniform(guint n, const char *cell)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < n; i++) {
        g_string_append_printf(out, "GPU%u", i);
        for (guint j = 0; j < n; j++)
            g_string_append_printf(out, "\t%s", i == j ? "X" : cell);
        g_string_append_printf(out, "\t%u\t%u\n", i < (n + 1) / 2 ? 0 : 8, i < (n + 1) / 2 ? 0 : 1);
    }
    return g_string_free(out, FALSE);
}

// The bandwidth of the NVLinks that leave a GPU, together.
static double nvlink_out(const TopoGraph *graph, guint32 gpu)
{
    double sum = 0;
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        if (link->from == gpu && link->class == TOPO_LINK_NVLINK)
            sum += link->bandwidth;
    }
    return sum;
}

// NV# everywhere: who it is taken for, on a switch or not.
static void test_uniform(void **state)
{
    (void)state;
    static const struct {
        guint gpus;
        const char *cell, *chip, *who;
        guint switches;
        double out; // GB/s, by NVLink
    } cases[] = {
        {8, "NV18", "h100-sxm", "H100", 1, 450},
        {2, "NV18", "h100-sxm", "H100", 0, 450},
        {8, "NV12", "a100-sxm-80g", "A100", 1, 300},
        {16, "NV6", "v100-sxm", "V100", 1, 150},
        {3, "NV12", "a100-sxm-80g", "A100", 1, 300},
        {8, "NV8", NULL, "A800 or H800", 1, 200},
        {4, "NV4", "a100-sxm-80g", "A100", 0, 300},
        {4, "NV2", "v100-sxm", "V100", 0, 150},
        {4, "NV6", "h100-sxm", "H100", 0, 450},
        {2, "NV4", NULL, "RTX 3090", 0, 56.25},
        {2, "NV2", NULL, "Turing", 0, 50},
        {2, "NV3", "v100-sxm", "POWER9", 0, 75},
        {4, "NV1", NULL, "P100", 0, 60},
        {8, "NV36", NULL, "after Blackwell", 1, 1800},
        {1, "X", NULL, "PCIe 4.0", 0, 0},
        {3, "PIX", NULL, "PCIe 4.0", 0, 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = uniform(cases[i].gpus, cases[i].cell);
        Import import;
        read_text(text, &import);
        assert_int_equal(import.graph->gpus->len, cases[i].gpus);
        assert_int_equal(import.graph->counts[TOPO_NODE_NVSWITCH], cases[i].switches);
        if (g_strcmp0(import.chip, cases[i].chip) != 0 || !says(import.assumed, cases[i].who))
            fail_msg("%u x %s: found chip %s, wanted %s", cases[i].gpus, cases[i].cell, import.chip,
                     cases[i].who);
        for (guint32 gpu = 0; gpu < cases[i].gpus; gpu++)
            assert_true(nvlink_out(import.graph, gpu) >= cases[i].out * 1e9 &&
                        nvlink_out(import.graph, gpu) <= cases[i].out * 1e9);
        assert_false(import.graph->gpu_forward);
        import_clear(&import);
    }
}

// The class of the way between two nodes that NVLinks have no part in: how many PCIe switches and sockets lie
// on it. Every such graph is a tree of PCIe below sockets that are all joined.
static ImportSmiClass graph_class(const TopoGraph *graph, guint32 a, guint32 b)
{
    guint32 n = graph->nodes->len;
    g_autofree guint32 *before = g_new(guint32, n), *queue = g_new(guint32, n);
    for (guint32 i = 0; i < n; i++)
        before[i] = G_MAXUINT32;
    before[a] = a;
    queue[0] = a;
    for (guint32 at = 0, end = 1; at < end; at++) {
        TopoNodeKind kind = topo_graph_node(graph, queue[at])->kind;
        if (queue[at] != a && (kind == TOPO_NODE_GPU || kind == TOPO_NODE_NIC))
            continue;
        for (guint32 i = 0; i < graph->links->len; i++) {
            const TopoLink *link = topo_graph_link(graph, i);
            if (link->from == queue[at] && link->class != TOPO_LINK_NVLINK &&
                before[link->to] == G_MAXUINT32) {
                before[link->to] = queue[at];
                queue[end++] = link->to;
            }
        }
    }
    guint switches = 0, sockets = 0;
    assert_true(before[b] != G_MAXUINT32);
    for (guint32 at = before[b]; at != a; at = before[at]) {
        switches += topo_graph_node(graph, at)->kind == TOPO_NODE_PCIE_SWITCH ? 1 : 0;
        sockets += topo_graph_node(graph, at)->kind == TOPO_NODE_CPU ? 1 : 0;
    }
    if (sockets > 0)
        return sockets > 1 ? IMPORT_SMI_SYS : IMPORT_SMI_NODE;
    return switches > 1 ? IMPORT_SMI_PXB : IMPORT_SMI_PIX;
}

// The graph's distances against the text's, pair by pair. Returns how many pairs were held against each
// other.
static guint check_distances(const char *text, gsize length, const TopoGraph *graph)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) assumed = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(ImportSmiTable) table = import_smi_table_read("x", text, length, notes, assumed, NULL);
    g_autofree guint32 *node = g_new(guint32, table->devices->len);
    guint32 first_nic = 0, gpus = 0, nics = 0;
    guint pairs = 0;
    while (first_nic < graph->nodes->len && topo_graph_node(graph, first_nic)->kind != TOPO_NODE_NIC)
        first_nic++;
    for (guint i = 0; i < table->devices->len; i++)
        node[i] = import_smi_table_device(table, i)->gpu ? topo_graph_gpu(graph, gpus++) : first_nic + nics++;
    for (guint i = 0; i < table->devices->len; i++) {
        for (guint j = 0; j < i; j++) {
            ImportSmiClass said = import_smi_table_get(table, i, j).class;
            said = said == IMPORT_SMI_PHB ? IMPORT_SMI_NODE : said;
            if (said < IMPORT_SMI_PIX)
                continue;
            pairs++;
            if (graph_class(graph, node[i], node[j]) != said)
                fail_msg("%s and %s: another distance than the text's",
                         import_smi_table_device(table, i)->label, import_smi_table_device(table, j)->label);
        }
    }
    return pairs;
}

static char *read_data(const char *file, gsize *length)
{
    g_autofree char *path = g_build_filename(g_getenv("STEPLINE_SOURCE"), "tests", "data", file, NULL);
    char *text = NULL;
    if (!g_file_get_contents(path, &text, length, NULL))
        fail_msg("%s cannot be read", path);
    return text;
}

static void test_switch(void **state)
{
    (void)state;
    gsize length = 0;
    g_autofree char *text = read_data("smi-switch.txt", &length);
    Import import;
    read_text(text, &import);
    const guint32 *counts = import.graph->counts;
    assert_int_equal(counts[TOPO_NODE_GPU], 4);
    assert_int_equal(counts[TOPO_NODE_NIC], 4);
    assert_int_equal(counts[TOPO_NODE_CPU], 2);
    assert_int_equal(counts[TOPO_NODE_PCIE_SWITCH], 4);
    assert_int_equal(counts[TOPO_NODE_NVSWITCH], 1);
    assert_int_equal(import.graph->links->len, 2 * (4 + 8 + 4 + 1));
    assert_int_equal(check_distances(text, length, import.graph), 16 + 6);
    assert_true(says(import.notes, "nic0 is mlx5_4, nic1 is mlx5_5"));
    assert_true(says(import.notes, "cpu0: (GPU0 NIC0) (GPU1 NIC1); cpu1: (GPU2 NIC2) (GPU3 NIC3)"));
    assert_true(says(import.assumed, "PCIe 5.0 x16 at 48 GB/s"));
    assert_true(says(import.assumed, "srun -N1"));
    import_clear(&import);
}

// A cube mesh: pairs without a cable go by one GPU, and no route is longer.
static void test_cube(void **state)
{
    (void)state;
    gsize length = 0;
    g_autofree char *text = read_data("smi-cube.txt", &length);
    Import import;
    read_text(text, &import);
    assert_true(import.graph->gpu_forward);
    assert_string_equal(import.chip, "v100-sxm");
    assert_int_equal(import.graph->counts[TOPO_NODE_NVSWITCH], 0);
    assert_true(says(import.notes, "neighbour in common: 12"));
    assert_int_equal(check_distances(text, length, import.graph), 12 + 8);
    g_autoptr(TopoRouter) router = topo_router_new(import.graph, 0);
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 a = 0; a < 8; a++) {
        assert_true(nvlink_out(import.graph, a) >= 150e9 && nvlink_out(import.graph, a) <= 150e9);
        for (guint32 b = 0; b < 8; b++) {
            g_array_set_size(links, 0);
            assert_true(topo_router_find(router, a, b, links));
            assert_true(links->len <= 2);
            for (guint i = 0; i < links->len; i++)
                assert_int_equal(topo_graph_link(import.graph, g_array_index(links, guint32, i))->class,
                                 TOPO_LINK_NVLINK);
        }
    }
    import_clear(&import);
}

static void test_pcie(void **state)
{
    (void)state;
    gsize length = 0;
    g_autofree char *text = read_data("smi-pcie.txt", &length);
    Import import;
    read_text(text, &import);
    assert_null(import.chip);
    assert_int_equal(check_distances(text, length, import.graph), 10);
    assert_true(says(import.notes, "cpu0: ( (GPU0 NIC0) (GPU1) ) GPU2; cpu1: GPU3"));
    assert_true(
        says(import.notes, "peer to peer is missing between 5 of 6 pairs of GPUs (first GPU0 and GPU2"));
    import_clear(&import);
}

// What the text leaves open, or says against itself.
static void test_guesses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *tree, *said;
    } cases[] = {
        // NVLink hides the PCIe classes: affinity decides ...
        {"GPU0 X NV4 NV4 0-3 0\nGPU1 NV4 X NV4 4-7 1\nGPU2 NV4 NV4 X 0-3 0\n", "cpu0: GPU0 GPU2; cpu1: GPU1",
         "of one affinity share"},
        {"GPU0 X NV4 0-3 N/A\nGPU1 NV4 X 4-7 N/A\n", "cpu0: GPU0; cpu1: GPU1", NULL},
        {"GPU0 X NV4\nGPU1 NV4 X\n", "cpu0: GPU0 GPU1", "affinity is not given"},
        // ... but what both are to a NIC counts more
        {"GPU0 GPU1 NIC0\nGPU0 X NV4 PIX\nGPU1 NV4 X PIX\n", "cpu0: (GPU0 GPU1 NIC0)", NULL},
        {"GPU0 GPU1 NIC0 CPU Affinity\nGPU0 X NV4 PIX 0\nGPU1 NV4 X SYS 0\n", "cpu0: (GPU0 NIC0); cpu1: GPU1",
         "SYS apart though of one affinity"},
        {"GPU0 GPU1 NIC0 CPU Affinity\nGPU0 X NV4 NODE 0\nGPU1 NV4 X NODE 1\n", "cpu0: GPU0 GPU1 NIC0", NULL},
        // no tree has these distances
        {"GPU0 X PIX SYS\nGPU1 PIX X PIX\nGPU2 SYS PIX X\n", "cpu0: (GPU0 GPU1 GPU2)",
         "fit no tree, the nearer way counts (GPU0 and GPU2: SYS"},
        {"GPU0 X PHB NODE\nGPU1 PHB X NODE\nGPU2 NODE NODE X\n", "cpu0: GPU0 GPU1 GPU2",
         "PHB and NODE are modelled alike"},
        // a GPU that lost a link, a display card without NVLink, two pairs
        {"GPU0 X NV18 NV17\nGPU1 NV18 X NV17\nGPU2 NV17 NV17 X\n", "cpu0:", "H100"},
        {"GPU0 X NV18 NV18\nGPU1 NV18 X NV16\nGPU2 NV18 NV16 X\n",
         "cpu0:", "fewer NVLinks than both their GPUs have: 1"},
        {"GPU0 X NV2 NV2 SYS\nGPU1 NV2 X NV2 SYS\nGPU2 NV2 NV2 X SYS\nGPU3 SYS SYS SYS X\n", "cpu1: GPU3",
         "V100"},
        {"GPU0 X NV2 SYS SYS\nGPU1 NV2 X NV2 SYS\nGPU2 SYS NV2 X NV2\nGPU3 SYS SYS NV2 X\n", "cpu",
         "more than two NVLinks apart: 1"},
        {"GPU0 X SYS\nGPU1 SYS X\n", "cpu0: GPU0; cpu1: GPU1", "PCIe 4.0"},
        {"GPU0 X SYS\nGPU4 SYS X\n", "cpu0: GPU0; cpu1: GPU4", "GPU4 is gpu1"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Import import;
        read_text(cases[i].text, &import);
        if (!says(import.notes, cases[i].tree))
            fail_msg("found %s, wanted %s", (char *)g_ptr_array_index(import.notes, import.notes->len - 1),
                     cases[i].tree);
        if (cases[i].said != NULL && !says(import.assumed, cases[i].said) &&
            !says(import.notes, cases[i].said))
            fail_msg("'%s' is not said", cases[i].said);
        import_clear(&import);
    }
}

// Random trees of switches and sockets, told as a matrix, come back with the same distances.
static void test_random_trees(void **state)
{
    (void)state;
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    static const char *const names[] = {"PIX", "PXB", "NODE", "SYS"};
    for (guint round = 0; round < 300; round++) {
        enum { MOST = 12 };
        guint n = (guint)g_rand_int_range(rand, 1, MOST + 1), place[MOST][3];
        for (guint i = 0; i < n; i++)
            for (guint level = 0; level < 3; level++) // socket, top switch, switch
                place[i][level] = (guint)g_rand_int_range(rand, 0, 2);
        g_autoptr(GString) text = g_string_new(NULL);
        for (guint i = 0; i < n; i++) {
            g_string_append_printf(text, "%s%u", i % 3 == 1 ? "mlx5_" : "GPU", i);
            for (guint j = 0; j < n; j++) {
                guint same = 0;
                while (same < 3 && place[i][same] == place[j][same])
                    same++;
                g_string_append_printf(text, "\t%s", i == j ? "X" : names[3 - same]);
            }
            g_string_append_c(text, '\n');
        }
        Import import;
        read_text(text->str, &import);
        assert_int_equal(check_distances(text->str, text->len, import.graph), n * (n - 1) / 2);
        import_clear(&import);
    }
}

// Files that people have, where a collection of them lies: each is imported with as many GPUs as its name
// says, or refused where it should be.
static void test_collection(void **state)
{
    (void)state;
    const char *folder = g_getenv("STEPLINE_INPUTS");
    g_autofree char *beside = g_build_filename(g_getenv("STEPLINE_SOURCE"), "..", "shared", "inputs", NULL);
    g_autofree char *path = g_build_filename(folder != NULL ? folder : beside, "smi-topo", NULL);
    g_autoptr(GDir) files = g_dir_open(path, 0, NULL);
    if (files == NULL) {
        print_message("SKIPPED: there is no folder %s (set STEPLINE_INPUTS)\n", path);
        skip();
    }
    for (const char *name; (name = g_dir_read_name(files)) != NULL;) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        g_autofree char *text = NULL;
        g_autoptr(GError) error = NULL;
        gsize length = 0;
        assert_true(g_file_get_contents(file, &text, &length, NULL));
        gboolean refuse = strstr(name, "NEG") != NULL || strstr(name, "topo_mp_affinity_only") != NULL;
        g_auto(GStrv) words = g_strsplit(name, "_", -1);
        guint64 gpus = 0;
        for (guint i = 0; words[i] != NULL && gpus == 0; i++) // the first word that is a number
            if (g_ascii_strtoull(words[i], NULL, 10) > 0 &&
                strspn(words[i], "0123456789") == strcspn(words[i], "."))
                gpus = g_ascii_strtoull(words[i], NULL, 10);
        if (strcmp(words[0], "nv2") == 0)
            gpus = 2;
        Import import;
        import_init(&import);
        if (IMPORT_SMI.sniff(text, length) < 60)
            fail_msg("%s: not recognised", name);
        gboolean fine = IMPORT_SMI.read(name, text, length, &import, &error);
        if (fine == refuse)
            fail_msg("%s: %s", name, fine ? "not refused" : error->message);
        if (refuse) {
            check_says(error, "wanted the matrix of 'nvidia-smi topo -m'");
        } else {
            if (import.graph->gpus->len != gpus)
                fail_msg("%s: found %u GPUs", name, import.graph->gpus->len);
            check_distances(text, length, import.graph);
        }
        import_clear(&import);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),    cmocka_unit_test(test_switch),
        cmocka_unit_test(test_cube),       cmocka_unit_test(test_pcie),
        cmocka_unit_test(test_guesses),    cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_collection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
