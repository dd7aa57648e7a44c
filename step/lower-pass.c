// step/lower-pass.c: a chunk's forward and backward pass, item by item, with what tensor and context
// parallelism exchange.
#include "plans/bucket.h"
#include "step/lowering.h"

// An exchange before or after a part of the work. kind SIM_KINDS: none.
typedef struct {
    LowerStream stream;
    SimKind kind;
    guint32 dimension;
    gint64 bytes;
} LowerExchange;

static const LowerExchange LOWER_NO_EXCHANGE = {.kind = SIM_KINDS};

typedef struct {
    double work, flops, slow, launch;
} LowerPart;

static guint32 pass_exchange(Lowering *lowering, const LowerExchange *exchange, gint64 bytes, guint32 after)
{
    const char *name = lowering_name(lowering, lowering->block, LOWER_NAME_PLAIN);
    return lowering_join(lowering, exchange->stream, exchange->kind, exchange->dimension, bytes, name, after);
}

// A part of work between two exchanges; returns the operation that ends the one after it (LOWER_NONE: none).
static guint32 pass_part(Lowering *lowering, const LowerPart *part, LowerExchange before, LowerExchange after)
{
    gboolean pre = before.kind != SIM_KINDS, post = after.kind != SIM_KINDS;
    guint32 n = pre || post ? MAX(lowering->plan->tp_overlap, 1) : 1;
    if ((pre && before.stream != LOWER_TP) || (post && after.stream != LOWER_TP))
        n = 1;
    guint32 end = LOWER_NONE;
    g_autofree guint32 *gathered = g_new(guint32, n);
    if (pre)
        lowering_cut(lowering);
    guint32 start = lowering->last;
    for (guint32 i = 0; pre && i < n; i++)
        gathered[i] =
            pass_exchange(lowering, &before, before.bytes * (i + 1) / n - before.bytes * i / n, start);
    for (guint32 i = 0; i < n; i++) {
        if (pre)
            lowering_wait(lowering, gathered[i]);
        if (n > 1 && i > 0)
            lowering_cut(lowering);
        lowering_add(lowering, part->work / n, part->flops / n, part->slow, part->launch / n);
        if (n > 1)
            lowering_cut(lowering);
        if (!post)
            continue;
        lowering_cut(lowering);
        end =
            pass_exchange(lowering, &after, after.bytes * (i + 1) / n - after.bytes * i / n, lowering->last);
    }
    return end;
}

// Which exchange a join stands for: gathering (an all-gather) or summing (a reduce-scatter with sp, else an
// all-reduce, and nothing to gather).
static LowerExchange pass_gather(const Lowering *lowering, const StepItem *item)
{
    const Plan *plan = lowering->plan;
    if (plan->tp == 1 || !plan->sp)
        return LOWER_NO_EXCHANGE;
    return (LowerExchange){LOWER_TP, SIM_KIND_ALL_GATHER, PLAN_GROUP_TP, item->exchanged};
}

static LowerExchange pass_sum(const Lowering *lowering, const StepItem *item)
{
    const Plan *plan = lowering->plan;
    if (plan->tp == 1)
        return LOWER_NO_EXCHANGE;
    SimKind kind = plan->sp ? SIM_KIND_REDUCE_SCATTER : SIM_KIND_ALL_REDUCE;
    return (LowerExchange){LOWER_TP, kind, PLAN_GROUP_TP, item->exchanged};
}

static LowerExchange pass_context(const Lowering *lowering, const StepItem *item, SimKind kind)
{
    if (lowering->plan->cp == 1)
        return LOWER_NO_EXCHANGE;
    return (LowerExchange){LOWER_CP, kind, PLAN_GROUP_CP, item->exchanged};
}

