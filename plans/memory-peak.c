// plans/memory-peak.c: the fullest moment of a stage, from what its schedule keeps in flight.
#include <string.h>

#include "plans/memory.h"

// What is in flight at one moment, and what it takes.
typedef struct {
    gint64 kept;        // bytes of activations between forward and backward
    gint64 ends;        // of them, of embedding and head, which are not offloaded
    guint32 all, last;  // passes in flight, and those of the last chunk
    gint64 activations; // bytes on the chip, with what one layer works with
    gint64 logits;      // bytes
    gboolean at_loss;   // the moment of the loss takes more than that of a layer that runs again
} PlanMemoryMoment;

gint64 plan_memory_chunk(const Plan *plan, const ModelSpec *model, const PlanMemoryStage *memory,
                         guint32 stage, guint32 chunk)
{
    gint64 layers = plan_layers(plan, model, stage, chunk);
    gint64 again = plan->recompute == PLAN_RECOMPUTE_FULL
                       ? (layers + plan->recompute_every - 1) / plan->recompute_every
                       : 0;
    gint64 bytes = (layers - again) * memory->layer + again * memory->layer_kept;
    bytes += chunk == 0 ? memory->embedding : 0;
    return bytes + (chunk == plan->chunks - 1 ? memory->head : 0);
}

gint64 plan_memory_gathered(const Plan *plan, const ModelSpec *model, const PlanMemoryStage *memory,
                            guint32 stage)
{
    if (memory->unit == 0)
        return 0;
    gint64 layers = 0;
    for (guint32 c = 0; c < plan->chunks; c++)
        layers += plan_layers(plan, model, stage, c);
    gboolean few = plan->limiter && (plan->zero < 3 || plan->reshard);
    gint64 some = memory->unit_ends + MIN(layers, (gint64)plan->prefetch + 1) * memory->unit;
    return few ? some : MAX(memory->whole, some);
}

// Fills what a moment takes. The loss's gradient is gone, and one micro-batch's logits with it, when a layer
// runs again. Offloaded: one layer in use, one on its way.
static void plan_memory_weigh(const Plan *plan, const PlanMemoryStage *memory, PlanMemoryMoment *moment)
{
    gint64 kept = moment->kept;
    if (plan->offload_activations) {
        gboolean all_again = plan->recompute == PLAN_RECOMPUTE_FULL && plan->recompute_every == 1;
        gint64 next = all_again ? memory->layer_kept : memory->layer;
        kept = MIN(kept, moment->ends + memory->layer_kept + next);
    }
    gint64 at_loss = moment->last * memory->logits + memory->logits_work;
    gint64 after = MAX((gint64)moment->last - 1, 0) * memory->logits;
    moment->at_loss = memory->logits > 0 && moment->last > 0 && at_loss >= after + memory->layer_work;
    moment->activations = kept + (moment->at_loss ? 0 : memory->layer_work);
    moment->logits = moment->at_loss ? at_loss : after;
}

// One chunk: all passes are alike. Several: the schedule is walked; it has reached its fullest after a few
// rounds of micro-batches (a round: as many as there are stages).
static PlanMemoryMoment plan_memory_fly(const Plan *plan, const ModelSpec *model,
                                        const PlanMemoryStage *memory, guint32 stage)
{
    guint32 m = (guint32)MIN(plan->micro_batches, G_MAXINT32);
    PlanMemoryMoment now = {0}, most = {0};
    if (plan->chunks == 1) {
        most.all = most.last = plan->schedule->in_flight(stage, plan->pp, m, 1);
        most.kept = most.all * plan_memory_chunk(plan, model, memory, stage, 0);
        most.ends = most.all * (memory->embedding + memory->head);
        plan_memory_weigh(plan, memory, &most);
        return most;
    }
    g_autofree gint64 *bytes = g_new(gint64, plan->chunks);
    for (guint32 c = 0; c < plan->chunks; c++)
        bytes[c] = plan_memory_chunk(plan, model, memory, stage, c);
    g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(PipeStep));
    plan->schedule->steps(steps, stage, plan->pp, MIN(m, 4 * plan->pp), plan->chunks);
    for (guint i = 0; i < steps->len; i++) {
        const PipeStep *step = &g_array_index(steps, PipeStep, i);
        const int sign = step->backward ? -1 : 1;
        now.kept += sign * bytes[step->chunk];
        now.ends += sign * (step->chunk == 0 ? memory->embedding : 0);
        now.ends += sign * (step->chunk == plan->chunks - 1 ? memory->head : 0);
        now.all += (guint32)sign;
        now.last += step->chunk == plan->chunks - 1 ? (guint32)sign : 0;
        plan_memory_weigh(plan, memory, &now);
        if (now.activations + now.logits > most.activations + most.logits)
            most = now;
    }
    return most;
}

PlanMemoryPeak plan_memory_peak(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                                const PlanFramework *framework, guint32 stage)
{
    PlanMemoryStage memory = plan_memory_stage(plan, model, device, framework, stage);
    PlanMemoryMoment moment = plan_memory_fly(plan, model, &memory, stage);
    PlanMemoryPeak peak = {
        .capacity = device->memory, .stage = stage, .in_flight = moment.all, .at_loss = moment.at_loss};
    memcpy(peak.kind, memory.fixed, sizeof peak.kind);
    peak.kind[PLAN_MEMORY_ACTIVATIONS] = moment.activations;
    peak.kind[PLAN_MEMORY_LOGITS] = moment.logits;
    peak.kind[PLAN_MEMORY_GATHERED] = plan_memory_gathered(plan, model, &memory, stage);
    double moving = (double)(peak.kind[PLAN_MEMORY_ACTIVATIONS] + peak.kind[PLAN_MEMORY_LOGITS] +
                             peak.kind[PLAN_MEMORY_GATHERED]);
    peak.kind[PLAN_MEMORY_ALLOWANCE] += (gint64)(PLAN_MEMORY_FRAGMENTATION * moving);
    for (guint i = 0; i < PLAN_MEMORY_KINDS; i++)
        peak.peak += peak.kind[i];
    return peak;
}

PlanMemoryPeak plan_memory_fullest(const Plan *plan, const ModelSpec *model, const TopoDevice *device,
                                   const PlanFramework *framework)
{
    PlanMemoryPeak fullest = plan_memory_peak(plan, model, device, framework, 0);
    for (guint32 stage = 1; stage < plan->pp; stage++) {
        PlanMemoryPeak peak = plan_memory_peak(plan, model, device, framework, stage);
        if (peak.peak > fullest.peak)
            fullest = peak;
    }
    return fullest;
}

gint64 plan_memory_states(const PlanMemoryPeak *peak)
{
    return peak->kind[PLAN_MEMORY_WEIGHTS] + peak->kind[PLAN_MEMORY_GRADIENTS] +
           peak->kind[PLAN_MEMORY_OPTIMIZER];
}

char *plan_memory_words(const Plan *plan, const PlanMemoryPeak *peak)
{
    const char *when = peak->at_loss                   ? "at the loss"
                       : plan->pp == 1                 ? "in the backward pass"
                       : plan->schedule == &PIPE_GPIPE ? "after the last forward pass"
                                                       : "after warm-up";
    const char *what = plan->chunks > 1 ? "micro-batches of one chunk" : "micro-batches";
    const char *one = plan->chunks > 1 ? "micro-batch of one chunk" : "micro-batch";
    return g_strdup_printf("stage %u, %s: %u %s in flight", peak->stage, when, peak->in_flight,
                           peak->in_flight == 1 ? one : what);
}
