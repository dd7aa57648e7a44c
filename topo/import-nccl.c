// topo/import-nccl.c: a graph from an NCCL topology file (NCCL_TOPO_DUMP_FILE).
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "topo/import.h"
#include "topo/nccl-nvlink.h"
#include "topo/nccl.h"
#include "topo/parts.h"

// Latencies of one link, for the head of a message. Guesses: the file has none. They are chosen so that
// NVLink wins over PCIe (up to three hops from GPU to GPU), a near NIC over a far one, and two GPUs below one
// PCIe switch are 1.4 us apart.
enum {
    NVLINK_PS = 400000,
    DEVICE_PS = 700000, // PCIe link of a GPU or NIC
    BRIDGE_PS = 150000, // PCIe link of a bridge
    SOCKET_PS = 500000,
};

// What the import works on.
typedef struct {
    TopoImport *import;    // borrowed
    TopoNccl nccl;         // owned
    TopoNcclNvlink nvlink; // owned
    guint32 *nodes;        // owned: node id of each part
    guint32 nvswitch;      // node id; G_MAXUINT32: there is none
    gboolean islands;      // hosts have equally many GPUs and are told apart
} NcclImport;

// --- the graph

static void nccl_add_node(NcclImport *it, guint part, TopoNodeKind kind)
{
    guint32 island = it->islands ? topo_nccl_part(&it->nccl, part)->host : 0;
    it->nodes[part] = topo_graph_add_node(it->import->graph, kind, island);
}

static void nccl_add_parts(NcclImport *it, TopoNcclKind part_kind, TopoNodeKind kind)
{
    for (guint i = 0; i < it->nccl.parts->len; i++) {
        const TopoNcclPart *part = topo_nccl_part(&it->nccl, i);
        if (part->kind == part_kind && part->kept)
            nccl_add_node(it, i, kind);
    }
}

// Nodes by kind, as a machine file gives them, so that what is written is what is read.
static void nccl_add_nodes(NcclImport *it)
{
    guint gpus = it->nvlink.gpus->len, hosts = it->nccl.hosts;
    g_autofree guint *by_host = g_new0(guint, MAX(hosts, 1));
    for (guint i = 0; i < gpus; i++)
        by_host[topo_nccl_nvlink_gpu(&it->nccl, &it->nvlink, i)->host]++;
    it->islands = hosts > 0 && gpus % hosts == 0;
    for (guint i = 0; i < hosts; i++)
        it->islands &= by_host[i] == gpus / hosts;
    it->nodes = g_new(guint32, MAX(it->nccl.parts->len, 1));
    for (guint i = 0; i < gpus; i++)
        nccl_add_node(it, g_array_index(it->nvlink.gpus, guint, i), TOPO_NODE_GPU);
    it->nvswitch = G_MAXUINT32;
    if (topo_nccl_nvlink_has_switch(&it->nvlink))
        it->nvswitch =
            topo_graph_add_node(it->import->graph, TOPO_NODE_NVSWITCH, hosts > 1 ? G_MAXUINT32 : 0);
    nccl_add_parts(it, TOPO_NCCL_BRIDGE, TOPO_NODE_PCIE_SWITCH);
    nccl_add_parts(it, TOPO_NCCL_CPU, TOPO_NODE_CPU);
    nccl_add_parts(it, TOPO_NCCL_NIC, TOPO_NODE_NIC);
}

