// plans/framework.h: one family of training frameworks: what it fuses, how it launches, how it overlaps; from
// plans/data/frameworks/NAME.ini.
#pragma once

#include <glib.h>

#include "base/ini.h"
#include "models/ops.h"
#include "topo/device.h"

// Where a framework's file does not say: the prototype's fit to 319 published runs asks for the bytes over
// .85.
#define PLAN_FRAMEWORK_MEMORY 0.85

typedef struct {
    char *name;                           // owned: "megatron-core"
    char *title;                          // owned
    char *source;                         // owned
    gboolean flash;                       // attention is one kernel that keeps no scores
    double bytes[MODEL_MEMORY_CLASSES];   // bytes touched over those of a fused operator, by class; 1: fused
    double kernels[MODEL_MEMORY_CLASSES]; // launches over those of a fused operator
    double launch;       // seconds of the host a kernel (0: compiled or replayed as a whole, as XLA does)
    double attention;    // rate of attention over the chip's curve (another kernel than the curve's)
    double step;         // seconds of the host a step, once: zeroing, logging, the optimizer's bookkeeping
    gboolean early_stop; // recomputing a layer ends where its last kept tensor is there: before its last GEMM
    double memory;       // what operators that touch memory reach in a step, over what they do timed alone
    double gemm;         // rate of its GEMMs over the chip's efficiency: the libraries of its years
    double update;       // bytes that its optimizer touches over those of a fused one
    double products;     // rate of attention's batched products over that of other GEMMs (without flash)
    double accumulate;   // bytes a parameter that a micro-batch moves beside its GEMMs to gather gradients:
                         // adding to what is there, flattening, dividing
    TopoAttentionKernel kernel; // which of the chip's curves attention follows
} PlanFramework;

// Reads plans/data/frameworks/NAME.ini, or a path. where (may be NULL) starts the error. NULL with an error;
// caller frees.
PlanFramework *plan_framework_read(const char *name, const char *where, GError **error);
void plan_framework_free(PlanFramework *framework);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PlanFramework, plan_framework_free)
