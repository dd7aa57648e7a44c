// step/groups.c: communicators of ranks, made from the plan.
#include "step/groups.h"

CollOp step_groups_op(SimKind kind)
{
    switch (kind) {
    case SIM_KIND_ALL_REDUCE:
        return COLL_OP_ALL_REDUCE;
    case SIM_KIND_REDUCE_SCATTER:
        return COLL_OP_REDUCE_SCATTER;
    case SIM_KIND_ALL_GATHER:
        return COLL_OP_ALL_GATHER;
    case SIM_KIND_BROADCAST:
    case SIM_KIND_SEND: // to the only other member
        return COLL_OP_BROADCAST;
    case SIM_KIND_FORWARD:
    case SIM_KIND_BACKWARD:
    case SIM_KIND_RECOMPUTE:
    case SIM_KIND_OPTIMIZER:
    case SIM_KIND_COPY:
    case SIM_KIND_LOAD:
    case SIM_KIND_LAUNCH:
    case SIM_KINDS:
        break;
    }
    g_assert_not_reached();
}

static void groups_delivered(gpointer user, const SimFlight *flight)
{
    StepGroups *groups = user;
    coll_group_received(((StepCommunicator *)groups->all->pdata[flight->owner])->coll, flight);
}

static void groups_started(gpointer user, CollGroup *coll)
{
    StepGroups *groups = user;
    const StepCommunicator *own = groups->all->pdata[coll->id];
    for (guint32 i = 0; i < own->arrived; i++)
        sim_streams_move(groups->streams, own->ranks[own->present][i], own->streams[own->present][i]);
}

static void groups_done(gpointer user, CollGroup *coll)
{
    StepGroups *groups = user;
    StepCommunicator *own = groups->all->pdata[coll->id];
    guint32 present = own->present, arrived = own->arrived;
    own->present = 1 - present; // who comes to the next one while the others are told
    own->arrived = 0;
    for (guint32 i = 0; i < arrived; i++)
        sim_streams_end(groups->streams, own->ranks[present][i], own->streams[present][i]);
}

void step_groups_join(gpointer user, guint32 rank, guint32 op)
{
    StepGroups *groups = user;
    const SimOp *what = sim_program_op(sim_streams_program(groups->streams, rank), op);
    guint32 id = groups->of[(gsize)what->dimension * groups->job->plan.gpus + rank];
    StepCommunicator *own = groups->all->pdata[id];
    own->ranks[own->present][own->arrived] = rank;
    own->streams[own->present][own->arrived] = what->stream;
    own->arrived++;
    coll_group_arrive(own->coll, step_groups_op(what->kind), what->bytes);
}

static void groups_communicator_free(gpointer data)
{
    StepCommunicator *own = data;
    coll_group_free(own->coll);
    for (guint i = 0; i < 2; i++) {
        g_free(own->ranks[i]);
        g_free(own->streams[i]);
    }
    g_free(own);
}

static void groups_add(StepGroups *groups, const guint32 *members, guint32 n, guint32 dimension)
{
    const StepJob *job = groups->job;
    CollChooser chooser;
    gconstpointer choose;
    chooser = job->nccl ? coll_nccl_choose : coll_choice_plain;
    choose = job->nccl ? (gconstpointer)&groups->nccl : (gconstpointer)job->algorithm;
    if (dimension == PLAN_GROUP_WORLD && !job->nccl)
        choose = &COLL_BINOMIAL_TREE; // a few bytes over all ranks: no ring
    guint32 id = groups->all->len;
    StepCommunicator *own = g_new0(StepCommunicator, 1);
    own->coll = coll_group_new(id, chooser, choose, &groups->fabric, members, n, groups_done, groups);
    own->coll->started = groups_started;
    own->dimension = dimension;
    for (guint i = 0; i < 2; i++) {
        own->ranks[i] = g_new(guint32, n);
        own->streams[i] = g_new(guint32, n);
    }
    g_ptr_array_add(groups->all, own);
}

static guint32 *groups_of(StepGroups *groups, guint32 dimension, guint32 rank)
{
    return &groups->of[(gsize)dimension * groups->job->plan.gpus + rank];
}

guint32 *step_groups_pair(const Plan *plan, guint32 rank, guint32 stage, guint32 *count)
{
    PlanPlace place = plan_place_of(plan, rank);
    place.at[PLAN_DIMENSION_PP] = stage;
    guint32 *pair = g_new(guint32, 2);
    pair[0] = rank;
    pair[1] = plan_place_rank(plan, &place);
    *count = 2;
    return pair;
}

// The rank of another stage at the same place; it wraps round, as interleaved chunks do.
static guint32 groups_neighbour(const Plan *plan, guint32 rank, gint32 step)
{
    guint32 stage = (plan_place_of(plan, rank).at[PLAN_DIMENSION_PP] + plan->pp + (guint32)step) % plan->pp;
    guint32 count;
    g_autofree guint32 *pair = step_groups_pair(plan, rank, stage, &count);
    return pair[1];
}