static void nccl_add_nvlinks(NcclImport *it)
{
    TopoGraph *graph = it->import->graph;
    const TopoNcclNvlink *nvlink = &it->nvlink;
    guint n = nvlink->gpus->len;
    for (guint a = 0; a < n; a++) {
        guint32 gpu = topo_graph_gpu(graph, a);
        const TopoNcclPart *part = topo_nccl_nvlink_gpu(&it->nccl, nvlink, a);
        if (nvlink->to_switch[a] > 0)
            topo_graph_add_cable(graph, gpu, it->nvswitch, TOPO_LINK_NVLINK, nvlink->to_switch[a], NVLINK_PS);
        if (nvlink->to_cpu[a] > 0)
            topo_graph_add_cable(graph, gpu, it->nodes[part->cpu], TOPO_LINK_NVLINK, nvlink->to_cpu[a],
                                 NVLINK_PS);
        for (guint b = a + 1; b < n; b++)
            if (nvlink->peers[a * n + b] > 0)
                topo_graph_add_cable(graph, gpu, topo_graph_gpu(graph, b), TOPO_LINK_NVLINK,
                                     nvlink->peers[a * n + b], NVLINK_PS);
    }
    guint pairs = topo_nccl_nvlink_pairs(nvlink);
    graph->gpu_forward = pairs > 0 && pairs < n * (n - 1) / 2 && it->nvswitch == G_MAXUINT32;
    if (graph->gpu_forward)
        topo_import_note(it->import,
                         "no NVSwitch, and not every two GPUs are joined: messages may pass through GPUs");
}

// Whether a GPU that hangs directly below its CPU is joined to it by C2C as well: one link each way is kept.
static gboolean nccl_is_by_c2c(const NcclImport *it, guint at)
{
    const TopoNcclPart *part = topo_nccl_part(&it->nccl, at);
    for (guint i = 0; part->kind == TOPO_NCCL_GPU && part->parent == part->cpu && i < it->nvlink.gpus->len;
         i++)
        if (g_array_index(it->nvlink.gpus, guint, i) == at)
            return it->nvlink.to_cpu[i] > 0;
    return FALSE;
}

static void nccl_add_pcie(NcclImport *it)
{
    TopoGraph *graph = it->import->graph;
    for (guint i = 0; i < it->nccl.parts->len; i++) {
        const TopoNcclPart *part = topo_nccl_part(&it->nccl, i);
        if (part->parent == G_MAXUINT || !part->kept)
            continue;
        if (nccl_is_by_c2c(it, i)) {
            topo_nccl_file_report(&it->nccl.file, part->element->line,
                                  "PCIe link of a GPU to its CPU left out beside the faster C2C or NVLink");
            continue;
        }
        double bandwidth = part->bandwidth;
        if (part->kind == TOPO_NCCL_NIC && part->network > 0)
            bandwidth = MIN(bandwidth, part->network);
        topo_graph_add_cable(graph, it->nodes[i], it->nodes[part->parent], TOPO_LINK_PCIE, bandwidth,
                             part->kind == TOPO_NCCL_BRIDGE ? BRIDGE_PS : DEVICE_PS);
    }
    for (guint a = 0; a < it->nccl.parts->len; a++)
        for (guint b = a + 1; b < it->nccl.parts->len; b++) {
            const TopoNcclPart *one = topo_nccl_part(&it->nccl, a), *two = topo_nccl_part(&it->nccl, b);
            if (one->kind != TOPO_NCCL_CPU)
                break;
            if (two->kind != TOPO_NCCL_CPU || one->host != two->host)
                continue;
            topo_graph_add_link(graph, it->nodes[a], it->nodes[b], TOPO_LINK_CPU, one->bandwidth, SOCKET_PS);
            topo_graph_add_link(graph, it->nodes[b], it->nodes[a], TOPO_LINK_CPU, two->bandwidth, SOCKET_PS);
        }
}

// --- the chip

static gboolean nccl_has_chip(const char *chip)
{
    if (chip == NULL)
        return FALSE;
    g_autofree char *path = g_strdup_printf("topo/data/chips/%s.ini", chip);
    g_autoptr(GBytes) bytes = library_find(path);
    return bytes != NULL;
}

