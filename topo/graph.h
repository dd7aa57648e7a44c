// topo/graph.h: a machine as nodes and directed links.
//
// Built with topo_graph_add_*, then frozen by topo_graph_check, which also says whether it is sound; after
// that it does not change. A full-duplex cable is two links. Node and link ids are positions in the arrays,
// so that two builds of the same machine give the same ids. A route only passes through nodes that forward:
// every kind but GPU, except a GPU of a machine whose file says that its GPUs forward.
#pragma once

#include <glib.h>

#include "base/units.h"

typedef enum {
    TOPO_NODE_GPU,
    TOPO_NODE_NVSWITCH,
    TOPO_NODE_PCIE_SWITCH,
    TOPO_NODE_CPU,
    TOPO_NODE_NIC,
    TOPO_NODE_SWITCH,  // of a network
    TOPO_NODE_GATEWAY, // where a site meets the WAN
    TOPO_NODE_KINDS,
} TopoNodeKind;

typedef enum {
    TOPO_LINK_NVLINK,
    TOPO_LINK_PCIE,
    TOPO_LINK_CPU, // between sockets
    TOPO_LINK_NETWORK,
    TOPO_LINK_WAN,
    TOPO_LINK_CLASSES,
} TopoLinkClass;

// As printed and read: "gpu", "nvswitch", ...; "nvlink", "pcie", ... NULL-terminated.
extern const char *const TOPO_NODE_NAMES[];
extern const char *const TOPO_LINK_NAMES[];

typedef struct {
    TopoNodeKind kind;
    guint32 number; // its rank among nodes of its kind: "gpu3" is number 3
    guint32 island; // which node (host) of the machine it stands in; G_MAXUINT32: none (fabric)
} TopoNode;

typedef struct {
    guint32 from, to; // node ids
    double bandwidth; // bytes/s, this direction
    Ps latency;       // of the head, from entering this link to reaching the next node
    TopoLinkClass class;
} TopoLink;

typedef struct {
    GArray *nodes;                   // of TopoNode; owned
    GArray *links;                   // of TopoLink; owned
    guint nodes_room, links_room;    // of nodes and links (base/append.h)
    GArray *gpus;                    // of guint32: node id of each GPU, in order of number; owned
    guint32 counts[TOPO_NODE_KINDS]; // nodes of each kind so far: the next one's number
    gboolean gpu_forward;            // routes may pass through GPUs (cube mesh without switch)
    guint32 *first_out; // nodes + 1: where each node's outgoing links start in out; owned, NULL until frozen
    guint32 *out;       // link ids grouped by source node, in id order; owned, NULL until frozen
} TopoGraph;

TopoGraph *topo_graph_new(void);
void topo_graph_free(TopoGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopoGraph, topo_graph_free)

// Adds a node; returns its id.
guint32 topo_graph_add_node(TopoGraph *graph, TopoNodeKind kind, guint32 island);
// Adds one direction; returns its id. bandwidth > 0, latency >= 0 (asserted: readers check first).
guint32 topo_graph_add_link(TopoGraph *graph, guint32 from, guint32 to, TopoLinkClass class, double bandwidth,
                            Ps latency);
// Adds both directions with the same numbers: ids returned and returned + 1.
guint32 topo_graph_add_cable(TopoGraph *graph, guint32 a, guint32 b, TopoLinkClass class, double bandwidth,
                             Ps latency);

static inline const TopoNode *topo_graph_node(const TopoGraph *graph, guint32 id)
{
    return &((const TopoNode *)(void *)graph->nodes->data)[id];
}

static inline const TopoLink *topo_graph_link(const TopoGraph *graph, guint32 id)
{
    return &((const TopoLink *)(void *)graph->links->data)[id];
}

// The node id of GPU number rank.
static inline guint32 topo_graph_gpu(const TopoGraph *graph, guint32 rank)
{
    return ((const guint32 *)(void *)graph->gpus->data)[rank];
}

// "gpu3", "nvswitch0". Caller frees.
char *topo_graph_name(const TopoGraph *graph, guint32 node);

// Whether a route may pass through the node (and not only start or end there).
static inline gboolean topo_graph_forwards(const TopoGraph *graph, guint32 node)
{
    return graph->gpu_forward || topo_graph_node(graph, node)->kind != TOPO_NODE_GPU;
}

// Groups the link ids by an end, in id order: links of node n are ids[first[n]] .. ids[first[n + 1] - 1].
// by_target FALSE: by the node that they leave; TRUE: by the node that they reach. Caller frees both arrays.
void topo_graph_group(const TopoGraph *graph, gboolean by_target, guint32 **first, guint32 **ids);

// Freezes the graph and checks it: at least one GPU, no link from a node to itself, every GPU reaches every
// other. FALSE with an error that starts with where and names the first culprit ("gpu3 cannot reach gpu0").
// Cost: a few walks over the links where one node is a hub (every GPU reaches it and is reached from it),
// which is so in any machine with a switch that all share; without such a hub one walk per GPU.
gboolean topo_graph_check(TopoGraph *graph, const char *where, GError **error);
