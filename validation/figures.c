// validation/figures.c: the documents' settings and the closed form of each of their figures.
#include "validation/figures.h"

#include <math.h>
#include <string.h>

#include "plans/states.h"

// Latencies: none in the primer; the deck's are the ones that its printed times leave (5 us, 10 us).
static const ValidationLink LINKS[] = {
    [VALIDATION_PRIMER_NVLINK] = {"primer-nvlink-8", 8, 900e9, 0},
    [VALIDATION_PRIMER_PCIE] = {"primer-pcie4-8", 8, 25e9, 0},
    [VALIDATION_PRIMER_100G] = {"primer-100g-8", 8, 12.5e9, 0},
    [VALIDATION_PRIMER_10G] = {"primer-10g-8", 8, 1.25e9, 0},
    [VALIDATION_DECK_NVLINK] = {"deck-nvlink-8", 8, 450e9, 5000000},
    [VALIDATION_DECK_NETWORK] = {"deck-network-400g", 64, 50e9, 10000000},
};

static const gint64 PRIMER_PARAMETERS = 7000000000;
static const double PRIMER_CARD = 80.0 * 1073741824.0; // 80 GiB
static const double PRIMER_TOKENS = 4096;              // per GPU and step
static const double PRIMER_EFFICIENCY = 0.40;          // of the peak that compute sustains

static const gint64 DECK_PARAMETERS = 6738149376; // LLaMA 7B without its norms
static const double DECK_TOKENS = 1048576;        // per step, all GPUs
static const double DECK_EFFICIENCY = 0.473;
static const double DECK_ATTENTION = 12.0 * 32 * 32 * 128 * 4096; // 12 L H Q T, FLOPs a token

static const double H100_PEAK = 989e12; // FLOP/s, dense bf16: NVIDIA's data sheet

// Published runs: what they reached, of what.
typedef struct {
    double achieved, peak; // FLOP/s, of all devices or of one
} Published;

enum { PALM, LLAMA3_LOW, LLAMA3_HIGH, MEGATRON };

static const Published PUBLISHED[] = {
    // Chowdhery et al. 2022, tables 1 and 3, appendix B: 540.35e9 parameters, 118 layers, 48 heads of 256,
    // sequences
    // of 2,048 tokens, 238,300 tokens/s on 6,144 TPU v4 of 275e12 FLOP/s.
    [PALM] = {238300 * (6 * 540.35e9 + 12.0 * 118 * 48 * 256 * 2048), 6144 * 275e12},
    // Llama Team 2024, table 4: 380 to 430 TFLOP/s a GPU.
    [LLAMA3_LOW] = {380e12, 989e12},
    [LLAMA3_HIGH] = {430e12, 989e12},
    // Narayanan et al. 2021, table 1: 163 TFLOP/s a GPU, recomputed work counted; A100: 312e12.
    [MEGATRON] = {163e12, 312e12},
};

static const char TREE_SENT[] = "2M: one whole vector up and one down; simulated is the mean over the ranks, "
                                "2(p-1)/p M, and need not agree";
static const char HIDDEN[] = "perfect overlap, max(compute, all-reduce): a ceiling that a simulated step, "
                             "which has a tail, need not reach";
static const char FP32_RULE[] =
    "the primer's rule: four fp32 parts of 4 B (weights, gradients, momentum, variance) are "
    "16 B; 20 with 16-bit copies of weights and gradients beside them";
static const char BOTH_WAYS[] =
    "900 GB/s is both directions together; at 450 GB/s each way the sync takes twice as long";

#define PRIMER(table, pattern, quantity, kind, ...)                                                          \
    {                                                                                                        \
        "primer", table, pattern, quantity, VALIDATION_##kind, __VA_ARGS__                                   \
    }
#define DECK(table, pattern, quantity, kind, ...)                                                            \
    {                                                                                                        \
        "deck", table, pattern, quantity, VALIDATION_##kind, __VA_ARGS__                                     \
    }
#define ON(link)   .setting = VALIDATION_##link
#define AS(closed) .form = COLL_CLOSED_##closed

