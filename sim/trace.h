// sim/trace.h: what a run leaves behind: spans in order of ending, and the fingerprint.
#pragma once

#include <glib.h>

#include "base/append.h"
#include "base/hash.h"
#include "base/units.h"

typedef struct {
    guint32 rank;
    guint32 op; // id in the rank's program, which also gives its stream
    Ps start, end;
} SimSpan;

typedef struct {
    GArray *spans; // of SimSpan; owned, NULL: not recorded
    guint room;    // of spans (base/append.h)
    guint64
        fingerprint; // of what has ended so far; the sum of one word per task, so that order does not matter
    guint64 tasks;   // how many tasks have ended
} SimTrace;

void sim_trace_init(SimTrace *trace, gboolean record);
void sim_trace_clear(SimTrace *trace);

static inline void sim_trace_add(SimTrace *trace, guint32 rank, guint32 op, Ps start, Ps end)
{
    guint64 word = hash_add(hash_add(hash_add((guint64)rank << 32 | op, (guint64)start), (guint64)end), 1);
    trace->fingerprint += word;
    trace->tasks++;
    if (trace->spans != NULL) {
        SimSpan *span = append_slot(trace->spans, sizeof *span, &trace->room);
        *span = (SimSpan){rank, op, start, end};
    }
}

// Folds in one link's totals (those of links that carried nothing are left out by the caller).
static inline void sim_trace_add_link(SimTrace *trace, guint32 link, gint64 bytes, Ps busy)
{
    trace->fingerprint += hash_add(hash_add(hash_add(link, (guint64)bytes), (guint64)busy), 2);
}
