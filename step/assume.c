// step/assume.c: what a run takes for granted, in sentences.
#include "step/assume.h"

#include "plans/place.h"

static void assume(StepResult *result, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void assume(StepResult *result, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    g_ptr_array_add(result->assumptions, g_strdup_vprintf(format, values));
    va_end(values);
}

static void assume_compute(StepResult *result, const StepJob *job)
{
    if (job->framework == NULL) {
        assume(result,
               "every operator runs at %.4g of the chip's peak: efficiency is a word of the scenario, not a "
               "measurement",
               job->efficiency);
        assume(result, "collectives do not slow compute, and launching work costs nothing");
    } else {
        assume(result,
               "operators are costed by shape, with the constants of chip %s (%s) and framework %s: %s",
               job->machine->device->name, TOPO_PRECISION_NAMES[job->precision], job->framework->name,
               job->framework->source);
        if (job->machine->device->assumed != NULL)
            assume(result, "chip %s: %s", job->machine->device->name, job->machine->device->assumed);
    }
    if (job->update == STEP_UPDATE_NONE)
        assume(result, "the optimizer takes no time (compute.optimizer_time = none)");
    assume(result, "model FLOPs are counted as %s, the embedding included",
           MODEL_COUNTING_NAMES[job->counting]);
}

static void assume_reality(StepResult *result, const StepJob *job)
{
    const StepReality *reality = &job->reality;
    if (reality->slow_ranks > 0)
        assume(result, "ranks 0 to %u take %.4g of the time for every operation (reality.slow_factor)",
               reality->slow_ranks - 1, reality->slow_factor);
    if (reality->jitter > 0)
        assume(result, "every operation takes up to %.4g longer, evenly distributed, seed %" G_GUINT64_FORMAT,
               reality->jitter, reality->seed);
}

// Which links each kind of group crosses.
static void assume_placement(StepResult *result, const StepJob *job)
{
    const Plan *plan = &job->plan;
    const struct {
        PlanGroup group;
        guint32 ranks;
    } groups[] = {{PLAN_GROUP_TP, plan->tp},
                  {PLAN_GROUP_CP, plan->cp},
                  {PLAN_GROUP_DATA, plan_data(plan)},
                  {PLAN_GROUP_PP, plan->pp}};
    if (plan->tp == 1 && plan->cp == 1 && plan->pp == 1)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
        if (groups[i].ranks == 1)
            continue;
        g_autofree char *words = plan_place_words(plan, groups[i].group, job->machine->graph);
        assume(result, "placement: %s groups of %u ranks %s", PLAN_GROUP_NAMES[groups[i].group],
               groups[i].ranks, words);
    }
}

void step_assume(StepResult *result, const StepJob *job)
{
    for (guint i = 0; i < job->notes->len; i++)
        g_ptr_array_add(result->ignored, g_strdup(job->notes->pdata[i]));
    assume_placement(result, job);
    assume_compute(result, job);
    if (job->plan.bucket_split)
        assume(result, "a split gradient is ready in proportion to its backward FLOPs");
    assume(result, "collectives are timed %s",
           job->nccl ? "as NCCL chooses them, with the latencies and bandwidths of the machine's [nccl]"
                     : "by the links alone: no cost of starting, of protocols or of kernels");
    if (job->plan.overlap_gather && job->plan.zero > 0)
        assume(result,
               "the step begins with the gathers of weights that the step before left (overlap_gather)");
    assume_reality(result, job);
    for (guint i = 0; i < job->machine->notes->len; i++)
        assume(result, "machine: %s", (const char *)job->machine->notes->pdata[i]);
    assume(result, "machine %s: %s", job->machine->name, job->machine->source);
}

char *step_assume_words(const StepJob *job)
{
    const Plan *plan = &job->plan;
    GString *out = g_string_new(NULL);
    if (plan->tp > 1)
        g_string_append_printf(out, "tp %u%s, ", plan->tp, plan->sp ? " sp" : "");
    if (plan->cp > 1)
        g_string_append_printf(out, "cp %u, ", plan->cp);
    if (plan->pp > 1)
        g_string_append_printf(out, "pp %u %s", plan->pp, plan->schedule->name);
    if (plan->pp > 1 && plan->chunks > 1)
        g_string_append_printf(out, " x %u", plan->chunks);
    g_string_append_printf(out, "%sdp %u", plan->pp > 1 ? ", " : "", plan->dp);
    if (plan->zero > 0)
        g_string_append_printf(out, " zero %d", plan->zero);
    if (plan->zero > 0 && plan->shard < plan_data(plan))
        g_string_append_printf(out, " in shards of %u", plan->shard);
    if (plan->recompute != PLAN_RECOMPUTE_NONE)
        g_string_append_printf(out, ", recompute %s", PLAN_RECOMPUTE_NAMES[plan->recompute]);
    g_string_append_printf(
        out, ", %" G_GINT64_FORMAT " micro-batch%s of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " tokens",
        plan->micro_batches, plan->micro_batches == 1 ? "" : "es", plan->micro_batch, plan->sequence);
    return g_string_free(out, FALSE);
}
