// plans/budget.c: the numbers that decide a design, in closed form.
#include "plans/budget.h"

#include <math.h>

#include "base/error.h"
#include "coll/closed.h"

void plan_budget_init(PlanBudget *budget, double parameters, gint64 gpus)
{
    *budget = (PlanBudget){
        .parameters = parameters,
        .gpus = gpus,
        .tokens = 4096,
        .flops_per_token = 6 * parameters,
        .peak = 989e12,
        .mfu = 0.40,
        .latency = 0,
    };
}

gboolean plan_budget_check(const PlanBudget *budget, GError **error)
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

gboolean plan_budget_check_measured(const PlanBudget *budget, double tokens_per_s, const char *where,
                                    GError **error)
{
    const double most = plan_budget_tokens_per_s(budget, 1);
    if (!(tokens_per_s > most))
        return TRUE;
    return base_error_set(error, BASE_ERROR_USAGE, where,
                          "found %.0f tokens/s on all GPUs together, which is %.4g %% of their peak; wanted "
                          "at most %.0f tokens/s",
                          tokens_per_s, 100 * plan_budget_mfu(budget, tokens_per_s), most);
}

double plan_budget_gradient_bytes(const PlanBudget *budget)
{
    return 2 * budget->parameters;
}

double plan_budget_sent(const PlanBudget *budget)
{
    return coll_closed_sent(COLL_CLOSED_ALL_REDUCE, budget->gpus, plan_budget_gradient_bytes(budget));
}

double plan_budget_flops(const PlanBudget *budget)
{
    return budget->flops_per_token * budget->tokens * (double)budget->gpus;
}

double plan_budget_compute(const PlanBudget *budget)
{
    return plan_budget_flops(budget) / ((double)budget->gpus * budget->peak * budget->mfu);
}

double plan_budget_all_reduce(const PlanBudget *budget, double bandwidth)
{
    return coll_closed_seconds(COLL_CLOSED_ALL_REDUCE, budget->gpus, plan_budget_gradient_bytes(budget),
                               budget->latency, bandwidth);
}

double plan_budget_step(const PlanBudget *budget, double bandwidth)
{
    return plan_budget_compute(budget) + plan_budget_all_reduce(budget, bandwidth);
}

double plan_budget_sync_share(const PlanBudget *budget, double bandwidth)
{
    return plan_budget_all_reduce(budget, bandwidth) / plan_budget_step(budget, bandwidth);
}

double plan_budget_tokens_per_s(const PlanBudget *budget, double mfu)
{
    return mfu * (double)budget->gpus * budget->peak / budget->flops_per_token;
}

double plan_budget_mfu(const PlanBudget *budget, double tokens_per_s)
{
    return tokens_per_s * budget->flops_per_token / ((double)budget->gpus * budget->peak);
}

const PlanBudgetVerdict *plan_budget_verdict(double mfu)
{
    // From the top; the last takes what is left.
    static const struct {
        double low; // fraction, included
        PlanBudgetVerdict verdict;
    } bands[] = {
        {0.375, {"healthy", "healthy"}},
        {0.225, {"communication", "look at exposed communication, or at activation checkpointing"}},
        {0.10, {"loader", "look at the data loader, or at a batch that is too small"}},
        {0, {"cpu", "something runs on the CPU, or every step synchronises with it"}},
    };
    static const PlanBudgetVerdict above = {"above",
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

static const char *plan_budget_find(double bandwidth, double directions)
{
    for (guint i = 0; i < G_N_ELEMENTS(NVLINKS); i++)
        if (fabs(bandwidth * directions - NVLINKS[i].both) < NVLINKS[i].both * 1e-3)
            return NVLINKS[i].chip;
    return NULL;
}

const char *plan_budget_find_both(double bandwidth)
{
    return plan_budget_find(bandwidth, 1);
}

const char *plan_budget_find_each(double bandwidth)
{
    return plan_budget_find(bandwidth, 2);
}
