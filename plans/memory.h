// plans/memory.h: the memory of one rank: closed forms of every kind, per pipeline stage, and what would make
// a plan fit. The simulated timeline of memory (step/lower) is made of the same numbers.
//
// States: plans/states.h under the plan's sharding; gradients of gradient_bytes each. Sharded sums are
// rounded up to a byte. Offloaded states are on the host and count 0 here. Activations: what models/ops.h
// keeps, summed over a layer (Korthikanti et al. 2022, equations 1-6: s b h (34 + 5 a s / h) and its
// divisions). Recomputed layers keep 2 s b h, over tp with sequence parallelism. Offloaded activations leave
// two layers on the chip: the one in use and the one on its way. Logits: for each token and entry of the
// rank's vocabulary 6 B from forward to backward (16 bits, and the fp32 copy that the loss keeps) and 4 B for
// the fp32 gradient, one micro-batch at a time; 4 B more where the framework's loss touches twice the bytes
// of a fused one or more (a logarithm of the softmax of its own). Gathered: under ZeRO 3 the 16-bit weights
// of prefetch + 1 layers beside those of one end, the larger of embedding and head (FSDP2: a group each); all
// of the stage where the limiter is off (pytorch/pytorch#98354) or where they are kept (reshard = no).
// Offloaded weights: the same. Buffers: gradients on their way, doubled with overlap (one is filled while the
// other is sent):
//   ZeRO 0, buckets of torch   a copy of all gradients: DDP's buckets where gradient_as_bucket_view is no,
//                              PyTorch's default
//   ZeRO 1, 2, buckets of torch  buckets of the cap, or whole (deepspeedai/DeepSpeed#1302 measures just this)
//   ZeRO 3                     the whole gradients of one unit, the larger of a layer and an end
//   buckets of Megatron        nothing: gradients are their own buffer
// NCCL takes PLAN_MEMORY_NCCL for each kind of group with more than one rank (tp, cp, data, replicas, pp): a
// process of one group has 342-392 MB (aiconfigurator). A pipeline stage holds two tensors of 2 s b h for
// each neighbour: one received, one sent.
// Allowance, not computed: PLAN_MEMORY_CONTEXT for the driver's context and libraries (about 1 GB), and
// PLAN_MEMORY_FRAGMENTATION of what comes and goes (activations, logits, gathered units), for the allocator.
// Not counted: what tensor and context parallelism gather for one operator (2 s b h; the other ranks' keys
// and values), gradients of activations, and what the optimizer's step needs beside the states. Of the host's
// memory nothing is said.
#pragma once

#include <glib.h>

#include "models/ops.h"
#include "plans/framework.h"
#include "plans/plan.h"
#include "topo/device.h"

#define PLAN_MEMORY_NCCL          (G_GINT64_CONSTANT(350) << 20)
#define PLAN_MEMORY_CONTEXT       (G_GINT64_CONSTANT(1) << 30)
#define PLAN_MEMORY_FRAGMENTATION 0.07

typedef enum {
    PLAN_MEMORY_WEIGHTS,
    PLAN_MEMORY_GRADIENTS,
    PLAN_MEMORY_OPTIMIZER,
    PLAN_MEMORY_GATHERED, // ZeRO 3: whole units while they are in use
    PLAN_MEMORY_ACTIVATIONS,
    PLAN_MEMORY_LOGITS,    // of the head and the loss
    PLAN_MEMORY_BUFFERS,   // buckets, NCCL, pipeline receives
    PLAN_MEMORY_ALLOWANCE, // context, workspace and fragmentation: stated, not computed
    PLAN_MEMORY_KINDS,
} PlanMemoryKind;

extern const char *const PLAN_MEMORY_NAMES[]; // "weights", ..., NULL

// What one stage holds all the time, and what comes and goes with a micro-batch; bytes.
typedef struct {
    gint64 fixed[PLAN_MEMORY_KINDS]; // weights, gradients, optimizer, buffers, allowance
    gint64 layer;                    // activations of one layer and micro-batch that are not recomputed
    gint64 layer_kept;               // of one that is recomputed: its input
    gint64 layer_work;               // in use while one layer runs again or forward: what layer_kept lacks
    gint64 embedding;                // activations of the embedding
    gint64 head;                     // of the final norm and output projection
    gint64 logits;                   // of the logits and the loss, from forward to backward
    gint64 logits_work;              // their gradient: one micro-batch at a time
    gint64 unit;                     // ZeRO 3: one layer's whole weights; 0: nothing is gathered
    gint64 unit_ends;                // of embedding or head, as far as they are here: the larger
    gint64 whole;                    // ZeRO 3: of the whole stage
    gint64 parameters;               // that this rank would hold unsharded
} PlanMemoryStage;

// framework NULL: attention is one kernel.
PlanMemoryStage plan_memory_stage(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                                  const PlanFramework *framework, guint32 stage);

// FALSE where a product of the plan's sizes could pass an int64 (2^53 bytes of activations of one rank, all
// micro-batches together); to be asked before the others.
gboolean plan_memory_bounded(const Plan *plan, const ModelSpec *model);

// Activations that one micro-batch leaves on a chunk of the stage, from forward to backward; logits not
// counted.
gint64 plan_memory_chunk(const Plan *plan, const ModelSpec *model, const PlanMemoryStage *memory,
                         guint32 stage, guint32 chunk);
// Whole weights that a stage has gathered at most.
gint64 plan_memory_gathered(const Plan *plan, const ModelSpec *model, const PlanMemoryStage *memory,
                            guint32 stage);

// The peak of a stage by closed form: everything in flight that the schedule allows; by kind at that moment.
typedef struct {
    gint64 kind[PLAN_MEMORY_KINDS];
    gint64 peak;     // their sum
    gint64 capacity; // of the chip
    guint32 stage;
    guint32 in_flight; // micro-batches of one chunk whose activations are there
    gboolean at_loss;  // the moment is that of the loss, not of a layer that runs again
} PlanMemoryPeak;

PlanMemoryPeak plan_memory_peak(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                                const PlanFramework *framework, guint32 stage);
// The fullest stage; the first of several.
PlanMemoryPeak plan_memory_fullest(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                                   const PlanFramework *framework);
// Weights, gradients and optimizer at the peak.
gint64 plan_memory_states(const PlanMemoryPeak *peak);
// When it is: "stage 0, after warm-up: 8 micro-batches in flight". Caller frees.
char *plan_memory_words(const Plan *plan, const PlanMemoryPeak *peak);

// For a plan that does not fit: the nearest changes of one key that would make it fit, one line each
// ("recompute = selective: 61.2 GiB"), cheapest first; empty if none does. GPUs and the batch stay: where tp,
// pp or cp doubles, dp is divided, and the line says so. Caller unrefs.
GPtrArray *plan_memory_remedies(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                                const PlanFramework *framework);
