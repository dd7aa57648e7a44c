// machines/fabric-leaf-spine.c: fabric = leaf-spine: all NICs of a node on one leaf, the leaves joined by
// spines.
#include "machines/fabric.h"

static gboolean leaf_spine_read(MachineKindFile *file, MachineFabric *fabric, GError **error)
{
    return machine_fabric_get_tree(file, fabric, error);
}

const MachineFabricKind MACHINE_FABRIC_LEAF_SPINE = {
    .name = "leaf-spine",
    .title = "two levels, a node on one leaf",
    .read = leaf_spine_read,
};