static const ValidationFigure FIGURES[] = {
    PRIMER("sync", "all", "gradient_bytes", GRADIENT, ON(PRIMER_NVLINK)),
    PRIMER("sync", "all", "moved_per_device", SENT, ON(PRIMER_NVLINK)),
    PRIMER("sync", "NVLink 900e9 B/s", "all_reduce", TIME, ON(PRIMER_NVLINK), .note = BOTH_WAYS),
    PRIMER("sync", "PCIe 4.0 x16 25e9 B/s", "all_reduce", TIME, ON(PRIMER_PCIE)),
    PRIMER("sync", "100 Gb Ethernet 12.5e9 B/s", "all_reduce", TIME, ON(PRIMER_100G)),
    PRIMER("sync", "10 Gb Ethernet 1.25e9 B/s", "all_reduce", TIME, ON(PRIMER_10G)),
    PRIMER("step", "all", "flops_per_step", FLOPS, ON(PRIMER_NVLINK)),
    PRIMER("step", "all", "compute", COMPUTE, ON(PRIMER_NVLINK)),
    PRIMER("step", "NVLink", "sync", TIME, ON(PRIMER_NVLINK), .note = BOTH_WAYS),
    PRIMER("step", "NVLink", "step", STEP, ON(PRIMER_NVLINK)),
    PRIMER("step", "NVLink", "sync_share", SHARE, ON(PRIMER_NVLINK)),
    PRIMER("step", "PCIe 4.0", "sync", TIME, ON(PRIMER_PCIE)),
    PRIMER("step", "PCIe 4.0", "step", STEP, ON(PRIMER_PCIE)),
    PRIMER("step", "PCIe 4.0", "sync_share", SHARE, ON(PRIMER_PCIE)),
    PRIMER("step", "10 Gb Ethernet", "sync", TIME, ON(PRIMER_10G)),
    PRIMER("step", "10 Gb Ethernet", "step", STEP, ON(PRIMER_10G)),
    PRIMER("step", "10 Gb Ethernet", "sync_share", SHARE, ON(PRIMER_10G)),
    PRIMER("memory", "bf16 weights 2 B/param", "size", PART, .number = 2),
    PRIMER("memory", "bf16 gradients 2 B/param", "size", PART, .number = 2),
    PRIMER("memory", "fp32 master copy 4 B/param", "size", PART, .number = 4),
    PRIMER("memory", "Adam momentum 4 B/param", "size", PART, .number = 4),
    PRIMER("memory", "Adam variance 4 B/param", "size", PART, .number = 4),
    PRIMER("memory", "total 16 B/param", "size", STATES, ON(PRIMER_NVLINK), .number = 0),
    PRIMER("memory", "total 16 B/param", "size_decimal", STATES, ON(PRIMER_NVLINK), .number = 0),
    PRIMER("optimizer", "SGD with momentum", "bytes_per_param", RULE, .number = PLAN_OPTIMIZER_SGD_MOMENTUM),
    PRIMER("optimizer", "mixed-precision Adam", "bytes_per_param", RULE, .number = PLAN_OPTIMIZER_ADAM_MIXED),
    PRIMER("optimizer", "full fp32 Adam", "bytes_per_param", RULE, .number = PLAN_OPTIMIZER_ADAM_FP32,
           .note = FP32_RULE),
    PRIMER("zero", "none (plain DDP)", "per_gpu", STATES, ON(PRIMER_NVLINK), .number = 0),
    PRIMER("zero", "none (plain DDP)", "fits_80GiB", FITS, ON(PRIMER_NVLINK), .number = 0),
    PRIMER("zero", "stage ?", "per_gpu", STATES, ON(PRIMER_NVLINK), .number = VALIDATION_STAGE_IN_CASE),
    PRIMER("zero", "stage ?", "fits_80GiB", FITS, ON(PRIMER_NVLINK), .number = VALIDATION_STAGE_IN_CASE),
    PRIMER("mfu", "NVLink 8 GPUs", "step", STEP, ON(PRIMER_NVLINK)),
    PRIMER("mfu", "NVLink 8 GPUs", "achieved_per_gpu", ACHIEVED, ON(PRIMER_NVLINK)),
    PRIMER("mfu", "NVLink 8 GPUs", "mfu", MFU, ON(PRIMER_NVLINK)),
    PRIMER("question", "112 GB before activations", "size_decimal", STATES, ON(PRIMER_100G), .number = 0),
    PRIMER("question", "8 GPUs 100 Gbit/s", "moved_per_gpu", SENT, ON(PRIMER_100G)),
    PRIMER("question", "8 GPUs 100 Gbit/s", "all_reduce", TIME, ON(PRIMER_100G)),

    DECK("collective", "NVLink 8 ring all-reduce", "time", TIME, ON(DECK_NVLINK)),
    DECK("collective", "NVLink 8 ring all-reduce", "sent_per_gpu", SENT, ON(DECK_NVLINK)),
    DECK("collective", "NVLink 8 binary-tree*", "time", TIME, ON(DECK_NVLINK), AS(TREE_ALL_REDUCE)),
    DECK("collective", "NVLink 8 binary-tree*", "sent_per_gpu", SENT, ON(DECK_NVLINK), AS(TREE_ALL_REDUCE),
         .note = TREE_SENT),
    DECK("collective", "NVLink 8 reduce-scatter", "time", TIME, ON(DECK_NVLINK), AS(REDUCE_SCATTER)),
    DECK("collective", "NVLink 8 reduce-scatter", "sent_per_gpu", SENT, ON(DECK_NVLINK), AS(REDUCE_SCATTER)),
    DECK("collective", "NVLink 8 all-gather", "time", TIME, ON(DECK_NVLINK), AS(ALL_GATHER)),
    DECK("collective", "NVLink 8 all-gather", "sent_per_gpu", SENT, ON(DECK_NVLINK), AS(ALL_GATHER)),
    DECK("collective", "network 64 ring all-reduce", "time", TIME, ON(DECK_NETWORK)),
    DECK("collective", "network 64 ring all-reduce", "sent_per_gpu", SENT, ON(DECK_NETWORK)),
    DECK("collective", "network 64 binary-tree*", "time", TIME, ON(DECK_NETWORK), AS(TREE_ALL_REDUCE)),
    DECK("collective", "network 64 binary-tree*", "sent_per_gpu", SENT, ON(DECK_NETWORK), AS(TREE_ALL_REDUCE),
         .note = TREE_SENT),
    DECK("collective", "network 64 reduce-scatter", "time", TIME, ON(DECK_NETWORK), AS(REDUCE_SCATTER)),
    DECK("collective", "network 64 reduce-scatter", "sent_per_gpu", SENT, ON(DECK_NETWORK),
         AS(REDUCE_SCATTER)),
    DECK("collective", "network 64 all-gather", "time", TIME, ON(DECK_NETWORK), AS(ALL_GATHER)),
    DECK("collective", "network 64 all-gather", "sent_per_gpu", SENT, ON(DECK_NETWORK), AS(ALL_GATHER)),
    DECK("zero", "d=8 stage ?", "weights", WEIGHTS, ON(DECK_NVLINK), .number = VALIDATION_STAGE_IN_CASE),
    DECK("zero", "d=8 stage ?", "gradients", GRADIENTS, ON(DECK_NVLINK), .number = VALIDATION_STAGE_IN_CASE),
    DECK("zero", "d=8 stage ?", "optimizer", OPTIMIZER, ON(DECK_NVLINK), .number = VALIDATION_STAGE_IN_CASE),
    DECK("zero", "d=8 stage ?", "total", STATES, ON(DECK_NVLINK), .number = VALIDATION_STAGE_IN_CASE),
    DECK("zero", "d=8 stage ?", "sent_per_step", ZERO_SENT, ON(DECK_NVLINK),
         .number = VALIDATION_STAGE_IN_CASE),
    DECK("zero", "d=64 stage ?", "weights", WEIGHTS, ON(DECK_NETWORK), .number = VALIDATION_STAGE_IN_CASE),
    DECK("zero", "d=64 stage ?", "gradients", GRADIENTS, ON(DECK_NETWORK),
         .number = VALIDATION_STAGE_IN_CASE),
    DECK("zero", "d=64 stage ?", "optimizer", OPTIMIZER, ON(DECK_NETWORK),
         .number = VALIDATION_STAGE_IN_CASE),
    DECK("zero", "d=64 stage ?", "total", STATES, ON(DECK_NETWORK), .number = VALIDATION_STAGE_IN_CASE),
    DECK("zero", "d=64 stage ?", "sent_per_step", ZERO_SENT, ON(DECK_NETWORK),
         .number = VALIDATION_STAGE_IN_CASE),
    DECK("step", "64 H100 * no overlap", "compute", COMPUTE, ON(DECK_NETWORK)),
    DECK("step", "64 H100 * no overlap", "all_reduce", TIME, ON(DECK_NETWORK)),
    DECK("step", "64 H100 * no overlap", "step", STEP, ON(DECK_NETWORK)),
    DECK("step", "64 H100 * no overlap", "mfu", MFU, ON(DECK_NETWORK)),
    DECK("step", "64 H100 * overlapped", "step", HIDDEN, ON(DECK_NETWORK), .note = HIDDEN),
    DECK("step", "64 H100 * overlapped", "mfu", HIDDEN_MFU, ON(DECK_NETWORK), .note = HIDDEN),
    DECK("published", "PaLM 540B*", "mfu", PUBLISHED, .number = PALM),
    DECK("published", "Llama 3 405B*", "mfu_low", PUBLISHED, .number = LLAMA3_LOW),
    DECK("published", "Llama 3 405B*", "mfu_high", PUBLISHED, .number = LLAMA3_HIGH),
    DECK("published", "Megatron-LM 1T*", "of_peak_counting_recompute", PUBLISHED, .number = MEGATRON),
};

