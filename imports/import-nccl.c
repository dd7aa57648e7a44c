// imports/import-nccl.c: a graph from an NCCL topology file (NCCL_TOPO_DUMP_FILE).
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "imports/import.h"
#include "imports/nccl-graph.h"
#include "imports/nccl-nvlink.h"
#include "imports/nccl.h"
#include "imports/parts.h"

// What the import works on.
typedef struct {
    Import *import;          // borrowed
    ImportNccl nccl;         // owned
    ImportNcclNvlink nvlink; // owned
} NcclImport;

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
    Import *import = it->import;
    gint64 vendor = 0, device = 0, sm = 0;
    const ImportNcclPart *first = import_nccl_nvlink_gpu(&it->nccl, &it->nvlink, 0);
    for (guint i = 1; i < it->nvlink.gpus->len; i++)
        if (g_strcmp0(import_xml_find(import_nccl_nvlink_gpu(&it->nccl, &it->nvlink, i)->element, "device"),
                      import_xml_find(first->element, "device")) != 0) {
            import_assume(import, "the GPUs are of several kinds: the chip is that of gpu0");
            break;
        }
    // Both are hints here: what cannot be read says nothing.
    import_nccl_file_get(&it->nccl.file, first->element, "vendor", 0, 0xffff, &vendor, NULL);
    import_nccl_file_get(&it->nccl.file, first->element, "device", 0, 0xffff, &device, NULL);
    const ImportPartsGpu *gpu = import_parts_find_gpu(vendor, device);
    if (gpu != NULL) {
        gboolean exact = nccl_has_chip(gpu->chip);
        const char *chip = exact ? gpu->chip : nccl_has_chip(gpu->near) ? gpu->near : NULL;
        import->chip = g_strdup(chip);
        import_note(import, "GPU %s by its PCI ids", gpu->model);
        if (chip == NULL)
            import_assume(import, "the chip library does not have this GPU: set chip in the machine file");
        else if (!exact)
            import_assume(import, "chip %s: the library does not have this GPU, and this one computes alike",
                          chip);
        return;
    }
    if (first->gpu != NULL && import_xml_find(first->gpu, "gcn") == NULL)
        import_nccl_file_get(&it->nccl.file, first->gpu, "sm", 0, 9999, &sm, NULL);
    const char *chip = import_parts_chip_of_sm(sm, it->nvlink.rate > 0);
    if (nccl_has_chip(chip)) {
        import->chip = g_strdup(chip);
        import_assume(import, "chip %s, by its compute capability alone (sm %d)", chip, (int)sm);
    } else {
        import_assume(import, "the file does not say which chip the GPUs are: set chip in the machine file");
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
    import_note(it->import, "%s: %s%s%s each way", what, low, least < most ? " to " : "",
                least < most ? high : "");
}

static void nccl_note_nvlinks(NcclImport *it)
{
    const ImportNcclNvlink *nvlink = &it->nvlink;
    guint n = nvlink->gpus->len;
    gint64 most = 0;
    for (guint i = 0; i < n; i++)
        most = MAX(most, nvlink->links[i]);
    if (most == 0) {
        import_note(it->import, "no NVLink or xGMI: GPUs reach each other over PCIe");
    } else {
        g_autofree char *rate = units_format_rate(nvlink->rate);
        import_note(it->import, "%d NVLink or xGMI links a GPU at most, %s each way by link", (int)most,
                    rate);
        nccl_note_rates(it, "from each GPU to the NVSwitch", nvlink->to_switch, n);
        nccl_note_rates(it, "between two joined GPUs", nvlink->peers, (gsize)n * n);
        import_assume(it->import,
                      "NVLink at its nominal rate by compute capability, xGMI at the rate RCCL counts "
                      "on; several NVSwitches are one node");
    }
    if (it->import->graph->gpu_forward)
        import_note(it->import,
                    "no NVSwitch, and not every two GPUs are joined: messages may pass through GPUs");
    nccl_note_rates(it, "from each GPU to its CPU (C2C, NVLink)", nvlink->to_cpu, n);
    for (guint i = 0; i < n; i++)
        if (nvlink->links[i] < most && (nvlink->links[i] == 0 || import_nccl_nvlink_has_switch(nvlink)))
            import_nccl_file_report(&it->nccl.file,
                                    import_nccl_nvlink_gpu(&it->nccl, nvlink, i)->element->line,
                                    "a GPU with %d NVLinks where others have %d: kept so; is it at fault?",
                                    (int)nvlink->links[i], (int)most);
}

static void nccl_note_nics(NcclImport *it)
{
    g_autoptr(GString) names = g_string_new(NULL);
    guint number = 0;
    for (guint i = 0; i < it->nccl.parts->len; i++) {
        const ImportNcclPart *part = import_nccl_part(&it->nccl, i);
        if (part->kind != IMPORT_NCCL_NIC || !part->kept)
            continue;
        const ImportXmlElement *nic = part->busid == NULL ? NULL : import_xml_child(part->element, "nic");
        const ImportXmlElement *net = part->busid == NULL ? part->element
                                      : nic == NULL       ? NULL
                                                          : import_xml_child(nic, "net");
        const char *name = net == NULL ? NULL : import_xml_find(net, "name");
        g_autofree char *quoted =
            base_error_quote(name == NULL ? part->busid == NULL ? "?" : part->busid : name);
        g_autofree char *rate =
            units_format_rate(part->network > 0 ? MIN(part->network, part->bandwidth) : part->bandwidth);
        g_string_append_printf(names, "%snic%u %s %s", number == 0 ? "" : ", ", number, quoted, rate);
        number++;
    }
    if (number > 0)
        import_note(it->import, "NICs, by the slower of net and PCIe link: %s", names->str);
}

