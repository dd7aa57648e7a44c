// step/items.c: blocks as pieces of work, by efficiency or by operator.
#include "step/items.h"

#include <string.h>

#include "models/tensor.h"
#include "plans/cost.h"

static StepItem *items_add(GArray *block, const char *name)
{
    StepItem item;
    memset(&item, 0, sizeof item); // padding too: blocks are compared
    item.name = name;
    g_array_append_val(block, item);
    return &g_array_index(block, StepItem, block->len - 1);
}

static gint64 items_part(gint64 whole, gint64 ranks)
{
    return whole / ranks + (whole % ranks != 0);
}

// What of a tensor stands on one of tp ranks, as models/ops.h cuts it: norms, positions and biases of the
// hidden width are whole, key/value heads fewer than ranks are repeated.
static gint64 items_share(const StepJob *job, const ModelTensor *tensor)
{
    guint32 tp = job->plan.tp;
    gboolean norm = strstr(tensor->name, "norm.") != NULL;
    gboolean positions = strcmp(tensor->name, "embed_positions.weight") == 0;
    gboolean out = strcmp(tensor->name, "o_proj.bias") == 0 || strcmp(tensor->name, "down_proj.bias") == 0;
    if (tp == 1 || norm || positions || out)
        return tensor->parameters;
    if (g_str_has_prefix(tensor->name, "k_proj.") || g_str_has_prefix(tensor->name, "v_proj."))
        return items_part(tensor->parameters, job->model->kv_heads) * items_part(job->model->kv_heads, tp);
    return items_part(tensor->parameters, tp);
}

// A tensor as an item: its matmul under "6N", and the attention core before it as an item of its own.
static void items_add_tensor(GArray *block, const StepJob *job, const ModelTensor *tensor)
{
    const Plan *plan = &job->plan;
    double tokens = (double)(plan->micro_batch * plan->sequence) / plan->cp;
    gint64 vector = 2 * plan->micro_batch * plan->sequence * job->model->hidden / plan->cp;
    if (tensor->attention) {
        StepItem *core = items_add(block, "attention");
        core->model_flops =
            tokens * model_count_attention(job->model, job->counting, job->plan.sequence) / plan->tp;
        core->forward = core->model_flops / 3;
        core->backward = core->model_flops * 2 / 3;
        if (plan->recompute == PLAN_RECOMPUTE_SELECTIVE)
            core->again = core->forward;
        core->join = plan->cp > 1 ? MODEL_JOIN_CONTEXT : MODEL_JOIN_NONE;
        core->exchanged = 4 * plan->micro_batch * plan->sequence *
                          items_part(job->model->kv_heads, plan->tp) * job->model->head_dim;
    }
    StepItem *item = items_add(block, tensor->name);
    item->model_flops = tokens * 6 * (double)tensor->multiplied / plan->tp;
    item->forward = item->model_flops / 3;
    item->backward = item->model_flops * 2 / 3;
    item->n_tensors = 1;
    item->tensors[0] = items_share(job, tensor);
    item->exchanged = vector;
    gboolean up = strcmp(tensor->name, job->model->gated ? "gate_proj.weight" : "up_proj.weight") == 0;
    if (plan->tp > 1 && (strcmp(tensor->name, "q_proj.weight") == 0 || up))
        item->join = MODEL_JOIN_COLUMN;
    else if (plan->tp > 1 && (tensor->attention || strcmp(tensor->name, "down_proj.weight") == 0 ||
                              strcmp(tensor->name, "embed_tokens.weight") == 0))
        item->join = MODEL_JOIN_ROW;
    else if (plan->tp > 1 && strcmp(tensor->name, "lm_head.weight") == 0)
        item->join = MODEL_JOIN_COLUMN;
}

static void items_by_efficiency(StepItems *items, const StepJob *job)
{
    items->rate = job->efficiency * step_job_peak(job);
    g_autoptr(GArray) tensors = model_tensors(job->model);
    guint i = 0;
    for (guint32 block = 0; block < job->model->layers + 2; block++) {
        g_autoptr(GArray) list = g_array_new(FALSE, TRUE, sizeof(StepItem));
        for (; i < tensors->len && g_array_index(tensors, ModelTensor, i).block == block; i++)
            items_add_tensor(list, job, &g_array_index(tensors, ModelTensor, i));
        GArray *before = block > 0 ? items->blocks->pdata[block - 1] : NULL; // layers are alike
        gboolean same = before != NULL && before->len == list->len &&
                        memcmp(before->data, list->data, list->len * sizeof(StepItem)) == 0;
        g_ptr_array_add(items->blocks, g_array_ref(same ? before : list));
    }
}