static void pass_item_forward(Lowering *lowering, const StepItem *item)
{
    LowerPart part = {item->forward, item->model_flops / 3, item->slow_forward, item->launch_forward};
    LowerExchange before = LOWER_NO_EXCHANGE, after = LOWER_NO_EXCHANGE;
    switch (item->join) {
    case MODEL_JOIN_COLUMN:
        before = pass_gather(lowering, item);
        break;
    case MODEL_JOIN_ROW:
        after = pass_sum(lowering, item);
        break;
    case MODEL_JOIN_CONTEXT:
        before = pass_context(lowering, item, SIM_KIND_ALL_GATHER);
        break;
    case MODEL_JOIN_LOSS:
        if (lowering->plan->tp > 1)
            after = (LowerExchange){LOWER_TP, SIM_KIND_ALL_REDUCE, PLAN_GROUP_TP, item->exchanged};
        break;
    case MODEL_JOIN_NONE:
        break;
    }
    lowering_wait(lowering, pass_part(lowering, &part, before, after));
}

// Both gradients of an item: first its input's, which others wait for, then its weight's.
static void pass_item_backward(Lowering *lowering, const StepItem *item)
{
    double flops = item->model_flops - item->model_flops / 3;
    LowerPart whole = {item->backward, flops, item->slow_backward, item->launch_backward};
    LowerExchange none = LOWER_NO_EXCHANGE, gather = pass_gather(lowering, item);
    LowerPart half = {whole.work / 2, whole.flops / 2, whole.slow, whole.launch / 2};
    guint32 input = LOWER_NONE, summed;
    switch (item->join) {
    case MODEL_JOIN_COLUMN:
        if (lowering->plan->tp == 1)
            break;
        // The input, kept in parts, is gathered again for the weight's gradient.
        if (gather.kind != SIM_KINDS) {
            lowering_cut(lowering);
            input = pass_exchange(lowering, &gather, gather.bytes, lowering->last);
        }
        summed = pass_part(lowering, &half, none, pass_sum(lowering, item));
        lowering_wait(lowering, input);
        pass_part(lowering, &half, none, none);
        lowering_cut(lowering);
        lowering_wait(lowering, summed);
        return;
    case MODEL_JOIN_ROW:
        pass_part(lowering, &whole, gather, none);
        return;
    case MODEL_JOIN_CONTEXT:
        lowering_wait(lowering, pass_part(lowering, &whole, pass_context(lowering, item, SIM_KIND_ALL_GATHER),
                                          pass_context(lowering, item, SIM_KIND_REDUCE_SCATTER)));
        return;
    case MODEL_JOIN_LOSS:
    case MODEL_JOIN_NONE:
        break;
    }
    pass_part(lowering, &whole, none, none);
}

static gboolean pass_recomputes(const Lowering *lowering, const LowerChunk *chunk, guint32 block)
{
    const Plan *plan = lowering->plan;
    if (plan->recompute != PLAN_RECOMPUTE_FULL || block == 0 || block == lowering->job->model->layers + 1)
        return FALSE;
    return (block - MAX(chunk->first_block, 1)) % (guint32)plan->recompute_every == 0;
}

// How many items of a layer are repeated: all, or (PlanFramework.early_stop) those before the last GEMM,
// whose output nobody keeps.
static guint pass_repeated(const Lowering *lowering, const GArray *items)
{
    const PlanFramework *framework = lowering->job->framework;
    if (framework == NULL || !framework->early_stop)
        return items->len;
    for (guint i = items->len; i-- > 0;)
        if (g_array_index(items, StepItem, i).n_tensors > 0)
            return i;
    return items->len;
}

// Bytes that a block keeps between its two passes, and the logits among them.
static gint64 pass_kept(const Lowering *lowering, const LowerChunk *chunk, guint32 block)
{
    const PlanMemoryStage *memory = &lowering->memory;
    if (block == 0)
        return memory->embedding;
    if (block == lowering->job->model->layers + 1)
        return memory->head;
    return pass_recomputes(lowering, chunk, block) ? memory->layer_kept : memory->layer;
}

