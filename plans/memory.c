// plans/memory.c: what one pipeline stage holds, from the operators' tensors and what they keep.
#include "plans/memory.h"

#include "models/count.h"

const char *const PLAN_MEMORY_NAMES[] = {"weights", "gradients", "optimizer", "gathered", "activations",
                                         "logits",  "buffers",   "allowance", NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(PLAN_MEMORY_NAMES) == PLAN_MEMORY_KINDS + 1);

// The sums over the operators of one block.
typedef struct {
    gint64 parameters; // on this rank
    gint64 saved;      // kept for the backward pass, the loss left out
    gint64 selective;  // of saved: of what selective recomputation runs again
} PlanMemoryBlock;

static ModelShard plan_memory_shard(const Plan *plan)
{
    return (ModelShard){.sequences = plan->micro_batch,
                        .sequence = plan->sequence,
                        .tp = plan->tp,
                        .cp = plan->cp,
                        .sp = plan->sp};
}

static PlanMemoryBlock plan_memory_block(const ModelSpec *model, const ModelShard *shard, ModelBlock block,
                                         gboolean flash)
{
    g_autoptr(GArray) ops = model_ops(model, shard, block, flash);
    PlanMemoryBlock sum = {0};
    for (guint i = 0; i < ops->len; i++) {
        const ModelOp *op = &g_array_index(ops, ModelOp, i);
        for (guint j = 0; j < op->n_tensors; j++)
            sum.parameters += op->tensors[j];
        if (op->memory == MODEL_MEMORY_LOSS)
            continue;
        sum.saved += op->saved;
        sum.selective += op->selective ? op->saved : 0;
    }
    return sum;
}

// The first tensor of the embedding: what a tied head holds once more on another stage.
static gint64 plan_memory_table(const ModelSpec *model, const ModelShard *shard)
{
    g_autoptr(GArray) ops = model_ops(model, shard, MODEL_BLOCK_EMBEDDING, TRUE);
    for (guint i = 0; i < ops->len; i++)
        if (g_array_index(ops, ModelOp, i).n_tensors > 0)
            return g_array_index(ops, ModelOp, i).tensors[0];
    return 0;
}

// A model's file may replace the total (ModelSpec.parameters): each part takes its share of it.
static gint64 plan_memory_share(const ModelSpec *model, const Plan *plan, gint64 parameters)
{
    ModelShard whole = plan_memory_shard(plan);
    whole.tp = whole.cp = 1;
    whole.sp = FALSE;
    gint64 all = plan_memory_block(model, &whole, MODEL_BLOCK_EMBEDDING, TRUE).parameters +
                 model->layers * plan_memory_block(model, &whole, MODEL_BLOCK_LAYER, TRUE).parameters +
                 plan_memory_block(model, &whole, MODEL_BLOCK_HEAD, TRUE).parameters;
    gint64 wanted = model_count_parameters(model);
    return all == wanted ? parameters : (gint64)((__int128)parameters * wanted / all);
}

static gint64 plan_memory_divide(gint64 bytes, gint64 by)
{
    return bytes / by + (bytes % by != 0);
}

// Bytes a parameter of one kind of state; gradients as the plan keeps them.
static gint64 plan_memory_rule(const Plan *plan, PlanStateKind kind)
{
    if (kind == PLAN_STATE_GRADIENTS)
        return plan->gradient_bytes;
    guint count;
    const PlanStatePart *parts = plan_states_parts(plan->optimizer, &count);
    double bytes = 0;
    for (guint i = 0; i < count; i++)
        if (parts[i].kind == kind)
            bytes += parts[i].bytes;
    return (gint64)bytes;
}

static gint64 plan_memory_sharers(const Plan *plan)
{
    return plan->shard > 0 ? plan->shard : plan_data(plan);
}

static gboolean plan_memory_is_gathering(const Plan *plan)
{
    return (plan->zero == 3 && plan_memory_sharers(plan) > 1) || plan->offload_weights;
}

static void plan_memory_add_states(PlanMemoryStage *memory, const Plan *plan)
{
    gint64 shard = plan_memory_sharers(plan);
    gboolean cut = plan->zero >= 2 && plan->gradients == PLAN_GRADIENTS_SHARDED;
    gint64 weights = memory->parameters * plan_memory_rule(plan, PLAN_STATE_WEIGHTS);
    gint64 gradients = memory->parameters * plan_memory_rule(plan, PLAN_STATE_GRADIENTS);
    gint64 optimizer = memory->parameters * plan_memory_rule(plan, PLAN_STATE_OPTIMIZER);
    if (!plan->offload_weights)
        memory->fixed[PLAN_MEMORY_WEIGHTS] = plan_memory_divide(weights, plan->zero >= 3 ? shard : 1);
    memory->fixed[PLAN_MEMORY_GRADIENTS] = plan_memory_divide(gradients, cut ? shard : 1);
    if (!plan->offload_optimizer)
        memory->fixed[PLAN_MEMORY_OPTIMIZER] = plan_memory_divide(optimizer, plan->zero >= 1 ? shard : 1);
}

