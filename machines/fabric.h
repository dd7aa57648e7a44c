// machines/fabric.h: the network between nodes: what a kind of fabric is, the tree that the kinds build, the
// keys.
//
// All kinds here are trees of switches of one to three levels:
//   leaf     carries the NICs: all NICs of nodes_per_leaf nodes, or (rail) NIC i of each of them on leaf i
//   spine    joins the leaves of a pod; without pods, all leaves
//   core     joins the pods: core group i joins spine i of every pod, as in any folded Clos
// A leaf has as many uplinks as its NIC ports divided by oversubscription, rounded up to fill its spines
// evenly; a cable's rate is then what makes the total exact: ports x NIC / (oversubscription x uplinks), a
// NIC's rate where nothing was rounded. The same holds for a spine's uplinks with pod_oversubscription. A
// leaf or pod that is not full has its uplinks all the same. Levels that would join one switch only are left
// out.
//
// routing = ecmp: every cable is a link, and a flow (from, to) takes one path by its hash (topo/route.h): two
// flows may share an uplink while another idles. routing = adaptive: packets of a flow go over whatever
// uplink is free, so that a leaf's uplinks are one pool: the graph has one link up and one down per leaf with
// the uplinks' total, and one node for the spines. What that leaves out is small: a single flow is bounded by
// its NIC anyway, measured fabrics with adaptive routing reach 95 % and more, and reordering costs are the
// NIC's. Round robin over messages would not do: a collective's flow is one long message per chunk, and its
// chunks would leave in bursts through one uplink. Between the two lies ECMP with many queue pairs per
// connection (16 in Llama 3's cluster, arXiv 2407.21783): near adaptive; use that.
#pragma once

#include <glib.h>

#include "machines/kind.h"
#include "topo/graph.h"

typedef struct {
    guint32 nodes_per_leaf;      // nodes that share their leaves; 0: one switch for all
    gboolean by_rail;            // one leaf per NIC of a node, not one for all
    guint32 spines;              // per pod; 0: one per uplink of a leaf
    double oversubscription;     // of a leaf: NIC rate below / rate above
    guint32 nodes_per_pod;       // a multiple of nodes_per_leaf; 0: no pods
    guint32 cores;               // per spine of a pod; 0: one per uplink of a spine
    double pod_oversubscription; // of a pod: leaf rate below its spines / rate above
    gboolean adaptive;
    Ps switch_latency; // of every hop between two switches
} MachineFabric;

// The NICs to join.
typedef struct {
    guint32 nodes, rails; // rails: NICs per node, from 1
    const guint32 *ids;   // borrowed: node id of NIC r of node n at n * rails + r
    double bandwidth;     // of a NIC, bytes/s one way
    Ps up, down;          // NIC to leaf, leaf to NIC
} MachineFabricNics;

// A kind of fabric: one file (machines/fabric-NAME.c) and one line of the table in machines/fabric.c.
typedef struct {
    const char *name;  // "rail": the word after 'fabric ='
    const char *title; // one line for people
    // Reads the kind's keys of [machine] into a zeroed fabric; FALSE with an error.
    gboolean (*read)(MachineKindFile *file, MachineFabric *fabric, GError **error);
} MachineFabricKind;

extern const MachineFabricKind MACHINE_FABRIC_SINGLE, MACHINE_FABRIC_LEAF_SPINE, MACHINE_FABRIC_CLOS,
    MACHINE_FABRIC_RAIL;

// All kinds, NULL-terminated.
extern const MachineFabricKind *const MACHINE_FABRICS[];

// The keys that the fabrics read.
#define MACHINE_FABRIC_KEYS                                                                                  \
    "fabric", "routing", "switch_latency", "nodes_per_leaf", "spines", "oversubscription", "nodes_per_pod",  \
        "cores", "pod_oversubscription"

// Reads 'fabric' (default single) and the keys of its kind. FALSE with an error.
gboolean machine_fabric_read(MachineKindFile *file, MachineFabric *fabric, GError **error);

// For the kinds: what all trees read (nodes_per_leaf, spines, oversubscription, routing, switch_latency), and
// what those with pods do (nodes_per_pod, which must be there if need says so, cores, pod_oversubscription).
gboolean machine_fabric_get_tree(MachineKindFile *file, MachineFabric *fabric, GError **error);
gboolean machine_fabric_get_pods(MachineKindFile *file, IniNeed need, MachineFabric *fabric, GError **error);

// Whether the fabric can be built for so many nodes, NICs a node and this NIC rate: no more spines and cores
// than uplinks, at most TOPO_BUILD_CABLES cables, rates in range. FALSE with an error at the key to change.
gboolean machine_fabric_check(const MachineKindFile *file, const MachineFabric *fabric, guint32 nodes,
                              guint32 rails, double bandwidth, GError **error);

// Adds switches (leaves, then spines by pod, then cores by spine) and links. The fabric must have been
// checked.
void machine_fabric_add(TopoGraph *graph, const MachineFabric *fabric, const MachineFabricNics *nics);
