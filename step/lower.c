// step/lower.c: a job as a program.
#include "step/lower.h"

#include <math.h>

#include "base/error.h"
#include "models/tensor.h"
#include "step/bucket.h"

enum { STREAM_COMPUTE, STREAM_DP };
enum { LOWER_TENSORS = 18 }; // of a block, at most (models/tensor.c)

// The compute stream under construction: FLOPs done so far, and the time they take. Times of operations are
// differences of rounded running totals, so that their sum is the whole, rounded up once.
typedef struct {
    const StepJob *job;
    SimProgram *program;
    double rate;  // FLOP/s
    double flops; // done so far
    Ps now;       // time of that
    guint32 last; // op id, G_MAXUINT32: none yet
} Lowering;

static char *lower_block_name(const StepJob *job, gint64 block, const char *what)
{
    if (block == 0)
        return g_strdup_printf("embedding %s", what);
    if (block == job->model->layers + 1)
        return g_strdup_printf("head %s", what);
    return g_strdup_printf("layer %" G_GINT64_FORMAT " %s", block - 1, what);
}

// Computes up to a running total of FLOPs as one operation of a block, unless that takes no time.
static void lower_compute(Lowering *lowering, double flops, SimKind kind, gint64 block)
{
    Ps end = 0;
    gboolean fits = units_ps_from_seconds(flops / lowering->rate, &end);
    g_assert(fits); // the reader of the scenario has checked the whole
    lowering->flops = flops;
    if (end <= lowering->now)
        return;
    g_autofree char *name = lower_block_name(lowering->job, block, SIM_KIND_NAMES[kind]);
    SimOp op = {.stream = STREAM_COMPUTE,
                .work = SIM_WORK_TIMED,
                .kind = kind,
                .duration = end - lowering->now,
                .layer = (gint32)block,
                .micro_batch = 0,
                .name = name};
    lowering->last = sim_program_add(lowering->program, &op);
    lowering->now = end;
}

// Forward and backward FLOPs of a tensor's matmul, and of the attention core before it, all tokens of a rank.
typedef struct {
    double matmul, attention;
} LowerWork;

static LowerWork lower_work(const StepJob *job, const ModelTensor *tensor)
{
    double tokens = (double)(job->tokens / job->dp);
    LowerWork work = {.matmul = tokens * 6 * (double)tensor->multiplied};
    if (tensor->attention)
        work.attention = tokens * model_count_attention(job->model, job->counting, job->sequence);
    return work;
}

static void lower_forward(Lowering *lowering, const GArray *tensors)
{
    double flops = lowering->flops;
    for (guint i = 0; i < tensors->len; i++) {
        const ModelTensor *tensor = &g_array_index(tensors, ModelTensor, i);
        LowerWork work = lower_work(lowering->job, tensor);
        flops += (work.matmul + work.attention) / 3;
        gboolean ends =
            i + 1 == tensors->len || g_array_index(tensors, ModelTensor, i + 1).block != tensor->block;
        if (ends)
            lower_compute(lowering, flops, SIM_KIND_FORWARD, tensor->block);
    }
}

static guint32 lower_bucket(Lowering *lowering, const StepBucket *bucket, const GArray *tensors,
                            guint32 number, guint32 after)
{
    const StepJob *job = lowering->job;
    guint32 n = tensors->len;
    gint64 from = g_array_index(tensors, ModelTensor, n - 1 - bucket->first).block;
    gint64 to = g_array_index(tensors, ModelTensor, n - 1 - bucket->last).block;
    g_autofree char *first = lower_block_name(job, from, "");
    g_autofree char *last = lower_block_name(job, to, "");
    g_strchomp(first);
    g_strchomp(last);
    g_autofree char *name = from == to ? g_strdup_printf("bucket %u (%s)", number, first)
                                       : g_strdup_printf("bucket %u (%s to %s)", number, first, last);
    SimOp op = {.stream = STREAM_DP,
                .work = SIM_WORK_JOINT,
                .kind = SIM_KIND_ALL_REDUCE,
                .bytes = bucket->bytes,
                .layer = (gint32)to,
                .micro_batch = 0,
                .name = name};
    guint32 id = sim_program_add(lowering->program, &op);
    if (after != G_MAXUINT32)
        sim_program_wait(lowering->program, after);
    return id;
}