// The chip by PCI device id, else by compute capability, as far as the library has it.
static void nccl_find_chip(NcclImport *it)
{
    TopoImport *import = it->import;
    gint64 vendor = 0, device = 0, sm = 0;
    const TopoNcclPart *first = topo_nccl_nvlink_gpu(&it->nccl, &it->nvlink, 0);
    for (guint i = 1; i < it->nvlink.gpus->len; i++)
        if (g_strcmp0(topo_xml_find(topo_nccl_nvlink_gpu(&it->nccl, &it->nvlink, i)->element, "device"),
                      topo_xml_find(first->element, "device")) != 0) {
            topo_import_assume(import, "the GPUs are of several kinds: the chip is that of gpu0");
            break;
        }
    // Both are hints here: what cannot be read says nothing.
    topo_nccl_file_get(&it->nccl.file, first->element, "vendor", 0, 0xffff, &vendor, NULL);
    topo_nccl_file_get(&it->nccl.file, first->element, "device", 0, 0xffff, &device, NULL);
    const TopoPartsGpu *gpu = topo_parts_find_gpu(vendor, device);
    if (gpu != NULL) {
        gboolean exact = nccl_has_chip(gpu->chip);
        const char *chip = exact ? gpu->chip : nccl_has_chip(gpu->near) ? gpu->near : NULL;
        import->chip = g_strdup(chip);
        topo_import_note(import, "GPU %s by its PCI ids", gpu->model);
        if (chip == NULL)
            topo_import_assume(import,
                               "the chip library does not have this GPU: set chip in the machine file");
        else if (!exact)
            topo_import_assume(
                import, "chip %s: the library does not have this GPU, and this one computes alike", chip);
        return;
    }
    if (first->gpu != NULL && topo_xml_find(first->gpu, "gcn") == NULL)
        topo_nccl_file_get(&it->nccl.file, first->gpu, "sm", 0, 9999, &sm, NULL);
    const char *chip = topo_parts_chip_of_sm(sm, it->nvlink.rate > 0);
    if (nccl_has_chip(chip)) {
        import->chip = g_strdup(chip);
        topo_import_assume(import, "chip %s, by its compute capability alone (sm %d)", chip, (int)sm);
    } else {
        topo_import_assume(import,
                           "the file does not say which chip the GPUs are: set chip in the machine file");
    }
}

// --- words

static void nccl_note_rates(NcclImport *it, const char *what, const double *rates, gsize n)
{
    double least = G_MAXDOUBLE, most = 0;
    guint count = 0;
    for (gsize i = 0; i < n; i++) {
        if (rates[i] <= 0)
            continue;
        count++;
        least = MIN(least, rates[i]);
        most = MAX(most, rates[i]);
    }
    if (count == 0)
        return;
    g_autofree char *low = units_format_rate(least), *high = units_format_rate(most);
    topo_import_note(it->import, "%s: %s%s%s each way", what, low, least < most ? " to " : "",
                     least < most ? high : "");
}

static void nccl_note_nvlinks(NcclImport *it)
{
    const TopoNcclNvlink *nvlink = &it->nvlink;
    guint n = nvlink->gpus->len;
    gint64 most = 0;
    for (guint i = 0; i < n; i++)
        most = MAX(most, nvlink->links[i]);
    if (most == 0) {
        topo_import_note(it->import, "no NVLink or xGMI: GPUs reach each other over PCIe");
    } else {
        g_autofree char *rate = units_format_rate(nvlink->rate);
        topo_import_note(it->import, "%d NVLink or xGMI links a GPU at most, %s each way by link", (int)most,
                         rate);
        nccl_note_rates(it, "from each GPU to the NVSwitch", nvlink->to_switch, n);
        nccl_note_rates(it, "between two joined GPUs", nvlink->peers, (gsize)n * n);
        topo_import_assume(it->import,
                           "NVLink at its nominal rate by compute capability, xGMI at the rate RCCL counts "
                           "on; several NVSwitches are one node");
    }
    nccl_note_rates(it, "from each GPU to its CPU (C2C, NVLink)", nvlink->to_cpu, n);
    for (guint i = 0; i < n; i++)
        if (nvlink->links[i] < most && (nvlink->links[i] == 0 || it->nvswitch != G_MAXUINT32))
            topo_nccl_file_report(&it->nccl.file, topo_nccl_nvlink_gpu(&it->nccl, nvlink, i)->element->line,
                                  "a GPU with %d NVLinks where others have %d: kept so; is it at fault?",
                                  (int)nvlink->links[i], (int)most);
}

