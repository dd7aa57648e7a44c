// plans/states.c: the rules of bytes a parameter, and their sharding.
#include "plans/states.h"

const char *const PLAN_OPTIMIZER_NAMES[] = {"sgd-momentum", "adam", "adam-fp32", NULL};

static const PlanStatePart SGD_MOMENTUM[] = {
    {"16-bit weights", PLAN_STATE_WEIGHTS, 2},
    {"16-bit gradients", PLAN_STATE_GRADIENTS, 2},
    {"fp32 momentum", PLAN_STATE_OPTIMIZER, 4},
};

static const PlanStatePart ADAM_MIXED[] = {
    {"16-bit weights", PLAN_STATE_WEIGHTS, 2},     {"16-bit gradients", PLAN_STATE_GRADIENTS, 2},
    {"fp32 master copy", PLAN_STATE_OPTIMIZER, 4}, {"fp32 momentum", PLAN_STATE_OPTIMIZER, 4},
    {"fp32 variance", PLAN_STATE_OPTIMIZER, 4},
};

static const PlanStatePart ADAM_FP32[] = {
    {"16-bit copy of the weights", PLAN_STATE_WEIGHTS, 2},
    {"16-bit copy of the gradients", PLAN_STATE_GRADIENTS, 2},
    {"fp32 weights", PLAN_STATE_OPTIMIZER, 4},
    {"fp32 gradients", PLAN_STATE_OPTIMIZER, 4},
    {"fp32 momentum", PLAN_STATE_OPTIMIZER, 4},
    {"fp32 variance", PLAN_STATE_OPTIMIZER, 4},
};

const PlanStatePart *plan_states_parts(PlanOptimizer optimizer, guint *count)
{
    switch (optimizer) {
    case PLAN_OPTIMIZER_SGD_MOMENTUM:
        *count = G_N_ELEMENTS(SGD_MOMENTUM);
        return SGD_MOMENTUM;
    case PLAN_OPTIMIZER_ADAM_MIXED:
        *count = G_N_ELEMENTS(ADAM_MIXED);
        return ADAM_MIXED;
    case PLAN_OPTIMIZER_ADAM_FP32:
        *count = G_N_ELEMENTS(ADAM_FP32);
        return ADAM_FP32;
    }
    g_assert_not_reached();
}

// Bytes a parameter of one kind of state.
static double plan_states_sum(PlanOptimizer optimizer, PlanStateKind kind)
{
    guint count;
    const PlanStatePart *parts = plan_states_parts(optimizer, &count);
    double bytes = 0;
    for (guint i = 0; i < count; i++)
        if (parts[i].kind == kind)
            bytes += parts[i].bytes;
    return bytes;
}

double plan_states_bytes_per_parameter(PlanOptimizer optimizer)
{
    return plan_states_sum(optimizer, PLAN_STATE_WEIGHTS) + plan_states_sum(optimizer, PLAN_STATE_GRADIENTS) +
           plan_states_sum(optimizer, PLAN_STATE_OPTIMIZER);
}

PlanStates plan_states(gint64 parameters, PlanOptimizer optimizer, int zero, gint64 workers)
{
    g_assert(parameters >= 0 && zero >= 0 && zero <= 3 && workers >= 1);
    double psi = (double)parameters;
    double d = (double)workers;
    PlanStates states = {
        .weights = plan_states_sum(optimizer, PLAN_STATE_WEIGHTS) * psi / (zero >= 3 ? d : 1),
        .gradients = plan_states_sum(optimizer, PLAN_STATE_GRADIENTS) * psi / (zero >= 2 ? d : 1),
        .optimizer = plan_states_sum(optimizer, PLAN_STATE_OPTIMIZER) * psi / (zero >= 1 ? d : 1),
    };
    states.total = states.weights + states.gradients + states.optimizer;
    return states;
}

double plan_states_sent(gint64 parameters, int zero, gint64 workers)
{
    g_assert(parameters >= 0 && zero >= 0 && zero <= 3 && workers >= 1);
    double vector = 2.0 * (double)parameters;
    double d = (double)workers;
    return (zero == 3 ? 3 : 2) * (d - 1) / d * vector;
}
