// cli/topo-classes.h: the links of a graph counted: by class, and those that are alike.
#pragma once

#include "topo/graph.h"

// Links that are alike.
typedef struct {
    TopoLink like;
    guint32 links;
} TopoClass;

// The kinds of links by class, then falling bandwidth, then latency. Caller unrefs: of TopoClass.
GArray *topo_classes_new(const TopoGraph *graph);

// Adds the number of links of each class to counts.
void topo_classes_count(const TopoGraph *graph, guint32 counts[TOPO_LINK_CLASSES]);