// Gradients between the backward pass and the network; weights: one unit's parameters, the larger of them.
static gint64 plan_memory_buckets(const Plan *plan, gint64 parameters, gint64 unit)
{
    if (plan_data(plan) == 1 || (plan->buckets == PLAN_BUCKETS_MEGATRON && plan->zero < 3))
        return 0;
    gint64 gradients = parameters * plan->gradient_bytes, times = plan->overlap ? 2 : 1;
    if (plan->zero == 0)
        return gradients;
    gint64 one = plan->zero == 3 ? unit * plan->gradient_bytes : plan->bucket;
    return one >= gradients / times ? gradients : times * one;
}

static gint64 plan_memory_communicators(const Plan *plan)
{
    guint32 data = plan_data(plan);
    gint64 shard = plan_memory_sharers(plan);
    return (plan->tp > 1) + (plan->cp > 1) + (data > 1) + (shard > 1 && shard < data) + (plan->pp > 1);
}

// One layer's input: 2 s b h.
static gint64 plan_memory_input(const Plan *plan, const ModelSpec *model)
{
    gint64 tokens = plan->micro_batch * plan_memory_divide(plan->sequence, plan->cp);
    return 2 * plan_memory_divide(tokens, plan->sp ? plan->tp : 1) * model->hidden;
}

// What is in this stage: the layers of all its chunks, and the ends.
static void plan_memory_add_parameters(PlanMemoryStage *memory, const Plan *plan, const ModelSpec *model,
                                       guint32 stage, gint64 layer, gint64 embedding, gint64 head)
{
    gint64 layers = 0;
    for (guint32 c = 0; c < plan->chunks; c++)
        layers += plan_layers(plan, model, stage, c);
    gint64 first = stage == 0 ? embedding : 0, last = stage == plan->pp - 1 ? head : 0;
    memory->parameters = plan_memory_share(model, plan, layers * layer + first + last);
    gint64 rule = plan_memory_rule(plan, PLAN_STATE_WEIGHTS);
    gint64 unit = plan_memory_share(model, plan, layer);
    gint64 end = plan_memory_share(model, plan, MAX(first, last));
    if (plan_memory_is_gathering(plan)) {
        memory->unit = unit * rule;
        memory->unit_ends = end * rule;
        memory->whole = memory->parameters * rule;
    }
    memory->fixed[PLAN_MEMORY_BUFFERS] =
        plan_memory_buckets(plan, memory->parameters, MAX(unit, end)) +
        plan_memory_communicators(plan) * PLAN_MEMORY_NCCL +
        2 * ((stage > 0) + (stage < plan->pp - 1)) * plan_memory_input(plan, model);
    memory->fixed[PLAN_MEMORY_ALLOWANCE] = PLAN_MEMORY_CONTEXT;
}

PlanMemoryStage plan_memory_stage(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                                  const PlanFramework *framework, guint32 stage)
{
    (void)device;
    gboolean flash = framework == NULL || framework->flash;
    gboolean fused = framework == NULL || framework->bytes[MODEL_MEMORY_LOSS] < 2;
    ModelShard shard = plan_memory_shard(plan);
    PlanMemoryBlock layer = plan_memory_block(model, &shard, MODEL_BLOCK_LAYER, flash);
    PlanMemoryBlock embedding = plan_memory_block(model, &shard, MODEL_BLOCK_EMBEDDING, flash);
    PlanMemoryBlock head = plan_memory_block(model, &shard, MODEL_BLOCK_HEAD, flash);
    if (model->tied && plan->pp > 1)
        head.parameters += plan_memory_table(model, &shard);
    PlanMemoryStage memory = {.layer = layer.saved};
    plan_memory_add_parameters(&memory, plan, model, stage, layer.parameters, embedding.parameters,
                               head.parameters);
    plan_memory_add_states(&memory, plan);
    switch (plan->recompute) {
    case PLAN_RECOMPUTE_NONE:
        memory.layer_kept = layer.saved;
        break;
    case PLAN_RECOMPUTE_SELECTIVE:
        memory.layer = memory.layer_kept = layer.saved - layer.selective;
        memory.layer_work = layer.selective;
        break;
    case PLAN_RECOMPUTE_FULL:
        memory.layer_kept = MIN(plan_memory_input(plan, model), layer.saved);
        memory.layer_work = layer.saved - memory.layer_kept;
        break;
    }
    if (stage == 0)
        memory.embedding = embedding.saved;
    if (stage == plan->pp - 1) {
        gint64 tokens = plan->micro_batch * plan_memory_divide(plan->sequence, plan->cp);
        gint64 entries = tokens * plan_memory_divide(model->vocabulary, plan->tp);
        memory.head = head.saved;
        memory.logits = 6 * entries;
        memory.logits_work = (fused ? 4 : 8) * entries;
    }
    return memory;
}

gboolean plan_memory_bounded(const Plan *plan, const ModelSpec *model)
{
    double heads = (double)model->heads, sequence = (double)plan->sequence;
    double width =
        16.0 * (double)model->hidden + 8.0 * (double)model->ffn + 8.0 * heads * (double)model->head_dim;
    double token = (double)model->layers * (2 * width + 5 * heads * sequence / plan->tp) +
                   10.0 * (double)model->vocabulary;
    return token * sequence / plan->cp * (double)plan->micro_batch * (double)plan->micro_batches <=
               9007199254740992.0 &&
           (double)model_count_parameters(model) <= 1e14;
}
