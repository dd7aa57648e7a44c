// step/usage.c: memory over time, from a trace.
#include "step/usage.h"

typedef struct {
    Ps time;
    guint32 kind;
    gint64 bytes;
} Change;

static gint usage_compare(gconstpointer a, gconstpointer b)
{
    const Change *one = a, *other = b;
    if (one->time != other->time)
        return one->time < other->time ? -1 : 1;
    gboolean gives = one->bytes < 0, other_gives = other->bytes < 0;
    if (gives != other_gives)
        return gives ? -1 : 1;
    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    return one->bytes < other->bytes ? -1 : one->bytes > other->bytes;
}

// Every change that an operation of a span makes. One that takes no time takes and gives back at once: only
// the difference counts.
static void usage_add(GArray *changes, const SimProgram *program, const SimSpan *span)
{
    const SimOp *op = sim_program_op(program, span->op);
    if (op->n_effects == 0)
        return;
    gint64 sums[PLAN_MEMORY_KINDS] = {0};
    for (guint32 i = op->first_effect; i < op->first_effect + op->n_effects; i++) {
        const SimEffect *effect = &g_array_index(program->effects, SimEffect, i);
        Change change = {effect->at_end ? span->end : span->start, effect->kind, effect->bytes};
        if (span->start == span->end)
            sums[effect->kind] += effect->bytes;
        else
            g_array_append_val(changes, change);
    }
    for (guint32 kind = 0; kind < PLAN_MEMORY_KINDS; kind++) {
        Change change = {span->end, kind, sums[kind]};
        if (sums[kind] != 0)
            g_array_append_val(changes, change);
    }
}

// Beside what comes and goes stands an allowance for fragmentation, as in plans/memory.h.
static gint64 usage_allowance(guint32 kind, gint64 bytes)
{
    gboolean moving =
        kind == PLAN_MEMORY_ACTIVATIONS || kind == PLAN_MEMORY_LOGITS || kind == PLAN_MEMORY_GATHERED;
    return moving ? (gint64)(PLAN_MEMORY_FRAGMENTATION * (double)bytes) : 0;
}

static StepUsage *usage_sum(GArray *changes, const PlanMemoryStage *stage, guint32 rank)
{
    StepUsage *usage = g_new0(StepUsage, 1);
    usage->rank = rank;
    usage->points = g_array_new(FALSE, FALSE, sizeof(StepUsagePoint));
    gint64 kinds[PLAN_MEMORY_KINDS], now = 0;
    for (guint32 kind = 0; kind < PLAN_MEMORY_KINDS; kind++) {
        kinds[kind] = usage->kinds[kind] = stage->fixed[kind];
        now += kinds[kind];
        StepUsagePoint point = {0, kind, kinds[kind]};
        if (kinds[kind] > 0)
            g_array_append_val(usage->points, point);
    }
    usage->peak = now;
    for (guint i = 0; i < changes->len; i++) {
        const Change *change = &g_array_index(changes, Change, i);
        gint64 spare = usage_allowance(change->kind, kinds[change->kind] + change->bytes) -
                       usage_allowance(change->kind, kinds[change->kind]);
        kinds[change->kind] += change->bytes;
        kinds[PLAN_MEMORY_ALLOWANCE] += spare;
        now += change->bytes + spare;
        StepUsagePoint point = {change->time, change->kind, kinds[change->kind]};
        g_array_append_val(usage->points, point);
        if (now > usage->peak) {
            usage->peak = now;
            usage->when = change->time;
            for (guint32 kind = 0; kind < PLAN_MEMORY_KINDS; kind++)
                usage->kinds[kind] = kinds[kind];
        }
    }
    return usage;
}

void step_usage(const StepJob *job, StepResult *result)
{
    g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g_autofree guint32 *first = g_new(guint32, job->plan.pp);
    for (guint32 stage = 0; stage < job->plan.pp; stage++) {
        g_ptr_array_add(changes, g_array_new(FALSE, FALSE, sizeof(Change)));
        first[stage] = 0;
        while (result->runs[first[stage]] != stage)
            first[stage]++;
    }
    for (guint i = 0; i < result->trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, i);
        guint32 stage = result->runs[span->rank];
        if (first[stage] == span->rank)
            usage_add(changes->pdata[stage], result->programs->pdata[stage], span);
    }
    result->peak_bytes = 0;
    for (guint32 stage = 0; stage < job->plan.pp; stage++) {
        g_array_sort(changes->pdata[stage], usage_compare);
        PlanMemoryStage fixed =
            plan_memory_stage(&job->plan, job->model, job->machine->device, job->framework, stage);
        StepUsage *usage = usage_sum(changes->pdata[stage], &fixed, step_result_rank(result, first[stage]));
        g_ptr_array_add(result->usage, usage);
        result->peak_bytes = MAX(result->peak_bytes, usage->peak);
    }
}

gint64 step_usage_left(const SimProgram *program)
{
    gint64 left = 0;
    for (guint32 id = 0; id < program->ops->len; id++) {
        const SimOp *op = sim_program_op(program, id);
        for (guint32 i = op->first_effect; i < op->first_effect + op->n_effects; i++)
            left += g_array_index(program->effects, SimEffect, i).bytes;
    }
    return left;
}