static void nccl_note_nics(NcclImport *it)
{
    g_autoptr(GString) names = g_string_new(NULL);
    guint number = 0;
    for (guint i = 0; i < it->nccl.parts->len; i++) {
        const TopoNcclPart *part = topo_nccl_part(&it->nccl, i);
        if (part->kind != TOPO_NCCL_NIC || !part->kept)
            continue;
        const TopoXmlElement *nic = part->busid == NULL ? NULL : topo_xml_child(part->element, "nic");
        const TopoXmlElement *net = part->busid == NULL ? part->element
                                    : nic == NULL       ? NULL
                                                        : topo_xml_child(nic, "net");
        const char *name = net == NULL ? NULL : topo_xml_find(net, "name");
        g_autofree char *quoted =
            base_error_quote(name == NULL ? part->busid == NULL ? "?" : part->busid : name);
        g_autofree char *rate =
            units_format_rate(part->network > 0 ? MIN(part->network, part->bandwidth) : part->bandwidth);
        g_string_append_printf(names, "%snic%u %s %s", number == 0 ? "" : ", ", number, quoted, rate);
        number++;
    }
    if (number > 0)
        topo_import_note(it->import, "NICs, by the slower of net and PCIe link: %s", names->str);
}

static void nccl_note_gpus(NcclImport *it)
{
    const TopoNcclNvlink *nvlink = &it->nvlink;
    const TopoGraph *graph = it->import->graph;
    guint n = nvlink->gpus->len;
    gboolean named = FALSE;
    g_autoptr(GString) names = g_string_new(NULL);
    g_autofree double *rates = g_new(double, n);
    for (guint i = 0; i < n; i++) {
        const TopoNcclPart *gpu = topo_nccl_nvlink_gpu(&it->nccl, nvlink, i);
        g_autofree char *busid = base_error_quote(gpu->busid);
        g_autofree char *dev =
            base_error_quote(gpu->gpu == NULL                         ? ""
                             : topo_xml_find(gpu->gpu, "dev") == NULL ? ""
                                                                      : topo_xml_find(gpu->gpu, "dev"));
        g_string_append_printf(names, "%sgpu%u %s%s%s%s", i == 0 ? "" : ", ", i, busid,
                               nvlink->by_dev ? " (dev " : "", nvlink->by_dev ? dev : "",
                               nvlink->by_dev ? ")" : "");
        named |= gpu->gpu != NULL;
        rates[i] = gpu->bandwidth;
    }
    topo_import_note(it->import, "%u GPUs, %u PCIe switches, %u CPUs (NUMA nodes), %u NICs on %u host%s", n,
                     graph->counts[TOPO_NODE_PCIE_SWITCH], graph->counts[TOPO_NODE_CPU],
                     graph->counts[TOPO_NODE_NIC], it->nccl.hosts, it->nccl.hosts == 1 ? "" : "s");
    topo_import_note(it->import, "GPUs by %s: %s", nvlink->by_dev ? "dev" : "place in the file", names->str);
    nccl_note_rates(it, "PCIe link of each GPU", rates, n);
    if (!named)
        topo_import_assume(
            it->import,
            "the file has no <gpu>: GPUs are known by their PCI class. NCCL finds NVLinks when it "
            "starts; they are not in the file and so not in the graph");
}

