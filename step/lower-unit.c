// step/lower-unit.c: units of weights that a rank does not keep whole: gathered (ZeRO 3) or copied from the
// host (offload_weights) before a use, freed after it.
//
// A unit is a block: a layer, the embedding, the head (PyTorch's FSDP2 as torchtitan wraps it). A use is a
// block's forward or backward pass. With the limiter, use k is fetched when use k - prefetch - 1 is over, so
// that at most prefetch + 1 units are whole at a time; and no unit is fetched again before it has been freed.
// With reshard = no units stay whole from a forward to its backward pass, and beyond a backward pass that
// reduces no gradients, as FSDP keeps them (pytorch 2.5, fsdp/_runtime_utils.py, _should_free_in_backward);
// in a pipeline until the last backward pass (pipelining/stage.py sets reshard_after_backward for that one
// only). Fetches are launched in the order of use, and in the backward pass each after the reduce-scatter of
// the unit before (BACKWARD_PRE on one NCCL stream). The head is whole from its forward to its backward pass,
// which follow each other, and does not count.
#include "step/lowering.h"

static gboolean unit_is_head(const Lowering *lowering, guint32 block)
{
    return block == lowering->job->model->layers + 1;
}

static gboolean unit_gathers(const Lowering *lowering)
{
    return lowering->plan->zero == 3 && lowering->plan->shard > 1;
}

static gboolean unit_fetches(const Lowering *lowering)
{
    return unit_gathers(lowering) || lowering->plan->offload_weights;
}

// Whether layers are freed between uses.
static gboolean unit_reshards(const Lowering *lowering)
{
    return lowering->plan->offload_weights || (unit_gathers(lowering) && lowering->plan->reshard);
}

// Whether this pass frees what it has used.
static gboolean unit_frees(const Lowering *lowering, const LowerChunk *chunk, gboolean backward)
{
    if (unit_reshards(lowering))
        return TRUE;
    if (!backward)
        return FALSE;
    gboolean last = chunk->passes + 1 == lowering->plan->micro_batches;
    return last || (lowering->plan->pp == 1 && chunk->flying == 1 && lowering_reduces(lowering, chunk));
}

static gint64 unit_bytes(const Lowering *lowering, guint32 block)
{
    gint64 parameters = step_items_parameters(lowering->items, block);
    if (unit_is_head(lowering, block) && lowering->job->model->tied && lowering->plan->pp == 1 &&
        unit_reshards(lowering))
        parameters += step_items_parameters(lowering->items, 0); // the embedding's, which has been freed
    return 2 * parameters;                                       // 16 bits each
}

static guint32 unit_fetch(Lowering *lowering, guint32 block, guint32 after)
{
    const Plan *plan = lowering->plan;
    gint64 bytes = unit_bytes(lowering, block);
    guint32 own = lowering->block, shard = plan->zero == 3 ? plan->shard : 1;
    const char *name = lowering_name(lowering, block, LOWER_NAME_WEIGHTS);
    lowering->block = block;
    guint32 id = LOWER_NONE;
    if (plan->offload_weights) {
        double seconds = (double)bytes / shard / lowering->job->machine->device->compute.host_bandwidth;
        id = lowering_timed(lowering, LOWER_COPY_IN, SIM_KIND_COPY, seconds, name, after);
        if (shard == 1)
            sim_program_effect(lowering->program, PLAN_MEMORY_GATHERED, FALSE, bytes);
        after = id;
    }
    if (shard > 1) {
        guint32 group = plan->shard == plan_data(plan) ? PLAN_GROUP_DATA : PLAN_GROUP_SHARD;
        id = lowering_join(lowering, LOWER_DP, SIM_KIND_ALL_GATHER, group, bytes, name, after);
        sim_program_effect(lowering->program, PLAN_MEMORY_GATHERED, FALSE, bytes);
        if (lowering->launched != LOWER_NONE)
            sim_program_wait(lowering->program, lowering->launched);
    }
    lowering->block = own;
    return id;
}

// How many units of a chunk count: all but the head.
static guint32 unit_count(const Lowering *lowering, const LowerChunk *chunk)
{
    return MIN(chunk->last_block, (guint32)lowering->job->model->layers + 1) - chunk->first_block;
}

// Fetches what the present pass uses as number i; after the others, forward, the head.
static void unit_fetch_next(Lowering *lowering, LowerChunk *chunk, guint32 i, gboolean backward)
{
    guint32 count = unit_count(lowering, chunk);
    gboolean head = i == count && !backward && unit_is_head(lowering, chunk->last_block - 1);
    if (!chunk->fetching || (i >= count && !head) || (head && chunk->heads > 0))
        return;
    guint32 block = chunk->first_block + (backward ? count - 1 - i : i);
    guint32 use = chunk->base + i, window = lowering->plan->prefetch + 1;
    guint32 after = LOWER_NONE;
    if (lowering->plan->limiter && use >= window && use - window < lowering->unit_ends->len)
        after = g_array_index(lowering->unit_ends, guint32, use - window);
    if (i == 0 && !backward && lowering->last != LOWER_NONE)
        after = lowering->last; // FSDP's streams wait for the compute stream when the root's forward begins
    guint32 freed = g_array_index(lowering->freed, guint32, block);
    if (freed != LOWER_NONE && (after == LOWER_NONE || after < freed)) // both of the compute stream
        after = freed;
    g_array_index(lowering->fetched, guint32, block) = unit_fetch(lowering, block, after);
}

void lowering_units_begin(Lowering *lowering, LowerChunk *chunk, gboolean backward)
{
    if (!unit_fetches(lowering))
        return;
    chunk->base = lowering->unit_ends->len;
    chunk->used = 0;
    chunk->fetching = !chunk->whole || unit_reshards(lowering);
    chunk->whole = TRUE;
    chunk->flying += backward ? 0 : 1;
    for (guint32 i = 0; i <= lowering->plan->prefetch && i <= unit_count(lowering, chunk); i++)
        unit_fetch_next(lowering, chunk, i, backward);
}

void lowering_unit_enter(Lowering *lowering, guint32 block)
{
    if (unit_fetches(lowering))
        lowering_wait(lowering, g_array_index(lowering->fetched, guint32, block));
}

void lowering_unit_end(Lowering *lowering, LowerChunk *chunk, guint32 block, gboolean backward)
{
    if (!unit_fetches(lowering))
        return;
    gboolean frees = unit_frees(lowering, chunk, backward);
    if (backward && block == chunk->first_block) {
        chunk->whole = !frees;
        chunk->flying--;
    }
    if (unit_is_head(lowering, block)) {
        chunk->heads = backward ? chunk->heads - 1 : chunk->heads + 1;
        frees = frees && chunk->heads == 0;
    }
    if (frees)
        lowering_effect(lowering, PLAN_MEMORY_GATHERED, TRUE, -unit_bytes(lowering, block));
}

void lowering_unit_leave(Lowering *lowering, LowerChunk *chunk, guint32 block, gboolean backward)
{
    if (!unit_fetches(lowering) || unit_is_head(lowering, block))
        return;
    g_array_append_val(lowering->unit_ends, lowering->last);
    if (unit_frees(lowering, chunk, backward) || (backward && !chunk->whole))
        g_array_index(lowering->freed, guint32, block) = lowering->last;
    unit_fetch_next(lowering, chunk, ++chunk->used + lowering->plan->prefetch, backward);
}