static void pass_copy_out(Lowering *lowering, gint64 bytes)
{
    double seconds = (double)bytes / lowering->job->machine->device->compute.host_bandwidth;
    const char *name = lowering_name(lowering, lowering->block, LOWER_NAME_ACTIVATIONS);
    guint32 id = lowering_timed(lowering, LOWER_COPY_OUT, SIM_KIND_COPY, seconds, name, lowering->last);
    sim_program_effect(lowering->program, PLAN_MEMORY_ACTIVATIONS, TRUE, -bytes);
    guint32 blocks = (guint32)lowering->job->model->layers + 2;
    gsize at = (gsize)lowering->micro_batch * blocks + lowering->block;
    if (lowering->copied->len <= at)
        g_array_set_size(lowering->copied, (guint)at + 1);
    g_array_index(lowering->copied, guint32, at) = id;
    lowering->copies[1] = lowering->copies[0];
    lowering->copies[0] = id;
}

// The copy back of a block's activations, one block ahead of its use.
static guint32 pass_copy_in(Lowering *lowering, gint64 bytes, guint32 block, guint32 after)
{
    double seconds = (double)bytes / lowering->job->machine->device->compute.host_bandwidth;
    guint32 blocks = (guint32)lowering->job->model->layers + 2;
    const char *name = lowering_name(lowering, block, LOWER_NAME_ACTIVATIONS);
    guint32 id = lowering_timed(lowering, LOWER_COPY_IN, SIM_KIND_COPY, seconds, name, after);
    gsize at = (gsize)lowering->micro_batch * blocks + block;
    sim_program_wait(lowering->program, g_array_index(lowering->copied, guint32, at));
    sim_program_effect(lowering->program, PLAN_MEMORY_ACTIVATIONS, FALSE, bytes);
    return id;
}

// A block has been left, in time.
static void pass_leave(Lowering *lowering)
{
    if (lowering->last == lowering->left[0])
        return;
    lowering->left[1] = lowering->left[0];
    lowering->left[0] = lowering->last;
}

static gboolean pass_offloads(const Lowering *lowering, guint32 block)
{
    return lowering->plan->offload_activations && block > 0 && block <= lowering->job->model->layers;
}

void lowering_forward(Lowering *lowering, LowerChunk *chunk)
{
    const PlanMemoryStage *memory = &lowering->memory;
    guint32 head = (guint32)lowering->job->model->layers + 1;
    lowering_units_begin(lowering, chunk, FALSE);
    for (guint32 block = chunk->first_block; block < chunk->last_block; block++) {
        lowering_begin(lowering, SIM_KIND_FORWARD, block);
        if (pass_offloads(lowering, block)) // one layer in use, one on its way
            lowering_wait(lowering, lowering->copies[1]);
        lowering_unit_enter(lowering, block);
        lowering_await_weights(lowering, chunk, block);
        gint64 kept = pass_kept(lowering, chunk, block);
        gint64 work = pass_recomputes(lowering, chunk, block) ? memory->layer_work : 0;
        lowering_effect(lowering, PLAN_MEMORY_ACTIVATIONS, FALSE, kept + work);
        if (block == head)
            lowering_effect(lowering, PLAN_MEMORY_LOGITS, FALSE, memory->logits);
        const GArray *items = step_items_block(lowering->items, block);
        for (guint i = 0; i < items->len; i++)
            pass_item_forward(lowering, &g_array_index(items, StepItem, i));
        lowering_effect(lowering, PLAN_MEMORY_ACTIVATIONS, TRUE, -work);
        lowering_unit_end(lowering, chunk, block, FALSE);
        lowering_cut(lowering);
        lowering_unit_leave(lowering, chunk, block, FALSE);
        pass_leave(lowering);
        if (pass_offloads(lowering, block))
            pass_copy_out(lowering, kept);
    }
}

// The backward pass of an item up to a share of it, from the running total start.
static void pass_share(Lowering *lowering, const StepItem *item, double start, double done, double share)
{
    double part = share - done;
    lowering_add(lowering, 0, (item->model_flops - item->model_flops / 3) * part, 0,
                 item->launch_backward * part);
    lowering->work = start + item->backward * share;
    lowering->slow += item->backward * part * item->slow_backward;
}

