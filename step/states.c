// step/states.c: the rules of bytes a parameter, and their sharding.
#include "step/states.h"

const char *const STEP_OPTIMIZER_NAMES[] = {"sgd-momentum", "adam", "adam-fp32", NULL};

static const StepStatePart SGD_MOMENTUM[] = {
    {"16-bit weights", STEP_STATE_WEIGHTS, 2},
    {"16-bit gradients", STEP_STATE_GRADIENTS, 2},
    {"fp32 momentum", STEP_STATE_OPTIMIZER, 4},
};

static const StepStatePart ADAM_MIXED[] = {
    {"16-bit weights", STEP_STATE_WEIGHTS, 2},     {"16-bit gradients", STEP_STATE_GRADIENTS, 2},
    {"fp32 master copy", STEP_STATE_OPTIMIZER, 4}, {"fp32 momentum", STEP_STATE_OPTIMIZER, 4},
    {"fp32 variance", STEP_STATE_OPTIMIZER, 4},
};

static const StepStatePart ADAM_FP32[] = {
    {"16-bit copy of the weights", STEP_STATE_WEIGHTS, 2},
    {"16-bit copy of the gradients", STEP_STATE_GRADIENTS, 2},
    {"fp32 weights", STEP_STATE_OPTIMIZER, 4},
    {"fp32 gradients", STEP_STATE_OPTIMIZER, 4},
    {"fp32 momentum", STEP_STATE_OPTIMIZER, 4},
    {"fp32 variance", STEP_STATE_OPTIMIZER, 4},
};

const StepStatePart *step_states_parts(StepOptimizer optimizer, guint *count)
{
    switch (optimizer) {
    case STEP_OPTIMIZER_SGD_MOMENTUM:
        *count = G_N_ELEMENTS(SGD_MOMENTUM);
        return SGD_MOMENTUM;
    case STEP_OPTIMIZER_ADAM_MIXED:
        *count = G_N_ELEMENTS(ADAM_MIXED);
        return ADAM_MIXED;
    case STEP_OPTIMIZER_ADAM_FP32:
        *count = G_N_ELEMENTS(ADAM_FP32);
        return ADAM_FP32;
    }
    g_assert_not_reached();
}

// Bytes a parameter of one kind of state.
static double step_states_sum(StepOptimizer optimizer, StepStateKind kind)
{
    guint count;
    const StepStatePart *parts = step_states_parts(optimizer, &count);
    double bytes = 0;
    for (guint i = 0; i < count; i++)
        if (parts[i].kind == kind)
            bytes += parts[i].bytes;
    return bytes;
}

double step_states_bytes_per_parameter(StepOptimizer optimizer)
{
    return step_states_sum(optimizer, STEP_STATE_WEIGHTS) + step_states_sum(optimizer, STEP_STATE_GRADIENTS) +
           step_states_sum(optimizer, STEP_STATE_OPTIMIZER);
}

StepStates step_states(gint64 parameters, StepOptimizer optimizer, int zero, gint64 workers)
{
    g_assert(parameters >= 0 && zero >= 0 && zero <= 3 && workers >= 1);
    double psi = (double)parameters;
    double d = (double)workers;
    StepStates states = {
        .weights = step_states_sum(optimizer, STEP_STATE_WEIGHTS) * psi / (zero >= 3 ? d : 1),
        .gradients = step_states_sum(optimizer, STEP_STATE_GRADIENTS) * psi / (zero >= 2 ? d : 1),
        .optimizer = step_states_sum(optimizer, STEP_STATE_OPTIMIZER) * psi / (zero >= 1 ? d : 1),
    };
    states.total = states.weights + states.gradients + states.optimizer;
    return states;
}

double step_states_sent(gint64 parameters, int zero, gint64 workers)
{
    g_assert(parameters >= 0 && zero >= 0 && zero <= 3 && workers >= 1);
    double vector = 2.0 * (double)parameters;
    double d = (double)workers;
    return (zero == 3 ? 3 : 2) * (d - 1) / d * vector;
}
