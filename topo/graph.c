// topo/graph.c: building a graph of nodes and links, freezing it, and checking that every GPU reaches every
// other.
#include "topo/graph.h"

#include <string.h>

#include "base/append.h"
#include "base/error.h"

const char *const TOPO_NODE_NAMES[] = {"gpu", "nvswitch", "pcie", "cpu", "nic", "switch", "gateway", NULL};
const char *const TOPO_LINK_NAMES[] = {"nvlink", "pcie", "cpu", "network", "wan", NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(TOPO_NODE_NAMES) == TOPO_NODE_KINDS + 1);
G_STATIC_ASSERT(G_N_ELEMENTS(TOPO_LINK_NAMES) == TOPO_LINK_CLASSES + 1);

TopoGraph *topo_graph_new(void)
{
    TopoGraph *graph = g_new0(TopoGraph, 1);
    graph->nodes = g_array_new(FALSE, FALSE, sizeof(TopoNode));
    graph->links = g_array_new(FALSE, FALSE, sizeof(TopoLink));
    graph->gpus = g_array_new(FALSE, FALSE, sizeof(guint32));
    return graph;
}

void topo_graph_free(TopoGraph *graph)
{
    if (graph == NULL)
        return;
    g_array_unref(graph->nodes);
    g_array_unref(graph->links);
    g_array_unref(graph->gpus);
    g_free(graph->first_out);
    g_free(graph->out);
    g_free(graph);
}

guint32 topo_graph_add_node(TopoGraph *graph, TopoNodeKind kind, guint32 island)
{
    g_assert(graph->first_out == NULL && kind < TOPO_NODE_KINDS);
    guint32 id = graph->nodes->len;
    TopoNode node = {.kind = kind, .number = graph->counts[kind]++, .island = island};
    *(TopoNode *)append_slot(graph->nodes, sizeof node, &graph->nodes_room) = node;
    if (kind == TOPO_NODE_GPU)
        g_array_append_val(graph->gpus, id);
    return id;
}

guint32 topo_graph_add_link(TopoGraph *graph, guint32 from, guint32 to, TopoLinkClass class, double bandwidth,
                            Ps latency)
{
    g_assert(graph->first_out == NULL && from < graph->nodes->len && to < graph->nodes->len);
    g_assert(bandwidth > 0 && latency >= 0 && class < TOPO_LINK_CLASSES);
    TopoLink link = {.from = from, .to = to, .bandwidth = bandwidth, .latency = latency, .class = class};
    *(TopoLink *)append_slot(graph->links, sizeof link, &graph->links_room) = link;
    return graph->links->len - 1;
}

guint32 topo_graph_add_cable(TopoGraph *graph, guint32 a, guint32 b, TopoLinkClass class, double bandwidth,
                             Ps latency)
{
    guint32 id = topo_graph_add_link(graph, a, b, class, bandwidth, latency);
    topo_graph_add_link(graph, b, a, class, bandwidth, latency);
    return id;
}

char *topo_graph_name(const TopoGraph *graph, guint32 node)
{
    const TopoNode *it = topo_graph_node(graph, node);
    return g_strdup_printf("%s%u", TOPO_NODE_NAMES[it->kind], it->number);
}

void topo_graph_group(const TopoGraph *graph, gboolean by_target, guint32 **first, guint32 **ids)
{
    guint32 nodes = graph->nodes->len, links = graph->links->len;
    guint32 *start = g_new0(guint32, (gsize)nodes + 1);
    guint32 *grouped = g_new(guint32, MAX(links, 1));
    for (guint32 i = 0; i < links; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        start[(by_target ? link->to : link->from) + 1]++;
    }
    for (guint32 n = 0; n < nodes; n++)
        start[n + 1] += start[n];
    g_autofree guint32 *next = g_memdup2(start, ((gsize)nodes + 1) * sizeof *start);
    for (guint32 i = 0; i < links; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        grouped[next[by_target ? link->to : link->from]++] = i;
    }
    *first = start;
    *ids = grouped;
}

// A walk from one node along the links, or against them. Nodes that do not forward are reached but not left.
typedef struct {
    const TopoGraph *graph; // borrowed
    gboolean against;       // from target to source
    gboolean through;       // as if every GPU forwarded
    guint32 *first,
        *ids;       // the links of each node, in the walk's direction; against it owned, else the graph's
    guint32 *stack; // owned: one place a node
    gboolean *seen; // owned: by node
} GraphWalk;

static void graph_walk_init(GraphWalk *walk, const TopoGraph *graph, gboolean against)
{
    gsize nodes = MAX(graph->nodes->len, 1);
    *walk = (GraphWalk){.graph = graph, .against = against};
    walk->first = graph->first_out;
    walk->ids = graph->out;
    if (against)
        topo_graph_group(graph, TRUE, &walk->first, &walk->ids);
    walk->stack = g_new(guint32, nodes);
    walk->seen = g_new(gboolean, nodes);
}

// Against the links, where that has not been initialised.
static void graph_walk_need(GraphWalk *back, const TopoGraph *graph)
{
    if (back->graph == NULL)
        graph_walk_init(back, graph, TRUE);
}

