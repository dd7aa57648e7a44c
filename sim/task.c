// sim/task.c: building programs.
#include "sim/task.h"

const char *const SIM_KIND_NAMES[] = {"forward",        "backward",   "optimizer", "all_reduce",
                                      "reduce_scatter", "all_gather", "broadcast", NULL};

gboolean sim_kind_is_compute(SimKind kind)
{
    return kind == SIM_KIND_FORWARD || kind == SIM_KIND_BACKWARD || kind == SIM_KIND_OPTIMIZER;
}

static void sim_op_clear(gpointer data)
{
    g_free(((SimOp *)data)->name);
}

SimProgram *sim_program_new(void)
{
    SimProgram *program = g_new0(SimProgram, 1);
    program->streams = g_ptr_array_new_with_free_func(g_free);
    program->ops = g_array_new(FALSE, FALSE, sizeof(SimOp));
    g_array_set_clear_func(program->ops, sim_op_clear);
    program->waits = g_array_new(FALSE, FALSE, sizeof(SimWait));
    program->order = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    return program;
}

void sim_program_free(SimProgram *program)
{
    if (program == NULL)
        return;
    g_ptr_array_unref(program->streams);
    g_array_unref(program->ops);
    g_array_unref(program->waits);
    g_ptr_array_unref(program->order);
    g_free(program);
}

guint32 sim_program_add_stream(SimProgram *program, const char *name)
{
    g_ptr_array_add(program->streams, g_strdup(name));
    g_ptr_array_add(program->order, g_array_new(FALSE, FALSE, sizeof(guint32)));
    return program->streams->len - 1;
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
    own.name = g_strdup(op->name);
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
    g_array_append_val(program->waits, wait);
    last->n_waits++;
}
