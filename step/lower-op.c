// step/lower-op.c: operations, one by one: the compute stream with the host that feeds it, and joint
// operations.
#include "step/lowering.h"

static const char *const LOWER_STREAM_NAMES[] = {
    "compute",
    "dp",
    "replica",
    "tp",
    "cp",
    "send forward",
    "recv forward",
    "send backward",
    "recv backward",
    "ends",
    "world",
    "copy out",
    "copy in",
    "loader",
    "host",
};
G_STATIC_ASSERT(G_N_ELEMENTS(LOWER_STREAM_NAMES) == LOWER_STREAMS);

guint32 lowering_stream(Lowering *lowering, LowerStream stream)
{
    if (lowering->streams[stream] == LOWER_NONE)
        lowering->streams[stream] = sim_program_add_stream(lowering->program, LOWER_STREAM_NAMES[stream]);
    return lowering->streams[stream];
}

const char *lowering_name(Lowering *lowering, guint32 block, guint what)
{
    const char **name = &lowering->names[(gsize)block * LOWER_NAMES + what];
    if (*name != NULL)
        return *name;
    const char *after = what == LOWER_NAME_PLAIN         ? ""
                        : what == LOWER_NAME_WEIGHTS     ? " weights"
                        : what == LOWER_NAME_ACTIVATIONS ? " activations"
                                                         : NULL;
    g_autofree char *kind = after == NULL ? g_strdup_printf(" %s", SIM_KIND_NAMES[what]) : g_strdup(after);
    gboolean head = block == lowering->job->model->layers + 1;
    g_autofree char *text = block == 0 || head ? g_strdup_printf("%s%s", head ? "head" : "embedding", kind)
                                               : g_strdup_printf("layer %u%s", block - 1, kind);
    *name = sim_program_name(lowering->program, text);
    return *name;
}

void lowering_add(Lowering *lowering, double work, double flops, double slow, double launch)
{
    lowering->work += work;
    lowering->flops += flops;
    lowering->slow += work * slow;
    lowering->launch += launch;
}

void lowering_wait(Lowering *lowering, guint32 id)
{
    if (id != LOWER_NONE)
        g_array_append_val(lowering->waits, id);
}

void lowering_effect(Lowering *lowering, PlanMemoryKind kind, gboolean at_end, gint64 bytes)
{
    SimEffect effect = {.kind = kind, .at_end = at_end, .bytes = bytes};
    if (bytes != 0)
        g_array_append_val(lowering->effects, effect);
}

// What the operation added last waits for and does to memory, as gathered.
static void lowering_attach(Lowering *lowering)
{
    for (guint i = 0; i < lowering->waits->len; i++)
        sim_program_wait(lowering->program, g_array_index(lowering->waits, guint32, i));
    g_array_set_size(lowering->waits, 0);
    for (guint i = 0; i < lowering->effects->len; i++) {
        const SimEffect *effect = &g_array_index(lowering->effects, SimEffect, i);
        sim_program_effect(lowering->program, effect->kind, effect->at_end, effect->bytes);
    }
    g_array_set_size(lowering->effects, 0);
}

// The time from a running total to a larger one, which is rounded up.
static Ps lowering_until(double seconds, Ps *now)
{
    Ps end = 0;
    gboolean fits = units_ps_from_seconds(seconds, &end);
    g_assert(fits); // the reader of the scenario has checked the whole
    Ps duration = MAX(end - *now, 0);
    *now = MAX(end, *now);
    return duration;
}

// The host launches what remains of the operation before and the first kernel of this one.
static void lowering_launch(Lowering *lowering, const char *name)
{
    if (lowering->job->framework == NULL || lowering->job->framework->launch <= 0)
        return;
    double one = MIN(lowering->launch, lowering->job->framework->launch);
    lowering->host += lowering->launch_left + one;
    lowering->launch_left = lowering->launch - one;
    lowering->launch = 0;
    SimOp op = {.stream = lowering_stream(lowering, LOWER_HOST),
                .work = SIM_WORK_TIMED,
                .kind = SIM_KIND_LAUNCH,
                .duration = lowering_until(lowering->host, &lowering->host_now),
                .layer = (gint32)lowering->block,
                .name = name};
    lowering->launched = sim_program_add(lowering->program, &op, lowering->micro_batch);
}

// Where a block takes no time and has no operation, what it gives back is given back with the operation
// before; what it takes is taken by the next.
static void lowering_give_back(Lowering *lowering)
{
    guint kept = 0;
    for (guint i = 0; i < lowering->effects->len; i++) {
        SimEffect *effect = &g_array_index(lowering->effects, SimEffect, i);
        if (effect->at_end && lowering->last != LOWER_NONE)
            sim_program_effect_of(lowering->program, lowering->last, effect->kind, TRUE, effect->bytes);
        else
            g_array_index(lowering->effects, SimEffect, kept++) = *effect;
    }
    g_array_set_size(lowering->effects, kept);
}

// Ends the present operation, if it takes time (or must, for what it waits for).
static void lowering_end(Lowering *lowering, gboolean must)
{
    double done = lowering->work - lowering->mark;
    Ps duration = lowering_until(lowering->work / lowering->items->rate, &lowering->now);
    if (duration == 0 && !must) {
        lowering_give_back(lowering);
        return;
    }
    const char *name = lowering_name(lowering, lowering->block, lowering->kind);
    lowering_launch(lowering, name);
    SimOp op = {.stream = lowering_stream(lowering, LOWER_COMPUTE),
                .work = SIM_WORK_TIMED,
                .kind = lowering->kind,
                .duration = duration,
                .slow = done > 0 ? (guint32)(lowering->slow / done * 1000 + 0.5) : 0,
                .flops = lowering->flops,
                .layer = (gint32)lowering->block,
                .name = name};
    lowering->last = sim_program_add(lowering->program, &op, lowering->micro_batch);
    lowering_attach(lowering);
    if (lowering->launched != LOWER_NONE)
        sim_program_wait(lowering->program, lowering->launched);
    lowering->mark = lowering->work;
    lowering->flops = lowering->slow = 0;
}

void lowering_cut(Lowering *lowering)
{
    lowering_end(lowering, lowering->waits->len > 0);
}

void lowering_begin(Lowering *lowering, SimKind kind, guint32 block)
{
    if (lowering->kind != kind || lowering->block != block)
        lowering_end(lowering, FALSE);
    lowering->kind = kind;
    lowering->block = block;
}

// An operation beside the compute stream, with what all of them have.
static guint32 lowering_beside(Lowering *lowering, LowerStream stream, SimOp op, guint32 after)
{
    op.stream = lowering_stream(lowering, stream);
    op.layer = (gint32)lowering->block;
    guint32 id = sim_program_add(lowering->program, &op, lowering->micro_batch);
    if (after != LOWER_NONE)
        sim_program_wait(lowering->program, after);
    return id;
}

guint32 lowering_join(Lowering *lowering, LowerStream stream, SimKind kind, guint32 dimension, gint64 bytes,
                      const char *name, guint32 after)
{
    SimOp op = {.work = SIM_WORK_JOINT, .kind = kind, .bytes = bytes, .dimension = dimension, .name = name};
    return lowering_beside(lowering, stream, op, after);
}

guint32 lowering_timed(Lowering *lowering, LowerStream stream, SimKind kind, double seconds, const char *name,
                       guint32 after)
{
    Ps now = 0;
    SimOp op = {
        .work = SIM_WORK_TIMED, .kind = kind, .duration = lowering_until(seconds, &now), .name = name};
    return lowering_beside(lowering, stream, op, after);
}
