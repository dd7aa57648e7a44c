// plans/plan.h: how a training step is split over ranks and time: one value, checked as a whole.
//
// Dimensions: tp (tensor), cp (context), dp (data), pp (pipeline); their product is the number of GPUs.
// Gradients and sharded states live in the group of dp x cp ranks ("data group"), as in Megatron-LM and
// PyTorch: ranks of one context group hold the same weights.
#pragma once

#include <glib.h>

#include "base/ini.h"
#include "models/spec.h"
#include "plans/pipe.h"
#include "plans/states.h"

typedef enum {
    PLAN_DIMENSION_TP,
    PLAN_DIMENSION_CP,
    PLAN_DIMENSION_DP,
    PLAN_DIMENSION_PP,
    PLAN_DIMENSIONS,
} PlanDimension;

extern const char *const PLAN_DIMENSION_NAMES[]; // "tp", "cp", "dp", "pp", NULL

typedef enum {
    PLAN_RECOMPUTE_NONE,
    PLAN_RECOMPUTE_SELECTIVE, // the attention core (Korthikanti et al. 2022, section 5)
    PLAN_RECOMPUTE_FULL,      // whole layers: only their inputs are kept
} PlanRecompute;

extern const char *const PLAN_RECOMPUTE_NAMES[]; // "none", "selective", "full", NULL

typedef enum {
    PLAN_GRADIENTS_SHARDED, // ZeRO 2 and 3 reduce-scatter after every micro-batch and keep 1/d
    PLAN_GRADIENTS_WHOLE,   // accumulated whole, reduced once, after the last micro-batch
} PlanGradients;

extern const char *const PLAN_GRADIENTS_NAMES[]; // "sharded", "whole", NULL

extern const char *const PLAN_COPIES_NAMES[]; // "every", "last", NULL: Plan.copies_last FALSE, TRUE

typedef enum {
    PLAN_BUCKETS_TORCH,    // by bytes: first_bucket, then bucket (PyTorch's DDP)
    PLAN_BUCKETS_MEGATRON, // by parameters: max(40e6, 1e6 x data group) each; with pp > 1 one a chunk but on
                           // stage 0
} PlanBuckets;

extern const char *const PLAN_BUCKETS_NAMES[]; // "torch", "megatron", NULL

typedef struct {
    // The split.
    guint32 gpus, tp, cp, dp, pp;         // all >= 1
    PlanDimension order[PLAN_DIMENSIONS]; // fastest first: "tp-cp-dp-pp" is Megatron-LM's
    gboolean sp;                          // sequence parallel: norms and residuals on 1/tp of the tokens
    guint32 tp_overlap;   // chunks in which a collective of tp overlaps with its GEMM; 1: not at all
    gboolean cp_balanced; // 2 cp chunks, each rank one from either end: equal causal work
    // The batch.
    gint64 sequence;      // tokens of a sequence
    gint64 micro_batch;   // sequences of a micro-batch, on one data-parallel rank
    gint64 batch;         // sequences of a step, all ranks together: micro_batch x dp x micro_batches
    gint64 micro_batches; // m, of a step
    // The pipeline.
    const PipeKind *schedule;         // borrowed: of the table
    guint32 chunks;                   // v, virtual stages of a pipeline rank; 1 unless interleaved
    gint64 layers_first, layers_last; // of the first and last virtual stage; -1: as the others
    gboolean
        scatter_gather; // stages send each rank of a tensor group a part, which gathers it there (without sp)
    // Data parallelism and its states.
    int zero;      // 0: DDP; 1, 2; 3: FSDP
    guint32 shard; // ranks of the data group that share one copy (HSDP); dp x cp: all
    PlanGradients gradients;
    gboolean sync_every;     // gradients are reduced after every micro-batch, not once (no no_sync)
    gboolean copies_last;    // with shard: the copies' shards are summed after the last micro-batch only
    gboolean overlap;        // reduce gradients while the backward pass runs
    gboolean overlap_gather; // ZeRO 1/2: gather parameters while the next forward pass runs
    gint64 gradient_bytes;   // of one parameter, as sent and kept (gradient_dtype)
    PlanBuckets buckets;
    gint64 bucket, first_bucket; // bytes; G_MAXINT64: whole
    gboolean bucket_split;       // a parameter may be cut at a cap
    guint32 prefetch;            // ZeRO 3: units gathered ahead of the one in use
    gboolean limiter;            // ZeRO 3: the host waits before gathering more than prefetch units ahead
    gboolean reshard; // ZeRO 3: free after the forward pass, gather again backward (no: kept till then)
    // Memory for time.
    PlanRecompute recompute;
    gint64 recompute_every; // full: of every k layers of a stage one is recomputed (1: every layer)
    gboolean offload_optimizer, offload_weights, offload_activations;
    PlanOptimizer optimizer;
} Plan;

// One rank, one micro-batch, no sharding, 1F1B, overlap, bf16 gradients, buckets of 25 MiB after one of 1
// MiB; should ZeRO be turned on: sharded gradients, one unit of prefetch with limiter and reshard, as FSDP.
// sequence is 0, to be set.
void plan_init(Plan *plan);

// Every rule that the plan breaks for a model, all at once, one line each (keys as in a scenario's [job]);
// fills what follows from the rest (micro_batches, shard 0 -> all) where nothing is broken: whoever changes
// dp or cp afterwards sets shard back to 0. Empty: legal. Caller unrefs (GPtrArray of char *). Layers need
// not divide by stages: 126 on 16 is legal. What does nothing in a plan (gradients without ZeRO 2 or 3,
// prefetch without 3, sp without tp) is legal too: only the scenario's reader knows what was asked for.
GPtrArray *plan_check(Plan *plan, const ModelSpec *model);

// Ranks that hold the same weights: dp x cp.
guint32 plan_data(const Plan *plan);
// Layers of the virtual stage: chunk c of pipeline rank s is number c x pp + s of pp x chunks. Layers that do
// not divide go one each to the earliest of the middle stages; layers_first and layers_last are taken as
// said.
gint64 plan_layers(const Plan *plan, const ModelSpec *model, guint32 stage, guint32 chunk);
// The first layer of that virtual stage, from 0.
gint64 plan_first_layer(const Plan *plan, const ModelSpec *model, guint32 stage, guint32 chunk);
// The order of dimensions from text, each of them once, fastest first: "tp-cp-dp-pp". FALSE with an error;
// where (may be NULL) starts it.
gboolean plan_read_order(const char *text, PlanDimension order[PLAN_DIMENSIONS], const char *where,
                         GError **error);
// The text of an order. Caller frees.
char *plan_order_text(const PlanDimension order[PLAN_DIMENSIONS]);
// The split of one rank for models/ops.h is plan.sequence, micro_batch, tp, cp, sp.
