// step/lower-data.c: data parallelism: gradient buckets, weights gathered again, the optimizer.
#include <string.h>

#include "plans/bucket.h"
#include "step/lowering.h"

// Bytes/s that one rank's optimizer gets of its host's memory when it runs there: a two-socket server's 400
// GB/s (8 channels of DDR4-3200 each) among 8 GPUs. A guess.
static const double LOWER_HOST_MEMORY = 50e9;

// Ranks that share one copy of the states, and how many copies there are.
static guint32 data_shard(const Plan *plan)
{
    return plan->zero == 0 ? plan_data(plan) : plan->shard;
}

// The last operation of a stream, LOWER_NONE where there is none.
static guint32 data_last(const Lowering *lowering, LowerStream stream)
{
    if (lowering->streams[stream] == LOWER_NONE)
        return LOWER_NONE;
    const GArray *order = lowering->program->order->pdata[lowering->streams[stream]];
    return order->len == 0 ? LOWER_NONE : g_array_index(order, guint32, order->len - 1);
}

// ZeRO 3: a bucket a unit, which is a block.
static void data_form_units(LowerChunk *chunk)
{
    for (guint32 i = 0; i < chunk->bytes->len; i++) {
        gint64 bytes = g_array_index(chunk->bytes, gint64, i);
        PlanBucket *last = chunk->buckets->len == 0
                               ? NULL
                               : &g_array_index(chunk->buckets, PlanBucket, chunk->buckets->len - 1);
        if (last != NULL &&
            g_array_index(chunk->of, guint32, last->last) == g_array_index(chunk->of, guint32, i)) {
            last->last = i;
            last->bytes += bytes;
        } else {
            PlanBucket unit = {.bytes = bytes, .first = i, .last = i, .share = 1};
            g_array_append_val(chunk->buckets, unit);
        }
    }
}

static void data_form_buckets(const Lowering *lowering, LowerChunk *chunk)
{
    const Plan *plan = lowering->plan;
    gint64 cap = plan->bucket, first = plan->bucket == G_MAXINT64 ? G_MAXINT64 : plan->first_bucket;
    if (plan->buckets == PLAN_BUCKETS_MEGATRON) {
        gint64 least = MAX(G_GINT64_CONSTANT(40000000), G_GINT64_CONSTANT(1000000) * plan_data(plan));
        cap = !plan->overlap || lowering->stage > 0 ? G_MAXINT64 : least * plan->gradient_bytes;
        first = cap;
    }
    g_array_unref(chunk->buckets);
    chunk->buckets = plan_buckets_form((const gint64 *)(const void *)chunk->bytes->data, chunk->bytes->len,
                                       first, cap, plan->bucket_split);
}

LowerChunk *lowering_chunk_new(const Lowering *lowering, guint32 chunk)
{
    const Plan *plan = lowering->plan;
    const ModelSpec *model = lowering->job->model;
    LowerChunk *own = g_new0(LowerChunk, 1);
    own->base = G_MAXUINT32;
    gint64 first = plan_first_layer(plan, model, lowering->stage, chunk);
    gint64 layers = plan_layers(plan, model, lowering->stage, chunk);
    gboolean begins = lowering->stage == 0 && chunk == 0;
    gboolean ends = lowering->stage == plan->pp - 1 && chunk == plan->chunks - 1;
    own->first_block = begins ? 0 : (guint32)first + 1;
    own->last_block = (guint32)(first + layers) + 1 + (ends ? 1 : 0);
    own->bytes = g_array_new(FALSE, FALSE, sizeof(gint64));
    own->of = g_array_new(FALSE, FALSE, sizeof(guint32));
    own->buckets = g_array_new(FALSE, FALSE, sizeof(PlanBucket));
    own->gathers = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 block = own->last_block; block-- > own->first_block;) {
        const GArray *items = step_items_block(lowering->items, block);
        for (guint i = items->len; i-- > 0;) {
            const StepItem *item = &g_array_index(items, StepItem, i);
            for (guint32 t = item->n_tensors; t-- > 0;) {
                gint64 bytes = item->tensors[t] * plan->gradient_bytes;
                g_array_append_val(own->bytes, bytes);
                g_array_append_val(own->of, block);
            }
        }
    }
    if (plan->zero == 3)
        data_form_units(own);
    else if (own->bytes->len > 0)
        data_form_buckets(lowering, own);
    return own;
}

