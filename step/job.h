// step/job.h: one training step to be simulated: a model, a machine, and how the work is split and timed.
#pragma once

#include <glib.h>

#include "coll/nccl.h"
#include "models/count.h"
#include "machines/machine.h"
#include "models/spec.h"
#include "sim/queue.h"
#include "step/states.h"

// What the optimizer costs in time.
typedef enum {
    STEP_UPDATE_NONE,   // nothing (the documents' tables leave it out)
    STEP_UPDATE_MEMORY, // the bytes that it reads and writes, at the chip's memory bandwidth
} StepUpdate;

typedef struct {
    char *name;           // owned: of the scenario
    char *text;           // owned: the scenario as read, with its overrides
    ModelSpec *model;     // owned
    TopoMachine *machine; // owned
    // The split.
    guint32 dp;              // data-parallel ranks; equal to the machine's GPUs
    gint64 tokens;           // of a step, all ranks together; whole sequences on every rank
    gint64 sequence;         // tokens of a sequence
    StepOptimizer optimizer; //
    gint64 gradient_bytes;   // of one parameter
    // Communication.
    gboolean overlap;      // all-reduce while the backward pass still runs
    gint64 bucket;         // cap of a gradient bucket, bytes; G_MAXINT64: one bucket
    gint64 first_bucket;   // cap of the first
    gboolean bucket_split; // a parameter may be cut at a cap
    gboolean nccl;         // choose and cost collectives as NCCL does (coll/nccl.h), else by the links alone
    const CollAlgo *algorithm; // borrowed: of the table; NULL: NCCL's choice, or the ring
    const char *protocol;      // static: NCCL's protocol; NULL: its choice
    gint64 chunk;              // bytes, of messages
    // Compute.
    double efficiency;       // fraction of peak of all model FLOPs
    ModelCounting counting;  //
    TopoPrecision precision; // whose peak counts
    StepUpdate update;       //
    // How to run it; never changes the result.
    SimQueueKind queue; //
    gboolean no_fuse;   // without the shortcut of sim/route.h
} StepJob;

StepJob *step_job_new(void);
void step_job_free(StepJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StepJob, step_job_free)

// FLOP/s of one GPU at the job's precision.
double step_job_peak(const StepJob *job);
// Model FLOPs of one rank in a step, forward and backward.
double step_job_flops(const StepJob *job);
// How the job's collectives are chosen and costed: fills nccl (caller's storage) where the job wants NCCL's
// choice, and the chooser with what it is to be called with (nccl or the algorithm).
void step_job_chooser(const StepJob *job, CollNccl *nccl, CollChooser *chooser, gconstpointer *choose);
// Bytes of one rank's gradient.
gint64 step_job_gradient(const StepJob *job);
// Time of one rank's forward and backward compute.
double step_job_compute_s(const StepJob *job);
// Time of one rank's optimizer: bytes read and written over memory bandwidth. Mixed-precision Adam and fp32
// Adam touch 28 bytes a parameter (read gradient, weight, momentum and variance, write the last three and the
// 16-bit weight), SGD with momentum 14. 0 with STEP_UPDATE_NONE.
double step_job_update_s(const StepJob *job);
