// plans/memory-remedies.c: what would make a plan fit: one key changed at a time, the cheapest first.
#include "base/units.h"
#include "plans/memory.h"

// Changes one key, further with every step (0, 1, ...), in a plan of its own; *words gets "key = value".
// FALSE: no further. Which is cheaper is by rule, not by simulation: see the table below.
typedef gboolean (*PlanMemoryChange)(Plan *plan, guint step, char **words);

// A new division of the GPUs: dp is divided, the batch stays, a group that was whole stays whole.
static gboolean plan_memory_divide_dp(Plan *plan, const char *key, guint32 *degree, guint step, char **words)
{
    guint32 by = step < 31 ? 2u << step : 0;
    if (by == 0 || plan->dp % by != 0)
        return FALSE;
    gboolean whole = plan->shard == 0 || plan->shard == plan_data(plan);
    plan->dp /= by;
    *degree *= by;
    if (whole || plan->shard > plan_data(plan))
        plan->shard = 0;
    plan->micro_batches = 0;
    *words = g_strdup_printf("%s = %u, dp = %u", key, *degree, plan->dp);
    return TRUE;
}

static gboolean plan_memory_change_sp(Plan *plan, guint step, char **words)
{
    if (step > 0 || plan->tp == 1 || plan->sp)
        return FALSE;
    plan->sp = TRUE;
    *words = g_strdup("sp = yes");
    return TRUE;
}

static gboolean plan_memory_change_schedule(Plan *plan, guint step, char **words)
{
    if (step > 0 || plan->pp == 1 || plan->schedule != &PIPE_GPIPE)
        return FALSE;
    plan->schedule = &PIPE_1F1B;
    *words = g_strdup("schedule = 1f1b");
    return TRUE;
}

static gboolean plan_memory_change_limiter(Plan *plan, guint step, char **words)
{
    if (step > 0 || plan->zero < 3 || plan->limiter)
        return FALSE;
    plan->limiter = TRUE;
    *words = g_strdup("limiter = yes");
    return TRUE;
}

static gboolean plan_memory_change_reshard(Plan *plan, guint step, char **words)
{
    if (step > 0 || plan->zero < 3 || plan->reshard)
        return FALSE;
    plan->reshard = TRUE;
    *words = g_strdup("reshard = yes");
    return TRUE;
}

static gboolean plan_memory_raise_zero(Plan *plan, int to, int most, char **words)
{
    if (plan->zero >= to || to > most || plan_data(plan) == 1)
        return FALSE;
    plan->zero = to;
    *words = g_strdup_printf("zero = %d", to);
    return TRUE;
}

// Stages 1 and 2 send no more than plain data parallelism, stage 3 half as much again.
static gboolean plan_memory_change_zero(Plan *plan, guint step, char **words)
{
    return plan_memory_raise_zero(plan, plan->zero + 1 + (int)step, 2, words);
}

static gboolean plan_memory_change_zero_3(Plan *plan, guint step, char **words)
{
    return step == 0 && plan_memory_raise_zero(plan, 3, 3, words);
}

static gboolean plan_memory_change_gradients(Plan *plan, guint step, char **words)
{
    if (step > 0 || plan->zero < 2 || plan->gradients == PLAN_GRADIENTS_SHARDED)
        return FALSE;
    plan->gradients = PLAN_GRADIENTS_SHARDED;
    *words = g_strdup("gradients = sharded");
    return TRUE;
}

// HSDP: larger shard groups, whose messages go further.
static gboolean plan_memory_change_shard(Plan *plan, guint step, char **words)
{
    guint64 shard = step < 31 ? (guint64)plan->shard << (step + 1) : 0;
    if (plan->zero == 0 || shard == 0 || shard > plan_data(plan))
        return FALSE;
    plan->shard = (guint32)shard;
    *words = g_strdup_printf("shard = %u", plan->shard);
    return TRUE;
}

static gboolean plan_memory_change_selective(Plan *plan, guint step, char **words)
{
    if (step > 0 || plan->recompute != PLAN_RECOMPUTE_NONE)
        return FALSE;
    plan->recompute = PLAN_RECOMPUTE_SELECTIVE;
    *words = g_strdup("recompute = selective");
    return TRUE;
}

static gboolean plan_memory_change_full(Plan *plan, guint step, char **words)
{
    if (step > 0 || plan->recompute == PLAN_RECOMPUTE_FULL)
        return FALSE;
    plan->recompute = PLAN_RECOMPUTE_FULL;
    plan->recompute_every = 1;
    *words = g_strdup("recompute = full");
    return TRUE;
}