void lowering_chunk_free(LowerChunk *chunk)
{
    g_array_unref(chunk->bytes);
    g_array_unref(chunk->of);
    g_array_unref(chunk->buckets);
    g_array_unref(chunk->gathers);
    g_free(chunk);
}

// Whether gradients are reduced after every backward pass, not only the last.
static gboolean data_reduces_each(const Plan *plan)
{
    return plan->sync_every || (plan->zero >= 2 && plan->gradients == PLAN_GRADIENTS_SHARDED);
}

gboolean lowering_reduces(const Lowering *lowering, const LowerChunk *chunk)
{
    const Plan *plan = lowering->plan;
    if (plan_data(plan) == 1)
        return FALSE;
    return chunk->passes + 1 == plan->micro_batches || data_reduces_each(plan);
}

void lowering_reduce(Lowering *lowering, const LowerChunk *chunk, guint32 bucket, gboolean last_pass,
                     guint32 after)
{
    const Plan *plan = lowering->plan;
    const PlanBucket *own = &g_array_index(chunk->buckets, PlanBucket, bucket);
    guint32 data = plan_data(plan), shard = data_shard(plan);
    const char *first =
        lowering_name(lowering, g_array_index(chunk->of, guint32, own->first), LOWER_NAME_PLAIN);
    const char *last =
        lowering_name(lowering, g_array_index(chunk->of, guint32, own->last), LOWER_NAME_PLAIN);
    guint32 number = ++lowering->buckets;
    g_autofree char *text = strcmp(first, last) == 0
                                ? g_strdup_printf("bucket %u (%s)", number, first)
                                : g_strdup_printf("bucket %u (%s to %s)", number, first, last);
    const char *name = sim_program_name(lowering->program, text);
    SimKind kind = plan->zero == 0 ? SIM_KIND_ALL_REDUCE : SIM_KIND_REDUCE_SCATTER;
    guint32 block = lowering->block;
    lowering->block = g_array_index(chunk->of, guint32, own->last);
    guint32 id = LOWER_NONE;
    if (shard > 1) // its buffers are there all the time (plans/memory.h)
        id = lowering_join(lowering, LOWER_DP, kind, shard == data ? PLAN_GROUP_DATA : PLAN_GROUP_SHARD,
                           own->bytes, name, after);
    if (shard < data && (last_pass || !plan->copies_last))
        lowering_join(lowering, LOWER_REPLICA, SIM_KIND_ALL_REDUCE, PLAN_GROUP_REPLICA,
                      (own->bytes + shard - 1) / shard, name, id == LOWER_NONE ? after : id);
    lowering->block = block;
}

void lowering_reduce_pass(Lowering *lowering, const LowerChunk *chunk)
{
    const Plan *plan = lowering->plan;
    if (chunk->passes == plan->micro_batches || !data_reduces_each(plan) || plan_data(plan) == 1)
        return;
    for (guint32 i = 0; !plan->overlap && i < chunk->buckets->len; i++)
        lowering_reduce(lowering, chunk, i, FALSE, lowering->last);
    if (plan->overlap && plan->pp > 1)
        return;
    lowering_wait(lowering, data_last(lowering, LOWER_DP));
    lowering_wait(lowering, data_last(lowering, LOWER_REPLICA));
}

void lowering_reduce_late(Lowering *lowering)
{
    lowering_cut(lowering);
    if (lowering->plan->overlap || plan_data(lowering->plan) == 1)
        return;
    for (guint32 c = lowering->chunks->len; c-- > 0;) {
        const LowerChunk *chunk = lowering->chunks->pdata[c];
        for (guint32 i = 0; i < chunk->buckets->len; i++)
            lowering_reduce(lowering, chunk, i, TRUE, lowering->last);
    }
}