static void nccl_note_assumed(NcclImport *it)
{
    TopoImport *import = it->import;
    const TopoNcclFile *file = &it->nccl.file;
    topo_import_assume(
        import,
        "latencies are guesses, the file has none: NVLink 0.4 us a link, PCIe 0.7 us for GPUs and NICs "
        "and 0.15 us between switches, between CPUs 0.5 us");
    topo_import_assume(
        import,
        "PCIe and CPU links carry what NCCL counts on (x16: 12, 24, 48, 96 GB/s for PCIe 3 to 6); GPUs "
        "and NICs may talk directly (peer to peer, GPUDirect), whatever gdr says");
    for (guint i = 0; i < file->issues->len; i++) {
        const TopoNcclIssue *issue = file->issues->pdata[i];
        if (issue->times == 1)
            topo_import_assume(import, "line %u: %s", issue->line, issue->what);
        else
            topo_import_assume(import, "line %u and %u more: %s", issue->line, issue->times - 1, issue->what);
    }
    if (file->more > 0)
        topo_import_assume(import, "%u more of such", file->more);
    g_autofree char *unused = topo_nccl_file_unused(file);
    if (*unused != '\0')
        topo_import_assume(import, "read and of no effect: %s", unused);
}

// --- the importer

static int nccl_sniff(const char *text, gsize length)
{
    static const struct {
        const char *word;
        int likeness;
    } words[] = {{"<system", 90}, {"<graphs", 60}, {"<?xml", 30}};
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_strstr_len(text, (gssize)length, words[i].word) != NULL)
            return words[i].likeness;
    while (length > 0 && g_ascii_isspace(*text)) {
        text++;
        length--;
    }
    return length > 0 && *text == '<' ? 20 : 0;
}

static gboolean nccl_build(NcclImport *it, GError **error)
{
    if (it->nvlink.gpus->len == 0)
        return base_error_set(
            error, BASE_ERROR_FAILED, it->nccl.file.name,
            "found no GPU: no <gpu>, no <pci> with a GPU's class (0x03...), wanted a file that NCCL wrote "
            "(NCCL_TOPO_DUMP_FILE), where they are filled in");
    it->import->graph = topo_graph_new();
    nccl_add_nodes(it);
    nccl_note_gpus(it);
    nccl_find_chip(it);
    nccl_add_nvlinks(it);
    nccl_add_pcie(it);
    nccl_note_nvlinks(it);
    nccl_note_nics(it);
    nccl_note_assumed(it);
    return topo_graph_check(it->import->graph, it->nccl.file.name, error);
}

// FALSE with an error where the XML stands inside something else, such as a Kubernetes manifest.
static gboolean nccl_check_bare(const char *name, const char *text, gsize length, GError **error)
{
    const char *start = g_strstr_len(text, (gssize)length, "<system"), *at = text;
    guint line = 1;
    while (at < text + length && g_ascii_isspace(*at))
        at++;
    if (start == NULL || g_str_has_prefix(text, "\xef\xbb\xbf") || *at == '<')
        return TRUE;
    for (at = text; at < start; at++)
        line += *at == '\n';
    return base_error_set(
        error, BASE_ERROR_FAILED, name,
        "found other text before <system> in line %u (a manifest that holds the XML?), wanted the "
        "XML alone: cut it out into a file of its own",
        line);
}

static gboolean nccl_read(const char *name, const char *text, gsize length, TopoImport *import,
                          GError **error)
{
    g_autoptr(TopoXmlElement) root =
        nccl_check_bare(name, text, length, error) ? topo_xml_read(name, text, length, error) : NULL;
    if (root == NULL)
        return FALSE;
    NcclImport it = {.import = import};
    gboolean fine = topo_nccl_read(name, root, &it.nccl, error) &&
                    topo_nccl_nvlink_read(&it.nccl, &it.nvlink, error) && nccl_build(&it, error);
    topo_nccl_nvlink_clear(&it.nvlink);
    topo_nccl_clear(&it.nccl);
    g_free(it.nodes);
    return fine;
}

const TopoImporter TOPO_IMPORT_NCCL = {
    .name = "nccl-xml",
    .title = "NCCL topology XML (NCCL_TOPO_DUMP_FILE)",
    .sniff = nccl_sniff,
    .read = nccl_read,
};
