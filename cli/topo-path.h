// cli/topo-path.h: a route between two nodes, worked out hop by hop and printed.
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "topo/graph.h"
#include "topo/route.h"

typedef struct {
    guint32 from, to;  // node ids
    GArray *links;     // of guint32: link ids in order; owned
    Ps latency;        // of all links together
    double bottleneck; // bytes/s: the least bandwidth of a link
} TopoPath;

// The route that the router finds. FALSE where there is none; path is then clear.
gboolean topo_path_find(const TopoGraph *graph, TopoRouter *router, guint32 from, guint32 to, TopoPath *path);
void topo_path_clear(TopoPath *path);

// Prints a line of totals and a line for each hop on stdout.
void topo_path_print(const TopoGraph *graph, const TopoPath *path);

// Adds the fields of the path to the JSON object that is open: from, to, latency_s, bottleneck_Bps, hops.
void topo_path_add_fields(JsonBuilder *json, const TopoGraph *graph, const TopoPath *path);

// Adds class, bandwidth_Bps and latency_s of a link to the JSON object that is open.
void topo_path_add_link(JsonBuilder *json, const TopoLink *link);
