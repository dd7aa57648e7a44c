// step/fold.c: stages that meet, and collectives as flows.
#include "step/fold.h"

#include "base/hash.h"

const char *step_fold_refuses(const StepJob *job)
{
    if (job->reality.slow_ranks > 0)
        return "slow ranks are not like the others";
    if (job->reality.jitter > 0)
        return "with jitter no rank is like another";
    if (job->reality.slow_link)
        return "a slow link tells ranks apart";
    return NULL;
}

// Meetings: for each stage one of every dimension, which nobody else comes to; then for each direction and
// sending stage one of two; the ends; the world.
static guint32 fold_meeting(const StepFold *fold, guint32 stage, guint32 dimension)
{
    guint32 pp = fold->job->plan.pp;
    switch (dimension) {
    case PLAN_GROUP_WORLD:
        return (STEP_JOINTS + 0) * pp;
    case PLAN_GROUP_ENDS:
        return (STEP_JOINTS + 0) * pp + 1;
    case STEP_JOINT_RECV_FORWARD:
        return STEP_JOINT_SEND_FORWARD * pp + (stage + pp - 1) % pp;
    case STEP_JOINT_RECV_BACKWARD:
        return STEP_JOINT_SEND_BACKWARD * pp + (stage + 1) % pp;
    default:
        return dimension * pp + stage;
    }
}

static void fold_start(StepFold *fold, guint32 id)
{
    StepMeeting *meeting = &fold->meetings[id];
    const StepCollective *own = step_siblings_get(&fold->siblings, meeting->collective);
    const GArray *uses = fold->uses->pdata[meeting->collective];
    meeting->under_way = TRUE;
    fold->messages += own->messages;
    for (guint32 i = 0; i < meeting->need; i++)
        if (meeting->all != NULL)
            sim_streams_move(fold->streams, meeting->all[2 * i], meeting->all[2 * i + 1]);
        else
            sim_streams_move(fold->streams, meeting->stages[i], meeting->streams[i]);
    sim_flows_start(&fold->flows, id, own->time, (const SimUse *)(const void *)uses->data, uses->len);
}

static void fold_done(gpointer user, guint32 id)
{
    StepFold *fold = user;
    StepMeeting meeting = fold->meetings[id];
    fold->meetings[id].under_way = FALSE;
    fold->meetings[id].arrived = 0;
    if (meeting.all != NULL) { // nobody comes again before all have been told: one world collective at a time
        g_autofree guint32 *told = g_memdup2(meeting.all, 2 * (gsize)meeting.need * sizeof *told);
        for (guint32 i = 0; i < meeting.need; i++)
            sim_streams_end(fold->streams, told[2 * i], told[2 * i + 1]);
        return;
    }
    for (guint32 i = 0; i < meeting.need; i++)
        sim_streams_end(fold->streams, meeting.stages[i], meeting.streams[i]);
}

void step_fold_join(gpointer user, guint32 stage, guint32 op)
{
    StepFold *fold = user;
    const SimProgram *program = sim_streams_program(fold->streams, stage);
    const SimOp *what = sim_program_op(program, op);
    guint32 id = fold_meeting(fold, stage, what->dimension);
    StepMeeting *meeting = &fold->meetings[id];
    g_assert(!meeting->under_way && meeting->arrived < meeting->need);
    meeting->collective = fold->collectives[stage][sim_program_turn(program, op)->op];
    if (meeting->all != NULL) {
        meeting->all[2 * meeting->arrived] = stage;
        meeting->all[2 * meeting->arrived + 1] = what->stream;
    } else {
        meeting->stages[meeting->arrived] = stage;
        meeting->streams[meeting->arrived] = what->stream;
    }
    if (++meeting->arrived == meeting->need)
        fold_start(fold, id);
}

// What collectives use, kind of link and owner by kind of link and owner (a link by itself), as a key.
static gint64 fold_key(const StepCollective *own, const StepLinkShare *share)
{
    gint64 owner = share->owner == STEP_OWNER_STAGE   ? (gint64)own->stage + STEP_OWNER_LINK + 1
                   : share->owner == STEP_OWNER_OTHER ? (gint64)own->other + STEP_OWNER_LINK + 1
                                                      : share->owner;
    return owner << 32 | share->class;
}

// Numbers keys in the order in which they are met; *n is how many there are. The table is only looked up.
static guint32 fold_number(GHashTable *numbers, gint64 key, guint32 *n)
{
    guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, &key));
    if (number != 0)
        return number - 1;
    gint64 *own = g_new(gint64, 1);
    *own = key;
    g_hash_table_insert(numbers, own, GUINT_TO_POINTER(++*n));
    return *n - 1;
}

