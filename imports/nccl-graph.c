// imports/nccl-graph.c: nodes and links from the parts of an NCCL topology file.
#include "imports/nccl-graph.h"

// Latencies of one link, for the head of a message. Guesses: the file has none. They are chosen so that
// NVLink wins over PCIe (up to three hops from GPU to GPU), a near NIC over a far one, and two GPUs below one
// PCIe switch are 1.4 us apart.
enum {
    NVLINK_PS = 400000,
    DEVICE_PS = 700000, // PCIe link of a GPU or NIC
    BRIDGE_PS = 150000, // PCIe link of a bridge
    SOCKET_PS = 500000,
};

// What the building works on.
typedef struct {
    TopoGraph *graph;               // borrowed
    ImportNccl *nccl;               // borrowed
    const ImportNcclNvlink *nvlink; // borrowed
    guint32 *nodes;                 // owned: node id of each part
    guint32 nvswitch;               // node id; G_MAXUINT32: there is none
    gboolean islands;               // hosts have equally many GPUs and are told apart
} NcclGraph;

static void nccl_add_node(NcclGraph *it, guint part, TopoNodeKind kind)
{
    guint32 island = it->islands ? import_nccl_part(it->nccl, part)->host : 0;
    it->nodes[part] = topo_graph_add_node(it->graph, kind, island);
}

static void nccl_add_parts(NcclGraph *it, ImportNcclKind part_kind, TopoNodeKind kind)
{
    for (guint i = 0; i < it->nccl->parts->len; i++) {
        const ImportNcclPart *part = import_nccl_part(it->nccl, i);
        if (part->kind == part_kind && part->kept)
            nccl_add_node(it, i, kind);
    }
}

// Nodes by kind, as a machine file gives them, so that what is written is what is read.
static void nccl_add_nodes(NcclGraph *it)
{
    guint gpus = it->nvlink->gpus->len, hosts = it->nccl->hosts;
    g_autofree guint *by_host = g_new0(guint, MAX(hosts, 1));
    for (guint i = 0; i < gpus; i++)
        by_host[import_nccl_nvlink_gpu(it->nccl, it->nvlink, i)->host]++;
    it->islands = hosts > 0 && gpus % hosts == 0;
    for (guint i = 0; i < hosts; i++)
        it->islands &= by_host[i] == gpus / hosts;
    it->nodes = g_new(guint32, MAX(it->nccl->parts->len, 1));
    for (guint i = 0; i < gpus; i++)
        nccl_add_node(it, g_array_index(it->nvlink->gpus, guint, i), TOPO_NODE_GPU);
    it->nvswitch = G_MAXUINT32;
    if (import_nccl_nvlink_has_switch(it->nvlink))
        it->nvswitch = topo_graph_add_node(it->graph, TOPO_NODE_NVSWITCH, hosts > 1 ? G_MAXUINT32 : 0);
    nccl_add_parts(it, IMPORT_NCCL_BRIDGE, TOPO_NODE_PCIE_SWITCH);
    nccl_add_parts(it, IMPORT_NCCL_CPU, TOPO_NODE_CPU);
    nccl_add_parts(it, IMPORT_NCCL_NIC, TOPO_NODE_NIC);
}

static void nccl_add_nvlinks(NcclGraph *it)
{
    TopoGraph *graph = it->graph;
    const ImportNcclNvlink *nvlink = it->nvlink;
    guint n = nvlink->gpus->len;
    for (guint a = 0; a < n; a++) {
        guint32 gpu = topo_graph_gpu(graph, a);
        const ImportNcclPart *part = import_nccl_nvlink_gpu(it->nccl, nvlink, a);
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
    guint pairs = import_nccl_nvlink_pairs(nvlink);
    graph->gpu_forward = pairs > 0 && pairs < n * (n - 1) / 2 && it->nvswitch == G_MAXUINT32;
}

// Whether a GPU that hangs directly below its CPU is joined to it by C2C as well: one link each way is kept.
static gboolean nccl_is_by_c2c(const NcclGraph *it, guint at)
{
    const ImportNcclPart *part = import_nccl_part(it->nccl, at);
    for (guint i = 0; part->kind == IMPORT_NCCL_GPU && part->parent == part->cpu && i < it->nvlink->gpus->len;
         i++)
        if (g_array_index(it->nvlink->gpus, guint, i) == at)
            return it->nvlink->to_cpu[i] > 0;
    return FALSE;
}

static void nccl_add_pcie(NcclGraph *it)
{
    TopoGraph *graph = it->graph;
    for (guint i = 0; i < it->nccl->parts->len; i++) {
        const ImportNcclPart *part = import_nccl_part(it->nccl, i);
        if (part->parent == G_MAXUINT || !part->kept)
            continue;
        if (nccl_is_by_c2c(it, i)) {
            import_nccl_file_report(&it->nccl->file, part->element->line,
                                    "PCIe link of a GPU to its CPU left out beside the faster C2C or NVLink");
            continue;
        }
        double bandwidth = part->bandwidth;
        if (part->kind == IMPORT_NCCL_NIC && part->network > 0)
            bandwidth = MIN(bandwidth, part->network);
        topo_graph_add_cable(graph, it->nodes[i], it->nodes[part->parent], TOPO_LINK_PCIE, bandwidth,
                             part->kind == IMPORT_NCCL_BRIDGE ? BRIDGE_PS : DEVICE_PS);
    }
    for (guint a = 0; a < it->nccl->parts->len; a++)
        for (guint b = a + 1; b < it->nccl->parts->len; b++) {
            const ImportNcclPart *one = import_nccl_part(it->nccl, a), *two = import_nccl_part(it->nccl, b);
            if (one->kind != IMPORT_NCCL_CPU)
                break;
            if (two->kind != IMPORT_NCCL_CPU || one->host != two->host)
                continue;
            topo_graph_add_link(graph, it->nodes[a], it->nodes[b], TOPO_LINK_CPU, one->bandwidth, SOCKET_PS);
            topo_graph_add_link(graph, it->nodes[b], it->nodes[a], TOPO_LINK_CPU, two->bandwidth, SOCKET_PS);
        }
}

TopoGraph *import_nccl_graph_new(ImportNccl *nccl, const ImportNcclNvlink *nvlink)
{
    NcclGraph it = {.graph = topo_graph_new(), .nccl = nccl, .nvlink = nvlink};
    nccl_add_nodes(&it);
    nccl_add_nvlinks(&it);
    nccl_add_pcie(&it);
    g_free(it.nodes);
    return it.graph;
}