// Makes the group of a rank in a dimension, if it is not there yet.
static void groups_need(StepGroups *groups, guint32 dimension, guint32 rank)
{
    const Plan *plan = &groups->job->plan;
    if (*groups_of(groups, dimension, rank) != G_MAXUINT32)
        return;
    guint32 id = groups->all->len;
    if (dimension < PLAN_GROUPS) {
        guint32 count = 0;
        g_autofree guint32 *members = plan_place_members(plan, (PlanGroup)dimension, rank, &count);
        groups_add(groups, members, count, dimension);
        for (guint32 i = 0; i < count; i++)
            *groups_of(groups, dimension, members[i]) = id;
        return;
    }
    gboolean sends = dimension == STEP_JOINT_SEND_FORWARD || dimension == STEP_JOINT_SEND_BACKWARD;
    gboolean forward = dimension == STEP_JOINT_SEND_FORWARD || dimension == STEP_JOINT_RECV_FORWARD;
    guint32 other = groups_neighbour(plan, rank, sends == forward ? 1 : -1);
    const guint32 pair[2] = {sends ? rank : other, sends ? other : rank}; // the root sends
    groups_add(groups, pair, 2, dimension);
    guint32 send = forward ? STEP_JOINT_SEND_FORWARD : STEP_JOINT_SEND_BACKWARD;
    *groups_of(groups, send, pair[0]) = id;
    *groups_of(groups, send + 1, pair[1]) = id;
}

// Compiles every different collective of a program for every rank that runs it.
static gboolean groups_prepare(StepGroups *groups, guint32 stage, GError **error)
{
    const SimProgram *program = groups->lowered->programs->pdata[stage];
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint32 id = 0; id < program->ops->len; id++) {
        const SimOp *op = sim_program_op(program, id);
        if (op->work != SIM_WORK_JOINT)
            continue;
        gint64 *key = g_new(gint64, 1);
        *key = op->bytes * 512 + (gint64)op->dimension * 16 + (gint64)op->kind;
        if (!g_hash_table_add(seen, key))
            continue;
        for (guint32 rank = 0; rank < groups->job->plan.gpus; rank++) {
            if (groups->lowered->runs[rank] != stage)
                continue;
            groups_need(groups, op->dimension, rank);
            StepCommunicator *own = groups->all->pdata[*groups_of(groups, op->dimension, rank)];
            if (!coll_group_prepare(own->coll, step_groups_op(op->kind), op->bytes, error))
                return FALSE;
        }
    }
    return TRUE;
}

// Whether a stage's collectives stay within what can be simulated, dimension by dimension.
static gboolean groups_check(const StepGroups *groups, guint32 stage, GError **error)
{
    const SimProgram *program = groups->lowered->programs->pdata[stage];
    guint32 rank = 0;
    while (groups->lowered->runs[rank] != stage)
        rank++;
    gint64 bytes[STEP_JOINTS] = {0};
    guint64 counts[STEP_JOINTS] = {0};
    for (guint32 id = 0; id < program->ops->len; id++) {
        const SimOp *op = sim_program_op(program, id);
        if (op->work != SIM_WORK_JOINT)
            continue;
        bytes[op->dimension] = MIN(bytes[op->dimension], G_MAXINT64 - op->bytes) + op->bytes;
        counts[op->dimension]++;
    }
    for (guint32 dimension = 0; dimension < STEP_JOINTS; dimension++) {
        if (counts[dimension] == 0)
            continue;
        guint32 id = groups->of[(gsize)dimension * groups->job->plan.gpus + rank];
        const StepCommunicator *own = groups->all->pdata[id];
        if (!coll_group_check(own->coll, bytes[dimension], counts[dimension], groups->job->name, error))
            return FALSE;
    }
    return TRUE;
}

gboolean step_groups_init(StepGroups *groups, const StepJob *job, const StepLowered *lowered,
                          SimEngine *engine, SimStreams *streams, GError **error)
{
    *groups = (StepGroups){.job = job, .lowered = lowered, .streams = streams};
    sim_network_init(&groups->network, engine, lowered->chunk, groups_delivered, groups);
    coll_fabric_init(&groups->fabric, job->machine->graph, &groups->network);
    if (job->nccl)
        coll_nccl_init(&groups->nccl, &job->machine->tuning, job->machine->graph, job->algorithm,
                       job->protocol);
    groups->all = g_ptr_array_new_with_free_func(groups_communicator_free);
    gsize n = (gsize)STEP_JOINTS * job->plan.gpus;
    groups->of = g_new(guint32, n);
    for (gsize i = 0; i < n; i++)
        groups->of[i] = G_MAXUINT32;
    gboolean fine = TRUE;
    for (guint32 stage = 0; fine && stage < job->plan.pp; stage++)
        fine = groups_prepare(groups, stage, error);
    sim_network_freeze(&groups->network, !job->no_fuse);
    for (guint32 stage = 0; fine && stage < job->plan.pp; stage++)
        fine = groups_check(groups, stage, error);
    if (!fine)
        step_groups_clear(groups);
    return fine;
}

void step_groups_clear(StepGroups *groups)
{
    g_ptr_array_unref(groups->all);
    g_free(groups->of);
    coll_fabric_clear(&groups->fabric);
    sim_network_clear(&groups->network);
}
