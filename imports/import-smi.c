// imports/import-smi.c: the importer of 'nvidia-smi topo -m': the table's NVLinks and PCIe tree as a graph.
//
// The text has no rates: NV# counts links, and which GPU they belong to follows from the counts alone (see
// smi_guess), which is an assumption and said to be one, as are PCIe generation, socket links and latencies.
#include "imports/import.h"

#include <string.h>

#include "base/error.h"
#include "imports/smi-table.h"
#include "imports/smi-tree.h"

#define GB (1e9) // bytes
// Latencies are guessed: NVLink 1 us from GPU to GPU, with or without a switch; PCIe 1 us a link and 0.5 us
// between sockets, as in the library's PCIe box. So NVLink beats PCIe, and two NVLinks beat the way between
// sockets.
#define NVLINK_LATENCY (PS_PER_SECOND / 1000000)
#define PCIE_LATENCY   (PS_PER_SECOND / 1000000)
#define SOCKET_LATENCY (PS_PER_SECOND / 2000000)
enum { NVLINKS_MOST = 18 }; // of one GPU, up to Blackwell

// What the counts of NVLinks tell of the GPU. NVLink rates: NVIDIA's data sheets, nominal, one way (P100 4 x
// 20, V100 6 x 25, A100 12 x 25, H100 18 x 25 GB/s; GA102 white paper: 4 x 14.0625). PCIe x16 and sockets:
// what NCCL counts on (src/graph/topo.h: 12, 24, 48 GB/s for PCIe 3, 4, 5; between sockets Skylake 10, AMD
// 16, Sapphire Rapids 22 GB/s); which of them a machine has is guessed from the GPU's time.
typedef struct {
    const char *who;  // for the assumption
    const char *chip; // of the chip library; NULL: the counts do not tell
    double nvlink;    // bytes/s one way of one link
    guint pcie;       // generation
} SmiGuess;

static const SmiGuess GUESS_NONE = {"no NVLink, any GPU", NULL, 0, 4};
static const SmiGuess GUESS_P100 = {"P100 (4 links)", NULL, 20 * GB, 3};
static const SmiGuess GUESS_PAIR = {"a bridged pair of Turing cards, or V100", NULL, 25 * GB, 3};
static const SmiGuess GUESS_V100 = {"V100 (6 links)", "v100-sxm", 25 * GB, 3};
static const SmiGuess GUESS_POWER9 = {"V100 in a POWER9 machine (3 links to each GPU; those to the CPU are "
                                      "not in the text, so PCIe is modelled)",
                                      "v100-sxm", 25 * GB, 3};
static const SmiGuess GUESS_GA102 = {"a bridged pair of RTX 3090 or RTX A6000 (4 links of 14 GB/s)", NULL,
                                     14.0625 * GB, 4};
static const SmiGuess GUESS_A800 = {"A800 or H800 (8 links)", NULL, 25 * GB, 4};
static const SmiGuess GUESS_A100 = {"A100 (12 links), of 80 GB", "a100-sxm-80g", 25 * GB, 4};
static const SmiGuess GUESS_H100 = {
    "H100 (18 links); H200 and H20 look the same, and B200 too, with links twice as fast", "h100-sxm",
    25 * GB, 5};
static const SmiGuess GUESS_NEWER = {"a GPU after Blackwell, with its links", NULL, 50 * GB, 5};

// GPUs that NVLinks join, directly or by way of others.
typedef struct {
    GArray *gpus; // of guint: rows of the table; owned
    guint links;  // the most links of one GPU: of all its pairs (direct), or of its widest pair (switch)
    guint widest; // the most links of one pair
    gboolean nvswitch;
} SmiIsland;

static guint smi_links(const ImportSmiTable *table, guint a, guint b)
{
    return import_smi_table_get(table, a, b).links; // 0 unless the class is NVLink
}

// The most links of any pair of a GPU: what it has into the switch.
static guint smi_port(const ImportSmiTable *table, guint gpu)
{
    guint most = 0;
    for (guint i = 0; i < table->devices->len; i++)
        most = MAX(most, smi_links(table, gpu, i));
    return most;
}

// The island of a GPU. More links in all than a GPU has mean a switch: each pair counts the same links.
static void smi_island_init(SmiIsland *island, const ImportSmiTable *table, guint gpu)
{
    *island = (SmiIsland){.gpus = g_array_new(FALSE, FALSE, sizeof(guint))};
    g_autofree gboolean *seen = g_new0(gboolean, table->devices->len);
    seen[gpu] = TRUE;
    g_array_append_val(island->gpus, gpu);
    for (guint i = 0; i < island->gpus->len; i++) {
        guint at = g_array_index(island->gpus, guint, i), sum = 0;
        for (guint j = 0; j < table->devices->len; j++) {
            sum += smi_links(table, at, j);
            if (smi_links(table, at, j) > 0 && !seen[j]) {
                seen[j] = TRUE;
                g_array_append_val(island->gpus, j);
            }
        }
        island->links = MAX(island->links, sum);
        island->widest = MAX(island->widest, smi_port(table, at));
    }
    island->nvswitch = island->links > NVLINKS_MOST && island->gpus->len > 2;
    if (island->nvswitch)
        island->links = island->widest;
}

