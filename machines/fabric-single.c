// machines/fabric-single.c: fabric = single: one switch that never blocks, for all NICs.
#include "machines/fabric.h"

static gboolean single_read(MachineKindFile *file, MachineFabric *fabric, GError **error)
{
    (void)file;
    (void)error;
    fabric->nodes_per_leaf = 0;
    return TRUE;
}

const MachineFabricKind MACHINE_FABRIC_SINGLE = {
    .name = "single",
    .title = "one switch that never blocks",
    .read = single_read,
};