const ValidationFigure *validation_figures(guint *n)
{
    *n = G_N_ELEMENTS(FIGURES);
    return FIGURES;
}

const ValidationLink *validation_figures_link(ValidationSetting setting)
{
    return &LINKS[setting];
}

static gboolean validation_figures_is_deck(ValidationSetting setting)
{
    return setting == VALIDATION_DECK_NVLINK || setting == VALIDATION_DECK_NETWORK;
}

static gint64 validation_figures_parameters(ValidationSetting setting)
{
    return validation_figures_is_deck(setting) ? DECK_PARAMETERS : PRIMER_PARAMETERS;
}

PlanBudget validation_figures_budget(ValidationSetting setting)
{
    const ValidationLink *link = &LINKS[setting];
    PlanBudget budget;
    plan_budget_init(&budget, (double)validation_figures_parameters(setting), link->ranks);
    budget.peak = H100_PEAK;
    budget.latency = units_seconds(link->latency);
    budget.tokens = PRIMER_TOKENS;
    budget.mfu = PRIMER_EFFICIENCY;
    if (validation_figures_is_deck(setting)) {
        budget.tokens = DECK_TOKENS / link->ranks;
        budget.mfu = DECK_EFFICIENCY;
        budget.flops_per_token += DECK_ATTENTION;
    }
    return budget;
}

