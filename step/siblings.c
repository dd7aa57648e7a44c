// step/siblings.c: measuring collectives with their siblings.
#include "step/siblings.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "coll/fabric.h"
#include "coll/group.h"
#include "step/cache.h"
#include "step/groups.h"
#include "step/measuring.h"
#include "topo/route.h"

static void kin_free(gpointer data)
{
    Kin *kin = data;
    g_ptr_array_unref(kin->members);
    g_ptr_array_unref(kin->groups);
    g_free(kin);
}

void step_siblings_init(StepSiblings *siblings, const StepJob *job, const StepLowered *lowered)
{
    *siblings = (StepSiblings){.job = job, .lowered = lowered};
    siblings->all = g_array_new(FALSE, TRUE, sizeof(StepCollective));
    siblings->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

void step_siblings_clear(StepSiblings *siblings)
{
    for (guint i = 0; i < siblings->all->len; i++) {
        StepCollective *own = &g_array_index(siblings->all, StepCollective, i);
        if (own->shares != NULL)
            g_array_unref(own->shares);
    }
    g_array_unref(siblings->all);
    g_hash_table_unref(siblings->known);
}

guint32 step_siblings_add(StepSiblings *siblings, guint32 stage, const SimOp *op)
{
    guint32 pp = siblings->job->plan.pp, dimension = op->dimension, from = stage, other = stage;
    if (dimension == STEP_JOINT_SEND_FORWARD || dimension == STEP_JOINT_RECV_BACKWARD)
        other = (stage + 1) % pp;
    else if (dimension == STEP_JOINT_SEND_BACKWARD || dimension == STEP_JOINT_RECV_FORWARD)
        other = (stage + pp - 1) % pp;
    if (dimension == STEP_JOINT_RECV_FORWARD ||
        dimension == STEP_JOINT_RECV_BACKWARD) { // as the sender has it
        from = other;
        other = stage;
        dimension--;
    } else if (dimension == PLAN_GROUP_ENDS || dimension == PLAN_GROUP_WORLD) {
        from = 0;
        other = pp - 1;
    }
    gint64 key = (gint64)hash_add(hash_add(hash_add(from, dimension), (guint64)op->kind), (guint64)op->bytes);
    guint32 known = GPOINTER_TO_UINT(g_hash_table_lookup(siblings->known, &key));
    if (known != 0)
        return known - 1;
    StepCollective own = {.stage = from,
                          .other = other,
                          .dimension = dimension,
                          .kind = op->kind,
                          .bytes = op->bytes,
                          .like = siblings->all->len};
    g_array_append_val(siblings->all, own);
    g_hash_table_insert(siblings->known, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(siblings->all->len));
    return siblings->all->len - 1;
}

static void siblings_delivered(gpointer user, const SimFlight *flight)
{
    coll_group_received(((Measuring *)user)->by_id->pdata[flight->owner], flight);
}

static void siblings_done(gpointer user, CollGroup *group)
{
    (void)group;
    Measuring *run = user;
    run->first = MIN(run->first, run->engine.now);
    run->last = run->engine.now;
    run->running--;
}

// The groups that a collective's siblings form: every rank of the stage in its own.
static Kin *siblings_kin(Measuring *run, const StepCollective *own)
{
    const Plan *plan = &run->siblings->job->plan;
    for (guint i = 0; i < run->kin->len; i++) {
        Kin *kin = run->kin->pdata[i];
        if (kin->stage == own->stage && kin->dimension == own->dimension)
            return kin;
    }
    Kin *kin = g_new0(Kin, 1);
    kin->stage = own->stage;
    kin->dimension = own->dimension;
    kin->members = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    kin->groups = g_ptr_array_new_with_free_func((GDestroyNotify)coll_group_free);
    g_autofree gboolean *taken = g_new0(gboolean, plan->gpus);
    for (guint32 rank = 0; rank < plan->gpus; rank++) {
        if (run->siblings->lowered->runs[rank] != own->stage || taken[rank])
            continue;
        guint32 count = 0;
        g_autofree guint32 *members = own->dimension < PLAN_GROUPS
                                          ? plan_place_members(plan, (PlanGroup)own->dimension, rank, &count)
                                          : step_groups_pair(plan, rank, own->other, &count);
        for (guint32 i = 0; i < count; i++)
            taken[members[i]] = TRUE;
        GArray *list = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_array_append_vals(list, members, count);
        g_ptr_array_add(kin->members, list);
    }
    g_ptr_array_add(run->kin, kin);
    return kin;
}

// The route between two ranks: bandwidth, latency and class of every link.
static guint64 siblings_route(const Measuring *run, GArray *links, guint32 a, guint32 b)
{
    const TopoGraph *graph = run->siblings->job->machine->graph;
    guint64 hash = 1;
    g_array_set_size(links, 0);
    topo_router_find(run->fabric.router, a, b, links);
    for (guint k = 0; k < links->len; k++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(links, guint32, k));
        hash = hash_add(hash_add(hash, (guint64)link->bandwidth), (guint64)link->latency << 8 | link->class);
    }
    return hash;
}

