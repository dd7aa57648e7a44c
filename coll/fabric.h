// coll/fabric.h: a machine's graph as the links and routes of a simulated network.
#pragma once

#include <glib.h>

#include "coll/box.h"
#include "sim/message.h"
#include "topo/graph.h"
#include "topo/route.h"

typedef struct {
    const TopoGraph *graph; // borrowed
    SimNetwork *network;    // borrowed; its first link ids are the graph's
    TopoRouter *router;     // owned
    CollGrid grid;          // that the GPUs of every island form
    GArray *scratch;        // of guint32; owned
} CollFabric;

// Adds every link of graph (checked) to network, which must be fresh.
void coll_fabric_init(CollFabric *fabric, const TopoGraph *graph, SimNetwork *network);
void coll_fabric_clear(CollFabric *fabric);

// A new route between two different nodes of the graph that begins with an extra link (G_MAXUINT32: none);
// before sim_network_freeze. class (may be NULL) receives the slowest kind of link on it: network before PCIe
// and CPU before NVLink.
guint32 coll_fabric_route(CollFabric *fabric, guint32 from, guint32 to, guint32 extra, TopoLinkClass *class);

// How many of the GPUs (numbers) stand in one island, where they stand in islands of equal size, consecutive
// ones together; else 1.
guint32 coll_fabric_island(const TopoGraph *graph, const guint32 *gpus, guint32 n);

// The node that can reduce for an island (its first NVSwitch), or between islands (a network switch that no
// GPU's island owns; the one with most links). G_MAXUINT32: none.
guint32 coll_fabric_switch(const TopoGraph *graph, guint32 island);
guint32 coll_fabric_network_switch(const TopoGraph *graph);
