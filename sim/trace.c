// sim/trace.c: the store of spans.
#include "sim/trace.h"

void sim_trace_init(SimTrace *trace, gboolean record)
{
    *trace = (SimTrace){.spans = record ? g_array_new(FALSE, FALSE, sizeof(SimSpan)) : NULL};
}

void sim_trace_clear(SimTrace *trace)
{
    if (trace->spans != NULL)
        g_array_unref(trace->spans);
    *trace = (SimTrace){0};
}
