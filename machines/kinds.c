// machines/kinds.c: the table of the kinds of machines.
#include "machines/kind.h"

const MachineKind *const MACHINE_KINDS[] = {
    &MACHINE_KIND_ISLAND, &MACHINE_KIND_ISLANDS, &MACHINE_KIND_PCIE,
    &MACHINE_KIND_WAN,    &MACHINE_KIND_GRAPH,   &MACHINE_KIND_CUBE,
    &MACHINE_KIND_TORUS,  &MACHINE_KIND_NODES,   NULL,
};