// The backward pass of an item, and the buckets that become ready in it.
static void pass_ready(Lowering *lowering, LowerChunk *chunk, const StepItem *item, guint32 *gradient,
                       guint32 *bucket)
{
    gboolean reduces = lowering_reduces(lowering, chunk) && lowering->plan->overlap;
    gboolean splits = reduces && item->join == MODEL_JOIN_NONE && item->n_tensors == 1;
    double start = lowering->work, done = 0;
    if (!splits) {
        pass_item_backward(lowering, item);
        done = 1;
    }
    for (guint32 t = 0; t < item->n_tensors; t++, (*gradient)++)
        for (; reduces && *bucket < chunk->buckets->len; (*bucket)++) {
            const PlanBucket *next = &g_array_index(chunk->buckets, PlanBucket, *bucket);
            if (next->last != *gradient)
                break;
            if (splits && next->share > done) {
                pass_share(lowering, item, start, done, next->share);
                done = next->share;
            }
            lowering_cut(lowering);
            gboolean last = chunk->passes + 1 == lowering->plan->micro_batches;
            lowering_reduce(lowering, chunk, *bucket, last, lowering->last);
        }
    if (done < 1)
        pass_share(lowering, item, start, done, 1);
}

void lowering_backward(Lowering *lowering, LowerChunk *chunk)
{
    const PlanMemoryStage *memory = &lowering->memory;
    guint32 head = (guint32)lowering->job->model->layers + 1, gradient = 0, bucket = 0;
    guint32 copied = LOWER_NONE;
    lowering_units_begin(lowering, chunk, TRUE);
    for (guint32 block = chunk->last_block; block-- > chunk->first_block;) {
        const GArray *items = step_items_block(lowering->items, block);
        gboolean again = pass_recomputes(lowering, chunk, block);
        gint64 kept = pass_kept(lowering, chunk, block);
        lowering_begin(lowering, again ? SIM_KIND_RECOMPUTE : SIM_KIND_BACKWARD, block);
        if (pass_offloads(lowering, block)) {
            lowering_wait(lowering, copied == LOWER_NONE
                                        ? pass_copy_in(lowering, kept, block, lowering->left[1])
                                        : copied);
            gboolean more = block > chunk->first_block && pass_offloads(lowering, block - 1);
            gint64 next = more ? pass_kept(lowering, chunk, block - 1) : 0;
            copied = more ? pass_copy_in(lowering, next, block - 1, lowering->left[0]) : LOWER_NONE;
        }
        lowering_unit_enter(lowering, block);
        gboolean layer = block > 0 && block < head;
        gboolean some = layer && lowering->plan->recompute == PLAN_RECOMPUTE_SELECTIVE;
        gint64 work = again || some ? memory->layer_work : 0;
        lowering_effect(lowering, PLAN_MEMORY_ACTIVATIONS, FALSE, work);
        if (block == head)
            lowering_effect(lowering, PLAN_MEMORY_LOGITS, FALSE, memory->logits_work);
        if (again) {
            guint end = pass_repeated(lowering, items);
            for (guint i = 0; i < end; i++)
                pass_item_forward(lowering, &g_array_index(items, StepItem, i));
            lowering_begin(lowering, SIM_KIND_BACKWARD, block);
        }
        for (guint i = items->len; i-- > 0;) {
            const StepItem *item = &g_array_index(items, StepItem, i);
            if (item->again > 0) {
                lowering_begin(lowering, SIM_KIND_RECOMPUTE, block);
                lowering_add(lowering, item->again, item->model_flops / 3, item->slow_forward,
                             item->launch_forward);
                lowering_begin(lowering, SIM_KIND_BACKWARD, block);
            }
            pass_ready(lowering, chunk, item, &gradient, &bucket);
        }
        lowering_effect(lowering, PLAN_MEMORY_ACTIVATIONS, TRUE, -kept - work);
        if (block == head)
            lowering_effect(lowering, PLAN_MEMORY_LOGITS, TRUE, -memory->logits - memory->logits_work);
        lowering_unit_end(lowering, chunk, block, TRUE);
        lowering_cut(lowering);
        lowering_unit_leave(lowering, chunk, block, TRUE);
        pass_leave(lowering);
    }
    chunk->passes++;
}
