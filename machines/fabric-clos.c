// machines/fabric-clos.c: fabric = clos: leaf-spine pods of nodes_per_pod nodes, joined by cores.
#include "machines/fabric.h"

static gboolean clos_read(MachineKindFile *file, MachineFabric *fabric, GError **error)
{
    return machine_fabric_get_tree(file, fabric, error) &&
           machine_fabric_get_pods(file, INI_REQUIRED, fabric, error);
}

const MachineFabricKind MACHINE_FABRIC_CLOS = {
    .name = "clos",
    .title = "three levels, a node on one leaf",
    .read = clos_read,
};
