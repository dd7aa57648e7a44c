// machines/join.c: copying nodes, adding NICs, joining them.
#include "machines/join.h"

#include "topo/build.h"
#include "topo/route.h"

// copies of node without anything between them; *ids: the new id of node n of copy c at c * nodes + n (caller
// frees).
static TopoGraph *join_copy(const TopoGraph *node, guint32 copies, guint32 **ids)
{
    TopoGraph *graph = topo_graph_new();
    graph->gpu_forward = node->gpu_forward;
    guint32 n = node->nodes->len;
    *ids = g_new(guint32, (gsize)n * copies);
    g_autofree guint32 *alike = g_new(guint32, n);
    for (guint kind = 0; kind < TOPO_NODE_KINDS; kind++) {
        guint32 found = 0;
        for (guint32 i = 0; i < n; i++)
            if (topo_graph_node(node, i)->kind == (TopoNodeKind)kind)
                alike[found++] = i;
        for (guint32 copy = 0; copy < copies; copy++)
            for (guint32 k = 0; k < found; k++)
                (*ids)[(gsize)copy * n + alike[k]] = topo_graph_add_node(graph, (TopoNodeKind)kind, copy);
    }
    for (guint32 copy = 0; copy < copies; copy++)
        for (guint32 i = 0; i < node->links->len; i++) {
            const TopoLink *link = topo_graph_link(node, i);
            const guint32 *at = *ids + (gsize)copy * n;
            topo_graph_add_link(graph, at[link->from], at[link->to], link->class, link->bandwidth,
                                link->latency);
        }
    return graph;
}

TopoGraph *machine_join_copy(const TopoGraph *node)
{
    g_autofree guint32 *ids = NULL;
    return join_copy(node, 1, &ids);
}

// Adds id to a set kept as a short array, unless it is there.
static void join_insert(GArray *set, guint32 id)
{
    for (guint i = 0; i < set->len; i++)
        if (g_array_index(set, guint32, i) == id)
            return;
    g_array_append_val(set, id);
}

// The PCIe switches (else the CPUs) on the other end of a GPU's links in one direction; FALSE where there is
// none.
static gboolean join_find_hosts(const TopoGraph *node, guint32 gpu, gboolean out, GArray *hosts)
{
    static const TopoNodeKind kinds[] = {TOPO_NODE_PCIE_SWITCH, TOPO_NODE_CPU};
    gboolean found = FALSE;
    for (guint k = 0; k < G_N_ELEMENTS(kinds) && !found; k++)
        for (guint32 i = 0; i < node->links->len; i++) {
            const TopoLink *link = topo_graph_link(node, i);
            guint32 end = out ? link->to : link->from;
            if ((out ? link->from : link->to) == gpu && topo_graph_node(node, end)->kind == kinds[k]) {
                join_insert(hosts, end);
                found = TRUE;
            }
        }
    return found;
}

TopoGraph *machine_join_add_nics(const TopoGraph *node, guint32 nics, double bandwidth, Ps latency)
{
    guint32 gpus = node->gpus->len, group = gpus / nics + (gpus % nics != 0);
    g_autofree guint32 *ids = NULL;
    TopoGraph *graph = join_copy(node, 1, &ids);
    for (guint32 first = 0; first < gpus; first += group) {
        guint32 nic = topo_graph_add_node(graph, TOPO_NODE_NIC, 0);
        for (guint way = 0; way < 2; way++) {
            g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(guint32));
            if (!join_find_hosts(node, topo_graph_gpu(node, first), way == 0, hosts))
                for (guint32 gpu = first; gpu < MIN(first + group, gpus); gpu++)
                    join_insert(hosts, topo_graph_gpu(node, gpu));
            for (guint i = 0; i < hosts->len; i++) { // what the GPU sends to, the NIC sends to
                guint32 host = ids[g_array_index(hosts, guint32, i)];
                topo_graph_add_link(graph, way == 0 ? nic : host, way == 0 ? host : nic, TOPO_LINK_PCIE,
                                    bandwidth, latency);
            }
        }
    }
    return graph;
}

