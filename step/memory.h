// step/memory.h: the memory of one rank: closed forms of every kind, per pipeline stage, and what would make
// a plan fit. The simulated timeline of memory (step/lower) is made of the same numbers.
//
// States: step/states.h under the plan's sharding. Activations: what models/ops.h keeps, summed over a layer
// (Korthikanti et al. 2022, equations 1-6: s b h (34 + 5 a s / h) and its divisions).
#pragma once

#include <glib.h>

#include "models/ops.h"
#include "step/framework.h"
#include "step/plan.h"
#include "topo/device.h"

typedef enum {
    STEP_MEMORY_WEIGHTS,
    STEP_MEMORY_GRADIENTS,
    STEP_MEMORY_OPTIMIZER,
    STEP_MEMORY_GATHERED, // ZeRO 3: whole units while they are in use
    STEP_MEMORY_ACTIVATIONS,
    STEP_MEMORY_LOGITS,    // of the head and the loss
    STEP_MEMORY_BUFFERS,   // buckets, NCCL, pipeline receives
    STEP_MEMORY_ALLOWANCE, // context, workspace and fragmentation: stated, not computed
    STEP_MEMORY_KINDS,
} StepMemoryKind;

extern const char *const STEP_MEMORY_NAMES[]; // "weights", ..., NULL

// What one stage holds all the time, and what comes and goes with a micro-batch; bytes.
typedef struct {
    gint64 fixed[STEP_MEMORY_KINDS]; // weights, gradients, optimizer, buffers, allowance
    gint64 layer;                    // activations of one layer and micro-batch that are not recomputed
    gint64 layer_kept;               // of one that is recomputed: its input
    gint64 layer_work;               // in use while one layer runs again or forward: what layer_kept lacks
    gint64 embedding;                // activations of the embedding
    gint64 head;                     // of the final norm and output projection
    gint64 logits;                   // of the logits and the loss
    gint64 unit;                     // ZeRO 3: one layer's whole weights
    gint64 unit_ends;                // of embedding and head
} StepMemoryStage;

StepMemoryStage step_memory_stage(const StepPlan *plan, const ModelSpec *model, const TopoDevice *device,
                                  const StepFramework *framework, guint32 stage);

// The peak of a stage by closed form: everything in flight that the schedule allows; by kind at that moment.
typedef struct {
    gint64 kind[STEP_MEMORY_KINDS];
    gint64 peak;     // their sum
    gint64 capacity; // of the chip
    guint32 stage;
} StepMemoryPeak;

StepMemoryPeak step_memory_peak(const StepPlan *plan, const ModelSpec *model, const TopoDevice *device,
                                const StepFramework *framework, guint32 stage);
// The fullest stage.
StepMemoryPeak step_memory_fullest(const StepPlan *plan, const ModelSpec *model, const TopoDevice *device,
                                   const StepFramework *framework);
// For a plan that does not fit: the nearest changes of one key that would make it fit, one line each
// ("recompute = selective: 61.2 GiB"), cheapest first; empty if none does. Caller unrefs.
GPtrArray *step_memory_remedies(const StepPlan *plan, const ModelSpec *model, const TopoDevice *device,
                                const StepFramework *framework);
