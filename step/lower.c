// step/lower.c: stages as programs: the schedule's passes, and what comes before and after them.
#include "step/lower.h"

#include "base/error.h"
#include "coll/measure.h"
#include "step/lowering.h"

static void lower_init(Lowering *lowering, const StepJob *job, const StepItems *items, guint32 stage,
                       const SimProgram *before)
{
    *lowering = (Lowering){.job = job,
                           .plan = &job->plan,
                           .items = items,
                           .program = sim_program_new(before),
                           .stage = stage,
                           .launched = LOWER_NONE,
                           .last = LOWER_NONE,
                           .copies = {LOWER_NONE, LOWER_NONE},
                           .left = {LOWER_NONE, LOWER_NONE},
                           .kind = SIM_KIND_FORWARD};
    lowering->memory = plan_memory_stage(&job->plan, job->model, job->machine->device, job->framework, stage);
    for (guint i = 0; i < LOWER_STREAMS; i++)
        lowering->streams[i] = LOWER_NONE;
    lowering->names = g_new0(const char *, (gsize)(job->model->layers + 2) * LOWER_NAMES);
    lowering->waits = g_array_new(FALSE, FALSE, sizeof(guint32));
    lowering->effects = g_array_new(FALSE, FALSE, sizeof(SimEffect));
    lowering->unit_ends = g_array_new(FALSE, FALSE, sizeof(guint32));
    lowering->fetched = g_array_new(FALSE, TRUE, sizeof(guint32));
    g_array_set_size(lowering->fetched, (guint)job->model->layers + 2);
    lowering->freed = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (gint64 block = 0; block < job->model->layers + 2; block++) {
        const guint32 none = LOWER_NONE;
        g_array_append_val(lowering->freed, none);
    }
    lowering->copied = g_array_new(FALSE, TRUE, sizeof(guint32));
    lowering->chunks = g_ptr_array_new_with_free_func((GDestroyNotify)lowering_chunk_free);
    lowering_stream(lowering, LOWER_COMPUTE);
    for (guint32 chunk = 0; chunk < job->plan.chunks; chunk++)
        g_ptr_array_add(lowering->chunks, lowering_chunk_new(lowering, chunk));
}

static void lower_clear(Lowering *lowering)
{
    g_free(lowering->names);
    g_array_unref(lowering->waits);
    g_array_unref(lowering->effects);
    g_array_unref(lowering->unit_ends);
    g_array_unref(lowering->fetched);
    g_array_unref(lowering->freed);
    g_array_unref(lowering->copied);
    g_ptr_array_unref(lowering->chunks);
}

// Bytes that a stage sends to the next for a micro-batch: its activations, in 16 bits.
static gint64 lower_sent(const Lowering *lowering)
{
    const Plan *plan = lowering->plan;
    gint64 whole = 2 * plan->micro_batch * plan->sequence * lowering->job->model->hidden / plan->cp;
    return plan->sp || plan->scatter_gather ? whole / plan->tp : whole;
}

// Receives what a pass begins with.
static void lower_receive(Lowering *lowering, gboolean backward)
{
    const Plan *plan = lowering->plan;
    const char *name = backward ? "micro-batch # gradient" : "micro-batch # input";
    guint32 id = lowering_join(lowering, backward ? LOWER_RECV_BACKWARD : LOWER_RECV_FORWARD, SIM_KIND_SEND,
                               backward ? STEP_JOINT_RECV_BACKWARD : STEP_JOINT_RECV_FORWARD,
                               lower_sent(lowering), name, LOWER_NONE);
    // Parts that were sent by each rank of a tensor group are gathered there (Narayanan et al. 2021,
    // section 4.1).
    if (plan->scatter_gather && !plan->sp && plan->tp > 1)
        id = lowering_join(lowering, LOWER_TP, SIM_KIND_ALL_GATHER, PLAN_GROUP_TP,
                           lower_sent(lowering) * plan->tp, name, id);
    lowering_wait(lowering, id);
}

static void lower_send(Lowering *lowering, gboolean backward)
{
    const char *name = backward ? "micro-batch # gradient" : "micro-batch # output";
    lowering_cut(lowering);
    lowering_join(lowering, backward ? LOWER_SEND_BACKWARD : LOWER_SEND_FORWARD, SIM_KIND_SEND,
                  backward ? STEP_JOINT_SEND_BACKWARD : STEP_JOINT_SEND_FORWARD, lower_sent(lowering), name,
                  lowering->last);
}

