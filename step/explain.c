// step/explain.c: classes of time and exposures.
#include "step/explain.h"

// The spans of one rank, computing or communicating, in order of start.
static GArray *explain_spans(const StepResult *result, guint32 rank, gboolean compute)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(SimSpan));
    for (guint i = 0; i < result->trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, i);
        if (span->rank == rank && sim_kind_is_compute(sim_program_op(result->program, span->op)->kind) == compute)
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
    result->compute = result->communication = result->exposed_comm = 0;
    for (guint i = 0; i < compute->len; i++) {
        const SimSpan *span = &g_array_index(compute, SimSpan, i);
        result->compute += span->end - span->start;
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

char *step_explain_exposure(const StepResult *result, const StepExposure *exposure)
{
    const SimOp *op = sim_program_op(result->program, exposure->op);
    g_autofree char *time = units_format_time(exposure->end - exposure->start);
    g_autofree char *bytes = units_format_bytes((double)op->bytes);
    guint i = 0;
    while (g_array_index(result->exposures, StepExposure, i).op != exposure->op)
        i++;
    Ps backward_end = 0;
    for (guint s = 0; s < result->trace.spans->len; s++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, s);
        if (span->rank == result->last_rank && sim_program_op(result->program, span->op)->kind == SIM_KIND_BACKWARD)
            backward_end = MAX(backward_end, span->end);
    }
    const char *why = exposure->start >= backward_end
                          ? "after the backward pass: no compute is left to hide it behind"
                          : "between operations that wait for it";
    return g_strdup_printf("%s in the %s of %s, %s, %s", time, SIM_KIND_NAMES[op->kind], op->name, bytes, why);
}
