// plans/states.h: bytes of model states (weights, gradients, optimizer) that one GPU holds, and that it
// sends.
//
// Rules of bytes a parameter: the primer (SGD with momentum 8, mixed-precision Adam 16, full fp32 Adam 20).
// Sharding over d workers: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter
// Models", SC 2020, sections 5 and 7, with K = 12 for mixed-precision Adam.
#pragma once

#include <glib.h>

typedef enum {
    PLAN_OPTIMIZER_SGD_MOMENTUM,
    PLAN_OPTIMIZER_ADAM_MIXED,
    PLAN_OPTIMIZER_ADAM_FP32,
} PlanOptimizer;

extern const char *const PLAN_OPTIMIZER_NAMES[]; // "sgd-momentum", "adam", "adam-fp32", NULL

typedef enum {
    PLAN_STATE_WEIGHTS,   // 16-bit, sharded from stage 3 on
    PLAN_STATE_GRADIENTS, // 16-bit, sharded from stage 2 on
    PLAN_STATE_OPTIMIZER, // the K bytes, sharded from stage 1 on
} PlanStateKind;

// One part of a rule.
typedef struct {
    const char *name; // "fp32 master copy"; static
    PlanStateKind kind;
    double bytes; // per parameter
} PlanStatePart;

// The parts of a rule; *count is how many. They sum to plan_states_bytes_per_parameter. Static.
//   sgd-momentum: 16-bit weights 2 and gradients 2, fp32 momentum 4 (no master copy: the split of 8 is ours)
//   adam:         16-bit weights 2 and gradients 2; fp32 master copy 4, momentum 4, variance 4
//   adam-fp32:    fp32 weights 4, gradients 4, momentum 4, variance 4, which are 16; the rule's 20 comes out
//   when
//                 16-bit copies of weights and gradients, 2 each, stand beside them. Then K = 16.
const PlanStatePart *plan_states_parts(PlanOptimizer optimizer, guint *count);

// The primer's rule: 8, 16 or 20.
double plan_states_bytes_per_parameter(PlanOptimizer optimizer);

typedef struct {
    double weights, gradients, optimizer, total; // bytes of one GPU
} PlanStates;

// Model states of one of d workers (at least 1) under ZeRO stage 0..3, Psi parameters:
// (4 + K) Psi; 4 Psi + K Psi/d; 2 Psi + (2 + K) Psi/d; (4 + K) Psi/d. Shards are not rounded to whole
// parameters.
PlanStates plan_states(gint64 parameters, PlanOptimizer optimizer, int zero, gint64 workers);

// Bytes that each worker sends in a step, 16-bit weights and gradients, M = 2 Psi: 2 (d-1)/d M in stages 0..2
// (an all-reduce, or a reduce-scatter and an all-gather), 3 (d-1)/d M in stage 3 (the weights are gathered
// twice).
double plan_states_sent(gint64 parameters, int zero, gint64 workers);