// The loader reads one micro-batch ahead, so that the step begins with one in hand and ends with the next
// step's.
static guint32 lower_load(Lowering *lowering)
{
    if (lowering->job->reality.loader <= 0)
        return LOWER_NONE;
    double seconds = (double)lowering->plan->micro_batch / lowering->job->reality.loader;
    return lowering_timed(lowering, LOWER_LOADER, SIM_KIND_LOAD, seconds, "micro-batch", LOWER_NONE);
}

static void lower_pass(Lowering *lowering, const PipeStep *step, GArray *loads)
{
    const Plan *plan = lowering->plan;
    LowerChunk *chunk = lowering->chunks->pdata[step->chunk];
    gboolean begins = lowering->stage == 0 && step->chunk == 0;
    gboolean ends = lowering->stage == plan->pp - 1 && step->chunk == plan->chunks - 1;
    lowering->micro_batch = (gint32)step->micro_batch;
    lowering_cut(lowering);
    if (!step->backward) {
        if (begins && step->micro_batch > 0 && loads->len > 0)
            lowering_wait(lowering, g_array_index(loads, guint32, step->micro_batch - 1));
        if (!begins)
            lower_receive(lowering, FALSE);
        lowering_forward(lowering, chunk);
        if (!ends)
            lower_send(lowering, FALSE);
        return;
    }
    if (!ends)
        lower_receive(lowering, TRUE);
    lowering_backward(lowering, chunk);
    if (!begins)
        lower_send(lowering, TRUE);
    lowering_reduce_pass(lowering, chunk);
}

// A stage on its way to a program.
typedef struct {
    const StepJob *job;     // borrowed
    const StepItems *items; // borrowed
    const SimProgram *like; // borrowed: another stage's, of about the same length; NULL: none
    guint32 stage;          //
    SimProgram *program;    // out
    guint32 buckets;        // out
    gint64 parameters;      // out
} LowerStage;

static void lower_stage(LowerStage *out)
{
    const StepJob *job = out->job;
    const Plan *plan = &job->plan;
    Lowering lowering;
    lower_init(&lowering, job, out->items, out->stage, out->like);
    if (job->framework != NULL && job->framework->step > 0)
        lowering.launched =
            lowering_timed(&lowering, LOWER_HOST, SIM_KIND_LAUNCH, job->framework->step, "step", LOWER_NONE);
    g_autoptr(GArray) loads = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (gint64 i = 0; out->stage == 0 && i < plan->micro_batches; i++) {
        lowering.micro_batch = (gint32)i;
        guint32 id = lower_load(&lowering);
        if (id != LOWER_NONE)
            g_array_append_val(loads, id);
    }
    lowering_gather_early(&lowering);
    g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(PipeStep));
    plan->schedule->steps(steps, out->stage, plan->pp, (guint32)plan->micro_batches, plan->chunks);
    for (guint i = 0; i < steps->len; i++)
        lower_pass(&lowering, &g_array_index(steps, PipeStep, i), loads);
    lowering_reduce_late(&lowering);
    lowering_update(&lowering);
    out->buckets = lowering.buckets;
    for (guint32 c = 0; c < lowering.chunks->len; c++) {
        const LowerChunk *chunk = lowering.chunks->pdata[c];
        for (guint32 block = chunk->first_block; block < chunk->last_block; block++)
            out->parameters += step_items_parameters(out->items, block);
    }
    out->program = lowering.program;
    lower_clear(&lowering);
}

static void lower_work(gpointer data, gpointer user)
{
    (void)user;
    lower_stage(data);
}

// Stages know nothing of each other: where they are long, the processors share them, and the programs are the
// same as one after the other.
static void lower_stages(LowerStage *stages, guint32 n)
{
    enum { LONG = 2000 }; // operations: a thread is worth it
    lower_stage(&stages[0]);
    for (guint32 i = 1; i < n; i++)
        stages[i].like = stages[0].program;
    guint threads = stages[0].job->one_thread ? 1 : MIN(g_get_num_processors(), n - 1);
    GThreadPool *pool = threads > 1 && stages[0].program->ops->len > LONG
                            ? g_thread_pool_new(lower_work, NULL, (gint)threads, FALSE, NULL)
                            : NULL;
    for (guint32 i = 1; i < n; i++)
        if (pool == NULL || !g_thread_pool_push(pool, &stages[i], NULL))
            lower_stage(&stages[i]);
    if (pool != NULL)
        g_thread_pool_free(pool, FALSE, TRUE);
}

