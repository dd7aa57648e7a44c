// machines/kind-nodes.c: kind = nodes: any machine of one node, many times, with NICs, on a fabric.
//
// NIC to NIC through one switch takes fabric_latency; every further switch of the fabric adds switch_latency.
// NICs that the node has are used, at the rate 'nic'; a node without any gets nics_per_node of them, each on
// the PCIe switch of its GPUs (machines/join.h).
#include "machines/fabric.h"
#include "machines/join.h"
#include "machines/kind.h"
#include "machines/machine.h"
#include "topo/build.h"

static const char SECTION[] = MACHINE_KIND_SECTION;
static const char *const KEYS[] = {
    "node",         "nodes",          "nic", "nics_per_node",     "pcie_bandwidth",
    "pcie_latency", "fabric_latency", "pxn", MACHINE_FABRIC_KEYS, NULL};

typedef struct {
    guint32 nodes;
    double nic; // bytes/s one way
    Ps fabric_latency;
    gboolean pxn;
    MachineFabric fabric;
} NodesSpec;

// Guessed where a file does not say, and noted: RDMA of a few bytes takes 2.7 to 2.8 us between neighbours
// (ib_write_lat as reported by users), about 0.5 us of which is PCIe at each end.
static const Ps NODES_PCIE_LATENCY = 500000, NODES_FABRIC_LATENCY = 1700000;

// How many nodes, and of how many GPUs each (0: the node's own number).
static gboolean nodes_get_size(MachineKindFile *file, const TopoMachine *node, guint32 *nodes, guint32 *part,
                               GError **error)
{
    guint32 gpus = node->graph->gpus->len;
    *part = 0;
    if (!machine_kind_get_count(file, "nodes", INI_REQUIRED, TOPO_BUILD_GPUS, nodes, error))
        return FALSE;
    if (file->asked != 0 && file->asked % gpus != 0 && file->asked > gpus) {
        g_autofree char *wanted = g_strdup_printf("a multiple of %u, or fewer: a part of one", gpus);
        return machine_kind_refuse_gpus(file, wanted, "grows by nodes", error);
    }
    if (file->asked != 0)
        *nodes = MAX(file->asked / gpus, 1);
    if (file->asked != 0 && file->asked < gpus)
        *part = file->asked;
    const TopoGraph *graph = node->graph;
    if ((guint64)*nodes * gpus > TOPO_BUILD_GPUS ||
        (guint64)*nodes * MAX(graph->nodes->len, graph->links->len / 4) > TOPO_BUILD_CABLES)
        return ini_refuse(file->ini, SECTION, "nodes", error,
                          "found %u nodes of %u GPUs (%u parts each), wanted at most %d GPUs and %d parts",
                          *nodes, gpus, graph->nodes->len, TOPO_BUILD_GPUS, TOPO_BUILD_CABLES);
    return TRUE;
}

// The node with its NICs, the ones that it has or new ones.
static TopoGraph *nodes_add_nics(MachineKindFile *file, const TopoGraph *node, double nic, guint32 whole_gpus,
                                 GError **error)
{
    guint32 nics = whole_gpus;
    double pcie = nic;
    Ps latency = NODES_PCIE_LATENCY;
    if (!machine_kind_get_count(file, "nics_per_node", INI_OPTIONAL, whole_gpus, &nics, error) ||
        !machine_kind_get_rate(file, "pcie_bandwidth", INI_OPTIONAL, &pcie, error) ||
        !machine_kind_get_latency(file, "pcie_latency", INI_OPTIONAL, &latency, error))
        return NULL;
    if (!ini_has(file->ini, SECTION, "nics_per_node"))
        machine_kind_add_note(file,
                              "the node has no NICs and nics_per_node is not given: assumed one per GPU");
    if (!ini_has(file->ini, SECTION, "pcie_bandwidth"))
        machine_kind_add_note(file, "pcie_bandwidth is not given: assumed the NIC's rate");
    if (!ini_has(file->ini, SECTION, "pcie_latency"))
        machine_kind_add_note(file, "pcie_latency is not given: guessed as 0.5 us");
    guint32 group = whole_gpus / nics + (whole_gpus % nics != 0); // a part of a node keeps the grouping
    guint32 gpus = node->gpus->len;
    return machine_join_add_nics(node, gpus / group + (gpus % group != 0), pcie, latency);
}

