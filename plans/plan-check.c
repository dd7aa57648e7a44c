// plans/plan-check.c: every rule of a plan, each broken one a line.
#include "plans/plan.h"

#include "coll/group.h"

// What a plan may hold, so that the products of later rooms stay exact.
enum {
    PLAN_PASSES_MAX = 1000000, // micro-batches x chunks of a step
    PLAN_OVERLAP_MAX = 1024,
    PLAN_PREFETCH_MAX = 100000,
    PLAN_BUCKET_MIN = 1024,
};
static const double PLAN_TOKENS_MAX = 1e15; // of a step

typedef struct {
    const Plan *plan;
    const ModelSpec *model;
    GPtrArray *lines;
} PlanCheck;

static void plan_refuse(PlanCheck *check, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void plan_refuse(PlanCheck *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(check->lines, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

static void plan_check_range(PlanCheck *check, const char *key, gint64 value, gint64 low, gint64 high)
{
    if (value < low || value > high)
        plan_refuse(check, "%s: found %" G_GINT64_FORMAT ", wanted %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                    key, value, low, high);
}

// Every number by itself. FALSE: a size is out of range, so that no product of sizes can be trusted.
static gboolean plan_check_sizes(PlanCheck *check)
{
    const Plan *plan = check->plan;
    plan_check_range(check, "gpus", plan->gpus, 1, COLL_GROUP_RANKS_MAX);
    plan_check_range(check, "tp", plan->tp, 1, COLL_GROUP_RANKS_MAX);
    plan_check_range(check, "cp", plan->cp, 1, COLL_GROUP_RANKS_MAX);
    plan_check_range(check, "dp", plan->dp, 1, COLL_GROUP_RANKS_MAX);
    plan_check_range(check, "pp", plan->pp, 1, COLL_GROUP_RANKS_MAX);
    plan_check_range(check, "sequence", plan->sequence, 1, MODEL_SEQUENCE_MAX);
    plan_check_range(check, "micro_batch", plan->micro_batch, 1, MODEL_SEQUENCE_MAX);
    plan_check_range(check, "batch", plan->batch, 1, MODEL_SEQUENCE_MAX);
    plan_check_range(check, "chunks", plan->chunks, 1, MODEL_LAYERS_MAX);
    gboolean fine = check->lines->len == 0;
    plan_check_range(check, "layers_first", plan->layers_first, -1, MODEL_LAYERS_MAX);
    plan_check_range(check, "layers_last", plan->layers_last, -1, MODEL_LAYERS_MAX);
    plan_check_range(check, "tp_overlap", plan->tp_overlap, 1, PLAN_OVERLAP_MAX);
    plan_check_range(check, "zero", plan->zero, 0, 3);
    plan_check_range(check, "prefetch", plan->prefetch, 0, PLAN_PREFETCH_MAX);
    plan_check_range(check, "recompute_every", plan->recompute_every, 1, MODEL_LAYERS_MAX);
    if (plan->gradient_bytes != 2 && plan->gradient_bytes != 4)
        plan_refuse(check, "gradient_dtype: found %" G_GINT64_FORMAT " bytes, wanted 2 or 4",
                    plan->gradient_bytes);
    if (plan->bucket < PLAN_BUCKET_MIN)
        plan_refuse(check, "bucket: found less than 1 KiB, wanted a size such as '25 MiB'");
    if (plan->first_bucket < PLAN_BUCKET_MIN)
        plan_refuse(check, "first_bucket: found less than 1 KiB, wanted a size such as '1 MiB'");
    return fine;
}

// The dimensions make up the machine.
static void plan_check_product(PlanCheck *check)
{
    const Plan *plan = check->plan;
    gint64 others = (gint64)plan->tp * plan->cp * plan->pp; // each at most 46,340: exact
    if (others * plan->dp == plan->gpus)
        return;
    if (plan->gpus % others == 0)
        plan_refuse(check,
                    "dp: found %u, wanted %" G_GINT64_FORMAT ", which with tp %u x cp %u x pp %u makes the "
                    "%u GPUs of the machine",
                    plan->dp, plan->gpus / others, plan->tp, plan->cp, plan->pp, plan->gpus);
    else
        plan_refuse(check,
                    "dp: found %u, but no dp does: tp %u x cp %u x pp %u = %" G_GINT64_FORMAT
                    " does not divide the %u GPUs of the machine",
                    plan->dp, plan->tp, plan->cp, plan->pp, others, plan->gpus);
}

static void plan_check_order(PlanCheck *check)
{
    guint seen = 0;
    for (guint i = 0; i < PLAN_DIMENSIONS; i++)
        if ((guint)check->plan->order[i] < PLAN_DIMENSIONS)
            seen |= 1u << check->plan->order[i];
    if (seen != (1u << PLAN_DIMENSIONS) - 1)
        plan_refuse(check, "order: wanted tp, cp, dp and pp, each once, such as 'tp-cp-dp-pp'");
}

// What tensor parallelism cuts: heads, the MLP's width, the vocabulary; with sp also the tokens. The hidden
// width stays whole.
static void plan_check_tensor(PlanCheck *check)
{
    const Plan *plan = check->plan;
    const ModelSpec *model = check->model;
    guint32 tp = plan->tp;
    if (model->heads % tp != 0)
        plan_refuse(check, "tp: found %u, wanted a divisor of the %" G_GINT64_FORMAT " heads of %s", tp,
                    model->heads, model->name);
    if (model->kv_heads % tp != 0 && tp % model->kv_heads != 0)
        plan_refuse(check,
                    "tp: found %u, wanted a divisor or a multiple of the %" G_GINT64_FORMAT
                    " key/value heads of %s",
                    tp, model->kv_heads, model->name);
    if (model->ffn % tp != 0)
        plan_refuse(check, "tp: found %u, wanted a divisor of the MLP's width of %" G_GINT64_FORMAT " of %s",
                    tp, model->ffn, model->name);
    gint64 unit = 128 * (gint64)tp;
    if (model->vocabulary % tp != 0)
        plan_refuse(check,
                    "tp: found %u, wanted a divisor of the vocabulary of %" G_GINT64_FORMAT
                    " of %s; model.vocabulary = %" G_GINT64_FORMAT
                    " pads it to a multiple of 128 x tp, as Megatron-LM does",
                    tp, model->vocabulary, model->name, (model->vocabulary + unit - 1) / unit * unit);
    if (plan->sp && plan->sequence % plan->cp == 0 && plan->sequence / plan->cp % tp != 0)
        plan_refuse(check,
                    "sp: found yes with tp %u, wanted a tp that divides the %" G_GINT64_FORMAT
                    " tokens of a sequence%s",
                    tp, plan->sequence / plan->cp, plan->cp > 1 ? " on a rank of cp" : "");
    if (plan->tp_overlap > 1 && (tp == 1 || !plan->sp))
        plan_refuse(check, "tp_overlap: found %u, wanted it with tp of at least 2 and sp = yes",
                    plan->tp_overlap);
}

static void plan_check_context(PlanCheck *check)
{
    const Plan *plan = check->plan;
    if (plan->cp > 1 && plan->cp_balanced && plan->sequence % (2 * (gint64)plan->cp) != 0)
        plan_refuse(check,
                    "cp: found %u, wanted 2 x cp to divide the sequence of %" G_GINT64_FORMAT
                    " tokens (cp_balanced gives each rank two pieces)",
                    plan->cp, plan->sequence);
    else if (plan->sequence % plan->cp != 0)
        plan_refuse(check, "cp: found %u, wanted a divisor of the sequence of %" G_GINT64_FORMAT " tokens",
                    plan->cp, plan->sequence);
}

// Every virtual stage holds a layer, but for a first or last one that is said to hold none.
static void plan_check_stages(PlanCheck *check)
{
    const Plan *plan = check->plan;
    gint64 stages = (gint64)plan->pp * plan->chunks, first = plan->layers_first, last = plan->layers_last;
    if (stages == 1) {
        if (first >= 0 || last >= 0)
            plan_refuse(check, "%s: found with one stage, wanted it with pp of at least 2",
                        first >= 0 ? "layers_first" : "layers_last");
        return;
    }
    gint64 said = MAX(first, 0) + MAX(last, 0), others = stages - (first >= 0) - (last >= 0);
    gint64 left = check->model->layers - said;
    if (left < 0 || (others == 0 && left != 0))
        plan_refuse(check,
                    "%s: found %" G_GINT64_FORMAT
                    " layers on the first and last stage, wanted %s%" G_GINT64_FORMAT,
                    first >= 0 ? "layers_first" : "layers_last", said, others == 0 ? "" : "at most ",
                    check->model->layers);
    else if (left < others)
        plan_refuse(check,
                    "pp: found %u x %u chunks = %" G_GINT64_FORMAT " stages, wanted at most %" G_GINT64_FORMAT
                    ": %" G_GINT64_FORMAT " of them would share %" G_GINT64_FORMAT " of the %" G_GINT64_FORMAT
                    " layers of %s",
                    plan->pp, plan->chunks, stages, left + (stages - others), others, left,
                    check->model->layers, check->model->name);
}

// The batch falls into micro-batches, and the schedule does them.
static void plan_check_batch(PlanCheck *check)
{
    const Plan *plan = check->plan;
    gint64 unit = plan->micro_batch * plan->dp; // below 5e13
    if ((double)plan->batch * (double)plan->sequence > PLAN_TOKENS_MAX)
        plan_refuse(check, "batch: found %.3g tokens, wanted at most %g a step",
                    (double)plan->batch * (double)plan->sequence, PLAN_TOKENS_MAX);
    if (plan->micro_batch > MODEL_SEQUENCE_MAX / plan->sequence)
        plan_refuse(check,
                    "micro_batch: found %.3g tokens, wanted at most %" G_GINT64_FORMAT " a micro-batch",
                    (double)plan->micro_batch * (double)plan->sequence, MODEL_SEQUENCE_MAX);
    if (plan->batch % unit != 0) {
        plan_refuse(check,
                    "batch: found %" G_GINT64_FORMAT ", wanted a multiple of %" G_GINT64_FORMAT
                    " (micro_batch %" G_GINT64_FORMAT " x dp %u)",
                    plan->batch, unit, plan->micro_batch, plan->dp);
        return;
    }
    gint64 m = plan->batch / unit;
    if (m > PLAN_PASSES_MAX / (gint64)plan->chunks) {
        plan_refuse(check, "batch: found %" G_GINT64_FORMAT " micro-batches x %u chunks, wanted at most %d",
                    m, plan->chunks, PLAN_PASSES_MAX);
        return;
    }
    const char *why = plan->schedule->refuses(plan->pp, (guint32)m, plan->chunks);
    if (why != NULL)
        plan_refuse(check, "schedule: %s %s; found pp %u, %" G_GINT64_FORMAT " micro-batches, chunks %u",
                    plan->schedule->name, why, plan->pp, m, plan->chunks);
}

static void plan_check_states(PlanCheck *check)
{
    const Plan *plan = check->plan;
    guint64 data = (guint64)plan->dp * plan->cp;
    if (plan->shard > 0 && data % plan->shard != 0)
        plan_refuse(check,
                    "shard: found %u, wanted a divisor of the %" G_GUINT64_FORMAT
                    " data-parallel ranks (dp %u x cp %u)",
                    plan->shard, data, plan->dp, plan->cp);
    else if (plan->shard > 0 && plan->shard != data && plan->zero == 0)
        plan_refuse(check, "shard: found %u with zero = 0, which shards nothing; wanted zero 1, 2 or 3",
                    plan->shard);
    if (plan->sync_every && plan->zero >= 2 && plan->gradients == PLAN_GRADIENTS_WHOLE)
        plan_refuse(check, "sync_every: found yes with gradients = whole, which are reduced once; wanted one "
                           "of them");
    if (plan->recompute_every > 1 && plan->recompute != PLAN_RECOMPUTE_FULL)
        plan_refuse(check, "recompute_every: found %" G_GINT64_FORMAT ", wanted it with recompute = full",
                    plan->recompute_every);
}

GPtrArray *plan_check(Plan *plan, const ModelSpec *model)
{
    PlanCheck check = {.plan = plan, .model = model, .lines = g_ptr_array_new_with_free_func(g_free)};
    gboolean sizes = plan_check_sizes(&check);
    plan_check_order(&check);
    if (!sizes)
        return check.lines;
    plan_check_product(&check);
    plan_check_tensor(&check);
    plan_check_context(&check);
    plan_check_stages(&check);
    plan_check_batch(&check);
    plan_check_states(&check);
    if (check.lines->len == 0) {
        plan->micro_batches = plan->batch / (plan->micro_batch * plan->dp);
        plan->shard = plan->shard == 0 ? plan_data(plan) : plan->shard;
    }
    return check.lines;
}
