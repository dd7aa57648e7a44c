// step/result.h: what a simulated step is: times, shares, counts, and the trace behind them.
#pragma once

#include <glib.h>

#include "base/units.h"
#include "sim/task.h"
#include "sim/trace.h"
#include "plans/memory.h"

// One stretch of the last rank's step that no compute covers, and the operation that it waited for.
typedef struct {
    Ps start, end;
    guint32 op; // id in the last rank's program
} StepExposure;

// Memory of one rank over time (step/usage.h).
typedef struct {
    Ps time;
    guint32 kind; // PlanMemoryKind
    gint64 bytes; // of that kind, from then on
} StepUsagePoint;

typedef struct {
    guint32 rank;                    // the first of its stage
    gint64 peak;                     // bytes
    Ps when;                         // of the peak
    gint64 kinds[PLAN_MEMORY_KINDS]; // at the peak
    GArray *points;                  // of StepUsagePoint, in order of time; owned
} StepUsage;

// Totals of one directed link.
typedef struct {
    guint32 link;     // id in the machine's graph
    char *name;       // owned: "gpu0->nvswitch0"
    char *class_name; // owned: "nvlink"
    double bandwidth; // bytes/s
    gint64 bytes;     // carried
    Ps busy;          // time in which it was sending
} StepLinkUse;

typedef struct {
    // What was run.
    char *name;     // owned: scenario's name
    char *text;     // owned: scenario as read, with its overrides applied
    char *model;    // owned
    char *machine;  // owned
    char *chip;     // owned
    char *fidelity; // owned: "messages"
    char *counting; // owned: "6N+12LHQT"
    guint32 ranks;  // GPUs
    double tokens;  // of a step, all ranks together
    // What came out.
    Ps step;             // from the start to the end of the last operation
    double model_flops;  // of the step, all ranks together
    double peak_flops;   // FLOP/s of one GPU, at the precision of the run
    double mfu, hfu;     // fractions
    double tokens_per_s; // all ranks together
    guint32 last_track;  // the track that finishes last (the lowest of them)
    guint32 last_rank;   // its rank
    Ps compute;          // of that rank: time with a compute operation running
    Ps exposed_comm;     // of that rank: communication and no compute
    Ps idle;             // of that rank: neither; the sum of the next three
    Ps bubble;           // of that rank: waiting for another rank's work
    Ps loader;           // of that rank: waiting for data
    Ps launch;           // of that rank: waiting for the host to launch
    Ps communication;    // of that rank: time with a collective running, hidden or not
    Ps backward_end;     // of that rank: when its last backward operation ended
    Ps bound;            // a time that no step of this job can beat on this machine
    gboolean plain; // data parallelism with whole states is the only split (step_job_is_plain); only then:
    Ps whole_all_reduce;   // of the whole gradient in one bucket, alone on the machine
    Ps perfect_overlap;    // max(compute, whole_all_reduce): perfect overlap, which the deck assumes
    gint64 gradient_bytes; // of one rank of the fullest stage
    guint32 buckets;       // gradient buckets of a stage, at most
    double states_bytes;   // model states of one GPU of the fullest stage
    gint64 memory_bytes;   // of one GPU, as the chip's file says
    gint64 peak_bytes;     // memory of the fullest stage at its peak
    guint64 events;        // that the engine ran
    guint64 messages;      // that were sent
    guint64 fingerprint;   //
    double wall_s;         // real time of the simulation
    // Behind it.
    GArray *exposures;      // of StepExposure, in time order
    GPtrArray *links;       // of StepLinkUse *, by id; only links that carried something
    GPtrArray *assumptions; // of char *: what the program took for granted, one sentence each
    char *plan;             // owned: "tp 8, pp 16, dp 64, ..."
    GPtrArray *ignored;     // of char *: keys of the scenario that mean nothing in it, a sentence each
    GPtrArray *remedies;    // of char *: what would make the plan fit; empty where it does, or nothing would
    GPtrArray *usage;       // of StepUsage *, by pipeline stage
    GPtrArray *programs;    // of SimProgram *: what ranks ran, by stage; owned
    guint32 tracks;         // ranks that were simulated: all, or one of every stage
    guint32 *track_ranks;   // [track]: its rank; owned, NULL: the same
    guint32 *runs;          // [track]: its program; owned
    SimTrace trace;         // their spans, by track
} StepResult;

static inline const SimProgram *step_result_program(const StepResult *result, guint32 track)
{
    return result->programs->pdata[result->runs[track]];
}

static inline guint32 step_result_rank(const StepResult *result, guint32 track)
{
    return result->track_ranks == NULL ? track : result->track_ranks[track];
}

// The operation of a span (whose rank is a track).
static inline const SimOp *step_result_op(const StepResult *result, const SimSpan *span)
{
    return sim_program_op(step_result_program(result, span->rank), span->op);
}

StepResult *step_result_new(void);
void step_result_free(StepResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StepResult, step_result_free)
