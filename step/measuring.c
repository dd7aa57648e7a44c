// step/measuring.c: whose links a collective keeps busy, and for which share of its time.
#include "step/measuring.h"

gboolean measuring_exact(const Measuring *run)
{
    return run->siblings->job->plan.gpus <= STEP_SIBLINGS_EXACT;
}

void measuring_place(Measuring *run)
{
    const StepJob *job = run->siblings->job;
    const TopoGraph *graph = job->machine->graph;
    run->stages = g_new(guint32, graph->nodes->len + 1);
    run->of_gpu = g_new(guint32, graph->nodes->len);
    g_autofree gboolean *seen = g_new0(gboolean, graph->nodes->len + 1);
    for (guint32 i = 0; i < graph->nodes->len; i++)
        run->of_gpu[i] = G_MAXUINT32;
    for (guint32 rank = 0; rank < job->plan.gpus; rank++) {
        guint32 node = topo_graph_gpu(graph, rank), stage = run->siblings->lowered->runs[rank];
        guint32 island = topo_graph_node(graph, node)->island;
        run->of_gpu[node] = stage;
        if (island == G_MAXUINT32)
            continue;
        g_assert(island <= graph->nodes->len);
        run->stages[island] = seen[island] && run->stages[island] != stage ? G_MAXUINT32 : stage;
        seen[island] = TRUE;
    }
}

// Which stage a link belongs to, seen from a collective.
static StepOwner measuring_owner(const Measuring *run, const StepCollective *own, const TopoLink *link)
{
    const TopoGraph *graph = run->siblings->job->machine->graph;
    guint32 stage = run->of_gpu[link->from] != G_MAXUINT32 ? run->of_gpu[link->from] : run->of_gpu[link->to];
    if (stage == G_MAXUINT32) {
        guint32 island = topo_graph_node(graph, link->from)->island;
        if (island == G_MAXUINT32)
            island = topo_graph_node(graph, link->to)->island;
        if (island == G_MAXUINT32)
            return STEP_OWNER_POOL;
        stage = run->stages[island];
    }
    return stage == own->stage ? STEP_OWNER_STAGE : stage == own->other ? STEP_OWNER_OTHER : STEP_OWNER_MIXED;
}

static guint32 measuring_class(const TopoGraph *graph, const TopoLink *link)
{
    return ((guint32)link->class * TOPO_NODE_KINDS + topo_graph_node(graph, link->from)->kind) *
               TOPO_NODE_KINDS +
           topo_graph_node(graph, link->to)->kind;
}

// What of the time each link was busy; before is the busy time of every link so far.
static void measuring_links(const Measuring *run, StepCollective *own, const Ps *before)
{
    const TopoGraph *graph = run->siblings->job->machine->graph;
    own->shares = g_array_new(FALSE, FALSE, sizeof(StepLinkShare));
    for (guint32 i = 0; own->time > 0 && i < graph->links->len; i++) {
        double share = (double)(run->network.link_busy[i] - before[i]) / (double)own->time;
        StepLinkShare use = {i, STEP_OWNER_LINK, (guint32)(MIN(share, 1) * SIM_SHARE_ONE)};
        if (share > 0) // be it too little to count
            g_array_append_val(own->shares, use);
    }
}

// The same by kind of link and owner.
static void measuring_kinds(const Measuring *run, StepCollective *own, const Ps *before)
{
    enum { CLASSES = TOPO_LINK_CLASSES * TOPO_NODE_KINDS * TOPO_NODE_KINDS, OWNERS = STEP_OWNER_POOL + 1 };
    const TopoGraph *graph = run->siblings->job->machine->graph;
    g_autofree double *busy = g_new0(double, CLASSES *OWNERS);
    g_autofree guint32 *count = g_new0(guint32, CLASSES);
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        Ps time = run->network.link_busy[i] - before[i];
        guint32 class = measuring_class(graph, link);
        StepOwner owner = measuring_owner(run, own, link);
        double *sum = &busy[class * OWNERS + owner];
        if (owner == STEP_OWNER_POOL) {
            count[class]++;
            *sum += (double)time;
        } else {
            *sum = MAX(*sum, (double)time);
        }
    }
    own->shares = g_array_new(FALSE, FALSE, sizeof(StepLinkShare));
    for (guint32 i = 0; own->time > 0 && i < CLASSES * OWNERS; i++) {
        double share = busy[i] / (double)own->time;
        if (i % OWNERS == STEP_OWNER_POOL)
            share /= MAX(count[i / OWNERS], 1);
        StepLinkShare use = {i / OWNERS, i % OWNERS, (guint32)(MIN(share, 1) * SIM_SHARE_ONE)};
        if (share > 0)
            g_array_append_val(own->shares, use);
    }
}

void measuring_shares(const Measuring *run, StepCollective *own, const Ps *before)
{
    if (measuring_exact(run))
        measuring_links(run, own, before);
    else
        measuring_kinds(run, own, before);
}
