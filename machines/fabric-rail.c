// machines/fabric-rail.c: fabric = rail: NIC i of each of nodes_per_leaf nodes on leaf i, the leaves joined
// by spines, and pods, if there are any, by cores.
#include "machines/fabric.h"

static gboolean rail_read(MachineKindFile *file, MachineFabric *fabric, GError **error)
{
    fabric->by_rail = TRUE;
    return machine_fabric_get_tree(file, fabric, error) &&
           machine_fabric_get_pods(file, INI_OPTIONAL, fabric, error);
}

const MachineFabricKind MACHINE_FABRIC_RAIL = {
    .name = "rail",
    .title = "two or three levels, NIC i of a node on leaf i",
    .read = rail_read,
};
