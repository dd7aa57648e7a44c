// step/budget.c: the numbers that decide a design, in closed form.
#include "step/budget.h"

#include <math.h>

#include "base/error.h"
#include "coll/closed.h"

void step_budget_init(StepBudget *budget, double parameters, gint64 gpus)
{
    *budget = (StepBudget){
        .parameters = parameters,
        .gpus = gpus,
        .tokens = 4096,
        .flops_per_token = 6 * parameters,
        .peak = 989e12,
        .mfu = 0.40,
        .latency = 0,
    };
}

gboolean step_budget_check(const StepBudget *budget, GError **error)
{
    if (budget->gpus < 1)
        return base_error_set(error, BASE_ERROR_USAGE, "gpus",
                              "found %" G_GINT64_FORMAT ", wanted at least 1", budget->gpus);
    const struct {
        const char *name;
        double value, low, high;
        const char *wanted;
    } checks[] = {
        {"params", budget->parameters, 1, 1e18, "at least 1 and at most 1e18"},
        {"tokens", budget->tokens, 1, 1e18, "at least 1 and at most 1e18"},
        {"flops_per_token", budget->flops_per_token, 1, 1e30, "at least 1"},
        {"peak", budget->peak, 1, 1e30, "1 to 1e30 FLOP/s"},
        {"mfu", budget->mfu, 1e-6, 1, "more than 0 and at most 1 (100 %)"},
        {"latency", budget->latency, 0, 86400, "at most a day (86400 s)"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(checks); i++)
        if (!(checks[i].value >= checks[i].low && checks[i].value <= checks[i].high))
            return base_error_set(error, BASE_ERROR_USAGE, checks[i].name, "found %g, wanted %s",
                                  checks[i].value, checks[i].wanted);
    return TRUE;
}

double step_budget_gradient_bytes(const StepBudget *budget)
{
    return 2 * budget->parameters;
}

double step_budget_sent(const StepBudget *budget)
{
    return coll_closed_sent(COLL_CLOSED_ALL_REDUCE, budget->gpus, step_budget_gradient_bytes(budget));
}

double step_budget_flops(const StepBudget *budget)
{
    return budget->flops_per_token * budget->tokens * (double)budget->gpus;
}

double step_budget_compute(const StepBudget *budget)
{
    return step_budget_flops(budget) / ((double)budget->gpus * budget->peak * budget->mfu);
}

double step_budget_all_reduce(const StepBudget *budget, double bandwidth)
{
    return coll_closed_seconds(COLL_CLOSED_ALL_REDUCE, budget->gpus, step_budget_gradient_bytes(budget),
                               budget->latency, bandwidth);
}

double step_budget_step(const StepBudget *budget, double bandwidth)
{
    return step_budget_compute(budget) + step_budget_all_reduce(budget, bandwidth);
}

double step_budget_sync_share(const StepBudget *budget, double bandwidth)
{
    return step_budget_all_reduce(budget, bandwidth) / step_budget_step(budget, bandwidth);
}

double step_budget_tokens_per_s(const StepBudget *budget, double mfu)
{
    return mfu * (double)budget->gpus * budget->peak / budget->flops_per_token;
}

double step_budget_mfu(const StepBudget *budget, double tokens_per_s)
{
    return tokens_per_s * budget->flops_per_token / ((double)budget->gpus * budget->peak);
}

const StepBudgetVerdict *step_budget_verdict(double mfu)
{
    // From the top; the last takes what is left.
    static const struct {
        double low; // fraction, included
        StepBudgetVerdict verdict;
    } bands[] = {
        {0.375, {"healthy", "healthy"}},
        {0.225, {"communication", "look at exposed communication, or at activation checkpointing"}},
        {0.10, {"loader", "look at the data loader, or at a batch that is too small"}},
        {0, {"cpu", "something runs on the CPU, or every step synchronises with it"}},
    };
    static const StepBudgetVerdict above = {"above",
                                            "above the healthy band of 40-50 %: make sure of the peak and of "
                                            "what is counted as model FLOPs"};
    if (mfu > 0.50)
        return &above;
    guint i = 0;
    while (i + 1 < G_N_ELEMENTS(bands) && !(mfu >= bands[i].low))
        i++;
    return &bands[i].verdict;
}

// Bytes/s of NVLink, both directions together.
static const struct {
    const char *chip;
    double both;
} NVLINKS[] = {
    {"V100", 300e9},
    {"A100", 600e9},
    {"H100", 900e9},
    {"B200", 1800e9},
};

static const char *step_budget_find(double bandwidth, double directions)
{
    for (guint i = 0; i < G_N_ELEMENTS(NVLINKS); i++)
        if (fabs(bandwidth * directions - NVLINKS[i].both) < NVLINKS[i].both * 1e-3)
            return NVLINKS[i].chip;
    return NULL;
}

const char *step_budget_find_both(double bandwidth)
{
    return step_budget_find(bandwidth, 1);
}

const char *step_budget_find_each(double bandwidth)
{
    return step_budget_find(bandwidth, 2);
}
