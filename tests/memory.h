// tests/memory.h: for tests of memory: models, chips and plans in one line.
#pragma once

#include "tests/check.h"

#include <math.h>

#include "plans/memory.h"

#define GIB 1073741824.0

static inline void memory_near(const char *what, double value, double wanted, double tolerance)
{
    if (fabs(value / wanted - 1) > tolerance)
        fail_msg("%s: found %.6g, wanted %.6g within %g %%", what, value, wanted, 100 * tolerance);
}

static inline TopoDevice *memory_device(const char *name)
{
    g_autoptr(GError) error = NULL;
    TopoDevice *device = topo_device_read(name, NULL, &error);
    check_fine(error);
    return device;
}

static inline ModelSpec *memory_model(const char *name)
{
    g_autoptr(GError) error = NULL;
    ModelSpec *model = model_spec_read(name, NULL, &error);
    check_fine(error);
    return model;
}

static inline void memory_legal(Plan *plan, const ModelSpec *model)
{
    g_autoptr(GPtrArray) broken = plan_check(plan, model);
    if (broken->len > 0)
        fail_msg("%s", (const char *)broken->pdata[0]);
}

// The plan of the documents: all data parallel.
static inline Plan memory_data_plan(const ModelSpec *model, guint32 dp, int zero)
{
    Plan plan;
    plan_init(&plan);
    plan.gpus = plan.dp = dp;
    plan.zero = zero;
    plan.sequence = model->sequence;
    plan.batch = dp;
    memory_legal(&plan, model);
    return plan;
}

static const PlanFramework MEMORY_SCORES = {.flash = FALSE}; // attention with its scores, as in 2022
