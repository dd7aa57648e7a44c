// coll/group.c: collectives on the simulated network.
#include "coll/group.h"

#include <string.h>

#include "base/error.h"

#define EVENTS_MAX 1e11 // some hours of simulation; what asks for more is a mistake

static void coll_group_emit(CollRun *run, const CollSend *send)
{
    CollGroup *group = (CollGroup *)run;
    const CollPlan *plan = group->plan;
    const CollChoice *choice = &plan->choice;
    gsize peer = (gsize)send->from * plan->slots + send->slot;
    gint64 bytes = coll_send_count(send) == 1
                       ? group->piece + (send->piece < group->longer)
                       : coll_send_bytes(coll_vector_bytes(&run->shape), group->pieces, send);
    if (choice->wire_num != choice->wire_den)
        bytes = (gint64)(((unsigned __int128)(guint64)bytes * choice->wire_num + choice->wire_den - 1) /
                         choice->wire_den);
    SimFlight flight = {.bytes = bytes,
                        .key = (guint64)group->id << 32 | (guint32)(send->step * plan->members + send->from),
                        .route = plan->routes[peer],
                        .owner = group->id,
                        .step = send->step,
                        .from = send->from,
                        .to = send->to};
    if (send->from < run->shape.ranks)
        group->sent[send->from] += bytes;
    sim_network_send(group->network, &flight, plan->delays[peer] + (group->starting ? choice->base : 0));
}

CollGroup *coll_group_new(guint32 id, CollChooser chooser, gconstpointer choose, CollFabric *fabric,
                          const guint32 *gpus, guint32 n, CollDone done, gpointer user)
{
    g_assert(n >= 1 && n <= COLL_GROUP_RANKS_MAX && id < G_MAXUINT32 >> 4);
    CollGroup *group = g_new0(CollGroup, 1);
    group->run.shape.ranks = n;
    group->run.shape.island = coll_fabric_island(fabric->graph, gpus, n);
    group->rings = coll_rings_find(fabric->graph, gpus, n);
    group->run.shape.rings = group->rings;
    group->box = coll_box_find(&fabric->grid, gpus, n);
    group->run.shape.box = group->box;
    group->run.emit = coll_group_emit;
    group->chooser = chooser;
    group->choose = choose;
    group->fabric = fabric;
    group->network = fabric->network;
    group->id = id;
    group->gpus = g_memdup2(gpus, n * sizeof *gpus);
    group->sent = g_new0(gint64, n);
    group->plans = g_ptr_array_new();
    group->done = done;
    group->user = user;
    return group;
}

void coll_group_free(CollGroup *group)
{
    if (group == NULL)
        return;
    for (guint i = 0; i < group->plans->len; i++) {
        CollPlan *plan = group->plans->pdata[i];
        g_free(plan->routes);
        g_free(plan->delays);
        g_free(plan);
    }
    g_ptr_array_unref(group->plans);
    coll_rings_free(group->rings);
    g_free(group->box);
    g_free(group->run.state);
    g_free(group->gpus);
    g_free(group->sent);
    g_free(group);
}

// The graph's node of a member: a GPU, an island's switch, or the network's. G_MAXUINT32: the machine has no
// such switch.
static guint32 coll_group_node(const CollGroup *group, guint32 member)
{
    const TopoGraph *graph = group->fabric->graph;
    const CollShape *shape = &group->run.shape;
    if (member < shape->ranks)
        return topo_graph_gpu(graph, group->gpus[member]);
    guint32 island = member - shape->ranks;
    if (island == coll_islands(shape))
        return coll_fabric_network_switch(graph);
    guint32 first = topo_graph_gpu(graph, group->gpus[island * coll_island(shape)]);
    return coll_fabric_switch(graph, topo_graph_node(graph, first)->island);
}

static CollPlan *coll_group_find(const CollGroup *group, const CollChoice *choice)
{
    for (guint i = 0; i < group->plans->len; i++) {
        CollPlan *plan = group->plans->pdata[i];
        const CollChoice *own = &plan->choice;
        gboolean same = own->algo == choice->algo && g_strcmp0(own->protocol, choice->protocol) == 0;
        // Ports and delays were made for these; operations differ in them.
        if (same && memcmp(&own->cap, &choice->cap, sizeof own->cap) == 0 &&
            memcmp(own->hop, choice->hop, sizeof own->hop) == 0)
            return plan;
    }
    return NULL;
}

