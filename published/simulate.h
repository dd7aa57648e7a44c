// published/simulate.h: published runs, simulated: what came out beside what was printed.
#pragma once

#include <glib.h>

#include "published/recipe.h"
#include "step/job.h"

typedef struct {
    const PublishedRun *run; // borrowed
    PublishedRecipe *recipe; // owned
    char *reason;            // owned: why the run is not scored; NULL: it is
    guint like;              // the first case whose scenario is the same but for its name: simulated for all
    GPtrArray *jobs;         // of StepJob *, owned: one, or two of a layer's row; empty with a reason
    GPtrArray *light;        // of StepJob *, owned: the same with a few micro-batches, for derivatives
    double light_step;       // s; 0: not simulated
    double published;        // s: printed, or from its own formula
    double causal;           // s: the same if its FLOPs counted half of the attention; 0: not worked out
    // Simulated:
    double step;                           // s; 0: not yet
    double compute, exposed, bubble, rest; // s of the last rank; rest: launches and the loader
    double mfu, hfu;                       // with full attention, the way MODEL_COUNT_6N_ATTENTION counts
    double low, high;                      // s: range of what is not published; 0: nothing is open
    double peak_bytes, memory;             // bytes of the fullest stage, and the chip's
    double flops;                          // model FLOPs of a step, full attention, all GPUs
} PublishedCase;

// Writes every run's scenario and reads it as jobs; a run that cannot be run, or whose step time cannot be
// worked out, has a reason. Caller unrefs: of PublishedCase *, in the order of runs, which must outlive it.
GPtrArray *published_cases(const GPtrArray *runs, GHashTable *models);

// Called now and then: how many of them are through.
typedef void (*PublishedProgress)(gpointer user, guint done, guint all);

// Reads the jobs with a few micro-batches; a case that cannot have them gets a reason.
void published_lighten(PublishedCase *own);

// Which of a case's jobs to run: for its step, or for its light_step alone.
typedef enum { PUBLISHED_WHOLE, PUBLISHED_LIGHT } PublishedWeight;

// Simulates those of cases whose index stands in which (NULL: all) by threads at a time, and leaves step and
// what follows it in them. A job that fails gives its case a reason.
void published_simulate(GPtrArray *cases, const guint *which, guint n, PublishedWeight weight, guint threads,
                        PublishedProgress progress, gpointer user);

// The range of a case whose row leaves something open: micro-batches of 1 and 2, a virtual stage a layer to
// one a GPU, recomputation none and selective. Fills low and high.
void published_range(PublishedCase *own, GHashTable *models);

// simulated / published - 1.
static inline double published_error(const PublishedCase *own)
{
    return own->step / own->published - 1;
}