gboolean step_lower_check(const StepJob *job, GError **error)
{
    const Plan *plan = &job->plan;
    double layers = (double)job->model->layers + 2 * plan->pp; // of all stages
    double tensors = 18;                                       // of a layer at most (models/tensor.c)
    double buckets = (double)step_job_gradient(job) / (double)plan->bucket + 2 * plan->chunks * plan->pp;
    if (!plan->bucket_split)
        buckets = MIN(buckets, tensors * layers); // each ends with a tensor
    double passes = (double)plan->micro_batches;
    gboolean each = plan->sync_every || plan->zero >= 2;
    double exchanges = plan->tp > 1 ? 12.0 * plan->tp_overlap + 8 : plan->cp > 1 ? 8 : 0;
    double host = job->framework != NULL && job->framework->launch > 0 ? 2 : 1;
    double ops = host * passes * layers * (2 + exchanges + (plan->zero == 3 ? 3 : 0) + 4) +
                 2 * host * buckets * (each ? passes : 1) + 2 * buckets +
                 8 * passes * plan->chunks * plan->pp;
    if (plan->tp == 1 && plan->cp == 1 && plan->zero == 0 && passes <= 1 && host <= 1)
        ops = 2 * layers + 2 * buckets + 1;
    if (ops <= STEP_LOWER_OPS)
        return TRUE;
    return base_error_set(error, BASE_ERROR_FAILED, job->name,
                          "found up to %.2g operations in %u stages, wanted at most %d: fewer layers or "
                          "micro-batches, or larger buckets would help",
                          ops, plan->pp, STEP_LOWER_OPS);
}

gboolean step_lower_check_spans(const StepJob *job, const StepLowered *lowered, GError **error)
{
    double spans = 0;
    for (guint stage = 0; stage < lowered->programs->len; stage++)
        spans += ((const SimProgram *)lowered->programs->pdata[stage])->ops->len;
    spans *= (double)job->plan.gpus / job->plan.pp;
    if (spans <= STEP_LOWER_SPANS)
        return TRUE;
    return base_error_set(
        error, BASE_ERROR_FAILED, job->name,
        "message by message found %.2g operations on %u ranks, wanted at most %d: fewer layers, "
        "micro-batches or ranks, or simulate.fidelity = folded would help",
        spans, job->plan.gpus, STEP_LOWER_SPANS);
}

static gint64 lower_chunk(const StepJob *job, const StepLowered *lowered)
{
    if (job->chunk > 0)
        return job->chunk;
    double bytes = 0, ranks = (double)job->plan.gpus / job->plan.pp;
    guint32 dimensions = 0; // a bit each; both ends of a send are one
    for (guint stage = 0; stage < lowered->programs->len; stage++) {
        const SimProgram *program = lowered->programs->pdata[stage];
        g_autofree guint32 *counts = sim_program_count(program);
        for (guint32 form = 0; form < program->forms->len; form++) {
            const SimOp *op = &g_array_index(program->forms, SimOp, form);
            if (op->work != SIM_WORK_JOINT || counts[form] == 0)
                continue;
            bytes += 2 * ranks * (double)op->bytes * counts[form];
            if (op->dimension != PLAN_GROUP_WORLD) // a few bytes after all others
                dimensions |= 1u << MIN(op->dimension, PLAN_GROUPS);
        }
    }
    if ((dimensions & (dimensions - 1)) == 0)
        return COLL_CHUNK_DEFAULT;
    gint64 chunk = 65536;
    while (chunk < COLL_CHUNK_DEFAULT && (double)chunk * STEP_LOWER_CHUNKS < bytes)
        chunk *= 2;
    return chunk;
}

void step_lower(const StepJob *job, StepLowered *lowered)
{
    const Plan *plan = &job->plan;
    *lowered = (StepLowered){0};
    StepItems items;
    step_items_init(&items, job);
    lowered->programs = g_ptr_array_new_with_free_func((GDestroyNotify)sim_program_free);
    g_autofree LowerStage *stages = g_new(LowerStage, plan->pp);
    for (guint32 stage = 0; stage < plan->pp; stage++)
        stages[stage] = (LowerStage){.job = job, .items = &items, .stage = stage};
    lower_stages(stages, plan->pp);
    for (guint32 stage = 0; stage < plan->pp; stage++) {
        g_ptr_array_add(lowered->programs, stages[stage].program);
        lowered->buckets = MAX(lowered->buckets, stages[stage].buckets);
        lowered->parameters = MAX(lowered->parameters, stages[stage].parameters);
    }
    lowered->runs = g_new(guint32, plan->gpus);
    for (guint32 rank = 0; rank < plan->gpus; rank++)
        lowered->runs[rank] = plan_place_of(plan, rank).at[PLAN_DIMENSION_PP];
    lowered->chunk = lower_chunk(job, lowered);
    step_items_clear(&items);
}

void step_lower_clear(StepLowered *lowered)
{
    g_ptr_array_unref(lowered->programs);
    g_free(lowered->runs);
}
