// topo/build.c: the usual machines, node by node and link by link.
#include "topo/build.h"

Ps topo_build_share(Ps latency, guint32 index, guint32 links)
{
    Ps part = latency / links;
    return index + 1 < links ? part : latency - part * (links - 1);
}

guint32 topo_build_nodes(TopoGraph *graph, TopoNodeKind kind, guint32 count, guint32 per_island)
{
    guint32 first = graph->nodes->len;
    for (guint32 i = 0; i < count; i++)
        topo_graph_add_node(graph, kind, per_island == 0 ? G_MAXUINT32 : i / per_island);
    return first;
}

void topo_build_spoke(TopoGraph *graph, guint32 outer, guint32 inner, TopoLinkClass class, double bandwidth,
                      Ps latency, guint32 out, guint32 links)
{
    topo_graph_add_link(graph, outer, inner, class, bandwidth, topo_build_share(latency, out, links));
    topo_graph_add_link(graph, inner, outer, class, bandwidth,
                        topo_build_share(latency, links - 1 - out, links));
}

TopoGraph *topo_build_island(const TopoBuildIsland *spec)
{
    g_assert(spec->gpus >= 1 && spec->gpus <= TOPO_BUILD_GPUS);
    TopoGraph *graph = topo_graph_new();
    topo_build_nodes(graph, TOPO_NODE_GPU, spec->gpus, spec->gpus);
    guint32 nvswitch = topo_build_nodes(graph, TOPO_NODE_NVSWITCH, 1, 1);
    for (guint32 gpu = 0; gpu < spec->gpus; gpu++)
        topo_build_spoke(graph, gpu, nvswitch, TOPO_LINK_NVLINK, spec->bandwidth, spec->latency, 0, 2);
    return graph;
}

// sites times the islands of spec, each site with a switch; returns the first switch's id, the others follow
// it.
static guint32 build_sites(TopoGraph *graph, const TopoBuildIslands *spec, guint32 sites)
{
    g_assert(spec->gpus >= 1 && spec->gpus_per_node >= 1 && spec->gpus % spec->gpus_per_node == 0);
    g_assert((guint64)sites * spec->gpus <= TOPO_BUILD_GPUS &&
             spec->pcie_bandwidth >= spec->network_bandwidth);
    guint32 gpus = spec->gpus * sites, per_node = spec->gpus_per_node;
    topo_build_nodes(graph, TOPO_NODE_GPU, gpus, per_node);
    guint32 nvswitch = topo_build_nodes(graph, TOPO_NODE_NVSWITCH, per_node > 1 ? gpus / per_node : 0, 1);
    guint32 nic = topo_build_nodes(graph, TOPO_NODE_NIC, gpus, per_node);
    guint32 network = topo_build_nodes(graph, TOPO_NODE_SWITCH, sites, 0);
    for (guint32 gpu = 0; gpu < gpus; gpu++) {
        if (per_node > 1)
            topo_build_spoke(graph, gpu, nvswitch + gpu / per_node, TOPO_LINK_NVLINK, spec->inside.bandwidth,
                             spec->inside.latency, 0, 2);
        topo_build_spoke(graph, gpu, nic + gpu, TOPO_LINK_PCIE, spec->pcie_bandwidth, spec->network_latency,
                         0, 4);
        topo_build_spoke(graph, nic + gpu, network + gpu / spec->gpus, TOPO_LINK_NETWORK,
                         spec->network_bandwidth, spec->network_latency, 1, 4);
    }
    return network;
}

TopoGraph *topo_build_islands(const TopoBuildIslands *spec)
{
    TopoGraph *graph = topo_graph_new();
    build_sites(graph, spec, 1);
    return graph;
}

