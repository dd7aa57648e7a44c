// sim/task.c: building programs.
#include "sim/task.h"

#include <string.h>

#include "base/append.h"
#include "base/hash.h"

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
    const guint more = 64; // programs of neighbouring stages differ by a few operations
    return g_array_sized_new(FALSE, FALSE, size, (like == NULL ? 0 : MIN(like->len, G_MAXINT32)) + more);
}

SimProgram *sim_program_new(const SimProgram *like)
{
    SimProgram *program = g_new0(SimProgram, 1);
    program->streams = g_ptr_array_new_with_free_func(g_free);
    program->ops = program_array(sizeof(SimTurn), like == NULL ? NULL : like->ops);
    program->forms = g_array_new(FALSE, FALSE, sizeof(SimOp));
    program->after = g_array_new(FALSE, TRUE, sizeof(guint32));
    program->waits = program_array(sizeof(SimWait), like == NULL ? NULL : like->waits);
    program->effects = g_array_sized_new(FALSE, FALSE, sizeof(SimEffect), 1); // never NULL: offsets are added
    program->names = g_string_chunk_new(4096);
    program->order = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    program->order_room = g_array_new(FALSE, TRUE, sizeof(guint));
    return program;
}

void sim_program_free(SimProgram *program)
{
    if (program == NULL)
        return;
    g_ptr_array_unref(program->streams);
    g_array_unref(program->ops);
    g_array_unref(program->forms);
    g_array_unref(program->after);
    g_array_unref(program->waits);
    g_array_unref(program->effects);
    g_string_chunk_free(program->names);
    g_ptr_array_unref(program->order);
    g_array_unref(program->order_room);
    g_free(program->slots);
    g_free(program);
}

guint32 sim_program_add_stream(SimProgram *program, const char *name)
{
    g_ptr_array_add(program->streams, g_strdup(name));
    g_ptr_array_add(program->order, g_array_new(FALSE, FALSE, sizeof(guint32)));
    g_array_set_size(program->order_room, program->order->len);
    return program->streams->len - 1;
}

const char *sim_program_name(SimProgram *program, const char *text)
{
    return g_string_chunk_insert(program->names, text);
}

static SimTurn *program_turn(const SimProgram *program, guint32 id)
{
    return &((SimTurn *)(void *)program->ops->data)[id];
}

static SimOp *program_form(const SimProgram *program, guint32 form)
{
    return &((SimOp *)(void *)program->forms->data)[form];
}

static const SimEffect *program_effects(const SimProgram *program, const SimOp *op)
{
    return (const SimEffect *)(const void *)program->effects->data + op->first_effect;
}

static gboolean program_same(const SimProgram *program, const SimOp *a, const SimOp *b)
{
    if (a->stream != b->stream || a->work != b->work || a->kind != b->kind || a->duration != b->duration ||
        a->bytes != b->bytes || a->dimension != b->dimension || a->slow != b->slow ||
        memcmp(&a->flops, &b->flops, sizeof a->flops) != 0 || a->layer != b->layer ||
        a->n_waits != b->n_waits || a->n_effects != b->n_effects || a->name != b->name)
        return FALSE;
    const SimEffect *one = program_effects(program, a), *other = program_effects(program, b);
    for (guint32 i = 0; i < a->n_effects; i++)
        if (one[i].kind != other[i].kind || one[i].at_end != other[i].at_end ||
            one[i].bytes != other[i].bytes)
            return FALSE;
    return TRUE;
}

// Of what mostly tells operations apart.
static guint64 program_hash(const SimProgram *program, const SimOp *op)
{
    guint64 hash = hash_mix((guint64)op->stream << 32 | (guint64)op->kind << 16 | op->n_waits);
    hash = hash_mix(hash ^ (guint64)op->duration);
    hash = hash_mix(hash ^ (guint64)op->bytes);
    hash = hash_mix(hash ^ (guint64)(gsize)op->name);
    for (guint32 i = 0; i < op->n_effects; i++)
        hash = hash_mix(hash ^ (guint64)program_effects(program, op)[i].bytes);
    return hash;
}

// The slot of a form that is the same as op, or the empty one that it would have.
static guint32 *program_slot(const SimProgram *program, const SimOp *op)
{
    guint32 at = (guint32)program_hash(program, op) & (program->n_slots - 1);
    while (program->slots[at] != 0 &&
           !program_same(program, program_form(program, program->slots[at] - 1), op))
        at = (at + 1) & (program->n_slots - 1);
    return &program->slots[at];
}

static void program_grow(SimProgram *program)
{
    g_autofree guint32 *old = program->slots;
    guint32 n = program->n_slots;
    program->n_slots = MAX(2 * n, 128);
    program->slots = g_new0(guint32, program->n_slots);
    for (guint32 i = 0; i < n; i++)
        if (old[i] != 0)
            *program_slot(program, program_form(program, old[i] - 1)) = old[i];
}

// Which known form is the same as that of the last operation; it becomes known itself, where there is none.
static guint32 program_find(SimProgram *program, guint32 form)
{
    if (2 * program->n_known >= program->n_slots)
        program_grow(program);
    guint32 *slot = program_slot(program, program_form(program, form));
    if (*slot == 0) {
        *slot = form + 1;
        program->n_known++;
    }
    return *slot - 1;
}

