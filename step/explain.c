// step/explain.c: classes of time and exposures.
#include "step/explain.h"

// The last rank's spans, by operation and by class.
typedef struct {
    const SimProgram *program;             // borrowed
    Ps *ends;                              // [op]; owned
    GArray *classes[SIM_CLASS_LAUNCH + 1]; // of SimSpan, in order of start; owned
} Explained;

static gint explain_compare(gconstpointer a, gconstpointer b)
{
    const SimSpan *one = a, *other = b;
    if (one->start != other->start)
        return one->start < other->start ? -1 : 1;
    if (one->end != other->end)
        return one->end < other->end ? -1 : 1;
    return one->op < other->op ? -1 : one->op > other->op;
}

static void explain_gather(Explained *explained, const StepResult *result)
{
    explained->program = step_result_program(result, result->last_track);
    explained->ends = g_new0(Ps, explained->program->ops->len);
    for (guint class = 0; class < G_N_ELEMENTS(explained->classes); class ++)
        explained->classes[class] = g_array_new(FALSE, FALSE, sizeof(SimSpan));
    for (guint i = 0; i < result->trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, i);
        if (span->rank != result->last_track)
            continue;
        explained->ends[span->op] = span->end;
        SimClass class = sim_kind_class(sim_program_op(explained->program, span->op)->kind);
        g_array_append_val(explained->classes[class], *span);
    }
    for (guint class = 0; class < G_N_ELEMENTS(explained->classes); class ++)
        g_array_sort(explained->classes[class], explain_compare);
}

static void explain_clear(Explained *explained)
{
    g_free(explained->ends);
    for (guint class = 0; class < G_N_ELEMENTS(explained->classes); class ++)
        g_array_unref(explained->classes[class]);
}

// Time in which any of the spans runs; they may overlap.
static Ps explain_union(const GArray *spans)
{
    Ps sum = 0, until = 0;
    for (guint i = 0; i < spans->len; i++) {
        const SimSpan *span = &g_array_index(spans, SimSpan, i);
        if (span->end <= until)
            continue;
        sum += span->end - MAX(span->start, until);
        until = span->end;
    }
    return sum;
}

// When the operation that a wait names ended, and what it was.
static Ps explain_waited(const Explained *explained, const SimWait *wait, SimKind *kind, guint32 *id)
{
    const GArray *order = explained->program->order->pdata[wait->stream];
    *id = g_array_index(order, guint32, wait->count - 1);
    *kind = sim_program_op(explained->program, *id)->kind;
    return explained->ends[*id];
}

// Until when an idle operation waits for the host, for the loader, and from when until when for anything
// else: an exchange counts from the moment at which this rank has launched it and has its data.
typedef struct {
    Ps from, until, loader, launch;
} ExplainWaits;

// The same for one operation, without what it exchanges.
static void explain_local(const Explained *explained, guint32 id, ExplainWaits *waits)
{
    const SimOp *op = sim_program_op(explained->program, id);
    for (guint32 i = 0; i < op->n_waits; i++) {
        SimKind kind;
        guint32 on;
        Ps over = explain_waited(explained, &sim_program_waits(explained->program, id)[i], &kind, &on);
        if (kind == SIM_KIND_LOAD)
            waits->loader = MAX(waits->loader, over);
        else if (kind == SIM_KIND_LAUNCH)
            waits->launch = MAX(waits->launch, over);
    }
}

static void explain_waits(const Explained *explained, guint32 id, ExplainWaits *waits)
{
    const SimOp *op = sim_program_op(explained->program, id);
    explain_local(explained, id, waits);
    for (guint32 i = 0; i < op->n_waits; i++) {
        SimKind kind;
        guint32 on;
        Ps over = explain_waited(explained, &sim_program_waits(explained->program, id)[i], &kind, &on);
        if (kind == SIM_KIND_LOAD || kind == SIM_KIND_LAUNCH)
            continue;
        ExplainWaits own = {0};
        explain_local(explained, on, &own);
        waits->from = MIN(waits->from, MAX(own.loader, own.launch));
        waits->until = MAX(waits->until, over);
        waits->loader = MAX(waits->loader, own.loader);
        waits->launch = MAX(waits->launch, own.launch);
    }
}