// How the groups lie: whether neighbours share an island, and for evenly spaced groups the routes between
// them.
static guint64 siblings_signature(const Measuring *run, Kin *kin)
{
    enum { ROUTED = 16 }; // groups, at most some more
    if (kin->signature != 0)
        return kin->signature;
    const TopoGraph *graph = run->siblings->job->machine->graph;
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint64 hash = hash_add(kin->dimension, kin->members->len);
    guint spacing = MAX(kin->members->len / ROUTED, 1);
    for (guint i = 0; i < kin->members->len; i++) {
        const GArray *members = kin->members->pdata[i];
        hash = hash_add(hash, members->len);
        for (guint j = 0; j + 1 < members->len; j++) {
            guint32 a = topo_graph_gpu(graph, g_array_index(members, guint32, j));
            guint32 b = topo_graph_gpu(graph, g_array_index(members, guint32, j + 1));
            gboolean inside = topo_graph_node(graph, a)->island == topo_graph_node(graph, b)->island;
            hash = hash_add(hash, inside ? 1 : 2);
            if (i % spacing == 0)
                hash = hash_add(hash, siblings_route(run, links, a, b));
        }
    }
    kin->signature = MAX(hash, 1);
    return kin->signature;
}

// Finds for every collective one that lies alike, so that only that one is measured.
static void siblings_match(Measuring *run)
{
    GArray *all = run->siblings->all;
    for (guint32 i = 0; i < all->len && !measuring_exact(run); i++) {
        StepCollective *own = &g_array_index(all, StepCollective, i);
        if (own->known)
            continue;
        for (guint32 j = 0; j < i && own->like == i; j++) {
            const StepCollective *like = &g_array_index(all, StepCollective, j);
            if (like->like != j || like->dimension != own->dimension || like->kind != own->kind ||
                like->bytes != own->bytes)
                continue;
            if (siblings_signature(run, siblings_kin(run, own)) ==
                siblings_signature(run, siblings_kin(run, like)))
                own->like = j;
        }
    }
}

// Whether all that is to be measured can be, in minutes. shape's algorithm is that of every group of a kin.
static gboolean siblings_check(const Measuring *run, GError **error)
{
    static const double MESSAGES_MAX = 2e9;
    double messages = 0;
    const GArray *all = run->siblings->all;
    for (guint32 i = 0; i < all->len; i++) {
        const StepCollective *own = step_siblings_get(run->siblings, i);
        if (own->known || own->like != i)
            continue;
        for (guint k = 0; k < run->kin->len; k++) {
            const Kin *kin = run->kin->pdata[k];
            if (kin->stage != own->stage || kin->dimension != own->dimension)
                continue;
            const CollGroup *group = kin->groups->pdata[0];
            CollShape shape = group->run.shape;
            shape.op = step_groups_op(own->kind);
            shape.bytes = own->bytes;
            const CollChoice *choice = coll_group_choice(group, shape.op, shape.bytes);
            shape.chunks = choice->chunks;
            messages += (double)choice->algo->messages(&shape) * kin->groups->len;
        }
    }
    if (messages <= MESSAGES_MAX)
        return TRUE;
    return base_error_set(
        error, BASE_ERROR_FAILED, run->siblings->job->name,
        "found %.2g messages in the collectives of %u ranks that are to be measured, wanted at most "
        "%.2g: fewer ranks, or fewer sizes of buckets, would help",
        messages, run->siblings->job->plan.gpus, MESSAGES_MAX);
}

