// validation/simulated.c: which run gives which figure.
#include "validation/simulated.h"

#include <math.h>

#include "topo/machine.h"
#include "coll/algo.h"
#include "coll/measure.h"

typedef struct {
    ValidationSetting setting;
    CollClosed form;
    CollMeasure measure;
} Run;

struct ValidationSimulated {
    GArray *runs; // of Run; owned
};

ValidationSimulated *validation_simulated_new(void)
{
    ValidationSimulated *simulated = g_new0(ValidationSimulated, 1);
    simulated->runs = g_array_new(FALSE, TRUE, sizeof(Run));
    return simulated;
}

void validation_simulated_free(ValidationSimulated *simulated)
{
    if (simulated == NULL)
        return;
    g_array_unref(simulated->runs);
    g_free(simulated);
}

// Each form as an operation and an algorithm.
static const struct {
    CollOp op;
    const CollAlgo *algo;
} OPS[] = {
    [COLL_CLOSED_ALL_REDUCE] = {COLL_OP_ALL_REDUCE, &COLL_RING},
    [COLL_CLOSED_REDUCE_SCATTER] = {COLL_OP_REDUCE_SCATTER, &COLL_RING},
    [COLL_CLOSED_ALL_GATHER] = {COLL_OP_ALL_GATHER, &COLL_RING},
    [COLL_CLOSED_TREE_ALL_REDUCE] = {COLL_OP_ALL_REDUCE, &COLL_BINOMIAL_TREE},
};

// The collective of a setting's whole gradient over all its GPUs, simulated message by message.
static gboolean validation_simulated_measure(ValidationSimulated *simulated, ValidationSetting setting,
                                             CollClosed form, CollMeasure *measure, GError **error)
{
    for (guint i = 0; i < simulated->runs->len; i++) {
        const Run *run = &g_array_index(simulated->runs, Run, i);
        if (run->setting == setting && run->form == form) {
            *measure = run->measure;
            return TRUE;
        }
    }
    const ValidationLink *link = validation_figures_link(setting);
    const StepBudget budget = validation_figures_budget(setting);
    g_autoptr(TopoMachine) machine = topo_machine_read(link->machine, link->ranks, NULL, error);
    if (machine == NULL)
        return FALSE;
    g_assert(form < G_N_ELEMENTS(OPS));
    Run run = {.setting = setting, .form = form};
    if (!coll_measure_run(machine->graph, OPS[form].op, OPS[form].algo,
                          (gint64)step_budget_gradient_bytes(&budget), NULL, &run.measure, error))
        return FALSE;
    g_array_append_val(simulated->runs, run);
    *measure = run.measure;
    return TRUE;
}

typedef gboolean (*ValidationSimulate)(ValidationSimulated *simulated, const ValidationFigure *figure,
                                       const char *case_name, ValidationSimulatedValue *value,
                                       GError **error);

static gboolean validation_simulated_time(ValidationSimulated *simulated, const ValidationFigure *figure,
                                          const char *case_name, ValidationSimulatedValue *value,
                                          GError **error)
{
    (void)case_name;
    CollMeasure measure;
    if (!validation_simulated_measure(simulated, figure->setting, figure->form, &measure, error))
        return FALSE;
    value->value = units_seconds(measure.time);
    return TRUE;
}

static gboolean validation_simulated_sent(ValidationSimulated *simulated, const ValidationFigure *figure,
                                          const char *case_name, ValidationSimulatedValue *value,
                                          GError **error)
{
    (void)case_name;
    CollMeasure measure;
    if (!validation_simulated_measure(simulated, figure->setting, figure->form, &measure, error))
        return FALSE;
    value->value = measure.sent_mean;
    if (figure->form == COLL_CLOSED_TREE_ALL_REDUCE) {
        g_autofree char *most = units_format_bytes(measure.sent_max);
        value->binding = FALSE;
        value->note = g_strdup_printf("the rank that sends most: %s", most);
    }
    return TRUE;
}

// Stage 0 is an all-reduce; 1 and 2 scatter the gradients and gather the weights; 3 gathers them twice.
static gboolean validation_simulated_zero_sent(ValidationSimulated *simulated, const ValidationFigure *figure,
                                               const char *case_name, ValidationSimulatedValue *value,
                                               GError **error)
{
    int stage = validation_figures_stage(figure, case_name);
    CollMeasure all, scatter, gather;
    if (!validation_simulated_measure(simulated, figure->setting, COLL_CLOSED_ALL_REDUCE, &all, error) ||
        !validation_simulated_measure(simulated, figure->setting, COLL_CLOSED_REDUCE_SCATTER, &scatter,
                                      error) ||
        !validation_simulated_measure(simulated, figure->setting, COLL_CLOSED_ALL_GATHER, &gather, error))
        return FALSE;
    value->value = stage == 0 ? all.sent_mean : scatter.sent_mean + (stage == 3 ? 2 : 1) * gather.sent_mean;
    return TRUE;
}

// The step that does not overlap: its compute, rounded to the clock, then the simulated all-reduce.
static gboolean validation_simulated_step(ValidationSimulated *simulated, const ValidationFigure *figure,
                                          const char *case_name, ValidationSimulatedValue *value,
                                          GError **error)
{
    (void)case_name;
    const StepBudget budget = validation_figures_budget(figure->setting);
    const double work = step_budget_flops(&budget) / (double)budget.gpus;
    CollMeasure measure;
    Ps compute = 0;
    if (!validation_simulated_measure(simulated, figure->setting, COLL_CLOSED_ALL_REDUCE, &measure, error))
        return FALSE;
    gboolean fits = units_ps_from_seconds(step_budget_compute(&budget), &compute);
    g_assert(fits);
    const double step = units_seconds(compute + measure.time);
    value->value = figure->kind == VALIDATION_SHARE      ? units_seconds(measure.time) / step
                   : figure->kind == VALIDATION_ACHIEVED ? work / step
                   : figure->kind == VALIDATION_MFU      ? work / step / budget.peak
                                                         : step;
    return TRUE;
}

// The figures that can be simulated, by kind; the others are counts, not events.
static const ValidationSimulate SIMULATE[VALIDATION_KINDS] = {
    [VALIDATION_SENT] = validation_simulated_sent,           [VALIDATION_TIME] = validation_simulated_time,
    [VALIDATION_STEP] = validation_simulated_step,           [VALIDATION_SHARE] = validation_simulated_step,
    [VALIDATION_ACHIEVED] = validation_simulated_step,       [VALIDATION_MFU] = validation_simulated_step,
    [VALIDATION_ZERO_SENT] = validation_simulated_zero_sent,
};

gboolean validation_simulated_run(ValidationSimulated *simulated, const ValidationFigure *figure,
                                  const char *case_name, ValidationSimulatedValue *value, GError **error)
{
    *value = (ValidationSimulatedValue){.value = (double)NAN, .binding = TRUE};
    if (SIMULATE[figure->kind] == NULL)
        return TRUE;
    return SIMULATE[figure->kind](simulated, figure, case_name, value, error);
}
