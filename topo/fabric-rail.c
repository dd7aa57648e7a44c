// topo/fabric-rail.c: fabric = rail: NIC i of each of nodes_per_leaf nodes on leaf i, the leaves joined by
// spines, and pods, if there are any, by cores.
#include "topo/fabric.h"

static gboolean rail_read(TopoKindFile *file, TopoFabric *fabric, GError **error)
{
    fabric->by_rail = TRUE;
    return topo_fabric_get_tree(file, fabric, error) &&
           topo_fabric_get_pods(file, INI_OPTIONAL, fabric, error);
}

const TopoFabricKind TOPO_FABRIC_RAIL = {
    .name = "rail",
    .title = "two or three levels, NIC i of a node on leaf i",
    .read = rail_read,
};
