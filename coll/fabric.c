// coll/fabric.c: graph -> network.
#include "coll/fabric.h"

#include <string.h>

void coll_fabric_init(CollFabric *fabric, const TopoGraph *graph, SimNetwork *network)
{
    enum { SEED = 1 };
    *fabric = (CollFabric){.graph = graph,
                           .network = network,
                           .router = topo_router_new(graph, SEED),
                           .scratch = g_array_new(FALSE, FALSE, sizeof(guint32))};
    coll_box_find_grid(graph, &fabric->grid);
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        sim_network_add_link(network, link->bandwidth, link->latency);
    }
}

void coll_fabric_clear(CollFabric *fabric)
{
    topo_router_free(fabric->router);
    g_array_unref(fabric->scratch);
    memset(fabric, 0, sizeof *fabric);
}

// From the quickest kind to the slowest.
static int coll_fabric_rank_of(TopoLinkClass class)
{
    static const int ranks[] = {[TOPO_LINK_NVLINK] = 0,
                                [TOPO_LINK_CPU] = 1,
                                [TOPO_LINK_PCIE] = 2,
                                [TOPO_LINK_NETWORK] = 3,
                                [TOPO_LINK_WAN] = 4};
    return (guint) class < G_N_ELEMENTS(ranks) ? ranks[class] : 0;
}

guint32 coll_fabric_route(CollFabric *fabric, guint32 from, guint32 to, guint32 extra, TopoLinkClass *class)
{
    g_assert(from != to);
    g_array_set_size(fabric->scratch, 0);
    if (extra != G_MAXUINT32)
        g_array_append_val(fabric->scratch, extra);
    gboolean found = topo_router_find(fabric->router, from, to, fabric->scratch);
    g_assert(found); // the graph has been checked
    const guint32 *links = (const guint32 *)(void *)fabric->scratch->data;
    TopoLinkClass slowest = TOPO_LINK_NVLINK;
    for (guint32 i = extra != G_MAXUINT32 ? 1 : 0; i < fabric->scratch->len; i++) {
        TopoLinkClass own = topo_graph_link(fabric->graph, links[i])->class;
        if (coll_fabric_rank_of(own) > coll_fabric_rank_of(slowest))
            slowest = own;
    }
    if (class != NULL)
        *class = slowest;
    return sim_routes_add(&fabric->network->routes, links, fabric->scratch->len);
}

static guint32 coll_fabric_island_of(const TopoGraph *graph, guint32 gpu)
{
    return topo_graph_node(graph, topo_graph_gpu(graph, gpu))->island;
}

guint32 coll_fabric_island(const TopoGraph *graph, const guint32 *gpus, guint32 n)
{
    guint32 first = coll_fabric_island_of(graph, gpus[0]), size = 1;
    if (first == G_MAXUINT32)
        return 1;
    while (size < n && coll_fabric_island_of(graph, gpus[size]) == first)
        size++;
    if (n % size != 0)
        return 1;
    for (guint32 i = 0; i < n; i++) {
        guint32 own = coll_fabric_island_of(graph, gpus[i]);
        gboolean starts = i % size == 0;
        if (own == G_MAXUINT32 || (!starts && own != coll_fabric_island_of(graph, gpus[i - 1])) ||
            (starts && i > 0 && own == coll_fabric_island_of(graph, gpus[i - 1])))
            return 1;
    }
    return size;
}

guint32 coll_fabric_switch(const TopoGraph *graph, guint32 island)
{
    for (guint32 i = 0; i < graph->nodes->len; i++) {
        const TopoNode *node = topo_graph_node(graph, i);
        if (node->kind == TOPO_NODE_NVSWITCH && node->island == island)
            return i;
    }
    return G_MAXUINT32;
}

guint32 coll_fabric_network_switch(const TopoGraph *graph)
{
    guint32 best = G_MAXUINT32, most = 0;
    for (guint32 i = 0; i < graph->nodes->len; i++) {
        guint32 links = graph->first_out[i + 1] - graph->first_out[i];
        if (topo_graph_node(graph, i)->kind == TOPO_NODE_SWITCH && links > most) {
            best = i;
            most = links;
        }
    }
    return best;
}
