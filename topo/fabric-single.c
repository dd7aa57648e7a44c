// topo/fabric-single.c: fabric = single: one switch that never blocks, for all NICs.
#include "topo/fabric.h"

static gboolean single_read(TopoKindFile *file, TopoFabric *fabric, GError **error)
{
    (void)file;
    (void)error;
    fabric->nodes_per_leaf = 0;
    return TRUE;
}

const TopoFabricKind TOPO_FABRIC_SINGLE = {
    .name = "single",
    .title = "one switch that never blocks",
    .read = single_read,
};
