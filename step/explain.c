// step/explain.c: classes of time and exposures.
#include "step/explain.h"

// The spans of one rank, computing or communicating, in order of start.
static GArray *explain_spans(const StepResult *result, guint32 rank, gboolean compute)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(SimSpan));
    for (guint i = 0; i < result->trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, i);
        if (span->rank == rank &&
            sim_kind_is_compute(sim_program_op(result->program, span->op)->kind) == compute)
            g_array_append_val(spans, *span);
    }
    return spans; // one stream each, and a stream's operations end in order of start
}

void step_explain(StepResult *result)
{
    result->step = 0;
    result->last_rank = 0;
    for (guint i = 0; i < result->trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, i);
        if (span->end > result->step || (span->end == result->step && span->rank < result->last_rank)) {
            result->step = span->end;
            result->last_rank = span->rank;
        }
    }
    g_autoptr(GArray) compute = explain_spans(result, result->last_rank, TRUE);
    g_autoptr(GArray) comm = explain_spans(result, result->last_rank, FALSE);
    result->compute = result->communication = result->exposed_comm = result->backward_end = 0;
    for (guint i = 0; i < compute->len; i++) {
        const SimSpan *span = &g_array_index(compute, SimSpan, i);
        result->compute += span->end - span->start;
        if (sim_program_op(result->program, span->op)->kind == SIM_KIND_BACKWARD)
            result->backward_end = MAX(result->backward_end, span->end);
    }
    guint at = 0; // first compute span that ends after the present instant
    for (guint i = 0; i < comm->len; i++) {
        const SimSpan *span = &g_array_index(comm, SimSpan, i);
        result->communication += span->end - span->start;
        Ps now = span->start;
        while (now < span->end) {
            while (at < compute->len && g_array_index(compute, SimSpan, at).end <= now)
                at++;
            const SimSpan *busy = at < compute->len ? &g_array_index(compute, SimSpan, at) : NULL;
            if (busy != NULL && busy->start <= now) {
                now = busy->end;
                continue;
            }
            Ps end = busy == NULL ? span->end : MIN(span->end, busy->start);
            StepExposure exposure = {.start = now, .end = end, .op = span->op};
            g_array_append_val(result->exposures, exposure);
            result->exposed_comm += end - now;
            now = end;
        }
    }
    result->idle = result->step - result->compute - result->exposed_comm;
}

guint step_explain_stretch(const StepResult *result, guint index)
{
    guint end = index + 1;
    while (end < result->exposures->len && g_array_index(result->exposures, StepExposure, end).start ==
                                               g_array_index(result->exposures, StepExposure, end - 1).end)
        end++;
    return end;
}

char *step_explain_words(const StepResult *result, guint first, guint end)
{
    const StepExposure *from = &g_array_index(result->exposures, StepExposure, first);
    const StepExposure *to = &g_array_index(result->exposures, StepExposure, end - 1);
    const SimOp *op = sim_program_op(result->program, from->op),
                *last = sim_program_op(result->program, to->op);
    g_autofree char *time = units_format_time(to->end - from->start);
    g_autofree char *bytes = units_format_bytes((double)op->bytes);
    g_autofree char *what =
        end - first == 1
            ? g_strdup_printf("%s of %s, %s", SIM_KIND_NAMES[op->kind], op->name, bytes)
            : g_strdup_printf("%u operations, from %s of %s to %s of %s", end - first,
                              SIM_KIND_NAMES[op->kind], op->name, SIM_KIND_NAMES[last->kind], last->name);
    const char *why = from->start >= result->backward_end
                          ? "after the backward pass: no compute is left to hide it behind"
                          : "between operations that wait for it";
    return g_strdup_printf("%s in %s, %s", time, what, why);
}