static const SmiGuess *smi_guess(const SmiIsland *island)
{
    guint links = island->links;
    gboolean pair = island->gpus->len == 2;
    if (pair && links == 4)
        return &GUESS_GA102;
    if (pair && links <= 2)
        return &GUESS_PAIR;
    if (pair && links == 3)
        return &GUESS_POWER9;
    if (!island->nvswitch && island->widest == 1 && links <= 4)
        return &GUESS_P100;
    if (links <= 6)
        return &GUESS_V100;
    if (links == 8 && (island->nvswitch || pair))
        return &GUESS_A800;
    return links <= 12 ? &GUESS_A100 : links <= NVLINKS_MOST ? &GUESS_H100 : &GUESS_NEWER;
}

// GPU nodes are numbered by their place among the GPUs of the table.
static guint32 smi_node(const ImportSmiTable *table, guint device)
{
    guint32 node = 0;
    for (guint i = 0; i < device; i++)
        node += import_smi_table_device(table, i)->gpu ? 1 : 0;
    return node;
}

static void smi_add_switch(const SmiIsland *island, const ImportSmiTable *table, double rate, Import *import)
{
    guint odd = 0;
    guint32 nvswitch = topo_graph_add_node(import->graph, TOPO_NODE_NVSWITCH, 0);
    for (guint i = 0; i < island->gpus->len; i++) {
        guint a = g_array_index(island->gpus, guint, i), port = smi_port(table, a);
        topo_graph_add_cable(import->graph, smi_node(table, a), nvswitch, TOPO_LINK_NVLINK, port * rate,
                             NVLINK_LATENCY / 2);
        for (guint j = 0; j < i; j++) {
            guint b = g_array_index(island->gpus, guint, j);
            odd += smi_links(table, a, b) != MIN(port, smi_port(table, b));
        }
    }
    if (odd > 0)
        g_ptr_array_add(import->assumed,
                        g_strdup_printf("pairs on the NVSwitch with fewer NVLinks than both their "
                                        "GPUs have: %u; modelled with all of them",
                                        odd));
}

// Cables between the GPUs, and whether pairs without one need another GPU between them.
static void smi_add_cables(const SmiIsland *island, const ImportSmiTable *table, double rate, Import *import)
{
    guint bridged = 0, far = 0;
    for (guint i = 0; i < island->gpus->len; i++) {
        for (guint j = 0; j < island->gpus->len; j++) {
            guint a = g_array_index(island->gpus, guint, i), b = g_array_index(island->gpus, guint, j);
            guint links = smi_links(table, a, b);
            gboolean between = FALSE;
            if (a >= b)
                continue;
            if (links > 0)
                topo_graph_add_cable(import->graph, smi_node(table, a), smi_node(table, b), TOPO_LINK_NVLINK,
                                     links * rate, NVLINK_LATENCY);
            for (guint k = 0; links == 0 && k < table->devices->len && !between; k++)
                between = smi_links(table, a, k) > 0 && smi_links(table, k, b) > 0;
            bridged += between ? 1 : 0;
            far += links == 0 && !between ? 1 : 0;
        }
    }
    if (bridged > 0) {
        import->graph->gpu_forward = TRUE;
        g_ptr_array_add(
            import->notes,
            g_strdup_printf("pairs of GPUs without NVLink but with a neighbour in common: %u; GPUs "
                            "forward, as NCCL lets them (NVB), to NICs too (PXN)",
                            bridged));
    }
    if (far > 0)
        g_ptr_array_add(import->assumed,
                        g_strdup_printf("pairs of GPUs more than two NVLinks apart: %u; NCCL takes PCIe for "
                                        "them, here the quickest way counts",
                                        far));
}