static void coll_group_compile(CollGroup *group, CollPlan *plan, const guint32 *nodes)
{
    const CollShape *shape = &group->run.shape;
    const CollAlgo *algo = plan->choice.algo;
    gsize n = (gsize)plan->members * plan->slots;
    plan->routes = g_new(guint32, n + 1);
    plan->delays = g_new0(Ps, n + 1);
    for (guint32 member = 0; member < plan->members; member++) {
        gboolean capped = plan->choice.cap > 0 && member < shape->ranks;
        guint32 port = G_MAXUINT32;
        if (capped && !plan->choice.lanes)
            port = sim_network_add_link(group->network, plan->choice.cap, 0);
        for (guint32 slot = 0; slot < plan->slots; slot++) {
            gsize at = (gsize)member * plan->slots + slot;
            guint32 peer = algo->peer(shape, member, slot);
            plan->routes[at] = G_MAXUINT32;
            if (peer == G_MAXUINT32)
                continue;
            if (capped && plan->choice.lanes)
                port = sim_network_add_link(group->network, plan->choice.cap, 0);
            TopoLinkClass class = TOPO_LINK_NVLINK;
            plan->routes[at] = coll_fabric_route(group->fabric, nodes[member], nodes[peer], port, &class);
            plan->delays[at] = plan->choice.hop[class];
        }
    }
}

gboolean coll_group_prepare(CollGroup *group, CollOp op, gint64 bytes, GError **error)
{
    CollShape *shape = &group->run.shape;
    shape->op = op;
    shape->bytes = bytes;
    CollChoice choice;
    group->chooser(group->choose, shape, &choice);
    shape->chunks = choice.chunks;
    shape->window = choice.window;
    const char *refusal = choice.algo->refuses(shape);
    if (refusal != NULL)
        return base_error_set(error, BASE_ERROR_FAILED, NULL,
                              "algorithm '%s' %s: found %u ranks in islands of %u", choice.algo->name,
                              refusal, shape->ranks, coll_island(shape));
    if (coll_group_find(group, &choice) != NULL)
        return TRUE;
    guint32 members = shape->ranks + choice.algo->switches(shape);
    g_autofree guint32 *nodes = g_new(guint32, members);
    for (guint32 member = 0; member < members; member++) {
        nodes[member] = coll_group_node(group, member);
        if (nodes[member] == G_MAXUINT32)
            return base_error_set(
                error, BASE_ERROR_FAILED, NULL,
                "algorithm '%s' wants a switch that reduces, and the machine has none %s", choice.algo->name,
                member == shape->ranks + coll_islands(shape) ? "between its islands" : "in every island");
    }
    CollPlan *plan = g_new0(CollPlan, 1);
    plan->choice = choice;
    plan->members = members;
    plan->slots = choice.algo->slots(shape);
    coll_group_compile(group, plan, nodes);
    g_ptr_array_add(group->plans, plan);
    return TRUE;
}

const CollChoice *coll_group_choice(const CollGroup *group, CollOp op, gint64 bytes)
{
    CollShape shape = group->run.shape;
    shape.op = op;
    shape.bytes = bytes;
    CollChoice choice;
    group->chooser(group->choose, &shape, &choice);
    const CollPlan *plan = coll_group_find(group, &choice);
    g_assert(plan != NULL); // it has been prepared
    return &plan->choice;
}