static void nccl_note_gpus(NcclImport *it)
{
    const ImportNcclNvlink *nvlink = &it->nvlink;
    const TopoGraph *graph = it->import->graph;
    guint n = nvlink->gpus->len;
    gboolean named = FALSE;
    g_autoptr(GString) names = g_string_new(NULL);
    g_autofree double *rates = g_new(double, n);
    for (guint i = 0; i < n; i++) {
        const ImportNcclPart *gpu = import_nccl_nvlink_gpu(&it->nccl, nvlink, i);
        g_autofree char *busid = base_error_quote(gpu->busid);
        g_autofree char *dev =
            base_error_quote(gpu->gpu == NULL                           ? ""
                             : import_xml_find(gpu->gpu, "dev") == NULL ? ""
                                                                        : import_xml_find(gpu->gpu, "dev"));
        g_string_append_printf(names, "%sgpu%u %s%s%s%s", i == 0 ? "" : ", ", i, busid,
                               nvlink->by_dev ? " (dev " : "", nvlink->by_dev ? dev : "",
                               nvlink->by_dev ? ")" : "");
        named |= gpu->gpu != NULL;
        rates[i] = gpu->bandwidth;
    }
    import_note(it->import, "GPUs %u, PCIe switches %u, CPUs (NUMA nodes) %u, NICs %u, hosts %u", n,
                graph->counts[TOPO_NODE_PCIE_SWITCH], graph->counts[TOPO_NODE_CPU],
                graph->counts[TOPO_NODE_NIC], it->nccl.hosts);
    import_note(it->import, "GPUs by %s: %s", nvlink->by_dev ? "dev" : "place in the file", names->str);
    nccl_note_rates(it, "PCIe link of each GPU", rates, n);
    if (!named)
        import_assume(it->import,
                      "the file has no <gpu>: GPUs are known by their PCI class. NCCL finds NVLinks when it "
                      "starts; they are not in the file and so not in the graph");
}

static void nccl_note_assumed(NcclImport *it)
{
    Import *import = it->import;
    const ImportNcclFile *file = &it->nccl.file;
    import_assume(
        import,
        "latencies are guesses, the file has none: NVLink 0.4 us a link, PCIe 0.7 us for GPUs and NICs "
        "and 0.15 us between switches, between CPUs 0.5 us");
    import_assume(
        import,
        "PCIe and CPU links carry what NCCL counts on (x16: 12, 24, 48, 96 GB/s for PCIe 3 to 6); GPUs "
        "and NICs may talk directly (peer to peer, GPUDirect), whatever gdr says");
    for (guint i = 0; i < file->issues->len; i++) {
        const ImportNcclIssue *issue = file->issues->pdata[i];
        if (issue->times == 1)
            import_assume(import, "line %u: %s", issue->line, issue->what);
        else
            import_assume(import, "line %u and %u more: %s", issue->line, issue->times - 1, issue->what);
    }
    if (file->more > 0)
        import_assume(import, "%u more of such", file->more);
    g_autofree char *unused = import_nccl_file_unused(file);
    if (*unused != '\0')
        import_assume(import, "read and of no effect: %s", unused);
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
    it->import->graph = import_nccl_graph_new(&it->nccl, &it->nvlink);
    nccl_note_gpus(it);
    nccl_find_chip(it);
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
    while (at < text + length && (g_ascii_isspace(*at) || (guchar)*at >= 0x80)) // or a byte order mark
        at++;
    if (start == NULL || *at == '<')
        return TRUE;
    for (at = text; at < start; at++)
        line += *at == '\n';
    return base_error_set(
        error, BASE_ERROR_FAILED, name,
        "found other text before <system> in line %u (a manifest that holds the XML?), wanted the "
        "XML alone: cut it out into a file of its own",
        line);
}

static gboolean nccl_read(const char *name, const char *text, gsize length, Import *import, GError **error)
{
    g_autoptr(ImportXmlElement) root =
        nccl_check_bare(name, text, length, error) ? import_xml_read(name, text, length, error) : NULL;
    if (root == NULL)
        return FALSE;
    NcclImport it = {.import = import};
    gboolean fine = import_nccl_read(name, root, &it.nccl, error) &&
                    import_nccl_nvlink_read(&it.nccl, &it.nvlink, error) && nccl_build(&it, error);
    import_nccl_nvlink_clear(&it.nvlink);
    import_nccl_clear(&it.nccl);
    return fine;
}

const Importer IMPORT_NCCL = {
    .name = "nccl-xml",
    .title = "NCCL topology XML (NCCL_TOPO_DUMP_FILE)",
    .sniff = nccl_sniff,
    .read = nccl_read,
};