static gboolean siblings_prepare(Measuring *run, const StepCollective *own, GError **error)
{
    const StepJob *job = run->siblings->job;
    Kin *kin = siblings_kin(run, own);
    for (guint i = 0; i < kin->members->len; i++) {
        if (i == kin->groups->len) {
            const GArray *members = kin->members->pdata[i];
            gconstpointer choose = job->nccl ? (gconstpointer)&run->nccl : (gconstpointer)job->algorithm;
            if (own->dimension == PLAN_GROUP_WORLD && !job->nccl)
                choose = &COLL_BINOMIAL_TREE; // as step/groups.c
            CollGroup *group = coll_group_new(
                run->by_id->len, job->nccl ? coll_nccl_choose : coll_choice_plain, choose, &run->fabric,
                (const guint32 *)(const void *)members->data, members->len, siblings_done, run);
            g_ptr_array_add(kin->groups, group);
            g_ptr_array_add(run->by_id, group);
        }
        if (!coll_group_prepare(kin->groups->pdata[i], step_groups_op(own->kind), own->bytes, error))
            return FALSE;
    }
    return TRUE;
}

static void siblings_run(Measuring *run, StepCollective *own, Ps *before)
{
    Kin *kin = siblings_kin(run, own);
    guint32 links = run->siblings->job->machine->graph->links->len;
    memcpy(before, run->network.link_busy, links * sizeof *before);
    guint64 messages = run->network.messages;
    Ps start = run->engine.now;
    run->first = G_MAXINT64;
    run->last = start;
    run->running = kin->groups->len;
    for (guint i = 0; i < kin->groups->len; i++) {
        CollGroup *group = kin->groups->pdata[i];
        for (guint32 j = 0; j < group->run.shape.ranks; j++)
            coll_group_arrive(group, step_groups_op(own->kind), own->bytes);
    }
    sim_engine_run(&run->engine);
    g_assert(run->running == 0);
    sim_network_finish(&run->network);
    own->known = TRUE;
    own->time = run->last - start;
    own->spread = run->last - run->first;
    own->messages = run->network.messages - messages;
    measuring_shares(run, own, before);
    run->siblings->measured++;
}

static gboolean siblings_measure_all(Measuring *run, GError **error)
{
    GArray *all = run->siblings->all;
    siblings_match(run);
    for (guint32 i = 0; i < all->len; i++) {
        const StepCollective *own = step_siblings_get(run->siblings, i);
        if (!own->known && own->like == i && !siblings_prepare(run, own, error))
            return FALSE;
    }
    sim_network_freeze(&run->network, !run->siblings->job->no_fuse);
    if (!siblings_check(run, error))
        return FALSE;
    g_autofree Ps *before = g_new0(Ps, run->siblings->job->machine->graph->links->len + 1);
    for (guint32 i = 0; i < all->len; i++) {
        StepCollective *own = &g_array_index(all, StepCollective, i);
        if (own->known || own->like != i)
            continue;
        Kin *kin = siblings_kin(run, own);
        if (!coll_group_check(kin->groups->pdata[0], own->bytes, 1, run->siblings->job->name, error))
            return FALSE;
        siblings_run(run, own, before);
    }
    for (guint32 i = 0; i < all->len; i++) {
        StepCollective *own = &g_array_index(all, StepCollective, i);
        const StepCollective *like = &g_array_index(all, StepCollective, own->like);
        if (own->known)
            continue;
        own->known = TRUE;
        own->time = like->time;
        own->spread = like->spread;
        own->messages = like->messages;
        own->shares = g_array_ref(like->shares);
    }
    return TRUE;
}

gboolean step_siblings_measure(StepSiblings *siblings, GError **error)
{
    const StepJob *job = siblings->job;
    step_cache_find(siblings);
    if (siblings->found == siblings->all->len)
        return TRUE;
    Measuring run = {.siblings = siblings};
    sim_engine_init(&run.engine, job->queue);
    sim_network_init(&run.network, &run.engine, siblings->lowered->chunk, siblings_delivered, &run);
    coll_fabric_init(&run.fabric, job->machine->graph, &run.network);
    if (job->nccl)
        coll_nccl_init(&run.nccl, &job->machine->tuning, job->machine->graph, job->algorithm, job->protocol);
    run.kin = g_ptr_array_new_with_free_func(kin_free);
    run.by_id = g_ptr_array_new();
    measuring_place(&run);
    gboolean fine = siblings_measure_all(&run, error);
    g_ptr_array_unref(run.kin);
    g_ptr_array_unref(run.by_id);
    g_free(run.stages);
    g_free(run.of_gpu);
    coll_fabric_clear(&run.fabric);
    sim_network_clear(&run.network);
    sim_engine_clear(&run.engine);
    if (fine)
        step_cache_store(siblings);
    return fine;
}
