// step/job.h: one training step to be simulated: a model, a machine, a plan, and how all that is timed.
#pragma once

#include <glib.h>

#include "coll/nccl.h"
#include "models/count.h"
#include "machines/machine.h"
#include "models/spec.h"
#include "sim/queue.h"
#include "plans/framework.h"
#include "plans/plan.h"

// What the optimizer costs in time.
typedef enum {
    STEP_UPDATE_NONE,   // nothing (the documents' tables leave it out)
    STEP_UPDATE_MEMORY, // the bytes that it reads and writes, at the chip's memory bandwidth
} StepUpdate;

typedef enum {
    STEP_FIDELITY_AUTO,     // messages for small jobs, folded for others
    STEP_FIDELITY_MESSAGES, // every rank, every chunk, every hop
    STEP_FIDELITY_FOLDED,   // a rank of every stage; collectives measured once (step/fold.h)
} StepFidelity;

extern const char *const STEP_FIDELITY_NAMES[]; // "auto", "messages", "folded", NULL

// Of ranks' compute where it is costed by operator, unless a scenario says (reality.spread).
#define STEP_SPREAD 0.0109 // fitted to published runs, 95 %: 0.0049 .. 0.0243; tuned clusters .008

// What a real cluster adds; all but the spread off by default.
typedef struct {
    guint32 slow_ranks; // ranks 0 .. slow_ranks - 1 compute slower
    double slow_factor; // by this factor, >= 1
    gboolean slow_link; // some GPU's links have been slowed (in the machine's graph)
    double
        spread; // of ranks' compute, as a standard deviation over the mean: a step waits for the slowest node
    double jitter; // every operation takes up to this fraction longer, evenly distributed
    guint64 seed;  // of the jitter
    double loader; // sequences a second that the data loader of one data-parallel rank reads; 0: no limit
} StepReality;

typedef struct {
    char *name;           // owned: of the scenario
    char *text;           // owned: the scenario as read, with its overrides
    ModelSpec *model;     // owned
    TopoMachine *machine; // owned
    Plan plan;            // checked
    // Communication.
    gboolean nccl; // choose and cost collectives as NCCL does (coll/nccl.h), else by the links alone
    const CollAlgo *algorithm; // borrowed: of the table, for all-reduce; NULL: NCCL's choice, torus or ring
    const char *protocol;      // static: NCCL's protocol; NULL: its choice
    gint64 chunk;              // bytes, of messages; 0: as step/lower.h chooses
    // Compute.
    double efficiency;        // fraction of peak of all model FLOPs; 0: by operator
    PlanFramework *framework; // owned; NULL with an efficiency
    ModelCounting counting;   //
    TopoPrecision precision;  // whose peak counts
    StepUpdate update;        //
    gboolean gradient_norm;   // the gradient's norm is summed over all ranks before the optimizer runs
    StepReality reality;
    StepFidelity fidelity; // as asked for
    GPtrArray *notes;      // of char *, owned: keys that mean nothing here, a sentence each
    // How to run it; never changes the result.
    gboolean one_thread; // other jobs run beside it; else several threads lower long stages
    gboolean no_cache;   // measured collectives are not kept in a file (step/cache.h)
    SimQueueKind queue;  //
    gboolean no_fuse;    // without the shortcut of sim/route.h
} StepJob;

StepJob *step_job_new(void);
void step_job_free(StepJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StepJob, step_job_free)

// FLOP/s of one GPU at the job's precision.
double step_job_peak(const StepJob *job);
// Tokens of a step, all ranks together.
double step_job_tokens(const StepJob *job);
// Model FLOPs of a step, forward and backward, all ranks together.
double step_job_flops(const StepJob *job);
// How the job's collectives are chosen and costed: fills nccl (caller's storage) where the job wants NCCL's
// choice, and the chooser with what it is to be called with (nccl or the algorithm).
void step_job_chooser(const StepJob *job, CollNccl *nccl, CollChooser *chooser, gconstpointer *choose);
// Whether data parallelism over all GPUs is the only split, with whole states: the documents' case.
gboolean step_job_is_plain(const StepJob *job);
// Bytes of the whole model's gradient.
gint64 step_job_gradient(const StepJob *job);
// Seconds of the optimizer for parameters whose states a rank holds. With an efficiency: bytes read and
// written over memory bandwidth (mixed-precision Adam and fp32 Adam 28 bytes a parameter: read gradient,
// weight, momentum and variance, write the last three and the 16-bit weight; SGD with momentum 14). By
// operator: plan_cost_update. 0 with STEP_UPDATE_NONE.
double step_job_update_s(const StepJob *job, double parameters);