static gboolean plan_memory_change_every(Plan *plan, guint step, char **words)
{
    gint64 every = step < 62 ? plan->recompute_every >> (step + 1) : 0;
    if (plan->recompute != PLAN_RECOMPUTE_FULL || every < 1)
        return FALSE;
    plan->recompute_every = every;
    *words = g_strdup_printf("recompute_every = %" G_GINT64_FORMAT, every);
    return TRUE;
}

static gboolean plan_memory_change_micro_batch(Plan *plan, guint step, char **words)
{
    gint64 by = step < 31 ? G_GINT64_CONSTANT(2) << step : 0;
    if (by == 0 || plan->micro_batch % by != 0)
        return FALSE;
    plan->micro_batch /= by;
    plan->micro_batches = 0;
    *words = g_strdup_printf("micro_batch = %" G_GINT64_FORMAT, plan->micro_batch);
    return TRUE;
}

static gboolean plan_memory_change_tp(Plan *plan, guint step, char **words)
{
    return plan_memory_divide_dp(plan, "tp", &plan->tp, step, words);
}

static gboolean plan_memory_change_pp(Plan *plan, guint step, char **words)
{
    return plan_memory_divide_dp(plan, "pp", &plan->pp, step, words);
}

static gboolean plan_memory_change_cp(Plan *plan, guint step, char **words)
{
    return plan_memory_divide_dp(plan, "cp", &plan->cp, step, words);
}

static gboolean plan_memory_change_offload(gboolean *flag, const char *key, guint step, char **words)
{
    if (step > 0 || *flag)
        return FALSE;
    *flag = TRUE;
    *words = g_strdup_printf("%s = yes", key);
    return TRUE;
}

static gboolean plan_memory_change_offload_optimizer(Plan *plan, guint step, char **words)
{
    return plan_memory_change_offload(&plan->offload_optimizer, "offload_optimizer", step, words);
}

static gboolean plan_memory_change_offload_activations(Plan *plan, guint step, char **words)
{
    return plan_memory_change_offload(&plan->offload_activations, "offload_activations", step, words);
}

static gboolean plan_memory_change_offload_weights(Plan *plan, guint step, char **words)
{
    return plan_memory_change_offload(&plan->offload_weights, "offload_weights", step, words);
}

// Cheapest first, by what they cost in time on a usual machine: nothing or less (sequence parallelism, 1F1B
// for GPipe, the limiter, sharded states that are sent no more often); the attention core again (1-3 %,
// Korthikanti et al. 2022, table 4); weights gathered twice, or further away; smaller GEMMs; more messages
// that nothing hides (context, pipeline's bubble, tensor parallelism); a third more compute; the host's link.
static const PlanMemoryChange CHANGES[] = {
    plan_memory_change_sp,
    plan_memory_change_schedule,
    plan_memory_change_limiter,
    plan_memory_change_zero,
    plan_memory_change_gradients,
    plan_memory_change_selective,
    plan_memory_change_reshard,
    plan_memory_change_shard,
    plan_memory_change_zero_3,
    plan_memory_change_micro_batch,
    plan_memory_change_cp,
    plan_memory_change_pp,
    plan_memory_change_tp,
    plan_memory_change_every,
    plan_memory_change_full,
    plan_memory_change_offload_activations,
    plan_memory_change_offload_optimizer,
    plan_memory_change_offload_weights,
};

// The line of a change that makes the plan legal and fitting, or NULL. Caller frees.
static char *plan_memory_try(Plan *plan, const char *words, const ModelSpec *model, const TopoDevice *device,
                             const PlanFramework *framework)
{
    g_autoptr(GPtrArray) broken = plan_check(plan, model);
    if (broken->len > 0 || !plan_memory_bounded(plan, model))
        return NULL;
    PlanMemoryPeak peak = plan_memory_fullest(plan, model, device, framework);
    if (peak.peak > peak.capacity)
        return NULL;
    g_autofree char *size = units_format_binary((double)peak.peak);
    return g_strdup_printf("%s: %s", words, size);
}

GPtrArray *plan_memory_remedies(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                                const PlanFramework *framework)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < G_N_ELEMENTS(CHANGES); i++) {
        char *line = NULL;
        for (guint step = 0; line == NULL; step++) {
            Plan changed = *plan;
            g_autofree char *words = NULL;
            if (!CHANGES[i](&changed, step, &words))
                break;
            line = plan_memory_try(&changed, words, model, device, framework);
        }
        if (line != NULL)
            g_ptr_array_add(lines, line);
    }
    return lines;
}
