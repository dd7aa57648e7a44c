// coll/fabric.h: a machine's graph as the links and routes of a simulated network.
#pragma once

#include <glib.h>

#include "sim/message.h"
#include "topo/graph.h"
#include "topo/route.h"

typedef struct {
    const TopoGraph *graph; // borrowed
    SimNetwork *network;    // borrowed; its link ids are the graph's
    TopoRouter *router;     // owned
    GHashTable *routes;     // (from << 32 | to) of GPU numbers -> route id + 1; owned, never iterated
    GArray *scratch;        // of guint32; owned
} CollFabric;

// Adds every link of graph (checked) to network, which must be fresh.
void coll_fabric_init(CollFabric *fabric, const TopoGraph *graph, SimNetwork *network);
void coll_fabric_clear(CollFabric *fabric);

// The id of the route between two different GPUs, made when first asked for; before sim_network_freeze.
guint32 coll_fabric_route(CollFabric *fabric, guint32 from, guint32 to);
