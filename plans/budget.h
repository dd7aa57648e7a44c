// plans/budget.h: the numbers that decide a design before anything is simulated: sync time, its share of the
// step, throughput for an MFU, the MFU of a measured run and what it says. Memory is in plans/states.h.
//
// Closed forms: data parallel over all GPUs, one ring all-reduce of 16-bit gradients at the end of the step,
// nothing overlapped. FLOPs per token 6N: 2N forward, 4N backward (Kaplan et al., "Scaling laws for neural
// language models", 2020, section 2.1), unless flops_per_token says otherwise (models/count.h). MFU: PaLM
// (Chowdhery et al., 2022), appendix B.
#pragma once

#include <glib.h>

typedef struct {
    double parameters;      // N, at least 1
    gint64 gpus;            // p, at least 1
    double tokens;          // that one GPU processes in a step
    double flops_per_token; // forward and backward
    double peak;            // FLOP/s of one GPU
    double mfu;             // fraction of the peak that compute sustains, 0 excluded
    double latency;         // seconds of each message of the ring
} PlanBudget;

// The common case: 4,096 tokens per GPU, 6N FLOPs a token, 989e12 FLOP/s (H100 SXM, dense bf16: NVIDIA's data
// sheet), 40 % of it, no latency.
void plan_budget_init(PlanBudget *budget, double parameters, gint64 gpus);
// FALSE with a usage error for what makes no sense: no GPU, no parameters, an MFU of 0 or above 1, no tokens,
// no peak, a negative latency, anything that is not finite.
gboolean plan_budget_check(const PlanBudget *budget, GError **error);
// FALSE with a usage error for a measured throughput (tokens per second, all GPUs together) that no run can
// have: more than the GPUs' peak. where starts it.
gboolean plan_budget_check_measured(const PlanBudget *budget, double tokens_per_s, const char *where,
                                    GError **error);

// Bytes of one whole gradient: 2 N (16 bits each).
double plan_budget_gradient_bytes(const PlanBudget *budget);
// Bytes that each GPU sends in a step: 2(p-1)/p of the gradient.
double plan_budget_sent(const PlanBudget *budget);
// Model FLOPs of a step, all GPUs together.
double plan_budget_flops(const PlanBudget *budget);
// Seconds of compute of a step at the given MFU of the peak.
double plan_budget_compute(const PlanBudget *budget);
// Seconds of the ring all-reduce over links of a bandwidth (bytes/s; one way is what a ring uses): 2(p-1)
// latency + 2(p-1)/p M/B.
double plan_budget_all_reduce(const PlanBudget *budget, double bandwidth);
// Seconds of the step, compute then all-reduce; and the all-reduce's fraction of it.
double plan_budget_step(const PlanBudget *budget, double bandwidth);
double plan_budget_sync_share(const PlanBudget *budget, double bandwidth);
// Tokens per second, all GPUs together, that an MFU (fraction) needs: mfu p peak / FLOPs per token.
double plan_budget_tokens_per_s(const PlanBudget *budget, double mfu);
// The MFU (fraction) of a run that processes so many tokens per second on all GPUs together.
double plan_budget_mfu(const PlanBudget *budget, double tokens_per_s);

// What a band of MFU says of a run: 40-50 % healthy; 25-35 % communication or activation checkpointing; 10-20
// % the data loader or a batch too small; below that the CPU, or synchronising every step; above 50 % said
// so. What lies between two bands goes to the nearer, from the midpoint on to the upper (22.5 %, 37.5 %).
typedef struct {
    const char *name;  // "healthy", as in JSON
    const char *words; // for people
} PlanBudgetVerdict;

const PlanBudgetVerdict *plan_budget_verdict(double mfu);

// NVLink is sold by the sum of both directions, and a ring sends on one. The chip whose sum (find_both), or
// whose one direction (find_each), is this bandwidth in bytes/s; NULL for none. 300 and 900 GB/s are both.
// Sources: NVIDIA's data sheets: V100 300, A100 600, H100 900, B200 1,800 GB/s, both directions together.
const char *plan_budget_find_both(double bandwidth);
const char *plan_budget_find_each(double bandwidth);
