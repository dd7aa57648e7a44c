// tests/step.h: for tests of whole steps: a job from a scenario's text, its run, and its spans by rank and
// operation.
#pragma once

#include "tests/check.h"

#include <math.h>

#include "scenarios/scenario.h"
#include "step/run.h"

// Reads a scenario from text. NULL with an error.
static inline StepJob *step_text(const char *text, GError **error)
{
    g_autoptr(Ini) ini = ini_read_text("case.ini", text, strlen(text), error);
    return ini == NULL ? NULL : scenario_read(ini, NULL, error);
}

// The same where it must be fine.
static inline StepJob *step_fine(const char *text)
{
    g_autoptr(GError) error = NULL;
    StepJob *job = step_text(text, &error);
    if (job == NULL)
        fail_msg("%s in\n%s", error->message, text);
    return job;
}

static inline StepResult *step_ran(const StepJob *job)
{
    g_autoptr(GError) error = NULL;
    StepResult *result = step_run(job, NULL, NULL, &error);
    check_fine(error);
    return result;
}

// When every operation of every rank ran.
typedef struct {
    const StepResult *result; // borrowed
    SimSpan *spans;           // [rank * width + op]; end -1: did not run; owned
    gsize width;
} StepSpans;

static inline void step_spans_init(StepSpans *spans, const StepResult *result)
{
    *spans = (StepSpans){.result = result};
    for (guint i = 0; i < result->programs->len; i++)
        spans->width = MAX(spans->width, ((const SimProgram *)result->programs->pdata[i])->ops->len);
    gsize n = spans->width * result->ranks;
    spans->spans = g_new(SimSpan, n);
    for (gsize i = 0; i < n; i++)
        spans->spans[i] = (SimSpan){.start = -1, .end = -1};
    for (guint i = 0; i < result->trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, i);
        spans->spans[span->rank * spans->width + span->op] = *span;
    }
}

static inline void step_spans_clear(StepSpans *spans)
{
    g_free(spans->spans);
}

static inline const SimSpan *step_span(const StepSpans *spans, guint32 rank, guint32 op)
{
    return &spans->spans[rank * spans->width + op];
}