static GArray *items_by_operator(const StepJob *job, ModelBlock kind)
{
    const Plan *plan = &job->plan;
    const ModelShard shard = {.sequences = plan->micro_batch,
                              .sequence = plan->sequence,
                              .tp = plan->tp,
                              .cp = plan->cp,
                              .sp = plan->sp};
    const PlanCost cost = {
        .device = job->machine->device, .framework = job->framework, .precision = job->precision};
    g_autoptr(GArray) ops = model_ops(job->model, &shard, kind, job->framework->flash);
    double slowest = plan_cost_slowest(job->reality.spread, plan->gpus);
    GArray *block = g_array_new(FALSE, FALSE, sizeof(StepItem));
    for (guint i = 0; i < ops->len; i++) {
        const ModelOp *op = &g_array_index(ops, ModelOp, i);
        StepItem *item = items_add(block, op->name);
        item->forward = plan_cost_op(&cost, op, PLAN_PASS_FORWARD);
        item->backward = plan_cost_op(&cost, op, PLAN_PASS_BACKWARD);
        if (op->selective && plan->recompute == PLAN_RECOMPUTE_SELECTIVE)
            item->again = item->forward;
        double parameters = 0;
        for (guint t = 0; t < op->n_tensors; t++)
            parameters += (double)op->tensors[t];
        item->backward += plan_cost_accumulate(&cost, parameters);
        item->forward *= slowest;
        item->backward *= slowest;
        item->again *= slowest;
        item->slow_forward = plan_cost_slowdown(&cost, op, PLAN_PASS_FORWARD);
        item->slow_backward = plan_cost_slowdown(&cost, op, PLAN_PASS_BACKWARD);
        item->launch_forward = plan_cost_launch(&cost, op, PLAN_PASS_FORWARD);
        item->launch_backward = plan_cost_launch(&cost, op, PLAN_PASS_BACKWARD);
        item->model_flops = op->flops_model;
        if (job->counting == MODEL_COUNT_6N && op->selective)
            item->model_flops = 0; // the attention core, fused or not
        item->n_tensors = op->n_tensors;
        memcpy(item->tensors, op->tensors, sizeof item->tensors);
        item->join = op->join;
        item->exchanged = op->exchanged;
    }
    return block;
}

gint64 step_items_table(const StepItems *items)
{
    const GArray *block = step_items_block(items, 0);
    for (guint i = 0; i < block->len; i++)
        if (g_array_index(block, StepItem, i).n_tensors > 0)
            return g_array_index(block, StepItem, i).tensors[0];
    return 0;
}

// In a pipeline a tied head stands on another stage than the embedding, and holds a copy of it.
static void items_copy_table(StepItems *items, const StepJob *job)
{
    if (!job->model->tied || job->plan.pp == 1)
        return;
    const GArray *head = items->blocks->pdata[items->blocks->len - 1];
    for (guint i = 0; i < head->len; i++) {
        StepItem *item = &g_array_index(head, StepItem, i);
        if (strcmp(item->name, "lm_head.weight") != 0 && strcmp(item->name, "logits") != 0)
            continue;
        item->n_tensors = 1;
        item->tensors[0] = step_items_table(items);
    }
}

static void items_all_by_operator(StepItems *items, const StepJob *job)
{
    g_ptr_array_add(items->blocks, items_by_operator(job, MODEL_BLOCK_EMBEDDING));
    g_autoptr(GArray) layer = items_by_operator(job, MODEL_BLOCK_LAYER);
    for (gint64 i = 0; i < job->model->layers; i++)
        g_ptr_array_add(items->blocks, g_array_ref(layer));
    g_ptr_array_add(items->blocks, items_by_operator(job, MODEL_BLOCK_HEAD));
}

void step_items_init(StepItems *items, const StepJob *job)
{
    *items = (StepItems){.rate = 1};
    items->blocks = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    if (job->framework == NULL)
        items_by_efficiency(items, job);
    else
        items_all_by_operator(items, job);
    items_copy_table(items, job);
}

void step_items_clear(StepItems *items)
{
    g_ptr_array_unref(items->blocks);
    items->blocks = NULL;
}

gint64 step_items_parameters(const StepItems *items, guint32 block)
{
    const GArray *list = step_items_block(items, block);
    gint64 sum = 0;
    for (guint i = 0; i < list->len; i++) {
        const StepItem *item = &g_array_index(list, StepItem, i);
        for (guint t = 0; t < item->n_tensors; t++)
            sum += item->tensors[t];
    }
    return sum;
}

double step_items_seconds(const StepJob *job)
{
    StepItems items;
    step_items_init(&items, job);
    double seconds = 0, parameters = 0;
    for (guint32 block = 0; block < items.blocks->len; block++) {
        const GArray *list = step_items_block(&items, block);
        for (guint i = 0; i < list->len; i++) {
            const StepItem *item = &g_array_index(list, StepItem, i);
            double twice = job->plan.recompute == PLAN_RECOMPUTE_NONE ? 1 : 2;
            seconds += (twice * item->forward + item->backward) / items.rate + twice * item->launch_forward +
                       item->launch_backward;
        }
        parameters += (double)step_items_parameters(&items, block);
    }
    step_items_clear(&items);
    return seconds * (double)job->plan.micro_batches + step_job_update_s(job, parameters);
}