// Adds all NVLinks. Returns what the largest island tells of the machine, the newest where there are several.
static const SmiGuess *smi_add_nvlinks(const ImportSmiTable *table, Import *import)
{
    const SmiGuess *best = &GUESS_NONE;
    guint most = 1;
    g_autofree gboolean *done = g_new0(gboolean, table->devices->len);
    for (guint gpu = 0; gpu < table->devices->len; gpu++) {
        if (done[gpu] || smi_port(table, gpu) == 0)
            continue;
        SmiIsland island;
        smi_island_init(&island, table, gpu);
        const SmiGuess *guess = smi_guess(&island);
        for (guint i = 0; i < island.gpus->len; i++)
            done[g_array_index(island.gpus, guint, i)] = TRUE;
        g_ptr_array_add(import->notes,
                        g_strdup_printf("NVLink: %s and %u more %s, links of a GPU: %u",
                                        import_smi_table_device(table, gpu)->label, island.gpus->len - 1,
                                        island.nvswitch ? "on an NVSwitch" : "cabled directly",
                                        island.links));
        g_autofree char *rate = units_format_rate(guess->nvlink);
        g_ptr_array_add(import->assumed,
                        g_strdup_printf("by its NVLinks %s is %s: %s one way a link",
                                        import_smi_table_device(table, gpu)->label, guess->who, rate));
        if (island.nvswitch)
            smi_add_switch(&island, table, guess->nvlink, import);
        else
            smi_add_cables(&island, table, guess->nvlink, import);
        if (island.gpus->len > most) {
            most = island.gpus->len;
            best = guess;
        }
        g_array_unref(island.gpus);
    }
    return best;
}

// PCIe tree and sockets.
static void smi_add_pcie(const ImportSmiTable *table, guint generation, Import *import)
{
    g_assert(generation >= 3 && generation <= 5);
    ImportSmiRates rates = {
        .pcie = generation == 3   ? 12 * GB
                : generation == 4 ? 24 * GB
                                  : 48 * GB,
        .socket = generation == 3   ? 10 * GB
                  : generation == 4 ? 16 * GB
                                    : 22 * GB,
        .pcie_latency = PCIE_LATENCY,
        .socket_latency = SOCKET_LATENCY,
    };
    g_autoptr(ImportSmiTree) tree = import_smi_tree_new(table, import->notes, import->assumed);
    import_smi_tree_add(tree, table, &rates, import->graph);
    g_ptr_array_add(import->notes, import_smi_tree_name(tree, table));
    g_autofree char *pcie = units_format_rate(rates.pcie), *socket = units_format_rate(rates.socket);
    g_ptr_array_add(import->assumed,
                    g_strdup_printf("PCIe %u.0 x16 at %s one way for every device and switch, sockets "
                                    "joined at %s (what NCCL counts on; the text has no rates)",
                                    generation, pcie, socket));
    g_ptr_array_add(import->assumed,
                    g_strdup("latencies are guessed: NVLink 1 us from GPU to GPU, PCIe 1 us a link, "
                             "0.5 us between sockets"));
}

// Rows that are missing, or a text cut together, leave holes in the GPUs' numbers; the graph has none.
static void smi_note_gpus(const ImportSmiTable *table, GPtrArray *assumed)
{
    for (guint i = 0, gpu = 0; i < table->devices->len; i++) {
        const ImportSmiDevice *device = import_smi_table_device(table, i);
        g_autofree char *label = g_strdup_printf("GPU%u", gpu);
        if (!device->gpu)
            continue;
        if (strcmp(device->label, label) != 0) {
            g_ptr_array_add(assumed,
                            g_strdup_printf("GPUs are numbered by their rows: %s is gpu%u, and so on",
                                            device->label, gpu));
            return;
        }
        gpu++;
    }
}

// Which NIC of the graph is which device.
static void smi_note_nics(const ImportSmiTable *table, GPtrArray *notes)
{
    g_autoptr(GString) out = g_string_new("NICs:");
    for (guint i = 0, nic = 0; i < table->devices->len; i++) {
        const ImportSmiDevice *device = import_smi_table_device(table, i);
        if (device->gpu)
            continue;
        g_autofree char *name = base_error_quote(device->device != NULL ? device->device : device->label);
        g_string_append_printf(out, "%s nic%u is %s", nic == 0 ? "" : ",", nic, name);
        nic++;
    }
    if (table->gpus < table->devices->len)
        g_ptr_array_add(notes, g_string_free(g_steal_pointer(&out), FALSE));
}

static gboolean smi_read(const char *name, const char *text, gsize length, Import *import, GError **error)
{
    g_autoptr(ImportSmiTable) table =
        import_smi_table_read(name, text, length, import->notes, import->assumed, error);
    if (table == NULL)
        return FALSE;
    import->graph = topo_graph_new();
    g_ptr_array_insert(import->notes, 0,
                       g_strdup_printf("GPUs: %u, NICs: %u", table->gpus, table->devices->len - table->gpus));
    for (guint i = 0; i < table->gpus; i++)
        topo_graph_add_node(import->graph, TOPO_NODE_GPU, 0);
    const SmiGuess *guess = smi_add_nvlinks(table, import);
    smi_add_pcie(table, guess->pcie, import);
    smi_note_gpus(table, import->assumed);
    smi_note_nics(table, import->notes);
    import->chip = g_strdup(guess->chip);
    return topo_graph_check(import->graph, name, error);
}

const Importer IMPORT_SMI = {
    .name = "nvidia-smi",
    .title = "nvidia-smi topo -m",
    .sniff = import_smi_table_sniff,
    .read = smi_read,
};
