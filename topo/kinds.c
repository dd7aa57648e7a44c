// topo/kinds.c: the table of the kinds of machines.
#include "topo/kind.h"

const TopoKind *const TOPO_KINDS[] = {
    &TOPO_KIND_ISLAND, &TOPO_KIND_ISLANDS, &TOPO_KIND_PCIE,  &TOPO_KIND_WAN, &TOPO_KIND_GRAPH,
    &TOPO_KIND_CUBE,   &TOPO_KIND_TORUS,   &TOPO_KIND_NODES, NULL,
};
