// coll/fabric.c: graph -> network.
#include "coll/fabric.h"

#include <string.h>

void coll_fabric_init(CollFabric *fabric, const TopoGraph *graph, SimNetwork *network)
{
    enum { SEED = 1 };
    *fabric = (CollFabric){.graph = graph,
                           .network = network,
                           .router = topo_router_new(graph, SEED),
                           .routes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                           .scratch = g_array_new(FALSE, FALSE, sizeof(guint32))};
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        sim_network_add_link(network, link->bandwidth, link->latency);
    }
}

void coll_fabric_clear(CollFabric *fabric)
{
    topo_router_free(fabric->router);
    g_hash_table_unref(fabric->routes);
    g_array_unref(fabric->scratch);
    memset(fabric, 0, sizeof *fabric);
}

guint32 coll_fabric_route(CollFabric *fabric, guint32 from, guint32 to)
{
    g_assert(from != to);
    gint64 key = (gint64)from << 32 | to;
    gpointer known = g_hash_table_lookup(fabric->routes, &key);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    g_array_set_size(fabric->scratch, 0);
    gboolean found = topo_router_find(fabric->router, topo_graph_gpu(fabric->graph, from),
                                      topo_graph_gpu(fabric->graph, to), fabric->scratch);
    g_assert(found); // the graph has been checked
    guint32 id = sim_routes_add(&fabric->network->routes, (const guint32 *)(void *)fabric->scratch->data,
                                fabric->scratch->len);
    g_hash_table_insert(fabric->routes, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(id + 1));
    return id;
}
