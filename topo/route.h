// topo/route.h: which links a message takes from one node to another.
//
// The route is the one with the least total latency plus, as a tie-break, the fewest links, then the largest
// bottleneck bandwidth; what is still equal (parallel links, several spines) is chosen hop by hop by a hash
// of (from, to, seed) as ECMP does. It depends on nothing else, so that every run and every rank finds the
// same one.
#pragma once

#include <glib.h>

#include "topo/graph.h"

// A router keeps its work space between calls, never its findings. A query searches from both ends at once
// and costs what the two searches touch until they have met: a switch with thousands of ports costs nothing
// as the middle of a route.
typedef struct TopoRouter TopoRouter;

// Borrows graph, which must be frozen and outlive the router. Caller frees with topo_router_free.
TopoRouter *topo_router_new(const TopoGraph *graph, guint64 seed);
void topo_router_free(TopoRouter *router);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopoRouter, topo_router_free)

// Appends the link ids of the route from node a to node b to links (of guint32), in order; nothing for a ==
// b. FALSE where b cannot be reached from a (links is then unchanged).
gboolean topo_router_find(TopoRouter *router, guint32 a, guint32 b, GArray *links);
