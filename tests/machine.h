// tests/machine.h: for tests of machines: read one from text, measure a route.
#pragma once

#include "tests/check.h"

#include <glib/gstdio.h>

#include "machines/machine.h"
#include "topo/route.h"

// Reads a machine from text, by way of a file of its own.
static inline TopoMachine *machine_read(const char *text, guint32 gpus, GError **error)
{
    g_autofree char *path = NULL;
    int file = g_file_open_tmp("stepline-XXXXXX.ini", &path, NULL);
    assert_true(file >= 0 && g_close(file, NULL) && g_file_set_contents(path, text, -1, NULL));
    TopoMachine *machine = topo_machine_read(path, gpus, NULL, error);
    g_unlink(path);
    return machine;
}

typedef struct {
    guint32 links;
    guint32 switches; // network switches passed
    Ps latency;
    double bottleneck; // bytes/s
} MachineWay;

// The route between two nodes by id; its links are appended to links (of guint32) where that is not NULL.
static inline MachineWay machine_way(TopoRouter *router, const TopoGraph *graph, guint32 a, guint32 b,
                                     GArray *links)
{
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(guint32));
    assert_true(topo_router_find(router, a, b, found));
    MachineWay way = {.links = found->len, .bottleneck = G_MAXDOUBLE};
    for (guint i = 0; i < found->len; i++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(found, guint32, i));
        way.latency += link->latency;
        way.bottleneck = MIN(way.bottleneck, link->bandwidth);
        way.switches += topo_graph_node(graph, link->to)->kind == TOPO_NODE_SWITCH;
    }
    if (links != NULL)
        g_array_append_vals(links, found->data, found->len);
    return way;
}

// The same between two GPUs by number, which must look alike the other way round.
static inline MachineWay machine_both_ways(TopoRouter *router, const TopoGraph *graph, guint32 a, guint32 b)
{
    MachineWay there = machine_way(router, graph, topo_graph_gpu(graph, a), topo_graph_gpu(graph, b), NULL);
    MachineWay back = machine_way(router, graph, topo_graph_gpu(graph, b), topo_graph_gpu(graph, a), NULL);
    assert_int_equal(there.links, back.links);
    assert_int_equal(there.switches, back.switches);
    assert_int_equal(there.latency, back.latency);
    assert_true(there.bottleneck >= back.bottleneck && there.bottleneck <= back.bottleneck);
    return there;
}

static inline gboolean machine_near(double a, double b)
{
    return a > b * (1 - 1e-9) && a < b * (1 + 1e-9);
}