static GHashTable *fold_numbers_new(void)
{
    return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

// Resources: links that every collective uses alike are one.
static guint32 fold_uses(StepFold *fold)
{
    const StepSiblings *siblings = &fold->siblings;
    g_autoptr(GHashTable) links = fold_numbers_new();
    g_autoptr(GHashTable) resources = fold_numbers_new();
    g_autoptr(GArray) hashes =
        g_array_new(FALSE, TRUE, sizeof(guint64)); // [link]: of who uses it and how much
    guint32 n = 0, n_resources = 0;
    for (guint i = 0; i < siblings->all->len; i++) {
        const StepCollective *own = step_siblings_get(siblings, i);
        for (guint j = 0; j < own->shares->len; j++) {
            const StepLinkShare *share = &g_array_index(own->shares, StepLinkShare, j);
            guint32 link = fold_number(links, fold_key(own, share), &n);
            if (link >= hashes->len)
                g_array_set_size(hashes, link + 1);
            guint64 *hash = &g_array_index(hashes, guint64, link);
            *hash = hash_add(hash_add(*hash, i), share->share);
        }
    }
    g_autofree guint32 *last = g_new(guint32, n + 1); // [resource]: the collective that has it already
    for (guint32 i = 0; i <= n; i++)
        last[i] = G_MAXUINT32;
    for (guint i = 0; i < siblings->all->len; i++) {
        const StepCollective *own = step_siblings_get(siblings, i);
        GArray *uses = g_array_new(FALSE, FALSE, sizeof(SimUse));
        for (guint j = 0; j < own->shares->len; j++) {
            const StepLinkShare *share = &g_array_index(own->shares, StepLinkShare, j);
            guint32 link = fold_number(links, fold_key(own, share), &n);
            gint64 key = (gint64)g_array_index(hashes, guint64, link);
            SimUse use = {fold_number(resources, key, &n_resources), share->share};
            if (last[use.resource] == i)
                continue;
            last[use.resource] = i;
            g_array_append_val(uses, use);
        }
        g_ptr_array_add(fold->uses, uses);
    }
    return n_resources;
}

static void fold_meetings(StepFold *fold)
{
    guint32 pp = fold->job->plan.pp;
    fold->n_meetings = STEP_JOINTS * pp + 2;
    fold->meetings = g_new0(StepMeeting, fold->n_meetings);
    for (guint32 i = 0; i < fold->n_meetings; i++)
        fold->meetings[i].need = i / pp >= PLAN_GROUPS && i / pp < STEP_JOINTS ? 2 : 1;
    StepMeeting *world = &fold->meetings[STEP_JOINTS * pp], *ends = &fold->meetings[STEP_JOINTS * pp + 1];
    world->need = pp;
    world->all = g_new0(guint32, 2 * (gsize)pp);
    ends->need = MIN(pp, 2);
}

gboolean step_fold_init(StepFold *fold, const StepJob *job, const StepLowered *lowered, SimEngine *engine,
                        SimStreams *streams, GError **error)
{
    *fold = (StepFold){.job = job, .lowered = lowered, .streams = streams};
    step_siblings_init(&fold->siblings, job, lowered);
    fold->collectives = g_new0(guint32 *, job->plan.pp);
    fold->uses = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (guint32 stage = 0; stage < job->plan.pp; stage++) {
        const SimProgram *program = lowered->programs->pdata[stage];
        fold->collectives[stage] = g_new0(guint32, program->forms->len + 1);
        for (guint32 form = 0; form < program->forms->len; form++) {
            const SimOp *op = &g_array_index(program->forms, SimOp, form);
            if (op->work == SIM_WORK_JOINT)
                fold->collectives[stage][form] = step_siblings_add(&fold->siblings, stage, op);
        }
    }
    gboolean fine = step_siblings_measure(&fold->siblings, error);
    if (fine)
        sim_flows_init(&fold->flows, engine, fold_uses(fold), fold_done, fold);
    if (fine)
        fold_meetings(fold);
    else
        step_fold_clear(fold);
    return fine;
}

void step_fold_clear(StepFold *fold)
{
    for (guint32 stage = 0; stage < fold->job->plan.pp; stage++)
        g_free(fold->collectives[stage]);
    g_free(fold->collectives);
    g_ptr_array_unref(fold->uses);
    for (guint32 i = 0; i < fold->n_meetings; i++)
        g_free(fold->meetings[i].all);
    g_free(fold->meetings);
    if (fold->flows.engine != NULL)
        sim_flows_clear(&fold->flows);
    step_siblings_clear(&fold->siblings);
}
