// cli/topo-dot.c: stepline topo dot: a machine as a graph in the language of Graphviz.
#include <stdio.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/topo-verb.h"
#include "machines/machine.h"

// Text inside a quoted string of Graphviz.
static char *dot_escape(const char *text)
{
    GString *out = g_string_new(NULL);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    for (const char *at = valid; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            g_string_append_c(out, '\\');
        g_string_append_c(out, (guchar)*at < ' ' ? ' ' : *at);
    }
    return g_string_free(out, FALSE);
}

// The link after at is its way back with the same numbers: both are drawn as one line.
static gboolean dot_is_cable(const TopoGraph *graph, guint32 at)
{
    if (at + 1 >= graph->links->len)
        return FALSE;
    const TopoLink *out = topo_graph_link(graph, at), *back = topo_graph_link(graph, at + 1);
    return back->from == out->to && back->to == out->from && back->class == out->class &&
           back->bandwidth <= out->bandwidth && back->bandwidth >= out->bandwidth;
}

static void dot_print(const TopoMachine *machine)
{
    static const char *const shapes[TOPO_NODE_KINDS] = {"box", "hexagon", "ellipse", "box3d",
                                                        "cds", "hexagon", "house"};
    static const char *const fills[TOPO_NODE_KINDS] = {"palegreen",   "lightblue", "lightgrey", "lightyellow",
                                                       "lightsalmon", "plum",      "orange"};
    static const char *const lines[TOPO_LINK_CLASSES] = {"forestgreen", "gray40", "goldenrod", "firebrick",
                                                         "purple"};
    const TopoGraph *graph = machine->graph;
    g_autofree char *title = dot_escape(machine->title);
    printf("digraph stepline {\n  label=\"%s\";\n  node [style=filled];\n", title);
    for (guint32 i = 0; i < graph->nodes->len; i++) {
        const TopoNode *node = topo_graph_node(graph, i);
        g_autofree char *name = topo_graph_name(graph, i);
        printf("  \"%s\" [shape=%s, fillcolor=%s];\n", name, shapes[node->kind], fills[node->kind]);
    }
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        gboolean cable = dot_is_cable(graph, i);
        g_autofree char *from = topo_graph_name(graph, link->from), *to = topo_graph_name(graph, link->to);
        g_autofree char *rate = units_format_rate(link->bandwidth);
        printf("  \"%s\" -> \"%s\" [%slabel=\"%s\", color=%s];\n", from, to, cable ? "dir=both, " : "", rate,
               lines[link->class]);
        i += cable ? 1 : 0;
    }
    printf("}\n");
}

static int dot_run(const TopoVerbArguments *arguments, GError **error)
{
    g_autoptr(TopoMachine) machine = topo_machine_read(arguments->words[0], arguments->gpus, NULL, error);
    if (machine == NULL)
        return BASE_ERROR_FAILED;
    dot_print(machine);
    return 0;
}

const TopoVerb TOPO_VERB_DOT = {
    .name = "dot",
    .usage = "NAME|FILE [--gpus N]",
    .words = 1,
    .takes_gpus = TRUE,
    .run = dot_run,
};