// Gathers the updated weights of a bucket: 16 bits each.
static guint32 data_gather(Lowering *lowering, const LowerChunk *chunk, guint32 bucket, guint32 after)
{
    const Plan *plan = lowering->plan;
    const PlanBucket *own = &g_array_index(chunk->buckets, PlanBucket, bucket);
    lowering->block = g_array_index(chunk->of, guint32, own->last);
    const char *name = lowering_name(lowering, lowering->block, LOWER_NAME_WEIGHTS);
    guint32 group = plan->shard == plan_data(plan) ? PLAN_GROUP_DATA : PLAN_GROUP_SHARD;
    return lowering_join(lowering, LOWER_DP, SIM_KIND_ALL_GATHER, group,
                         own->bytes / plan->gradient_bytes * 2, name, after);
}

static gboolean data_gathers(const Plan *plan)
{
    return (plan->zero == 1 || plan->zero == 2) && plan->shard > 1;
}

void lowering_gather_early(Lowering *lowering)
{
    if (!data_gathers(lowering->plan) || !lowering->plan->overlap_gather)
        return;
    for (guint32 c = 0; c < lowering->chunks->len; c++) {
        LowerChunk *chunk = lowering->chunks->pdata[c];
        g_array_set_size(chunk->gathers, chunk->buckets->len);
        for (guint32 i = chunk->buckets->len; i-- > 0;) // the first layer's weights come first
            g_array_index(chunk->gathers, guint32, i) = data_gather(lowering, chunk, i, LOWER_NONE);
    }
}

void lowering_await_weights(Lowering *lowering, const LowerChunk *chunk, guint32 block)
{
    if (chunk->gathers->len == 0 || lowering->micro_batch > 0)
        return;
    // Gathers run in the order of the forward pass: the block's last one is that of its first ready gradient.
    for (guint32 i = 0; i < chunk->buckets->len; i++) {
        const PlanBucket *own = &g_array_index(chunk->buckets, PlanBucket, i);
        if (g_array_index(chunk->of, guint32, own->last) > block)
            continue; // gradients come in falling order of blocks
        lowering_wait(lowering, g_array_index(chunk->gathers, guint32, i));
        return;
    }
}

static void data_await_all(Lowering *lowering)
{
    static const LowerStream all[] = {LOWER_DP, LOWER_REPLICA, LOWER_ENDS, LOWER_WORLD, LOWER_COPY_OUT};
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        lowering_wait(lowering, data_last(lowering, all[i]));
}

static gint64 data_parameters(const Lowering *lowering)
{
    gint64 sum = 0;
    for (guint32 c = 0; c < lowering->chunks->len; c++) {
        const LowerChunk *chunk = lowering->chunks->pdata[c];
        for (guint32 block = chunk->first_block; block < chunk->last_block; block++)
            sum += step_items_parameters(lowering->items, block);
    }
    return sum;
}

// The first and the last stage hold a copy each of a tied embedding: their gradients are summed.
static void data_sum_ends(Lowering *lowering)
{
    const Plan *plan = lowering->plan;
    if (!lowering->job->model->tied || plan->pp == 1 ||
        (lowering->stage > 0 && lowering->stage < plan->pp - 1))
        return;
    guint32 group = plan->zero == 0 ? 1 : plan->shard; // a shard each
    gint64 bytes = step_items_table(lowering->items) * plan->gradient_bytes / group;
    guint32 id = lowering_join(lowering, LOWER_ENDS, SIM_KIND_ALL_REDUCE, PLAN_GROUP_ENDS, bytes,
                               "tied embedding", lowering->last);
    guint32 reduced = data_last(lowering, LOWER_DP);
    if (reduced != LOWER_NONE && reduced < id)
        sim_program_wait(lowering->program, reduced);
}

