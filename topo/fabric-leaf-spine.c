// topo/fabric-leaf-spine.c: fabric = leaf-spine: all NICs of a node on one leaf, the leaves joined by spines.
#include "topo/fabric.h"

static gboolean leaf_spine_read(TopoKindFile *file, TopoFabric *fabric, GError **error)
{
    return topo_fabric_get_tree(file, fabric, error);
}

const TopoFabricKind TOPO_FABRIC_LEAF_SPINE = {
    .name = "leaf-spine",
    .title = "two levels, a node on one leaf",
    .read = leaf_spine_read,
};
