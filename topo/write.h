// topo/write.h: any graph as a machine file of kind = graph, which topo/links.h reads back.
#pragma once

#include <glib.h>

#include "topo/graph.h"

typedef struct {
    const TopoGraph *graph; // borrowed
    const char *title;      // borrowed, one line; NULL: left out
    const char *source;     // borrowed, one line; NULL: left out
    const char *
        chip; // borrowed; NULL: left open, with a line that says so (the file cannot be read until it is set)
    const GPtrArray *comments; // of char *, borrowed: lines for people above the keys; may be NULL
} TopoWrite;

// The text of the machine file. Read back it gives the same nodes and links with the same ids and numbers,
// bandwidths and latencies exactly; only the island of nodes that are no GPUs is not kept (topo/links.h gives
// them none). What does not fit the format is an error: nodes that do not stand by kind and number, GPUs that
// do not stand in islands of one size in order, two links the same way between two nodes, more than the 1 MiB
// that is read back. NULL with an error that starts with title; caller frees.
char *topo_write_machine(const TopoWrite *machine, GError **error);