// The operation added last is complete: it shares its form with one that is the same. What follows a form has
// mostly followed it before. Whether the last form is nobody's now.
static gboolean program_settle(SimProgram *program)
{
    guint32 n = program->ops->len;
    if (n == 0 || program_form(program, program_turn(program, n - 1)->op)->shared)
        return FALSE;
    SimTurn *turn = program_turn(program, n - 1);
    guint32 form = turn->op, known = form;
    guint32 *after =
        n == 1 ? NULL : &g_array_index(program->after, guint32, program_turn(program, n - 2)->op);
    SimOp *op = program_form(program, form);
    if (after != NULL && *after != form && program_form(program, *after)->shared &&
        program_same(program, program_form(program, *after), op))
        known = *after;
    else
        known = program_find(program, form);
    program_form(program, known)->shared = TRUE;
    turn->op = known;
    if (after != NULL)
        *after = known;
    if (known == form || form + 1 != program->forms->len)
        return FALSE;
    if (op->n_effects > 0 && op->first_effect + op->n_effects == program->effects->len)
        g_array_set_size(program->effects, op->first_effect);
    return TRUE;
}

// A form for an operation that begins; spare: the last one is nobody's.
static guint32 program_begin(SimProgram *program, const SimOp *op, gboolean spare)
{
    SimOp own = *op;
    own.n_waits = own.n_effects = 0;
    own.first_effect = program->effects->len;
    own.shared = FALSE;
    if (!spare) {
        g_array_append_val(program->forms, own);
        g_array_set_size(program->after, program->forms->len);
    }
    guint32 form = program->forms->len - 1;
    *program_form(program, form) = own;
    g_array_index(program->after, guint32, form) = 0;
    return form;
}

guint32 sim_program_add(SimProgram *program, const SimOp *op, gint32 micro_batch)
{
    g_assert(op->stream < program->streams->len && op->duration >= 0);
    gboolean spare = program_settle(program);
    GArray *order = program->order->pdata[op->stream];
    guint32 id = program->ops->len;
    SimTurn turn = {program_begin(program, op, spare), order->len, micro_batch, program->waits->len};
    *(SimTurn *)append_slot(program->ops, sizeof turn, &program->ops_room) = turn;
    *(guint32 *)append_slot(order, sizeof id, &g_array_index(program->order_room, guint, op->stream)) = id;
    return id;
}

void sim_program_wait(SimProgram *program, guint32 id)
{
    g_assert(program->ops->len > 0 && id < program->ops->len - 1);
    const SimTurn *last = program_turn(program, program->ops->len - 1), *other = program_turn(program, id);
    SimOp *op = program_form(program, last->op);
    g_assert(!op->shared);
    SimWait wait = {.stream = sim_program_op(program, id)->stream, .count = other->position + 1};
    for (guint32 i = last->first_wait; i < last->first_wait + op->n_waits; i++) {
        SimWait *known = &g_array_index(program->waits, SimWait, i);
        if (known->stream == wait.stream) {
            known->count = MAX(known->count, wait.count);
            return;
        }
    }
    *(SimWait *)append_slot(program->waits, sizeof wait, &program->waits_room) = wait;
    op->n_waits++;
}

void sim_program_effect(SimProgram *program, guint32 kind, gboolean at_end, gint64 bytes)
{
    g_assert(program->ops->len > 0);
    sim_program_effect_of(program, program->ops->len - 1, kind, at_end, bytes);
}

void sim_program_effect_of(SimProgram *program, guint32 id, guint32 kind, gboolean at_end, gint64 bytes)
{
    g_assert(id < program->ops->len);
    SimTurn *turn = program_turn(program, id);
    if (program_form(program, turn->op)->shared) { // a form of its own from now on
        SimOp own = *program_form(program, turn->op);
        turn->op = program_begin(program, &own, FALSE);
        SimOp *op = program_form(program, turn->op);
        op->first_effect = own.first_effect;
        op->n_waits = own.n_waits;
        op->n_effects = own.n_effects;
    }
    SimOp *op = program_form(program, turn->op);
    guint32 first = op->first_effect;
    if (first + op->n_effects != program->effects->len) { // others' came between: they move behind these
        op->first_effect = program->effects->len;
        for (guint32 i = 0; i < op->n_effects; i++) {
            SimEffect moved = g_array_index(program->effects, SimEffect, first + i);
            g_array_append_val(program->effects, moved);
        }
    }
    SimEffect effect = {.kind = kind, .at_end = at_end, .bytes = bytes};
    g_array_append_val(program->effects, effect);
    op->n_effects++;
}

guint32 *sim_program_count(const SimProgram *program)
{
    guint32 *counts = g_new0(guint32, program->forms->len + 1);
    for (guint32 id = 0; id < program->ops->len; id++)
        counts[program_turn(program, id)->op]++;
    return counts;
}

char *sim_program_title(const SimProgram *program, guint32 id)
{
    const char *name = sim_program_op(program, id)->name, *mark = strchr(name, '#');
    return mark == NULL ? g_strdup(name)
                        : g_strdup_printf("%.*s%d%s", (int)(mark - name), name,
                                          sim_program_turn(program, id)->micro_batch, mark + 1);
}