int validation_figures_stage(const ValidationFigure *figure, const char *case_name)
{
    if (figure->number != VALIDATION_STAGE_IN_CASE)
        return figure->number;
    gsize length = strlen(case_name);
    int digit = length == 0 ? -1 : g_ascii_digit_value(case_name[length - 1]);
    return digit <= 3 ? digit : -1;
}

// The model states of a figure's worker; all NAN where the case names no stage.
static PlanStates validation_figures_states(const ValidationFigure *figure, const char *case_name)
{
    int stage = validation_figures_stage(figure, case_name);
    if (stage < 0)
        return (PlanStates){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    return plan_states(validation_figures_parameters(figure->setting), PLAN_OPTIMIZER_ADAM_MIXED, stage,
                       LINKS[figure->setting].ranks);
}

double validation_figures_compute(const ValidationFigure *figure, const char *case_name)
{
    const ValidationLink *link = &LINKS[figure->setting];
    const PlanBudget budget = validation_figures_budget(figure->setting);
    const double gradient = plan_budget_gradient_bytes(&budget), compute = plan_budget_compute(&budget);
    const double step = plan_budget_step(&budget, link->bandwidth);
    const double hidden = MAX(compute, plan_budget_all_reduce(&budget, link->bandwidth));
    const double work = plan_budget_flops(&budget) / (double)budget.gpus; // FLOPs of a GPU
    switch (figure->kind) {
    case VALIDATION_GRADIENT:
        return gradient;
    case VALIDATION_SENT:
        return coll_closed_sent(figure->form, link->ranks, gradient);
    case VALIDATION_TIME: {
        Ps time = 0;
        gboolean fits = coll_closed_time(figure->form, link->ranks, (gint64)gradient, link->latency,
                                         units_pace(link->bandwidth), &time);
        return fits ? units_seconds(time) : (double)NAN;
    }
    case VALIDATION_FLOPS:
        return plan_budget_flops(&budget);
    case VALIDATION_COMPUTE:
        return compute;
    case VALIDATION_STEP:
        return step;
    case VALIDATION_SHARE:
        return plan_budget_sync_share(&budget, link->bandwidth);
    case VALIDATION_ACHIEVED:
        return work / step;
    case VALIDATION_MFU:
        return work / step / budget.peak;
    case VALIDATION_HIDDEN:
        return hidden;
    case VALIDATION_HIDDEN_MFU:
        return work / hidden / budget.peak;
    case VALIDATION_PART:
        return figure->number * budget.parameters;
    case VALIDATION_RULE:
        return plan_states_bytes_per_parameter((PlanOptimizer)figure->number);
    case VALIDATION_WEIGHTS:
        return validation_figures_states(figure, case_name).weights;
    case VALIDATION_GRADIENTS:
        return validation_figures_states(figure, case_name).gradients;
    case VALIDATION_OPTIMIZER:
        return validation_figures_states(figure, case_name).optimizer;
    case VALIDATION_STATES:
        return validation_figures_states(figure, case_name).total;
    case VALIDATION_FITS: {
        double total = validation_figures_states(figure, case_name).total;
        return isnan(total) ? total : total <= PRIMER_CARD;
    }
    case VALIDATION_ZERO_SENT: {
        int stage = validation_figures_stage(figure, case_name);
        return stage < 0
                   ? (double)NAN
                   : plan_states_sent(validation_figures_parameters(figure->setting), stage, link->ranks);
    }
    case VALIDATION_PUBLISHED:
        return PUBLISHED[figure->number].achieved / PUBLISHED[figure->number].peak;
    case VALIDATION_KINDS:
        break;
    }
    g_assert_not_reached();
}
