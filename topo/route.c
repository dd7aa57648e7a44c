// topo/route.c: shortest paths by a search from both ends (Dijkstra; Pohl, "Bi-directional search", 1971).
//
// The cost of a path is (latency, links), compared in that order, so that every link costs something. Each
// side settles its nodes in order of cost. With best the cost of the cheapest path seen so far, the search
// stops when the next nodes of both sides cost at least best together. Then every cheapest path P has been
// seen: let y be the first node of P that the head side (from a) has not settled. What stands before y on P
// is settled, so y's head label is right; y costs at least the head side's next node, so by the stop rule at
// most the tail side's next node from b, and what stands behind y on P costs less than that, is settled by
// the tail side, and so y's tail label is right too. Each cheapest path therefore belongs to exactly one such
// y, and it does not matter which side is advanced when: the one whose next node has fewer links. A node that
// is on no cheapest path (topo/border.h) is not labelled, which changes nothing of this.
#include "topo/route.h"

#include "base/hash.h"
#include "topo/border.h"

// What one side knows of a node.
typedef struct {
    TopoCost cost; // from the side's end
    double width;  // bytes/s: the best bottleneck of the cheapest paths through settled nodes
    guint32 query; // the query that the rest belongs to; 0: none
    guint32 last;  // the last link of one such path: position in the side's arrivals + 1; 0: this is the end
    gboolean closed; // settled
} RouteLabel;

// One link by which a cheapest path reaches a node, and the arrival before it at the same node.
typedef struct {
    guint32 link;
    guint32 before; // position + 1; 0: the first
} RouteArrival;

typedef struct {
    TopoCost cost;
    guint32 node;
} RouteEntry;

typedef struct {
    gboolean tail;        // runs from b against the links
    const guint32 *first; // borrowed or owned by the router: links of each node in the side's direction
    const guint32 *ids;
    RouteLabel *labels; // owned, by node
    GArray *heap;       // of RouteEntry; owned; the least cost first; entries of settled nodes are skipped
    GArray *reached;    // of guint32: nodes labelled in this query, in that order; owned
    GArray *arrivals;   // of RouteArrival; owned
} RouteSide;

struct TopoRouter {
    const TopoGraph *graph; // borrowed
    guint64 seed;
    guint32 query;          // number of the query that runs
    guint32 *first_in, *in; // owned: link ids by the node they reach
    RouteSide head, tail;
    TopoBorder *border; // owned; NULL: none
    gboolean limited;   // the present query's cost does not exceed limit
    TopoCost limit;     //
    GArray *choices;    // of guint32; owned
};

static void route_side_init(RouteSide *side, const TopoGraph *graph, gboolean tail, const guint32 *first,
                            const guint32 *ids)
{
    side->tail = tail;
    side->first = first;
    side->ids = ids;
    side->labels = g_new0(RouteLabel, graph->nodes->len);
    side->heap = g_array_new(FALSE, FALSE, sizeof(RouteEntry));
    side->reached = g_array_new(FALSE, FALSE, sizeof(guint32));
    side->arrivals = g_array_new(FALSE, FALSE, sizeof(RouteArrival));
}

static void route_side_clear(RouteSide *side)
{
    g_free(side->labels);
    g_array_unref(side->heap);
    g_array_unref(side->reached);
    g_array_unref(side->arrivals);
}

TopoRouter *topo_router_new(const TopoGraph *graph, guint64 seed)
{
    g_assert(graph->first_out != NULL);
    TopoRouter *router = g_new0(TopoRouter, 1);
    router->graph = graph;
    router->seed = seed;
    topo_graph_group(graph, TRUE, &router->first_in, &router->in);
    route_side_init(&router->head, graph, FALSE, graph->first_out, graph->out);
    route_side_init(&router->tail, graph, TRUE, router->first_in, router->in);
    router->border = topo_border_new(graph);
    router->choices = g_array_new(FALSE, FALSE, sizeof(guint32));
    return router;
}

void topo_router_free(TopoRouter *router)
{
    if (router == NULL)
        return;
    route_side_clear(&router->head);
    route_side_clear(&router->tail);
    g_free(router->first_in);
    g_free(router->in);
    topo_border_free(router->border);
    g_array_unref(router->choices);
    g_free(router);
}