// Without peer-to-peer: everything goes up to the CPU, is copied, and comes down again.
static TopoGraph *build_staged(const TopoBuildPcie *spec)
{
    TopoGraph *graph = topo_graph_new();
    guint32 switches = spec->switches, sockets = spec->sockets;
    topo_build_nodes(graph, TOPO_NODE_GPU, spec->gpus, spec->gpus);
    guint32 pcie = topo_build_nodes(graph, TOPO_NODE_PCIE_SWITCH, 2 * switches, 2 * switches);
    guint32 cpu = topo_build_nodes(graph, TOPO_NODE_CPU, 2 * sockets, 2 * sockets);
    Ps first = topo_build_share(spec->latency, 0, 2), rest = topo_build_share(spec->latency, 1, 2);
    for (guint32 gpu = 0; gpu < spec->gpus; gpu++) {
        guint32 up = pcie + gpu / spec->gpus_per_switch;
        topo_graph_add_link(graph, gpu, up, TOPO_LINK_PCIE, spec->bandwidth, first);
        topo_graph_add_link(graph, up + switches, gpu, TOPO_LINK_PCIE, spec->bandwidth, rest);
    }
    for (guint32 i = 0; i < switches; i++) {
        guint32 socket = cpu + i / (switches / sockets);
        topo_graph_add_link(graph, pcie + i, socket, TOPO_LINK_PCIE, spec->bandwidth, first);
        topo_graph_add_link(graph, socket + sockets, pcie + switches + i, TOPO_LINK_PCIE, spec->bandwidth,
                            rest);
    }
    for (guint32 i = 0; i < sockets; i++)
        topo_graph_add_link(graph, cpu + i, cpu + sockets + i, TOPO_LINK_CPU, spec->host_bandwidth, 0);
    for (guint32 i = 0; i < sockets; i++)
        for (guint32 j = i + 1; j < sockets; j++)
            topo_graph_add_cable(graph, cpu + sockets + i, cpu + sockets + j, TOPO_LINK_CPU,
                                 spec->socket_bandwidth, spec->socket_latency);
    return graph;
}

TopoGraph *topo_build_pcie(const TopoBuildPcie *spec)
{
    g_assert(spec->gpus >= 1 && spec->sockets >= 1 && spec->switches % spec->sockets == 0);
    g_assert(spec->gpus <= (guint64)spec->switches * spec->gpus_per_switch && spec->gpus <= TOPO_BUILD_GPUS);
    if (spec->host_bandwidth > 0)
        return build_staged(spec);
    TopoGraph *graph = topo_graph_new();
    topo_build_nodes(graph, TOPO_NODE_GPU, spec->gpus, spec->gpus);
    guint32 pcie = topo_build_nodes(graph, TOPO_NODE_PCIE_SWITCH, spec->switches, spec->switches);
    guint32 cpu = topo_build_nodes(graph, TOPO_NODE_CPU, spec->sockets, spec->sockets);
    for (guint32 gpu = 0; gpu < spec->gpus; gpu++)
        topo_build_spoke(graph, gpu, pcie + gpu / spec->gpus_per_switch, TOPO_LINK_PCIE, spec->bandwidth,
                         spec->latency, 0, 2);
    for (guint32 i = 0; i < spec->switches; i++)
        topo_build_spoke(graph, pcie + i, cpu + i / (spec->switches / spec->sockets), TOPO_LINK_PCIE,
                         spec->bandwidth, spec->latency, 0, 2);
    for (guint32 i = 0; i < spec->sockets; i++)
        for (guint32 j = i + 1; j < spec->sockets; j++)
            topo_graph_add_cable(graph, cpu + i, cpu + j, TOPO_LINK_CPU, spec->socket_bandwidth,
                                 spec->socket_latency);
    return graph;
}

TopoGraph *topo_build_wan(const TopoBuildWan *spec)
{
    g_assert(spec->sites >= 2);
    TopoGraph *graph = topo_graph_new();
    guint32 network = build_sites(graph, &spec->site, spec->sites);
    guint32 gateway = topo_build_nodes(graph, TOPO_NODE_GATEWAY, spec->sites, 0);
    double wide = MAX(spec->site.network_bandwidth, spec->wan_bandwidth * (spec->sites - 1));
    for (guint32 i = 0; i < spec->sites; i++)
        topo_graph_add_cable(graph, network + i, gateway + i, TOPO_LINK_NETWORK, wide, 0);
    for (guint32 i = 0; i < spec->sites; i++)
        for (guint32 j = i + 1; j < spec->sites; j++)
            topo_graph_add_cable(graph, gateway + i, gateway + j, TOPO_LINK_WAN, spec->wan_bandwidth,
                                 spec->wan_latency);
    return graph;
}
