// machines/fabric.c: the table of fabrics, their shared keys, and the tree.
#include "machines/fabric.h"

#include <math.h>

#include "topo/build.h"

static const char SECTION[] = MACHINE_KIND_SECTION;

const MachineFabricKind *const MACHINE_FABRICS[] = {
    &MACHINE_FABRIC_SINGLE, &MACHINE_FABRIC_LEAF_SPINE, &MACHINE_FABRIC_CLOS, &MACHINE_FABRIC_RAIL, NULL,
};

// A fabric worked out for its nodes.
typedef struct {
    guint32 leaves_per_unit; // a unit: the nodes that share leaves
    guint32 units, units_per_pod, pods;
    guint32 leaves;               // in all
    guint32 spines, uplinks;      // per pod, per leaf
    guint32 cores, spine_uplinks; // per spine
    double leaf_rate, spine_rate; // of one cable
} FabricShape;

static guint32 fabric_divide_up(guint32 a, guint32 b)
{
    return a / b + (a % b != 0);
}

// Uplinks for so many ports, at least one, and how many switches they go to; rounded up to fill these evenly.
static guint32 fabric_uplinks(double ports, double oversubscription, gboolean adaptive, guint32 *switches)
{
    if (adaptive) {
        *switches = 1;
        return 1;
    }
    double least = ceil(ports / oversubscription - 1e-9); // 1e-9: 48 / 1.6 is 30, not 31
    guint32 uplinks = (guint32)CLAMP(least, 1, G_MAXINT32);
    if (*switches == 0)
        *switches = uplinks;
    return fabric_divide_up(uplinks, *switches) * *switches;
}

static FabricShape fabric_shape(const MachineFabric *fabric, guint32 nodes, guint32 rails, double bandwidth)
{
    FabricShape shape = {.leaves_per_unit = 1, .units = 1, .units_per_pod = 1, .pods = 1, .leaves = 1};
    if (fabric->nodes_per_leaf == 0)
        return shape;
    shape.leaves_per_unit = fabric->by_rail ? rails : 1;
    shape.units = fabric_divide_up(nodes, fabric->nodes_per_leaf);
    shape.units_per_pod =
        fabric->nodes_per_pod == 0 ? shape.units : fabric->nodes_per_pod / fabric->nodes_per_leaf;
    shape.pods = fabric_divide_up(shape.units, shape.units_per_pod);
    shape.leaves = shape.units * shape.leaves_per_unit;
    if (shape.leaves == 1)
        return shape;
    double ports = (double)fabric->nodes_per_leaf * (fabric->by_rail ? 1 : rails);
    shape.spines = fabric->spines;
    shape.uplinks = fabric_uplinks(ports, fabric->oversubscription, fabric->adaptive, &shape.spines);
    double above = ports * bandwidth / fabric->oversubscription;
    shape.leaf_rate = above / shape.uplinks;
    if (shape.pods == 1)
        return shape;
    double leaves_per_pod = (double)shape.units_per_pod * shape.leaves_per_unit;
    shape.cores = fabric->cores;
    shape.spine_uplinks = fabric_uplinks(leaves_per_pod * (shape.uplinks / shape.spines),
                                         fabric->pod_oversubscription, fabric->adaptive, &shape.cores);
    shape.spine_rate =
        leaves_per_pod * above / shape.spines / fabric->pod_oversubscription / shape.spine_uplinks;
    return shape;
}

gboolean machine_fabric_check(const MachineKindFile *file, const MachineFabric *fabric, guint32 nodes,
                              guint32 rails, double bandwidth, GError **error)
{
    if (fabric->nodes_per_leaf == 0)
        return TRUE;
    MachineFabric least = *fabric; // as many spines and cores as there can be
    least.spines = least.cores = 0;
    FabricShape most = fabric_shape(&least, nodes, rails, bandwidth);
    if (!fabric->adaptive && most.uplinks > 0 && fabric->spines > most.uplinks)
        return ini_refuse(file->ini, SECTION, "spines", error,
                          "found %u, wanted at most as many as a leaf has uplinks: %u", fabric->spines,
                          most.uplinks);
    FabricShape shape = fabric_shape(fabric, nodes, rails, bandwidth);
    least.spines = fabric->spines;
    most = fabric_shape(&least, nodes, rails, bandwidth);
    if (!fabric->adaptive && most.spine_uplinks > 0 && fabric->cores > most.spine_uplinks)
        return ini_refuse(file->ini, SECTION, "cores", error,
                          "found %u, wanted at most as many as a spine has uplinks: %u", fabric->cores,
                          most.spine_uplinks);
    double cables = (double)shape.leaves * shape.uplinks +
                    (double)shape.pods * shape.spines * shape.spine_uplinks +
                    (double)shape.pods * shape.spines + (double)shape.spines * shape.cores;
    if (cables > TOPO_BUILD_CABLES)
        return ini_refuse(file->ini, SECTION, "nodes_per_leaf", error,
                          "found a fabric of %.0f cables and switches for %u nodes, wanted at most %d",
                          cables, nodes, TOPO_BUILD_CABLES);
    double low = shape.pods > 1 ? MIN(shape.leaf_rate, shape.spine_rate) : shape.leaf_rate;
    double high = MAX(shape.leaf_rate, shape.spine_rate);
    if (shape.leaves > 1 && (low < 1 || high >= 1e18))
        return ini_refuse(file->ini, SECTION, "fabric", error,
                          "found links from %g to %g B/s, wanted at least 1 B/s and less than 1e18 B/s", low,
                          high);
    return TRUE;
}

static void fabric_add_cable(TopoGraph *graph, guint32 a, guint32 b, double rate, const MachineFabric *fabric)
{
    topo_graph_add_cable(graph, a, b, TOPO_LINK_NETWORK, rate, fabric->switch_latency);
}

