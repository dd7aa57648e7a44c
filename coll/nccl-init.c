// coll/nccl-init.c: what NCCL's choice needs to know of a machine's links.
#include "coll/nccl.h"
#include "topo/route.h"

enum { NEIGHBOURS = 64 }; // of an island, whose links are looked at

// The latency of the links from one GPU to another, and the least bandwidth there; FALSE: no way.
static gboolean coll_nccl_measure(TopoRouter *router, const TopoGraph *graph, guint32 from, guint32 to,
                                  GArray *links, Ps *latency, double *rate, TopoLinkClass *class)
{
    g_array_set_size(links, 0);
    *latency = 0;
    *rate = G_MAXDOUBLE;
    if (!topo_router_find(router, topo_graph_gpu(graph, from), topo_graph_gpu(graph, to), links))
        return FALSE;
    for (guint l = 0; l < links->len; l++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(links, guint32, l));
        *latency += link->latency;
        *rate = MIN(*rate, link->bandwidth);
        if (class != NULL && link->class != TOPO_LINK_NVLINK)
            *class = link->class == TOPO_LINK_CPU ? TOPO_LINK_PCIE : link->class;
    }
    return TRUE;
}

void coll_nccl_init(CollNccl *nccl, const MachineTuning *constants, const TopoGraph *graph,
                    const CollAlgo *algo, const char *protocol)
{
    guint32 gpus = graph->gpus->len, own = topo_graph_node(graph, topo_graph_gpu(graph, 0))->island,
            island = 1;
    while (own != G_MAXUINT32 && island < gpus &&
           topo_graph_node(graph, topo_graph_gpu(graph, island))->island == own)
        island++;
    *nccl = (CollNccl){.nccl = constants,
                       .algo = algo,
                       .protocol = protocol,
                       .island = island,
                       .inside_rate = G_MAXDOUBLE,
                       .across_rate = G_MAXDOUBLE,
                       .inside_class = TOPO_LINK_NVLINK};
    g_autoptr(TopoRouter) router = topo_router_new(graph, 1);
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 pairs = MIN(island, NEIGHBOURS), found = 0;
    Ps latency = 0, sum = 0;
    double rate = 0;
    for (guint32 i = 0; island > 1 && i < pairs; i++) {
        if (!coll_nccl_measure(router, graph, i, (i + 1) % island, links, &latency, &rate,
                               i == 0 ? &nccl->inside_class : NULL))
            continue;
        sum += latency;
        nccl->inside_rate = MIN(nccl->inside_rate, rate);
        found++;
    }
    nccl->inside = found > 0 ? sum / found : 0;
    if (gpus > 1 && coll_nccl_measure(router, graph, 0, gpus - 1, links, &latency, &rate, NULL)) {
        nccl->across = nccl->rail = latency;
        nccl->across_rate = rate;
    }
    for (guint32 i = 0; gpus > island && gpus % island == 0 && i < pairs; i++)
        if (coll_nccl_measure(router, graph, i, gpus - island + i, links, &latency, &rate, NULL))
            nccl->rail = i == 0 ? latency : MAX(nccl->rail, latency);
}