static void data_norm(Lowering *lowering)
{
    const Plan *plan = lowering->plan;
    if (!lowering->job->gradient_norm || plan->gpus == 1 ||
        (plan->tp == 1 && plan->pp == 1 && plan->zero == 0))
        return;
    guint32 id = lowering_join(lowering, LOWER_WORLD, SIM_KIND_ALL_REDUCE, PLAN_GROUP_WORLD, 4,
                               "gradient norm", lowering->last);
    static const LowerStream before[] = {LOWER_DP, LOWER_REPLICA, LOWER_ENDS};
    for (guint i = 0; i < G_N_ELEMENTS(before); i++) {
        guint32 last = data_last(lowering, before[i]);
        if (last != LOWER_NONE && last < id)
            sim_program_wait(lowering->program, last);
    }
}

// The optimizer on the host: gradients down, weights up, at the host's link; the host's memory does the
// update.
static void data_update_on_host(Lowering *lowering, double parameters)
{
    const TopoDevice *device = lowering->job->machine->device;
    const Plan *plan = lowering->plan;
    double bytes = plan->optimizer == PLAN_OPTIMIZER_SGD_MOMENTUM ? 14 : 28;
    guint32 down = lowering_timed(lowering, LOWER_COPY_OUT, SIM_KIND_COPY,
                                  parameters * (double)plan->gradient_bytes / device->compute.host_bandwidth,
                                  "gradients", lowering->last);
    static const LowerStream before[] = {LOWER_DP, LOWER_REPLICA, LOWER_ENDS, LOWER_WORLD};
    for (guint i = 0; i < G_N_ELEMENTS(before); i++) {
        guint32 last = data_last(lowering, before[i]);
        if (last != LOWER_NONE)
            sim_program_wait(lowering->program, last);
    }
    guint32 update = lowering_timed(lowering, LOWER_HOST, SIM_KIND_OPTIMIZER,
                                    parameters * bytes / LOWER_HOST_MEMORY, "optimizer", down);
    guint32 up = lowering_timed(lowering, LOWER_COPY_IN, SIM_KIND_COPY,
                                parameters * 2 / device->compute.host_bandwidth, "weights", update);
    lowering_wait(lowering, up);
}

void lowering_update(Lowering *lowering)
{
    const Plan *plan = lowering->plan;
    data_sum_ends(lowering);
    data_norm(lowering);
    lowering->micro_batch = -1;
    double held = (double)data_parameters(lowering) / (plan->zero == 0 ? 1 : plan->shard);
    lowering->block = 0;
    double seconds = plan->offload_optimizer ? 0 : step_job_update_s(lowering->job, held);
    if (plan->offload_optimizer && lowering->job->update != STEP_UPDATE_NONE)
        data_update_on_host(lowering, held);
    Ps update = 0;
    gboolean fits = units_ps_from_seconds(seconds, &update);
    g_assert(fits);
    if (update > 0 || lowering->waits->len > 0) {
        data_await_all(lowering);
        SimOp op = {.stream = lowering_stream(lowering, LOWER_COMPUTE),
                    .work = SIM_WORK_TIMED,
                    .kind = SIM_KIND_OPTIMIZER,
                    .duration = update,
                    .layer = -1,
                    .name = "optimizer"};
        lowering->last = sim_program_add(lowering->program, &op, -1);
        for (guint i = 0; i < lowering->waits->len; i++)
            sim_program_wait(lowering->program, g_array_index(lowering->waits, guint32, i));
        g_array_set_size(lowering->waits, 0);
    }
    if (!data_gathers(plan) || plan->overlap_gather)
        return;
    for (guint32 c = 0; c < lowering->chunks->len; c++) {
        const LowerChunk *chunk = lowering->chunks->pdata[c];
        for (guint32 i = 0; i < chunk->buckets->len; i++)
            data_gather(lowering, chunk, i, lowering->last);
    }
}
