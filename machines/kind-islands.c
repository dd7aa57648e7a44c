// machines/kind-islands.c: kind = islands: nodes of GPUs on an NVSwitch, with NICs, on a fabric.
#include "machines/fabric.h"
#include "machines/join.h"
#include "machines/kind.h"
#include "machines/site.h"
#include "topo/build.h"

static const char SECTION[] = MACHINE_KIND_SECTION;
static const char *const KEYS[] = {MACHINE_SITE_KEYS, "nics_per_node", "pxn", MACHINE_FABRIC_KEYS, NULL};

// What a file says beyond a site.
typedef struct {
    TopoBuildIslands site;
    guint32 gpus_per_nic;
    gboolean pxn;
    MachineFabric fabric;
} IslandsSpec;

// One node: GPUs, an NVSwitch where there are several, NICs each joined to its GPUs. The links take their
// part of network_latency as in topo_build_islands.
static TopoGraph *islands_build_node(const IslandsSpec *spec, guint32 gpus)
{
    const TopoBuildIslands *site = &spec->site;
    guint32 nics = gpus / spec->gpus_per_nic + (gpus % spec->gpus_per_nic != 0);
    TopoGraph *graph = topo_graph_new();
    topo_build_nodes(graph, TOPO_NODE_GPU, gpus, gpus);
    guint32 nvswitch = topo_build_nodes(graph, TOPO_NODE_NVSWITCH, gpus > 1 ? 1 : 0, 1);
    guint32 nic = topo_build_nodes(graph, TOPO_NODE_NIC, nics, nics);
    for (guint32 gpu = 0; gpu < gpus; gpu++) {
        if (gpus > 1)
            topo_build_spoke(graph, gpu, nvswitch, TOPO_LINK_NVLINK, site->inside.bandwidth,
                             site->inside.latency, 0, 2);
        topo_build_spoke(graph, gpu, nic + gpu / spec->gpus_per_nic, TOPO_LINK_PCIE, site->pcie_bandwidth,
                         site->network_latency, 0, 4);
    }
    return graph;
}

static TopoGraph *islands_build(const IslandsSpec *spec)
{
    const TopoBuildIslands *site = &spec->site;
    guint32 nodes = MAX(site->gpus / site->gpus_per_node, 1);
    g_autoptr(TopoGraph) node = islands_build_node(spec, MIN(site->gpus, site->gpus_per_node));
    if (spec->pxn) {
        TopoGraph *with = machine_join_add_pxn(node);
        topo_graph_free(node);
        node = with;
    }
    return machine_join_nodes(node, nodes, site->network_bandwidth,
                              topo_build_share(site->network_latency, 1, 4),
                              topo_build_share(site->network_latency, 2, 4), &spec->fabric);
}

static gboolean islands_get_nics(MachineKindFile *file, IslandsSpec *spec, GError **error)
{
    guint32 per_node = spec->site.gpus_per_node, nics = per_node;
    if (!machine_kind_get_count(file, "nics_per_node", INI_OPTIONAL, per_node, &nics, error) ||
        !ini_get_flag(file->ini, SECTION, "pxn", INI_OPTIONAL, &spec->pxn, error))
        return FALSE;
    if (per_node % nics != 0)
        return ini_refuse(file->ini, SECTION, "nics_per_node", error,
                          "found %u, wanted a number that divides gpus_per_node = %u", nics, per_node);
    if (nics < per_node && spec->site.inside.latency > spec->site.network_latency / 2)
        return ini_refuse(file->ini, SECTION, "nvlink_latency", error,
                          "found more than half of network_latency, wanted at most that where GPUs share a "
                          "NIC: else routes inside a node pass the NIC");
    spec->gpus_per_nic = per_node / nics;
    return TRUE;
}

static TopoGraph *islands_read(MachineKindFile *file, GError **error)
{
    IslandsSpec spec = {0};
    TopoBuildIslands *site = &spec.site;
    if (!machine_site_read(file, site, error) || !islands_get_nics(file, &spec, error) ||
        !machine_fabric_read(file, &spec.fabric, error) ||
        !machine_kind_get_gpus(file, site->gpus_per_node, "nodes of gpus_per_node GPUs", TRUE, &site->gpus,
                               error))
        return NULL;
    guint32 nodes = MAX(site->gpus / site->gpus_per_node, 1), nics = site->gpus_per_node / spec.gpus_per_nic;
    if (!machine_fabric_check(file, &spec.fabric, nodes, nics, site->network_bandwidth, error))
        return NULL;
    gboolean plain = spec.fabric.nodes_per_leaf == 0 && spec.gpus_per_nic == 1 && !spec.pxn;
    if (plain && site->gpus >= site->gpus_per_node)
        return topo_build_islands(site);
    return islands_build(&spec);
}

const MachineKind MACHINE_KIND_ISLANDS = {
    .name = "islands",
    .title = "nodes of GPUs on an NVSwitch, with NICs, on a fabric",
    .keys = KEYS,
    .read = islands_read,
};