static TopoGraph *nodes_get_node(MachineKindFile *file, const TopoGraph *node, double nic, guint32 whole_gpus,
                                 GError **error)
{
    static const char *const added[] = {"nics_per_node", "pcie_bandwidth", "pcie_latency"};
    guint32 nics = node->counts[TOPO_NODE_NIC];
    if (nics == 0)
        return nodes_add_nics(file, node, nic, whole_gpus, error);
    for (guint i = 0; i < G_N_ELEMENTS(added); i++)
        if (!machine_kind_check_absent(file, added[i], added[i],
                                       "a node that has NICs of its own, wanted only for a node without",
                                       error))
            return NULL;
    machine_kind_add_note(file, "the node's own %u NICs are used", nics);
    return machine_join_copy(node);
}

static TopoGraph *nodes_join(MachineKindFile *file, const TopoMachine *node, NodesSpec *spec,
                             guint32 whole_gpus, GError **error)
{
    g_autoptr(TopoGraph) graph = nodes_get_node(file, node->graph, spec->nic, whole_gpus, error);
    if (graph == NULL || !machine_fabric_check(file, &spec->fabric, spec->nodes, graph->counts[TOPO_NODE_NIC],
                                               spec->nic, error))
        return NULL;
    Ps up = topo_build_share(spec->fabric_latency, 0, 2), down = topo_build_share(spec->fabric_latency, 1, 2);
    guint32 a = 0, b = 0;
    if (machine_join_find_shortcut(graph, up, down, &a, &b)) {
        ini_refuse(file->ini, SECTION, "node", error,
                   "found a way from gpu%u to gpu%u that passes a NIC, wanted it inside the node: "
                   "pcie_latency and fabric_latency are too small beside the node's own latencies",
                   a, b);
        return NULL;
    }
    if (spec->pxn && graph->counts[TOPO_NODE_NVSWITCH] == 0) {
        ini_refuse(
            file->ini, SECTION, "pxn", error,
            "found a node without NVSwitch, wanted one: PXN passes it on the way to another GPU's NIC");
        return NULL;
    }
    if (spec->pxn) {
        TopoGraph *with = machine_join_add_pxn(graph);
        topo_graph_free(graph);
        graph = with;
    }
    return machine_join_nodes(graph, spec->nodes, spec->nic, up, down, &spec->fabric);
}

static TopoGraph *nodes_read(MachineKindFile *file, GError **error)
{
    NodesSpec spec = {.fabric_latency = NODES_FABRIC_LATENCY};
    g_autofree char *name = NULL;
    guint32 part = 0;
    if (!ini_get_text(file->ini, SECTION, "node", INI_REQUIRED, &name, error) ||
        !machine_kind_get_rate(file, "nic", INI_REQUIRED, &spec.nic, error) ||
        !machine_kind_get_latency(file, "fabric_latency", INI_OPTIONAL, &spec.fabric_latency, error) ||
        !ini_get_flag(file->ini, SECTION, "pxn", INI_OPTIONAL, &spec.pxn, error) ||
        !machine_fabric_read(file, &spec.fabric, error))
        return NULL;
    if (!ini_has(file->ini, SECTION, "fabric_latency"))
        machine_kind_add_note(file, "fabric_latency is not given: guessed as 1.7 us");
    g_autofree char *where = ini_where(file->ini, SECTION, "node");
    g_autoptr(TopoMachine) node = topo_machine_read_node(name, 0, where, error);
    if (node == NULL || !nodes_get_size(file, node, &spec.nodes, &part, error))
        return NULL;
    guint32 whole_gpus = node->graph->gpus->len;
    if (part != 0) {
        topo_machine_free(node);
        node = topo_machine_read_node(name, part, file->where, error);
        if (node == NULL)
            return NULL;
    }
    for (guint i = 0; i < node->notes->len; i++)
        machine_kind_add_note(file, "node: %s", (const char *)node->notes->pdata[i]);
    TopoGraph *graph = nodes_join(file, node, &spec, whole_gpus, error);
    if (graph != NULL)
        file->device = g_steal_pointer(&node->device);
    return graph;
}

const MachineKind MACHINE_KIND_NODES = {
    .name = "nodes",
    .title = "any machine of one node, many times, with NICs, on a fabric",
    .keys = KEYS,
    .read = nodes_read,
};
