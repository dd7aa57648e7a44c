// step/memory-peak.c: the fullest moment of a stage, from what its schedule keeps in flight.
#include <string.h>

#include "step/memory.h"

// What is in flight at one moment, and what it takes.
typedef struct {
    gint64 kept;        // bytes of activations between forward and backward
    gint64 ends;        // of them, of embedding and head, which are not offloaded
    guint32 all, last;  // passes in flight, and those of the last chunk
    gint64 activations; // bytes on the chip, with what one layer works with
    gint64 logits;      // bytes
    gboolean at_loss;   // the moment of the loss takes more than that of a layer that runs again
} StepMemoryMoment;

gint64 step_memory_chunk(const StepPlan *plan, const ModelSpec *model, const StepMemoryStage *memory,
                         guint32 stage, guint32 chunk)
{
    gint64 layers = step_plan_layers(plan, model, stage, chunk);
    gint64 again = plan->recompute == STEP_RECOMPUTE_FULL
                       ? (layers + plan->recompute_every - 1) / plan->recompute_every
                       : 0;
    gint64 bytes = (layers - again) * memory->layer + again * memory->layer_kept;
    bytes += chunk == 0 ? memory->embedding : 0;
    return bytes + (chunk == plan->chunks - 1 ? memory->head : 0);
}

gint64 step_memory_gathered(const StepPlan *plan, const ModelSpec *model, const StepMemoryStage *memory,
                            guint32 stage)
{
    if (memory->unit == 0)
        return 0;
    gint64 layers = 0;
    for (guint32 c = 0; c < plan->chunks; c++)
        layers += step_plan_layers(plan, model, stage, c);
    gboolean few = plan->limiter && (plan->zero < 3 || plan->reshard);
    gint64 some = memory->unit_ends + MIN(layers, (gint64)plan->prefetch + 1) * memory->unit;
    return few ? some : MAX(memory->whole, some);
}

// Fills what a moment takes. The loss's gradient is gone, and one micro-batch's logits with it, when a layer
// runs again. Offloaded: one layer in use, one on its way.
static void step_memory_weigh(const StepPlan *plan, const StepMemoryStage *memory, StepMemoryMoment *moment)
{
    gint64 kept = moment->kept;
    if (plan->offload_activations) {
        gboolean all_again = plan->recompute == STEP_RECOMPUTE_FULL && plan->recompute_every == 1;
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
static StepMemoryMoment step_memory_fly(const StepPlan *plan, const ModelSpec *model,
                                        const StepMemoryStage *memory, guint32 stage)
{
    guint32 m = (guint32)MIN(plan->micro_batches, G_MAXINT32);
    StepMemoryMoment now = {0}, most = {0};
    if (plan->chunks == 1) {
        most.all = most.last = plan->schedule->in_flight(stage, plan->pp, m, 1);
        most.kept = most.all * step_memory_chunk(plan, model, memory, stage, 0);
        most.ends = most.all * (memory->embedding + memory->head);
        step_memory_weigh(plan, memory, &most);
        return most;
    }
    g_autofree gint64 *bytes = g_new(gint64, plan->chunks);
    for (guint32 c = 0; c < plan->chunks; c++)
        bytes[c] = step_memory_chunk(plan, model, memory, stage, c);
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
        step_memory_weigh(plan, memory, &now);
        if (now.activations + now.logits > most.activations + most.logits)
            most = now;
    }
    return most;
}

StepMemoryPeak step_memory_peak(const StepPlan *plan, const ModelSpec *model, const TopoDevice *device,
                                const StepFramework *framework, guint32 stage)
{
    StepMemoryStage memory = step_memory_stage(plan, model, device, framework, stage);
    StepMemoryMoment moment = step_memory_fly(plan, model, &memory, stage);
    StepMemoryPeak peak = {
        .capacity = device->memory, .stage = stage, .in_flight = moment.all, .at_loss = moment.at_loss};
    memcpy(peak.kind, memory.fixed, sizeof peak.kind);
    peak.kind[STEP_MEMORY_ACTIVATIONS] = moment.activations;
    peak.kind[STEP_MEMORY_LOGITS] = moment.logits;
    peak.kind[STEP_MEMORY_GATHERED] = step_memory_gathered(plan, model, &memory, stage);
    double moving = (double)(peak.kind[STEP_MEMORY_ACTIVATIONS] + peak.kind[STEP_MEMORY_LOGITS] +
                             peak.kind[STEP_MEMORY_GATHERED]);
    peak.kind[STEP_MEMORY_ALLOWANCE] += (gint64)(STEP_MEMORY_FRAGMENTATION * moving);
    for (guint i = 0; i < STEP_MEMORY_KINDS; i++)
        peak.peak += peak.kind[i];
    return peak;
}

StepMemoryPeak step_memory_fullest(const StepPlan *plan, const ModelSpec *model, const TopoDevice *device,
                                   const StepFramework *framework)
{
    StepMemoryPeak fullest = step_memory_peak(plan, model, device, framework, 0);
    for (guint32 stage = 1; stage < plan->pp; stage++) {
        StepMemoryPeak peak = step_memory_peak(plan, model, device, framework, stage);
        if (peak.peak > fullest.peak)
            fullest = peak;
    }
    return fullest;
}

gint64 step_memory_states(const StepMemoryPeak *peak)
{
    return peak->kind[STEP_MEMORY_WEIGHTS] + peak->kind[STEP_MEMORY_GRADIENTS] +
           peak->kind[STEP_MEMORY_OPTIMIZER];
}

char *step_memory_words(const StepPlan *plan, const StepMemoryPeak *peak)
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
