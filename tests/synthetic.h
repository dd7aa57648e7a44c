// tests/synthetic.h: a made-up step of 64 ranks with the shape of a real one, for the tests of timeline and
// plots.
#pragma once

#include "step/result.h"

enum {
    SYNTHETIC_RANKS = 64,
    SYNTHETIC_LAYERS = 34,    // embedding, 32 blocks, head
    SYNTHETIC_BACKWARD = 230, // pieces
    SYNTHETIC_BUCKETS = 226,
    SYNTHETIC_OPS = SYNTHETIC_LAYERS + SYNTHETIC_BACKWARD + SYNTHETIC_BUCKETS + 1,
    SYNTHETIC_LAST = 41, // the rank that finishes last
};

static inline guint32 synthetic_add_op(SimProgram *program, guint32 stream, SimKind kind, gint64 bytes,
                                       gint32 layer, const char *name)
{
    SimOp op = {.stream = stream,
                .kind = kind,
                .work = bytes > 0 ? SIM_WORK_JOINT : SIM_WORK_TIMED,
                .bytes = bytes,
                .layer = layer,
                .name = sim_program_name(program, name)};
    return sim_program_add(program, &op, bytes > 0 ? -1 : 0);
}

static inline SimProgram *synthetic_program(void)
{
    SimProgram *program = sim_program_new(NULL);
    guint32 compute = sim_program_add_stream(program, "compute"), dp = sim_program_add_stream(program, "dp");
    for (gint32 i = 0; i < SYNTHETIC_LAYERS; i++) {
        g_autofree char *name = g_strdup_printf("layer %d forward", i);
        synthetic_add_op(program, compute, SIM_KIND_FORWARD, 0, i, name);
    }
    for (gint32 i = 0; i < SYNTHETIC_BACKWARD; i++) {
        gint32 layer = SYNTHETIC_LAYERS - 1 - i * SYNTHETIC_LAYERS / SYNTHETIC_BACKWARD;
        g_autofree char *name = g_strdup_printf("layer %d backward", layer);
        synthetic_add_op(program, compute, SIM_KIND_BACKWARD, 0, layer, name);
    }
    for (gint32 i = 0; i < SYNTHETIC_BUCKETS; i++) {
        g_autofree char *name = g_strdup_printf("bucket %d all-reduce", i);
        synthetic_add_op(program, dp, SIM_KIND_ALL_REDUCE, 59629640, -1, name);
    }
    synthetic_add_op(program, compute, SIM_KIND_OPTIMIZER, 0, -1, "optimizer");
    return program;
}

// The spans of one rank, in order of ending within each stream; slow: each piece of compute takes so much
// longer.
static inline void synthetic_add_rank(StepResult *result, guint32 rank, Ps slow)
{
    const Ps MS = PS_PER_SECOND / 1000, US = MS / 1000;
    Ps compute = 0, network = 0;
    guint32 op = 0, bucket = SYNTHETIC_LAYERS + SYNTHETIC_BACKWARD, sent = 0;
    for (; op < SYNTHETIC_LAYERS; op++) {
        Ps length = (op == 0 ? 1 : 16) * MS + slow;
        sim_trace_add(&result->trace, rank, op, compute, compute + length);
        compute += length;
    }
    for (guint32 i = 0; i < SYNTHETIC_BACKWARD; i++, op++) {
        Ps length = 4735 * US + slow;
        sim_trace_add(&result->trace, rank, op, compute, compute + length);
        compute += length;
        for (; sent * SYNTHETIC_BACKWARD <= i * SYNTHETIC_BUCKETS && sent < SYNTHETIC_BUCKETS - 1; sent++) {
            network = MAX(network, compute);
            sim_trace_add(&result->trace, rank, bucket + sent, network, network + 2355 * US);
            network += 2355 * US;
        }
    }
    network = MAX(network, compute); // the embedding's bucket comes last and cannot hide
    sim_trace_add(&result->trace, rank, bucket + sent, network, network + 11580 * US);
    if (rank == SYNTHETIC_LAST) {
        StepExposure exposure = {compute, network + 11580 * US, bucket + sent};
        g_array_append_val(result->exposures, exposure);
        result->exposed_comm = exposure.end - exposure.start;
        result->communication = (SYNTHETIC_BUCKETS - 1) * 2355 * US + 11580 * US;
        result->compute = compute + 8 * MS;
        result->step = network + 19580 * US;
    }
    network += 11580 * US;
    sim_trace_add(&result->trace, rank, SYNTHETIC_OPS - 1, network, network + 8 * MS);
}

// The result of such a step on some ranks. Caller frees.
static inline StepResult *synthetic_result(guint32 ranks)
{
    StepResult *result = step_result_new();
    result->name = g_strdup("llama7b-64xh100-overlap");
    result->text = g_strdup("[model]\nuse = llama-7b\n");
    result->model = g_strdup("llama-7b");
    result->machine = g_strdup("deck-network-400g");
    result->chip = g_strdup("h100-sxm");
    result->fidelity = g_strdup("messages");
    result->counting = g_strdup("6N+12LHQT");
    result->ranks = ranks;
    result->tokens = 1048576;
    result->mfu = 0.4698;
    result->hfu = 0.4698;
    result->tokens_per_s = 634000;
    result->model_flops = 4.9e16;
    result->peak_flops = 989e12;
    result->last_rank = result->last_track = ranks > SYNTHETIC_LAST ? SYNTHETIC_LAST : ranks - 1;
    result->tracks = ranks;
    result->step = PS_PER_SECOND;
    result->fingerprint = G_GUINT64_CONSTANT(0x00c0ffee12345678);
    result->gradient_bytes = G_GINT64_CONSTANT(13476298752);
    result->buckets = SYNTHETIC_BUCKETS;
    result->events = 3000000;
    result->messages = 1800000;
    result->wall_s = 0.25;
    result->programs = g_ptr_array_new_with_free_func((GDestroyNotify)sim_program_free);
    g_ptr_array_add(result->programs, synthetic_program());
    result->runs = g_new0(guint32, SYNTHETIC_RANKS);
    g_ptr_array_add(result->assumptions, g_strdup("Every GPU has a node of its own."));
    for (guint32 i = 0; i < 2 * ranks; i++) {
        StepLinkUse *use = g_new0(StepLinkUse, 1);
        *use = (StepLinkUse){.link = i, .bandwidth = 50e9, .bytes = 26531463168, .busy = 530629263360};
        use->name = g_strdup_printf(i % 2 == 0 ? "gpu%u->switch0" : "switch0->gpu%u", i / 2);
        use->class_name = g_strdup("network");
        g_ptr_array_add(result->links, use);
    }
    sim_trace_init(&result->trace, TRUE);
    for (guint32 rank = 0; rank < ranks; rank++)
        synthetic_add_rank(result, rank, rank == result->last_rank ? 4000000 : (Ps)rank * 30000);
    return result;
}
