// step/lower-unit.c: units of weights that a rank does not keep whole: gathered (ZeRO 3) or copied from the
// host (offload_weights) before a use, freed after it.
//
// A use is a layer's forward or backward pass. With the limiter, use k is fetched when use k - prefetch - 1
// is over, so that at most prefetch + 1 layers are whole at a time; and no layer is fetched again before it
// has been freed. Fetches are launched in the order of use, and in the backward pass each after the
// reduce-scatter of the unit before (PyTorch's BACKWARD_PRE on one NCCL stream).
#include "step/lowering.h"

static gboolean unit_is_root(const Lowering *lowering, guint32 block)
{
    return block == 0 || block == lowering->job->model->layers + 1;
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

// Whether the root unit is fetched for every micro-batch: not with a pipeline, whose passes interleave.
static gboolean unit_root_each(const Lowering *lowering)
{
    return unit_reshards(lowering) && lowering->plan->pp == 1;
}

static gint64 unit_bytes(const Lowering *lowering, guint32 block)
{
    return 2 * step_items_parameters(lowering->items, block); // 16 bits each
}

static guint32 unit_fetch(Lowering *lowering, guint32 block, gint64 bytes, const char *what, guint32 after)
{
    const StepPlan *plan = lowering->plan;
    guint32 own = lowering->block, shard = plan->zero == 3 ? plan->shard : 1;
    g_autofree char *name = lowering_name(lowering, block, what);
    lowering->block = block;
    guint32 id = LOWER_NONE;
    if (plan->offload_weights) {
        double seconds = (double)bytes / shard / lowering->job->machine->device->compute.host_bandwidth;
        id = lowering_timed(lowering, LOWER_COPY_IN, SIM_KIND_COPY, seconds, name, after);
        if (shard == 1)
            sim_program_effect(lowering->program, STEP_MEMORY_GATHERED, FALSE, bytes);
        after = id;
    }
    if (shard > 1) {
        guint32 group = plan->shard == step_plan_data(plan) ? STEP_GROUP_DATA : STEP_GROUP_SHARD;
        id = lowering_join(lowering, LOWER_DP, SIM_KIND_ALL_GATHER, group, bytes, name, after);
        sim_program_effect(lowering->program, STEP_MEMORY_GATHERED, FALSE, bytes);
        if (lowering->launched != LOWER_NONE)
            sim_program_wait(lowering->program, lowering->launched);
    }
    lowering->block = own;
    return id;
}

// The first layer's block of a chunk, and how many there are.
static guint32 unit_first(const LowerChunk *chunk)
{
    return MAX(chunk->first_block, 1);
}

static guint32 unit_layers(const Lowering *lowering, const LowerChunk *chunk)
{
    guint32 end = MIN(chunk->last_block, (guint32)lowering->job->model->layers + 1);
    return end > unit_first(chunk) ? end - unit_first(chunk) : 0;
}

// Fetches the layer that the present pass uses as number i.
static void unit_fetch_layer(Lowering *lowering, LowerChunk *chunk, guint32 i, gboolean backward)
{
    guint32 block = unit_first(chunk) + (backward ? unit_layers(lowering, chunk) - 1 - i : i);
    guint32 use = chunk->base + i, window = lowering->plan->prefetch + 1;
    guint32 after = LOWER_NONE;
    if (lowering->plan->limiter && use >= window && use - window < lowering->unit_ends->len)
        after = g_array_index(lowering->unit_ends, guint32, use - window);
    if (i == 0 && !backward && lowering->last != LOWER_NONE)
        after = lowering->last; // FSDP's streams wait for the compute stream when the root's forward begins
    guint32 freed = g_array_index(lowering->freed, guint32, block);
    if (freed != LOWER_NONE && (after == LOWER_NONE || after < freed)) // both of the compute stream
        after = freed;
    g_array_index(lowering->fetched, guint32, block) =
        unit_fetch(lowering, block, unit_bytes(lowering, block), "weights", after);
}

static gint64 unit_root_bytes(const Lowering *lowering, const LowerChunk *chunk)
{
    guint32 head = (guint32)lowering->job->model->layers + 1;
    gint64 bytes = chunk->first_block == 0 ? unit_bytes(lowering, 0) : 0;
    return bytes + (chunk->last_block == head + 1 ? unit_bytes(lowering, head) : 0);
}

static void unit_fetch_root(Lowering *lowering, const LowerChunk *chunk)
{
    gint64 bytes = unit_root_bytes(lowering, chunk);
    if (bytes == 0)
        return;
    guint32 head = (guint32)lowering->job->model->layers + 1;
    guint32 id =
        unit_fetch(lowering, chunk->first_block == 0 ? 0 : head, bytes, "root weights", lowering->last);
    if (chunk->first_block == 0)
        g_array_index(lowering->fetched, guint32, 0) = id;
    if (chunk->last_block == head + 1)
        g_array_index(lowering->fetched, guint32, head) = id;
}

void lowering_units_begin(Lowering *lowering, LowerChunk *chunk, gboolean backward)
{
    if (!unit_fetches(lowering))
        return;
    gboolean first = chunk->base == G_MAXUINT32;
    chunk->base = lowering->unit_ends->len;
    chunk->used = 0;
    chunk->fetching = first || unit_reshards(lowering);
    if (!backward && (first || unit_root_each(lowering)))
        unit_fetch_root(lowering, chunk);
    guint32 ahead = MIN(lowering->plan->prefetch + 1, unit_layers(lowering, chunk));
    for (guint32 i = 0; chunk->fetching && i < ahead; i++)
        unit_fetch_layer(lowering, chunk, i, backward);
}

void lowering_unit_enter(Lowering *lowering, guint32 block)
{
    if (unit_fetches(lowering))
        lowering_wait(lowering, g_array_index(lowering->fetched, guint32, block));
}

void lowering_unit_end(Lowering *lowering, const LowerChunk *chunk, guint32 block, gboolean backward)
{
    if (!unit_fetches(lowering))
        return;
    gboolean last = backward && chunk->passes + 1 == lowering->plan->micro_batches;
    if (!unit_is_root(lowering, block) && (last || unit_reshards(lowering)))
        lowering_effect(lowering, STEP_MEMORY_GATHERED, TRUE, -unit_bytes(lowering, block));
    if (backward && block == chunk->first_block && (last || unit_root_each(lowering)))
        lowering_effect(lowering, STEP_MEMORY_GATHERED, TRUE, -unit_root_bytes(lowering, chunk));
}

void lowering_unit_leave(Lowering *lowering, LowerChunk *chunk, guint32 block, gboolean backward)
{
    if (!unit_fetches(lowering) || unit_is_root(lowering, block))
        return;
    g_array_append_val(lowering->unit_ends, lowering->last);
    if (unit_reshards(lowering))
        g_array_index(lowering->freed, guint32, block) = lowering->last;
    guint32 next = ++chunk->used + lowering->plan->prefetch; // enters the window that this use leaves
    if (chunk->fetching && next < unit_layers(lowering, chunk))
        unit_fetch_layer(lowering, chunk, next, backward);
}
