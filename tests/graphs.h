// tests/graphs.h: comparing two graphs, and writing one and reading it back.
#pragma once

#include "tests/check.h"

#include <glib/gstdio.h>

#include "machines/machine.h"
#include "topo/write.h"

// The same nodes and links by id; the island of GPUs only (a machine file gives other nodes none).
static inline void graphs_check_same(const TopoGraph *a, const TopoGraph *b)
{
    assert_int_equal(a->nodes->len, b->nodes->len);
    assert_int_equal(a->links->len, b->links->len);
    assert_int_equal(a->gpus->len, b->gpus->len);
    assert_int_equal(a->gpu_forward, b->gpu_forward);
    for (guint32 i = 0; i < a->nodes->len; i++) {
        const TopoNode *x = topo_graph_node(a, i), *y = topo_graph_node(b, i);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->number, y->number);
        if (x->kind == TOPO_NODE_GPU)
            assert_int_equal(x->island, y->island);
    }
    for (guint32 i = 0; i < a->links->len; i++) {
        const TopoLink *x = topo_graph_link(a, i), *y = topo_graph_link(b, i);
        assert_int_equal(x->from, y->from);
        assert_int_equal(x->to, y->to);
        assert_int_equal(x->class, y->class);
        assert_int_equal(x->latency, y->latency);
        assert_true(x->bandwidth <= y->bandwidth && x->bandwidth >= y->bandwidth);
    }
}

// Writes the graph as a machine file, reads that and compares.
static inline void graphs_check_round_trip(const TopoGraph *graph, const char *chip)
{
    g_autoptr(GError) error = NULL;
    const TopoWrite write = {.graph = graph, .title = "Round\ttrip", .source = " a test ", .chip = chip};
    g_autofree char *text = topo_write_machine(&write, &error);
    check_fine(error);
    g_autofree char *folder = g_dir_make_tmp("stepline-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "m.ini", NULL);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    g_autoptr(TopoMachine) machine = topo_machine_read(path, 0, NULL, &error);
    g_unlink(path);
    g_rmdir(folder);
    check_fine(error);
    assert_string_equal(machine->title, "Round trip");
    assert_string_equal(machine->source, "a test");
    graphs_check_same(graph, machine->graph);
}
