// topo/border.c: leaving and entering islands.
#include "topo/border.h"

enum { ROUNDS = 64 }; // a chip has its NIC near by; a graph that takes longer does without

static guint32 border_island(const TopoGraph *graph, guint32 node)
{
    return topo_graph_node(graph, node)->island;
}

// One round over all links; whether a cost fell.
static gboolean border_round(TopoBorder *border)
{
    const TopoGraph *graph = border->graph;
    gboolean fell = FALSE;
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        const TopoCost own = {.latency = link->latency, .links = 1};
        TopoCost out = topo_cost_sum(own, border->leave[link->to]);
        if (border_island(graph, link->from) != G_MAXUINT32 && border->exit[link->to] != G_MAXUINT32 &&
            (border->exit[link->from] == G_MAXUINT32 ||
             topo_cost_compare(out, border->leave[link->from]) < 0)) {
            border->leave[link->from] = out;
            border->exit[link->from] = border->exit[link->to];
            fell = TRUE;
        }
        TopoCost in = topo_cost_sum(own, border->enter[link->from]);
        if (border_island(graph, link->to) != G_MAXUINT32 && border->entry[link->from] != G_MAXUINT32 &&
            (border->entry[link->to] == G_MAXUINT32 || topo_cost_compare(in, border->enter[link->to]) < 0)) {
            border->enter[link->to] = in;
            border->entry[link->to] = border->entry[link->from];
            fell = TRUE;
        }
    }
    return fell;
}

TopoBorder *topo_border_new(const TopoGraph *graph)
{
    gboolean several = FALSE, straight = FALSE;
    for (guint32 i = 0; i < graph->links->len && graph->gpu_forward; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        guint32 from = border_island(graph, link->from), to = border_island(graph, link->to);
        straight = straight || (from != to && from != G_MAXUINT32 && to != G_MAXUINT32);
        several = several || from != to;
    }
    if (!several || straight)
        return NULL;
    guint32 nodes = graph->nodes->len;
    TopoBorder *border = g_new0(TopoBorder, 1);
    border->graph = graph;
    border->leave = g_new0(TopoCost, nodes);
    border->enter = g_new0(TopoCost, nodes);
    border->exit = g_new(guint32, nodes);
    border->entry = g_new(guint32, nodes);
    for (guint32 i = 0; i < nodes; i++)
        border->exit[i] = border->entry[i] = border_island(graph, i) == G_MAXUINT32 ? i : G_MAXUINT32;
    guint rounds = 0;
    while (border_round(border) && rounds < ROUNDS)
        rounds++;
    if (rounds < ROUNDS)
        return border;
    topo_border_free(border); // not the least costs yet: no bounds
    return NULL;
}

void topo_border_free(TopoBorder *border)
{
    if (border == NULL)
        return;
    g_free(border->leave);
    g_free(border->enter);
    g_free(border->exit);
    g_free(border->entry);
    g_free(border);
}

gboolean topo_border_limit(const TopoBorder *border, guint32 a, guint32 b, TopoCost *limit)
{
    guint32 from = border_island(border->graph, a), to = border_island(border->graph, b);
    if (from == to || from == G_MAXUINT32 || to == G_MAXUINT32 || border->exit[a] == G_MAXUINT32 ||
        border->exit[a] != border->entry[b])
        return FALSE;
    *limit = topo_cost_sum(border->leave[a], border->enter[b]);
    return TRUE;
}

gboolean topo_border_beyond(const TopoBorder *border, guint32 a, guint32 b, TopoCost limit, gboolean tail,
                            guint32 node, TopoCost cost)
{
    if (border_island(border->graph, node) != border_island(border->graph, tail ? b : a))
        return FALSE;
    if ((tail ? border->entry : border->exit)[node] == G_MAXUINT32)
        return TRUE;
    TopoCost rest = tail ? topo_cost_sum(border->leave[a], border->enter[node])
                         : topo_cost_sum(border->leave[node], border->enter[b]);
    return topo_cost_compare(topo_cost_sum(cost, rest), limit) > 0;
}