static gboolean route_before(const RouteEntry *a, const RouteEntry *b)
{
    int order = topo_cost_compare(a->cost, b->cost);
    return order != 0 ? order < 0 : a->node < b->node;
}

static void route_push(GArray *heap, RouteEntry entry)
{
    g_array_append_val(heap, entry);
    RouteEntry *at = (RouteEntry *)(void *)heap->data;
    guint i = heap->len - 1;
    for (; i > 0 && route_before(&entry, &at[(i - 1) / 2]); i = (i - 1) / 2)
        at[i] = at[(i - 1) / 2];
    at[i] = entry;
}

static void route_pop(GArray *heap)
{
    RouteEntry *at = (RouteEntry *)(void *)heap->data;
    guint n = heap->len - 1, i = 0;
    RouteEntry last = at[n];
    g_array_set_size(heap, n);
    if (n == 0)
        return;
    for (guint child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && route_before(&at[child + 1], &at[child]))
            child++;
        if (!route_before(&at[child], &last))
            break;
        at[i] = at[child];
    }
    at[i] = last;
}

// The side's next node to settle; NULL where there is none.
static const RouteEntry *route_peek(RouteSide *side)
{
    while (side->heap->len > 0) {
        const RouteEntry *top = (const RouteEntry *)(const void *)side->heap->data;
        if (!side->labels[top->node].closed)
            return top;
        route_pop(side->heap);
    }
    return NULL;
}

static RouteLabel *route_label(RouteSide *side, guint32 query, guint32 node)
{
    RouteLabel *label = &side->labels[node];
    return label->query == query ? label : NULL;
}

// Labels a node that a path of this cost and bottleneck reaches; link is the path's last, G_MAXUINT32 at the
// end itself.
static void route_reach(RouteSide *side, guint32 query, guint32 node, TopoCost cost, double width,
                        guint32 link)
{
    RouteLabel *label = &side->labels[node];
    gboolean known = label->query == query;
    int order = known ? topo_cost_compare(cost, label->cost) : -1;
    if (order > 0)
        return;
    RouteArrival arrival = {.link = link, .before = order == 0 ? label->last : 0};
    if (link != G_MAXUINT32)
        g_array_append_val(side->arrivals, arrival);
    if (order == 0) {
        label->last = side->arrivals->len;
        label->width = MAX(label->width, width);
        return;
    }
    if (!known)
        g_array_append_val(side->reached, node);
    *label = (RouteLabel){.cost = cost, .width = width, .query = query, .last = side->arrivals->len};
    RouteEntry entry = {.cost = cost, .node = node};
    route_push(side->heap, entry);
}

// Settles the side's next node and labels its neighbours; *best falls to the cheapest path seen.
static void route_advance(TopoRouter *router, RouteSide *side, RouteSide *other, guint32 a, guint32 b,
                          TopoCost *best)
{
    guint32 node = ((const RouteEntry *)(const void *)side->heap->data)->node, query = router->query;
    RouteLabel here = side->labels[node];
    side->labels[node].closed = TRUE;
    route_pop(side->heap);
    for (guint32 i = side->first[node]; i < side->first[node + 1]; i++) {
        const TopoLink *link = topo_graph_link(router->graph, side->ids[i]);
        guint32 next = side->tail ? link->from : link->to;
        TopoCost cost = topo_cost_sum(here.cost, (TopoCost){.latency = link->latency, .links = 1});
        if (next != (side->tail ? a : b) && !topo_graph_forwards(router->graph, next))
            continue;
        if (router->limited &&
            topo_border_beyond(router->border, a, b, router->limit, side->tail, next, cost))
            continue;
        route_reach(side, query, next, cost, MIN(here.width, link->bandwidth), side->ids[i]);
        const RouteLabel *across = route_label(other, query, next);
        if (across != NULL) {
            TopoCost whole = topo_cost_sum(cost, across->cost);
            if (topo_cost_compare(whole, *best) < 0)
                *best = whole;
        }
    }
}

static guint32 route_ports(const RouteSide *side, guint32 node)
{
    return side->first[node + 1] - side->first[node];
}

static TopoCost route_search(TopoRouter *router, guint32 a, guint32 b)
{
    TopoCost best = {.latency = PS_MAX, .links = G_MAXUINT32};
    for (;;) {
        const RouteEntry *head = route_peek(&router->head), *tail = route_peek(&router->tail);
        if (head == NULL || tail == NULL ||
            topo_cost_compare(topo_cost_sum(head->cost, tail->cost), best) >= 0)
            return best;
        if (route_ports(&router->head, head->node) <= route_ports(&router->tail, tail->node))
            route_advance(router, &router->head, &router->tail, a, b, &best);
        else
            route_advance(router, &router->tail, &router->head, a, b, &best);
    }
}

