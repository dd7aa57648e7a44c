// sim/task.c: building programs.
#include "sim/task.h"

const char *const SIM_KIND_NAMES[] = {"forward",        "backward",   "recompute", "optimizer", "all_reduce",
                                      "reduce_scatter", "all_gather", "broadcast", "send",      "copy",
                                      "load",           "launch",     NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(SIM_KIND_NAMES) == SIM_KINDS + 1);

SimClass sim_kind_class(SimKind kind)
{
    switch (kind) {
    case SIM_KIND_FORWARD:
    case SIM_KIND_BACKWARD:
    case SIM_KIND_RECOMPUTE:
    case SIM_KIND_OPTIMIZER:
        return SIM_CLASS_COMPUTE;
    case SIM_KIND_LOAD:
        return SIM_CLASS_LOADER;
    case SIM_KIND_LAUNCH:
        return SIM_CLASS_LAUNCH;
    case SIM_KIND_ALL_REDUCE:
    case SIM_KIND_REDUCE_SCATTER:
    case SIM_KIND_ALL_GATHER:
    case SIM_KIND_BROADCAST:
    case SIM_KIND_SEND:
    case SIM_KIND_COPY:
    case SIM_KINDS:
        break;
    }
    return SIM_CLASS_COMMUNICATION;
}

// An array with room for as many elements as another has.
static GArray *program_array(guint size, const GArray *like)
{
    guint more = 64; // programs of neighbouring stages differ by a few operations
    return g_array_sized_new(FALSE, FALSE, size, like == NULL ? 0 : MIN(like->len, G_MAXINT32) + more);
}

SimProgram *sim_program_new(const SimProgram *like)
{
    SimProgram *program = g_new0(SimProgram, 1);
    program->streams = g_ptr_array_new_with_free_func(g_free);
    program->ops = program_array(sizeof(SimOp), like == NULL ? NULL : like->ops);
    program->names = g_string_chunk_new(4096);
    program->waits = program_array(sizeof(SimWait), like == NULL ? NULL : like->waits);
    program->effects = program_array(sizeof(SimEffect), like == NULL ? NULL : like->effects);
    program->order = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    return program;
}

void sim_program_free(SimProgram *program)
{
    if (program == NULL)
        return;
    g_ptr_array_unref(program->streams);
    g_array_unref(program->ops);
    g_string_chunk_free(program->names);
    g_array_unref(program->waits);
    g_array_unref(program->effects);
    g_ptr_array_unref(program->order);
    g_free(program);
}

guint32 sim_program_add_stream(SimProgram *program, const char *name)
{
    g_ptr_array_add(program->streams, g_strdup(name));
    g_ptr_array_add(program->order, g_array_new(FALSE, FALSE, sizeof(guint32)));
    return program->streams->len - 1;
}

const char *sim_program_name(SimProgram *program, const char *text)
{
    return g_string_chunk_insert(program->names, text);
}

guint32 sim_program_add(SimProgram *program, const SimOp *op)
{
    g_assert(op->stream < program->streams->len && op->duration >= 0);
    GArray *order = program->order->pdata[op->stream];
    guint32 id = program->ops->len;
    SimOp own = *op;
    own.position = order->len;
    own.first_wait = program->waits->len;
    own.n_waits = 0;
    own.first_effect = program->effects->len;
    own.n_effects = 0;
    g_array_append_val(program->ops, own);
    g_array_append_val(order, id);
    return id;
}

void sim_program_wait(SimProgram *program, guint32 id)
{
    g_assert(program->ops->len > 0 && id < program->ops->len - 1);
    SimOp *last = &((SimOp *)(void *)program->ops->data)[program->ops->len - 1];
    const SimOp *other = sim_program_op(program, id);
    SimWait wait = {.stream = other->stream, .count = other->position + 1};
    for (guint32 i = last->first_wait; i < last->first_wait + last->n_waits; i++) {
        SimWait *known = &g_array_index(program->waits, SimWait, i);
        if (known->stream == wait.stream) {
            known->count = MAX(known->count, wait.count);
            return;
        }
    }
    g_array_append_val(program->waits, wait);
    last->n_waits++;
}

void sim_program_effect(SimProgram *program, guint32 kind, gboolean at_end, gint64 bytes)
{
    g_assert(program->ops->len > 0);
    sim_program_effect_of(program, program->ops->len - 1, kind, at_end, bytes);
}

void sim_program_effect_of(SimProgram *program, guint32 id, guint32 kind, gboolean at_end, gint64 bytes)
{
    g_assert(id < program->ops->len);
    SimEffect effect = {.kind = kind, .at_end = at_end, .bytes = bytes};
    SimOp *ops = (SimOp *)(void *)program->ops->data;
    g_array_insert_val(program->effects, ops[id].first_effect + ops[id].n_effects, effect);
    ops[id].n_effects++;
    for (guint32 later = id + 1; later < program->ops->len; later++)
        ops[later].first_effect++;
}
