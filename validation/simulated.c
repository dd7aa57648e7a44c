// validation/simulated.c: which run gives which figure.
#include "validation/simulated.h"

#include <math.h>
#include <string.h>

#include "coll/algo.h"
#include "coll/measure.h"
#include "machines/machine.h"
#include "scenarios/scenario.h"
#include "step/run.h"

typedef struct {
    ValidationSetting setting;
    CollClosed form;
    CollMeasure measure;
} Run;

typedef struct {
    ValidationSetting setting;
    gboolean overlap;
    StepResult *result; // owned
} Step;

struct ValidationSimulated {
    GArray *runs;  // of Run; owned
    GArray *steps; // of Step; owned
};

static void validation_step_clear(gpointer data)
{
    step_result_free(((Step *)data)->result);
}

ValidationSimulated *validation_simulated_new(void)
{
    ValidationSimulated *simulated = g_new0(ValidationSimulated, 1);
    simulated->runs = g_array_new(FALSE, TRUE, sizeof(Run));
    simulated->steps = g_array_new(FALSE, TRUE, sizeof(Step));
    g_array_set_clear_func(simulated->steps, validation_step_clear);
    return simulated;
}

void validation_simulated_free(ValidationSimulated *simulated)
{
    if (simulated == NULL)
        return;
    g_array_unref(simulated->runs);
    g_array_unref(simulated->steps);
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
    const PlanBudget budget = validation_figures_budget(setting);
    g_autoptr(TopoMachine) machine = topo_machine_read(link->machine, link->ranks, NULL, error);
    if (machine == NULL)
        return FALSE;
    g_assert(form < G_N_ELEMENTS(OPS));
    Run run = {.setting = setting, .form = form};
    const CollMeasureOptions options = {.choose = OPS[form].algo};
    if (!coll_measure_run(machine->graph, OPS[form].op, (gint64)plan_budget_gradient_bytes(&budget), &options,
                          &run.measure, error))
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

// A document's step as a scenario: the deck's are files of the library; the primer's are its setting in
// words.
static Ini *validation_simulated_scenario(ValidationSetting setting, gboolean overlap, GError **error)
{
    if (setting == VALIDATION_DECK_NETWORK)
        return scenario_open(overlap ? "llama7b-64xh100-overlap" : "llama7b-64xh100-wait", error);
    const ValidationLink *link = validation_figures_link(setting);
    const PlanBudget budget = validation_figures_budget(setting);
    g_autofree char *text =
        g_strdup_printf("[model]\nuse = primer-7b\nsequence = %.0f\n[machine]\nuse = %s\ngpus = %u\n"
                        "[job]\ntokens = %.0f\noverlap = %s\nbucket = whole\n"
                        "[compute]\nefficiency = %.4f\ncounting = 6N\noptimizer_time = none\n",
                        budget.tokens, link->machine, link->ranks, budget.tokens * link->ranks,
                        overlap ? "yes" : "no", budget.mfu);
    return ini_read_text("the primer's step", text, strlen(text), error);
}

// The result of a setting's step, simulated once. Borrowed; NULL with an error.
static const StepResult *validation_simulated_result(ValidationSimulated *simulated,
                                                     ValidationSetting setting, gboolean overlap,
                                                     GError **error)
{
    for (guint i = 0; i < simulated->steps->len; i++) {
        const Step *step = &g_array_index(simulated->steps, Step, i);
        if (step->setting == setting && step->overlap == overlap)
            return step->result;
    }
    g_autoptr(Ini) ini = validation_simulated_scenario(setting, overlap, error);
    g_autoptr(StepJob) job = ini == NULL ? NULL : scenario_read(ini, NULL, error);
    Step step = {.setting = setting, .overlap = overlap};
    step.result = job == NULL ? NULL : step_run(job, NULL, NULL, error);
    if (step.result == NULL)
        return NULL;
    g_array_append_val(simulated->steps, step);
    return step.result;
}

static gboolean validation_simulated_step(ValidationSimulated *simulated, const ValidationFigure *figure,
                                          const char *case_name, ValidationSimulatedValue *value,
                                          GError **error)
{
    (void)case_name;
    gboolean overlap = figure->kind == VALIDATION_HIDDEN || figure->kind == VALIDATION_HIDDEN_MFU;
    const StepResult *result = validation_simulated_result(simulated, figure->setting, overlap, error);
    if (result == NULL)
        return FALSE;
    const double step = units_seconds(result->step);
    if (overlap) {
        g_autofree char *tail = units_format_time(result->exposed_comm);
        value->binding = FALSE;
        value->note = g_strdup_printf("%s of it cannot hide: the embedding's gradient is ready last", tail);
    }
    switch ((int)figure->kind) {
    case VALIDATION_COMPUTE:
        value->value = units_seconds(result->compute);
        break;
    case VALIDATION_SHARE:
        value->value = units_seconds(result->exposed_comm) / step;
        break;
    case VALIDATION_ACHIEVED:
        value->value = result->mfu * result->peak_flops;
        break;
    case VALIDATION_MFU:
    case VALIDATION_HIDDEN_MFU:
        value->value = result->mfu;
        break;
    default:
        value->value = step;
    }
    return TRUE;
}

// The figures that can be simulated, by kind; the others are counts, not events.
static const ValidationSimulate SIMULATE[VALIDATION_KINDS] = {
    [VALIDATION_SENT] = validation_simulated_sent,
    [VALIDATION_TIME] = validation_simulated_time,
    [VALIDATION_STEP] = validation_simulated_step,
    [VALIDATION_SHARE] = validation_simulated_step,
    [VALIDATION_ACHIEVED] = validation_simulated_step,
    [VALIDATION_MFU] = validation_simulated_step,
    [VALIDATION_ZERO_SENT] = validation_simulated_zero_sent,
    [VALIDATION_COMPUTE] = validation_simulated_step,
    [VALIDATION_HIDDEN] = validation_simulated_step,
    [VALIDATION_HIDDEN_MFU] = validation_simulated_step,
};

gboolean validation_simulated_run(ValidationSimulated *simulated, const ValidationFigure *figure,
                                  const char *case_name, ValidationSimulatedValue *value, GError **error)
{
    *value = (ValidationSimulatedValue){.value = (double)NAN, .binding = TRUE};
    if (SIMULATE[figure->kind] == NULL)
        return TRUE;
    return SIMULATE[figure->kind](simulated, figure, case_name, value, error);
}