gboolean coll_group_check(const CollGroup *group, gint64 bytes, guint64 collectives, const char *where,
                          GError **error)
{
    const double limit = 0.45 * (double)PS_MAX;    // leaves room for compute, which is a day at most
    double slowest = 0, longest = 0, messages = 0; // ps a byte; ps; of one collective
    const SimNetwork *network = group->network;
    for (guint32 i = 0; i < network->routes.routes->len; i++) {
        const SimRoute *route = sim_routes_get(&network->routes, i);
        const guint32 *ids = sim_routes_links(&network->routes, route);
        double latency = 0;
        for (guint32 j = 0; j < route->n_links; j++) {
            const SimLink *link = &network->links[ids[j]];
            latency += (double)link->latency;
            slowest = MAX(slowest, (double)link->pace.num / (double)link->pace.den);
        }
        longest = MAX(longest, latency);
    }
    for (guint i = 0; i < group->plans->len; i++) {
        const CollPlan *plan = group->plans->pdata[i];
        CollShape shape = group->run.shape;
        shape.chunks = plan->choice.chunks;
        messages = MAX(messages, (double)plan->choice.algo->messages(&shape));
        for (guint class = 0; class < TOPO_LINK_CLASSES; class ++)
            longest = MAX(longest, (double)(plan->choice.hop[class] + plan->choice.base));
    }
    double sends =
        4.0 * group->run.shape.ranks; // vectors that pass one link at most, also where all ranks' do
    double rounds = MAX(sends, 64);
    double worst = sends * (double)bytes * slowest + rounds * (double)collectives * longest;
    if (worst < limit && (double)bytes * sends < 0.45 * (double)G_MAXINT64) {
        double chunks = (double)bytes / (double)network->chunk;
        double events = 2 * ((double)collectives * messages + sends * chunks);
        if (events < EVENTS_MAX && chunks < G_MAXINT32)
            return TRUE;
        return base_error_set(
            error, BASE_ERROR_FAILED, where,
            "message by message this would take about %.2g events, wanted at most %.2g: fewer ranks, "
            "larger buckets or a larger chunk would help",
            events, EVENTS_MAX);
    }
    g_autofree char *size = units_format_bytes((double)bytes);
    return base_error_set(
        error, BASE_ERROR_FAILED, where,
        "found %s to be exchanged by %u ranks over a slowest link of %.3g bytes/s and latencies of up to "
        "%.3g s a message: it could take more days than the clock holds (106)",
        size, group->run.shape.ranks, slowest > 0 ? 1e12 / slowest : 0, longest * 1e-12);
}

static void coll_group_start(CollGroup *group)
{
    CollShape *shape = &group->run.shape;
    CollChoice choice;
    group->chooser(group->choose, shape, &choice);
    shape->chunks = choice.chunks;
    shape->window = choice.window;
    CollPlan *plan = coll_group_find(group, &choice);
    g_assert(plan != NULL); // it has been prepared
    plan->choice = choice;  // base and chunks go by size
    group->plan = plan;
    group->left = choice.algo->messages(shape);
    group->pieces = choice.algo->pieces(shape);
    group->piece = coll_vector_bytes(shape) / group->pieces;
    group->longer = coll_vector_bytes(shape) % group->pieces;
    guint64 states = choice.algo->states(shape);
    g_assert(states < G_MAXUINT32);
    if (states > group->room) {
        group->room = (guint32)states;
        group->run.state = g_renew(guint32, group->run.state, group->room);
    }
    if (states > 0)
        memset(group->run.state, 0, states * sizeof *group->run.state);
    if (group->left == 0) {
        group->done(group->user, group);
        return;
    }
    group->starting = TRUE;
    choice.algo->begin(&group->run);
    group->starting = FALSE;
}

void coll_group_arrive(CollGroup *group, CollOp op, gint64 bytes)
{
    CollShape *shape = &group->run.shape;
    g_assert(group->left == 0 && group->arrived < shape->ranks);
    g_assert(group->arrived == 0 || (shape->op == op && shape->bytes == bytes));
    shape->op = op;
    shape->bytes = bytes;
    if (++group->arrived < shape->ranks)
        return;
    group->arrived = 0;
    if (group->started != NULL)
        group->started(group->user, group);
    coll_group_start(group);
}

void coll_group_received(CollGroup *group, const SimFlight *flight)
{
    g_assert(group->left > 0);
    group->left--;
    group->plan->choice.algo->received(&group->run, flight->step, flight->from, flight->to);
    if (group->left == 0)
        group->done(group->user, group);
}