void machine_fabric_add(TopoGraph *graph, const MachineFabric *fabric, const MachineFabricNics *nics)
{
    FabricShape shape = fabric_shape(fabric, nics->nodes, nics->rails, nics->bandwidth);
    guint32 leaf = topo_build_nodes(graph, TOPO_NODE_SWITCH, shape.leaves, 0);
    guint32 spine =
        topo_build_nodes(graph, TOPO_NODE_SWITCH, shape.leaves > 1 ? shape.pods * shape.spines : 0, 0);
    guint32 core = topo_build_nodes(graph, TOPO_NODE_SWITCH, shape.spines * shape.cores, 0);
    for (guint32 i = 0; i < nics->nodes * nics->rails; i++) {
        guint32 unit = fabric->nodes_per_leaf == 0 ? 0 : i / nics->rails / fabric->nodes_per_leaf;
        guint32 at = leaf + unit * shape.leaves_per_unit + (fabric->by_rail ? i % nics->rails : 0);
        topo_graph_add_link(graph, nics->ids[i], at, TOPO_LINK_NETWORK, nics->bandwidth, nics->up);
        topo_graph_add_link(graph, at, nics->ids[i], TOPO_LINK_NETWORK, nics->bandwidth, nics->down);
    }
    for (guint32 i = 0; i < shape.leaves; i++) {
        guint32 pod = i / shape.leaves_per_unit / shape.units_per_pod;
        for (guint32 k = 0; k < shape.uplinks; k++)
            fabric_add_cable(graph, leaf + i, spine + pod * shape.spines + k % shape.spines, shape.leaf_rate,
                             fabric);
    }
    for (guint32 i = 0; shape.spine_uplinks > 0 && i < shape.pods * shape.spines; i++)
        for (guint32 k = 0; k < shape.spine_uplinks; k++)
            fabric_add_cable(graph, spine + i, core + (i % shape.spines) * shape.cores + k % shape.cores,
                             shape.spine_rate, fabric);
}

static gboolean fabric_get_oversubscription(MachineKindFile *file, const char *key, double *value,
                                            GError **error)
{
    *value = 1;
    if (!ini_get(file->ini, SECTION, key, INI_OPTIONAL, UNITS_NUMBER, value, error))
        return FALSE;
    if (*value >= 0.1 && *value <= 1000)
        return TRUE;
    return ini_refuse(file->ini, SECTION, key, error,
                      "found %g, wanted rate below / rate above, from 0.1 to 1000 (7 for 1:7)", *value);
}

gboolean machine_fabric_get_tree(MachineKindFile *file, MachineFabric *fabric, GError **error)
{
    static const char *const ROUTINGS[] = {"ecmp", "adaptive", NULL};
    guint routing = 0;
    if (!machine_kind_get_count(file, "nodes_per_leaf", INI_REQUIRED, TOPO_BUILD_GPUS,
                                &fabric->nodes_per_leaf, error) ||
        !fabric_get_oversubscription(file, "oversubscription", &fabric->oversubscription, error) ||
        !ini_get_choice(file->ini, SECTION, "routing", INI_REQUIRED, ROUTINGS, &routing, error) ||
        !machine_kind_get_latency(file, "switch_latency", INI_REQUIRED, &fabric->switch_latency, error))
        return FALSE;
    fabric->adaptive = routing == 1;
    if (fabric->adaptive && ini_has(file->ini, SECTION, "spines"))
        return ini_refuse(
            file->ini, SECTION, "spines", error,
            "found with routing = adaptive, wanted only with ecmp: else the uplinks are one pool");
    return machine_kind_get_count(file, "spines", INI_OPTIONAL, TOPO_BUILD_GPUS, &fabric->spines, error);
}

gboolean machine_fabric_get_pods(MachineKindFile *file, IniNeed need, MachineFabric *fabric, GError **error)
{
    if (!machine_kind_get_count(file, "nodes_per_pod", need, TOPO_BUILD_GPUS, &fabric->nodes_per_pod, error))
        return FALSE;
    if (fabric->nodes_per_pod == 0)
        return machine_kind_check_absent(file, "cores", "pod_oversubscription",
                                         "no nodes_per_pod, wanted only where there are pods", error);
    if (fabric->nodes_per_pod % fabric->nodes_per_leaf != 0)
        return ini_refuse(file->ini, SECTION, "nodes_per_pod", error,
                          "found %u, wanted a multiple of nodes_per_leaf = %u", fabric->nodes_per_pod,
                          fabric->nodes_per_leaf);
    if (fabric->adaptive && ini_has(file->ini, SECTION, "cores"))
        return ini_refuse(
            file->ini, SECTION, "cores", error,
            "found with routing = adaptive, wanted only with ecmp: else the uplinks are one pool");
    return fabric_get_oversubscription(file, "pod_oversubscription", &fabric->pod_oversubscription, error) &&
           machine_kind_get_count(file, "cores", INI_OPTIONAL, TOPO_BUILD_GPUS, &fabric->cores, error);
}

gboolean machine_fabric_read(MachineKindFile *file, MachineFabric *fabric, GError **error)
{
    const char *names[G_N_ELEMENTS(MACHINE_FABRICS)] = {NULL};
    for (guint i = 0; MACHINE_FABRICS[i] != NULL; i++)
        names[i] = MACHINE_FABRICS[i]->name;
    guint kind = 0;
    *fabric = (MachineFabric){.oversubscription = 1, .pod_oversubscription = 1};
    return ini_get_choice(file->ini, SECTION, "fabric", INI_OPTIONAL, names, &kind, error) &&
           MACHINE_FABRICS[kind]->read(file, fabric, error);
}