// The backward pass, and with overlap the all-reduce of every bucket from the moment it is ready.
static void lower_backward(Lowering *lowering, const GArray *tensors, const GArray *buckets)
{
    double flops = lowering->flops;
    guint32 next = 0; // bucket
    for (guint i = 0; i < tensors->len; i++) {
        const ModelTensor *tensor = &g_array_index(tensors, ModelTensor, tensors->len - 1 - i);
        LowerWork work = lower_work(lowering->job, tensor);
        double own = work.matmul * 2 / 3;
        for (; next < buckets->len && g_array_index(buckets, StepBucket, next).last == i; next++) {
            const StepBucket *bucket = &g_array_index(buckets, StepBucket, next);
            lower_compute(lowering, flops + own * bucket->share, SIM_KIND_BACKWARD, tensor->block);
            if (lowering->job->overlap)
                lower_bucket(lowering, bucket, tensors, next + 1, lowering->last);
        }
        flops += own + work.attention * 2 / 3;
        gboolean ends = i + 1 == tensors->len ||
                        g_array_index(tensors, ModelTensor, tensors->len - 2 - i).block != tensor->block;
        if (ends)
            lower_compute(lowering, flops, SIM_KIND_BACKWARD, tensor->block);
    }
}

static GArray *lower_buckets(const StepJob *job, const GArray *tensors)
{
    g_autofree gint64 *bytes = g_new(gint64, tensors->len);
    for (guint i = 0; i < tensors->len; i++)
        bytes[i] = g_array_index(tensors, ModelTensor, tensors->len - 1 - i).parameters * job->gradient_bytes;
    gint64 first = job->bucket == G_MAXINT64 ? G_MAXINT64 : job->first_bucket;
    return step_buckets_form(bytes, tensors->len, first, job->bucket, job->bucket_split);
}

gboolean step_lower_check(const StepJob *job, GError **error)
{
    double layers = (double)job->model->layers + 2;
    double buckets =
        (double)step_job_gradient(job) / (double)job->bucket + 2; // each but the last reaches its cap
    if (!job->bucket_split)
        buckets = MIN(buckets, LOWER_TENSORS * layers); // and ends with a tensor
    double ops =
        2 * layers + 2 * buckets + 1; // forward, backward; a cut of it and an all-reduce a bucket; optimizer
    if (ops <= STEP_LOWER_OPS && ops * job->dp <= STEP_LOWER_SPANS)
        return TRUE;
    return base_error_set(
        error, BASE_ERROR_FAILED, job->name,
        "found up to %.2g operations on %u ranks, wanted at most %d on one and %d on all: fewer layers "
        "or ranks, or larger buckets would help",
        ops, job->dp, STEP_LOWER_OPS, STEP_LOWER_SPANS);
}

void step_lower(const StepJob *job, StepLowered *lowered)
{
    g_autoptr(GArray) tensors = model_tensors(job->model);
    g_autoptr(GArray) buckets = lower_buckets(job, tensors);
    Lowering lowering = {.job = job,
                         .program = sim_program_new(),
                         .rate = job->efficiency * step_job_peak(job),
                         .last = G_MAXUINT32};
    sim_program_add_stream(lowering.program, "compute");
    sim_program_add_stream(lowering.program, "dp");
    lower_forward(&lowering, tensors);
    lower_backward(&lowering, tensors, buckets);
    lowered->last_backward = lowering.last;
    if (!job->overlap)
        for (guint32 i = 0; i < buckets->len; i++)
            lower_bucket(&lowering, &g_array_index(buckets, StepBucket, i), tensors, i + 1, lowering.last);
    Ps update = 0;
    gboolean fits = units_ps_from_seconds(step_job_update_s(job), &update);
    g_assert(fits);
    if (update > 0) {
        const GArray *order = lowering.program->order->pdata[STREAM_DP];
        SimOp op = {.stream = STREAM_COMPUTE,
                    .work = SIM_WORK_TIMED,
                    .kind = SIM_KIND_OPTIMIZER,
                    .duration = update,
                    .layer = -1,
                    .micro_batch = -1,
                    .name = (char *)"optimizer"};
        sim_program_add(lowering.program, &op);
        sim_program_wait(lowering.program, g_array_index(order, guint32, order->len - 1));
    }
    lowered->program = lowering.program;
    lowered->buckets = buckets->len;
}
