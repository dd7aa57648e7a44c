// cli/topo-classes.c: the links of a graph counted: by class, and those that are alike.
#include "cli/topo-classes.h"

static int topo_classes_compare_links(gconstpointer left, gconstpointer right)
{
    const TopoLink *a = left, *b = right;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->bandwidth < b->bandwidth || a->bandwidth > b->bandwidth)
        return a->bandwidth > b->bandwidth ? -1 : 1;
    return a->latency < b->latency ? -1 : a->latency > b->latency;
}

GArray *topo_classes_new(const TopoGraph *graph)
{
    GArray *classes = g_array_new(FALSE, FALSE, sizeof(TopoClass));
    g_autoptr(GArray) links = g_array_copy(graph->links);
    g_array_sort(links, topo_classes_compare_links);
    for (guint i = 0; i < links->len; i++) {
        TopoClass next = {.like = g_array_index(links, TopoLink, i), .links = 1};
        TopoClass *last = classes->len == 0 ? NULL : &g_array_index(classes, TopoClass, classes->len - 1);
        if (last != NULL && topo_classes_compare_links(&last->like, &next.like) == 0)
            last->links++;
        else
            g_array_append_val(classes, next);
    }
    return classes;
}

void topo_classes_count(const TopoGraph *graph, guint32 counts[TOPO_LINK_CLASSES])
{
    for (guint32 i = 0; i < graph->links->len; i++)
        counts[topo_graph_link(graph, i)->class]++;
}