// One of the choices, by the flow's hash and the place where it must choose.
static guint32 route_choose(const TopoRouter *router, guint64 flow, guint32 place)
{
    const guint32 *choices = (const guint32 *)(const void *)router->choices->data;
    g_assert(router->choices->len > 0);
    return choices[router->choices->len == 1 ? 0 : hash_add(flow, place) % router->choices->len];
}

// The node in which the halves of the route meet: of the nodes y (see top) the ones with the widest route.
static guint32 route_meet(TopoRouter *router, TopoCost best, guint64 flow, double *width)
{
    *width = 0;
    g_array_set_size(router->choices, 0);
    for (guint i = 0; i < router->tail.reached->len; i++) {
        guint32 node = g_array_index(router->tail.reached, guint32, i);
        const RouteLabel *tail = &router->tail.labels[node];
        const RouteLabel *head = route_label(&router->head, router->query, node);
        if (head == NULL || head->closed ||
            topo_cost_compare(topo_cost_sum(head->cost, tail->cost), best) != 0)
            continue;
        double here = MIN(head->width, tail->width);
        if (here < *width)
            continue;
        if (here > *width)
            g_array_set_size(router->choices, 0);
        *width = here;
        g_array_append_val(router->choices, node);
    }
    return route_choose(router, flow, G_MAXUINT32);
}

// The link by which a cheapest path of at least width leads from node one step nearer to the side's end.
static guint32 route_step(TopoRouter *router, const RouteSide *side, guint32 node, double width, guint64 flow)
{
    g_array_set_size(router->choices, 0);
    for (guint32 i = side->labels[node].last; i > 0;) {
        const RouteArrival *arrival = &g_array_index(side->arrivals, RouteArrival, i - 1);
        const TopoLink *link = topo_graph_link(router->graph, arrival->link);
        if (MIN(side->labels[side->tail ? link->to : link->from].width, link->bandwidth) >= width)
            g_array_append_val(router->choices, arrival->link);
        i = arrival->before;
    }
    return route_choose(router, flow, node);
}

static void route_start(TopoRouter *router, RouteSide *side, guint32 end)
{
    g_array_set_size(side->heap, 0);
    g_array_set_size(side->reached, 0);
    g_array_set_size(side->arrivals, 0);
    route_reach(side, router->query, end, (TopoCost){0}, G_MAXDOUBLE, G_MAXUINT32);
}

gboolean topo_router_find(TopoRouter *router, guint32 a, guint32 b, GArray *links)
{
    g_assert(a < router->graph->nodes->len && b < router->graph->nodes->len);
    if (a == b)
        return TRUE;
    if (++router->query == 0) { // the numbers have gone round: no label may look new
        for (guint32 i = 0; i < router->graph->nodes->len; i++)
            router->head.labels[i].query = router->tail.labels[i].query = 0;
        router->query = 1;
    }
    route_start(router, &router->head, a);
    route_start(router, &router->tail, b);
    router->limited = router->border != NULL && topo_border_limit(router->border, a, b, &router->limit);
    TopoCost best = route_search(router, a, b);
    if (best.links == G_MAXUINT32)
        return FALSE;
    guint64 flow = hash_add(hash_add(hash_mix(router->seed), a), b);
    double width = 0;
    guint32 middle = route_meet(router, best, flow, &width);
    guint start = links->len;
    for (guint32 node = middle; node != a;) {
        guint32 id = route_step(router, &router->head, node, width, flow);
        g_array_append_val(links, id);
        node = topo_graph_link(router->graph, id)->from;
    }
    guint32 *at = (guint32 *)(void *)links->data;
    for (guint i = start, j = links->len; i + 1 < j; i++) {
        guint32 swapped = at[i];
        at[i] = at[--j];
        at[j] = swapped;
    }
    for (guint32 node = middle; node != b;) {
        guint32 id = route_step(router, &router->tail, node, width, flow);
        g_array_append_val(links, id);
        node = topo_graph_link(router->graph, id)->to;
    }
    return TRUE;
}