// Of a way: its latency and its least bandwidth; FALSE where there is none.
static gboolean join_measure(TopoRouter *router, const TopoGraph *graph, guint32 a, guint32 b, Ps *latency,
                             double *bandwidth)
{
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    if (!topo_router_find(router, a, b, links))
        return FALSE;
    *latency = 0;
    *bandwidth = G_MAXDOUBLE;
    for (guint i = 0; i < links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(links, guint32, i));
        *latency += link->latency;
        *bandwidth = MIN(*bandwidth, link->bandwidth);
    }
    return TRUE;
}

static void join_freeze(TopoGraph *graph)
{
    gboolean sound = topo_graph_check(graph, NULL, NULL);
    g_assert(sound);
}

TopoGraph *machine_join_add_pxn(const TopoGraph *node)
{
    g_autofree guint32 *plain_ids = NULL, *ids = NULL;
    g_autoptr(TopoGraph) plain = join_copy(node, 1, &plain_ids);
    join_freeze(plain);
    g_autoptr(TopoRouter) router = topo_router_new(plain, 0);
    TopoGraph *graph = join_copy(plain, 1, &ids);
    for (guint32 nic = 0; nic < plain->nodes->len; nic++) {
        if (topo_graph_node(plain, nic)->kind != TOPO_NODE_NIC)
            continue;
        guint32 nearest = G_MAXUINT32;
        Ps least = PS_MAX, latency = 0;
        double rate = 0, bandwidth = 0;
        for (guint32 rank = 0; rank < plain->gpus->len; rank++)
            if (join_measure(router, plain, topo_graph_gpu(plain, rank), nic, &latency, &bandwidth) &&
                latency < least) {
                nearest = topo_graph_gpu(plain, rank);
                least = latency;
                rate = bandwidth;
            }
        for (guint32 i = 0; nearest != G_MAXUINT32 && i < plain->links->len; i++) {
            const TopoLink *link = topo_graph_link(plain, i);
            if (link->to == nearest && topo_graph_node(plain, link->from)->kind == TOPO_NODE_NVSWITCH)
                topo_graph_add_link(graph, ids[link->from], ids[nic], TOPO_LINK_NVLINK,
                                    MIN(rate, link->bandwidth), link->latency + least);
        }
    }
    join_freeze(graph);
    return graph;
}

TopoGraph *machine_join_nodes(const TopoGraph *node, guint32 copies, double bandwidth, Ps up, Ps down,
                              const MachineFabric *fabric)
{
    guint32 rails = node->counts[TOPO_NODE_NIC];
    g_assert(rails > 0 && copies > 0);
    g_autofree guint32 *ids = NULL;
    TopoGraph *graph = join_copy(node, copies, &ids);
    g_autofree guint32 *nics = g_new(guint32, (gsize)rails * copies);
    gsize n = 0;
    for (guint32 copy = 0; copy < copies; copy++)
        for (guint32 i = 0; i < node->nodes->len; i++)
            if (topo_graph_node(node, i)->kind == TOPO_NODE_NIC)
                nics[n++] = ids[(gsize)copy * node->nodes->len + i];
    MachineFabricNics joined = {
        .nodes = copies, .rails = rails, .ids = nics, .bandwidth = bandwidth, .up = up, .down = down};
    machine_fabric_add(graph, fabric, &joined);
    return graph;
}

gboolean machine_join_find_shortcut(const TopoGraph *node, Ps up, Ps down, guint32 *a, guint32 *b)
{
    MachineFabric single = {0};
    g_autoptr(TopoGraph) graph = machine_join_nodes(node, 1, 1, up, down, &single);
    join_freeze(graph);
    g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
    g_autoptr(GArray) way = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < 2 * graph->gpus->len; i++) {
        guint32 to = i / 2, from = i % 2 == 0 || to == 0 ? 0 : to - 1;
        g_array_set_size(way, 0);
        topo_router_find(router, topo_graph_gpu(graph, from), topo_graph_gpu(graph, to), way);
        for (guint k = 0; k < way->len; k++) {
            guint32 passed = topo_graph_link(graph, g_array_index(way, guint32, k))->to;
            if (topo_graph_node(graph, passed)->kind == TOPO_NODE_NIC) {
                *a = from;
                *b = to;
                return TRUE;
            }
        }
    }
    return FALSE;
}
