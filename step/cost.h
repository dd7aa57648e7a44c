// step/cost.h: how long an operator takes on a chip: GEMMs by shape, attention by length, the rest by bytes.
//
// Formulas and constants: see step/cost.c and the files of topo/data/chips (sections [compute], [efficiency]
// and [attention...], read by topo/compute.c) and step/data/frameworks. One parameter set a chip and
// precision, one a framework family; nothing else.
#pragma once

#include <glib.h>

#include "models/ops.h"
#include "step/framework.h"
#include "topo/device.h"

typedef struct {
    const TopoDevice *device;       // borrowed
    const StepFramework *framework; // borrowed
    TopoPrecision precision;        // of GEMMs
} StepCost;

typedef enum {
    STEP_PASS_FORWARD,
    STEP_PASS_BACKWARD, // both gradients
} StepPass;

// Seconds of one operator on an otherwise idle chip, launches not included (they run on the host's stream).
double step_cost_op(const StepCost *cost, const ModelOp *op, StepPass pass);
// Kernels that it launches in this framework, and the host's seconds for them.
double step_cost_kernels(const StepCost *cost, const ModelOp *op, StepPass pass);
double step_cost_launch(const StepCost *cost, const ModelOp *op, StepPass pass);
// By which fraction it takes longer while a collective runs on the same chip (0.14: 14 %).
double step_cost_slowdown(const StepCost *cost, const ModelOp *op, StepPass pass);
// Seconds in which the optimizer updates parameters whose states this rank holds, and reads their gradients'
// norm. bytes a parameter are those of the optimizer (step/states.h) and the gradients' type; what the norm
// reads (4 a parameter) comes on top.
double step_cost_update(const StepCost *cost, double parameters, double bytes_per_parameter);