// An idle stretch before the compute operation next (NULL: the end of the step): bubble while it waits for
// others, then loader, then launch.
static void explain_idle(StepResult *result, const Explained *explained, const SimSpan *next, Ps start,
                         Ps end)
{
    ExplainWaits waits = {.from = start, .until = end};
    if (next != NULL) {
        waits = (ExplainWaits){.from = end};
        explain_waits(explained, next->op, &waits);
    }
    Ps from = CLAMP(waits.from, start, end), until = CLAMP(waits.until, from, end);
    result->bubble += until - from;
    const Ps starts[2] = {start, until}, ends[2] = {from, end};
    for (guint i = 0; i < 2; i++) {
        Ps loader = CLAMP(waits.loader, starts[i], ends[i]);
        result->loader += loader - starts[i];
        result->launch += ends[i] - loader;
    }
}

// A stretch without compute, before the compute operation next: what communication covers is exposed, the
// rest idle.
static void explain_gap(StepResult *result, const Explained *explained, guint *at, const SimSpan *next,
                        Ps start, Ps end)
{
    const GArray *comm = explained->classes[SIM_CLASS_COMMUNICATION];
    while (start < end) {
        // Of those that run now the one that ends last; else the first that starts later.
        const SimSpan *now = NULL;
        Ps later = end;
        while (*at < comm->len && g_array_index(comm, SimSpan, *at).end <= start)
            (*at)++;
        for (guint i = *at; i < comm->len; i++) {
            const SimSpan *span = &g_array_index(comm, SimSpan, i);
            if (span->start > start) {
                later = MIN(later, span->start);
                break;
            }
            if (span->end > start && (now == NULL || span->end > now->end))
                now = span;
        }
        if (now == NULL) {
            explain_idle(result, explained, next, start, later);
            start = later;
            continue;
        }
        Ps until = MIN(now->end, end);
        StepExposure exposure = {.start = start, .end = until, .op = now->op};
        g_array_append_val(result->exposures, exposure);
        result->exposed_comm += until - start;
        start = until;
    }
}

void step_explain(StepResult *result)
{
    result->step = 0;
    result->last_track = 0;
    for (guint i = 0; i < result->trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, i);
        if (span->end > result->step || (span->end == result->step && span->rank < result->last_track)) {
            result->step = span->end;
            result->last_track = span->rank;
        }
    }
    result->last_rank = step_result_rank(result, result->last_track);
    Explained explained;
    explain_gather(&explained, result);
    const GArray *compute = explained.classes[SIM_CLASS_COMPUTE];
    result->exposed_comm = result->bubble = result->loader = result->launch = result->backward_end = 0;
    Ps now = 0;
    guint at = 0; // first communication that ends after now
    for (guint i = 0; i < compute->len; i++) {
        const SimSpan *span = &g_array_index(compute, SimSpan, i);
        explain_gap(result, &explained, &at, span, now, span->start);
        now = MAX(now, span->end);
        if (sim_program_op(explained.program, span->op)->kind == SIM_KIND_BACKWARD)
            result->backward_end = MAX(result->backward_end, span->end);
    }
    explain_gap(result, &explained, &at, NULL, now, result->step);
    result->compute = explain_union(compute);
    result->communication = explain_union(explained.classes[SIM_CLASS_COMMUNICATION]);
    result->idle = result->step - result->compute - result->exposed_comm;
    explain_clear(&explained);
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
    const SimProgram *program = step_result_program(result, result->last_track);
    const StepExposure *from = &g_array_index(result->exposures, StepExposure, first);
    const StepExposure *to = &g_array_index(result->exposures, StepExposure, end - 1);
    const SimOp *op = sim_program_op(program, from->op), *last = sim_program_op(program, to->op);
    g_autofree char *time = units_format_time(to->end - from->start);
    g_autofree char *bytes = units_format_bytes((double)op->bytes);
    g_autofree char *size = op->work == SIM_WORK_JOINT ? g_strdup_printf(", %s", bytes) : g_strdup("");
    g_autofree char *name = sim_program_title(program, from->op);
    g_autofree char *other = sim_program_title(program, to->op);
    g_autofree char *what =
        end - first == 1 ? g_strdup_printf("%s of %s%s", SIM_KIND_NAMES[op->kind], name, size)
                         : g_strdup_printf("%u operations, from %s of %s to %s of %s", end - first,
                                           SIM_KIND_NAMES[op->kind], name, SIM_KIND_NAMES[last->kind], other);
    const char *why = from->start >= result->backward_end
                          ? "after the backward pass: no compute is left to hide it behind"
                          : "between operations that wait for it";
    return g_strdup_printf("%s in %s, %s", time, what, why);
}