static void graph_walk_clear(GraphWalk *walk)
{
    if (walk->against) {
        g_free(walk->first);
        g_free(walk->ids);
    }
    g_free(walk->stack);
    g_free(walk->seen);
}

static void graph_walk_run(GraphWalk *walk, guint32 start)
{
    const TopoGraph *graph = walk->graph;
    memset(walk->seen, 0, graph->nodes->len * sizeof *walk->seen);
    walk->seen[start] = TRUE;
    walk->stack[0] = start;
    for (guint32 depth = 1; depth > 0;) {
        guint32 at = walk->stack[--depth];
        if (at != start && !walk->through && !topo_graph_forwards(graph, at))
            continue;
        for (guint32 i = walk->first[at]; i < walk->first[at + 1]; i++) {
            const TopoLink *link = topo_graph_link(graph, walk->ids[i]);
            guint32 next = walk->against ? link->from : link->to;
            if (!walk->seen[next]) {
                walk->seen[next] = TRUE;
                walk->stack[depth++] = next;
            }
        }
    }
}

// The first GPU that the last walk did not meet; gpus->len when it met all.
static guint32 graph_walk_missing(const GraphWalk *walk)
{
    guint32 rank = 0;
    while (rank < walk->graph->gpus->len && walk->seen[topo_graph_gpu(walk->graph, rank)])
        rank++;
    return rank;
}

// Whether links come in pairs, there and back, so that whoever is reached reaches too.
static gboolean graph_is_paired(const TopoGraph *graph)
{
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        if ((i ^ 1) >= graph->links->len || topo_graph_link(graph, i ^ 1)->from != link->to ||
            topo_graph_link(graph, i ^ 1)->to != link->from)
            return FALSE;
    }
    return TRUE;
}

// Whether some neighbour of gpu0 is a hub: it forwards, every GPU reaches it, and it reaches every GPU. Then
// every GPU reaches every other through it. back: initialised where it is needed first.
static gboolean graph_has_hub(GraphWalk *ahead, GraphWalk *back)
{
    enum { TRIES = 16 };
    const TopoGraph *graph = ahead->graph;
    guint32 gpu = topo_graph_gpu(graph, 0), all = graph->gpus->len, end = ahead->first[gpu + 1];
    for (guint32 i = ahead->first[gpu]; i < MIN(end, ahead->first[gpu] + TRIES); i++) {
        guint32 hub = topo_graph_link(graph, ahead->ids[i])->to;
        if (!topo_graph_forwards(graph, hub))
            continue;
        graph_walk_run(ahead, hub);
        if (graph_walk_missing(ahead) < all)
            continue;
        if (graph_is_paired(graph))
            return TRUE;
        graph_walk_need(back, graph);
        graph_walk_run(back, hub);
        if (graph_walk_missing(back) == all)
            return TRUE;
    }
    return FALSE;
}

static gboolean graph_refuse_pair(GraphWalk *ahead, const GraphWalk *back, guint32 a, guint32 b,
                                  const char *where, GError **error)
{
    const char *why = "";
    g_autofree char *from = topo_graph_name(ahead->graph, a);
    g_autofree char *to = topo_graph_name(ahead->graph, b);
    g_autofree char *detail = NULL;
    ahead->through = TRUE;
    graph_walk_run(ahead, a);
    if (ahead->first[a] == ahead->first[a + 1])
        why = detail = g_strdup_printf(": no link leaves %s", from);
    else if (back->first[b] == back->first[b + 1])
        why = detail = g_strdup_printf(": no link reaches %s", to);
    else if (ahead->seen[b])
        why = ": the only way leads through another GPU, and GPUs do not forward here";
    return base_error_set(error, BASE_ERROR_FAILED, where, "%s cannot reach %s%s", from, to, why);
}

static gboolean graph_check_reach(GraphWalk *ahead, GraphWalk *back, const char *where, GError **error)
{
    const TopoGraph *graph = ahead->graph;
    if (graph->gpus->len == 1 || graph_has_hub(ahead, back))
        return TRUE;
    for (guint32 rank = 0; rank < graph->gpus->len; rank++) {
        guint32 gpu = topo_graph_gpu(graph, rank);
        graph_walk_run(ahead, gpu);
        guint32 missing = graph_walk_missing(ahead);
        graph_walk_need(back, graph);
        if (missing < graph->gpus->len)
            return graph_refuse_pair(ahead, back, gpu, topo_graph_gpu(graph, missing), where, error);
    }
    return TRUE;
}

gboolean topo_graph_check(TopoGraph *graph, const char *where, GError **error)
{
    if (graph->first_out == NULL)
        topo_graph_group(graph, FALSE, &graph->first_out, &graph->out);
    if (graph->gpus->len == 0)
        return base_error_set(error, BASE_ERROR_FAILED, where, "found no GPU, wanted at least one");
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        if (link->from == link->to) {
            g_autofree char *name = topo_graph_name(graph, link->from);
            return base_error_set(error, BASE_ERROR_FAILED, where, "found a link from %s to itself", name);
        }
    }
    GraphWalk ahead, back = {.graph = NULL};
    graph_walk_init(&ahead, graph, FALSE);
    gboolean fine = graph_check_reach(&ahead, &back, where, error);
    graph_walk_clear(&ahead);
    graph_walk_clear(&back);
    return fine;
}
