// topo/fabric-clos.c: fabric = clos: leaf-spine pods of nodes_per_pod nodes, joined by cores.
#include "topo/fabric.h"

static gboolean clos_read(TopoKindFile *file, TopoFabric *fabric, GError **error)
{
    return topo_fabric_get_tree(file, fabric, error) &&
           topo_fabric_get_pods(file, INI_REQUIRED, fabric, error);
}

const TopoFabricKind TOPO_FABRIC_CLOS = {
    .name = "clos",
    .title = "three levels, a node on one leaf",
    .read = clos_read,
};
