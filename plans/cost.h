// plans/cost.h: how long an operator takes on a chip: GEMMs by shape, attention by length, the rest by bytes.
//
// Formulas and constants: see plans/cost.c and the files of topo/data/chips (sections [compute], [efficiency]
// and [attention...], read by topo/compute.c) and plans/data/frameworks. One parameter set a chip and
// precision, one a framework family; nothing else.
#pragma once

#include <glib.h>

#include "models/ops.h"
#include "plans/framework.h"
#include "topo/device.h"

typedef struct {
    const TopoDevice *device;       // borrowed
    const PlanFramework *framework; // borrowed
    TopoPrecision precision;        // of GEMMs
} PlanCost;

typedef enum {
    PLAN_PASS_FORWARD,
    PLAN_PASS_BACKWARD, // both gradients
} PlanPass;

// Seconds of one operator on an otherwise idle chip, launches not included (they run on the host's stream).
double plan_cost_op(const PlanCost *cost, const ModelOp *op, PlanPass pass);
// Kernels that it launches in this framework, and the host's seconds for them.
double plan_cost_kernels(const PlanCost *cost, const ModelOp *op, PlanPass pass);
double plan_cost_launch(const PlanCost *cost, const ModelOp *op, PlanPass pass);
// Seconds in which a micro-batch's gradients of so many parameters are added to what is there (and flattened,
// divided, ...: PlanFramework.accumulate).
double plan_cost_accumulate(const PlanCost *cost, double parameters);
// By what a step's compute is longer than one rank's mean (1.03), where ranks spread around it by a standard
// deviation of spread: the slowest of n normal ones is about sqrt(2 ln n) deviations late, and every exchange
// waits for it. n: nodes of eight GPUs, whose GPUs are slow together.
double plan_cost_slowest(double spread, guint32 gpus);
// By which fraction it takes longer while a collective runs on the same chip (0.14: 14 %).
double plan_cost_slowdown(const PlanCost *cost, const ModelOp *op, PlanPass pass);
// Seconds in which the optimizer updates parameters whose states this rank holds, and reads their gradients'
// norm. bytes a parameter are those of the optimizer (plans/states.h) and the gradients' type; what the norm
// reads (4 a parameter) comes on top.
double plan_cost_update(const PlanCost *cost, double parameters, double bytes_per_parameter);
