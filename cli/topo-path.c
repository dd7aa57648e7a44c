// cli/topo-path.c: working out a route and printing it.
#include "cli/topo-path.h"

#include <stdio.h>

#include "base/units.h"
#include "cli/fields.h"

gboolean topo_path_find(const TopoGraph *graph, TopoRouter *router, guint32 from, guint32 to, TopoPath *path)
{
    *path = (TopoPath){.from = from, .to = to, .bottleneck = G_MAXDOUBLE};
    path->links = g_array_new(FALSE, FALSE, sizeof(guint32));
    if (!topo_router_find(router, from, to, path->links)) {
        topo_path_clear(path);
        return FALSE;
    }
    for (guint i = 0; i < path->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(path->links, guint32, i));
        path->latency += link->latency;
        path->bottleneck = MIN(path->bottleneck, link->bandwidth);
    }
    return TRUE;
}

void topo_path_clear(TopoPath *path)
{
    g_clear_pointer(&path->links, g_array_unref);
}

void topo_path_print(const TopoGraph *graph, const TopoPath *path)
{
    g_autofree char *from = topo_graph_name(graph, path->from);
    g_autofree char *to = topo_graph_name(graph, path->to);
    g_autofree char *latency = units_format_time(path->latency);
    g_autofree char *bottleneck = units_format_rate(path->bottleneck);
    printf("Path %s to %s: %u links, latency %s, bottleneck %s\n", from, to, path->links->len, latency,
           bottleneck);
    for (guint i = 0; i < path->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(path->links, guint32, i));
        g_autofree char *a = topo_graph_name(graph, link->from);
        g_autofree char *b = topo_graph_name(graph, link->to);
        g_autofree char *rate = units_format_rate(link->bandwidth);
        g_autofree char *time = units_format_time(link->latency);
        printf("  %-12s> %-12s%-9s%12s%12s\n", a, b, TOPO_LINK_NAMES[link->class], rate, time);
    }
}

void topo_path_add_link(JsonBuilder *json, const TopoLink *link)
{
    fields_add_text(json, "class", TOPO_LINK_NAMES[link->class]);
    fields_add_double(json, "bandwidth_Bps", link->bandwidth);
    fields_add_double(json, "latency_s", units_seconds(link->latency));
}

void topo_path_add_fields(JsonBuilder *json, const TopoGraph *graph, const TopoPath *path)
{
    g_autofree char *from = topo_graph_name(graph, path->from);
    g_autofree char *to = topo_graph_name(graph, path->to);
    fields_add_text(json, "from", from);
    fields_add_text(json, "to", to);
    fields_add_double(json, "latency_s", units_seconds(path->latency));
    fields_add_double(json, "bottleneck_Bps", path->bottleneck);
    fields_begin_array(json, "hops");
    for (guint i = 0; i < path->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(path->links, guint32, i));
        g_autofree char *a = topo_graph_name(graph, link->from);
        g_autofree char *b = topo_graph_name(graph, link->to);
        json_builder_begin_object(json);
        fields_add_text(json, "from", a);
        fields_add_text(json, "to", b);
        topo_path_add_link(json, link);
        json_builder_end_object(json);
    }
    json_builder_end_array(json);
}
