// tests/property.h: what must hold of every step that runs, whatever its plan.
#pragma once

#include "tests/step.h"

#include "coll/closed.h"
#include "step/groups.h"
#include "step/items.h"
#include "step/usage.h"

// A step that ran, and what to call it where it fails.
typedef struct {
    const StepJob *job;       // borrowed
    const StepResult *result; // borrowed
    const char *words;        // borrowed
    StepSpans spans;
} Property;

#define property_must(property, condition, ...)                                                              \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            g_autofree char *what_ = g_strdup_printf(__VA_ARGS__);                                           \
            fail_msg("%s: not %s, in the step of\n%s", what_, #condition, (property)->words);                \
        }                                                                                                    \
    } while (0)

// Classes of time sum to the step, which no bound passes.
static inline void property_classes(const Property *property)
{
    const StepResult *r = property->result;
    Ps sum = r->compute + r->exposed_comm + r->bubble + r->loader + r->launch;
    property_must(property, sum == r->step, "classes: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, sum,
                  r->step);
    property_must(property, r->bubble >= 0 && r->loader >= 0 && r->launch >= 0 && r->idle >= 0, "classes");
    property_must(property, r->bound <= r->step, "bound %" G_GINT64_FORMAT, r->bound);
    Ps exposed = 0;
    for (guint i = 0; i < r->exposures->len; i++) {
        const StepExposure *exposure = &g_array_index(r->exposures, StepExposure, i);
        exposed += exposure->end - exposure->start;
    }
    property_must(property, exposed == r->exposed_comm, "exposures");
}

// Every operation of every rank runs once, after what it waits for and what stands before it on its stream.
static inline void property_order(const Property *property)
{
    const StepResult *r = property->result;
    gsize count = 0;
    for (guint32 rank = 0; rank < r->ranks; rank++) {
        const SimProgram *program = step_result_program(r, rank);
        count += program->ops->len;
        for (guint32 id = 0; id < program->ops->len; id++) {
            const SimOp *op = sim_program_op(program, id);
            const SimSpan *span = step_span(&property->spans, rank, id);
            property_must(property, span->start >= 0 && span->end >= span->start && span->end <= r->step,
                          "rank %u, %s", rank, op->name);
            guint32 position = sim_program_turn(program, id)->position;
            if (position > 0) {
                const GArray *order = program->order->pdata[op->stream];
                guint32 before = g_array_index(order, guint32, position - 1);
                property_must(property, step_span(&property->spans, rank, before)->end <= span->start,
                              "rank %u, stream of %s", rank, op->name);
            }
            for (guint32 i = 0; i < op->n_waits; i++) {
                const SimWait *wait = &sim_program_waits(program, id)[i];
                const GArray *order = program->order->pdata[wait->stream];
                guint32 before = g_array_index(order, guint32, wait->count - 1);
                property_must(property, step_span(&property->spans, rank, before)->end <= span->start,
                              "rank %u, %s waits for %s", rank, op->name,
                              sim_program_op(program, before)->name);
            }
            Ps least = op->work == SIM_WORK_TIMED ? op->duration : 0;
            property_must(property, span->end - span->start >= least, "rank %u, %s too short", rank,
                          op->name);
        }
    }
    property_must(property, count == r->trace.spans->len, "spans");
}

// The operations of a program in a dimension, in order.
static inline GArray *property_joint(const SimProgram *program, guint32 dimension)
{
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 id = 0; id < program->ops->len; id++) {
        const SimOp *op = sim_program_op(program, id);
        if (op->work == SIM_WORK_JOINT && op->dimension == dimension)
            g_array_append_val(ids, id);
    }
    return ids;
}

// Two ranks meet, operation by operation: the same kind, bytes, micro-batch and time.
static inline void property_pair(const Property *property, guint32 one, guint32 of_one, guint32 other,
                                 guint32 of_other)
{
    const SimProgram *a = step_result_program(property->result, one);
    const SimProgram *b = step_result_program(property->result, other);
    g_autoptr(GArray) x = property_joint(a, of_one), y = property_joint(b, of_other);
    property_must(property, x->len == y->len, "ranks %u and %u meet in %u", one, other, of_one);
    for (guint i = 0; i < x->len; i++) {
        guint32 p = g_array_index(x, guint32, i), q = g_array_index(y, guint32, i);
        const SimOp *op = sim_program_op(a, p), *twin = sim_program_op(b, q);
        const SimSpan *span = step_span(&property->spans, one, p),
                      *same = step_span(&property->spans, other, q);
        property_must(property,
                      op->kind == twin->kind && op->bytes == twin->bytes &&
                          sim_program_turn(a, p)->micro_batch == sim_program_turn(b, q)->micro_batch,
                      "ranks %u and %u in %s and %s", one, other, op->name, twin->name);
        property_must(property, span->start == same->start && span->end == same->end, "ranks %u and %u in %s",
                      one, other, op->name);
    }
}

static inline guint32 property_next_stage(const Plan *plan, guint32 rank)
{
    PlanPlace place = plan_place_of(plan, rank);
    place.at[PLAN_DIMENSION_PP] = (place.at[PLAN_DIMENSION_PP] + 1) % plan->pp;
    return plan_place_rank(plan, &place);
}

// All members of a group do what it does together.
static inline void property_together(const Property *property)
{
    const Plan *plan = &property->job->plan;
    for (guint32 rank = 0; rank < plan->gpus; rank++) {
        for (guint32 group = 0; group < PLAN_GROUPS; group++) {
            guint32 count = 0;
            g_autofree guint32 *members = plan_place_members(plan, (PlanGroup)group, rank, &count);
            if (members[0] != rank)
                property_pair(property, rank, group, members[0], group);
        }
        if (plan->pp == 1)
            continue;
        guint32 next = property_next_stage(plan, rank);
        property_pair(property, rank, STEP_JOINT_SEND_FORWARD, next, STEP_JOINT_RECV_FORWARD);
        property_pair(property, next, STEP_JOINT_SEND_BACKWARD, rank, STEP_JOINT_RECV_BACKWARD);
    }
}

// Bytes that an operation of a rank, the first of its group, makes the group send, where rings do it.
static inline double property_sent(const Plan *plan, guint32 rank, const SimOp *op)
{
    if (op->dimension >= PLAN_GROUPS)
        return op->dimension == STEP_JOINT_SEND_FORWARD || op->dimension == STEP_JOINT_SEND_BACKWARD
                   ? (double)op->bytes
                   : 0;
    guint32 count = 0;
    g_autofree guint32 *members = plan_place_members(plan, (PlanGroup)op->dimension, rank, &count);
    if (members[0] != rank)
        return 0;
    CollClosed form = op->kind == SIM_KIND_ALL_REDUCE ? COLL_CLOSED_ALL_REDUCE : COLL_CLOSED_ALL_GATHER;
    return count * coll_closed_sent(form, count, (double)op->bytes);
}

// No link carries more than it can, and what leaves and reaches GPUs is what the closed forms say (a tree of
// p ranks, or a torus, sends as much in all as a ring).
static inline void property_links(const Property *property)
{
    const StepResult *r = property->result;
    const TopoGraph *graph = property->job->machine->graph;
    double out = 0, in = 0, wanted = 0;
    for (guint i = 0; i < r->links->len; i++) {
        const StepLinkUse *use = r->links->pdata[i];
        const TopoLink *link = topo_graph_link(graph, use->link);
        double least = (double)use->bytes / use->bandwidth;
        property_must(property, use->busy <= r->step && use->busy >= 0, "link %s", use->name);
        property_must(property, least <= units_seconds(use->busy) * (1 + 1e-9), "link %s", use->name);
        if (topo_graph_node(graph, link->from)->kind == TOPO_NODE_GPU)
            out += (double)use->bytes;
        if (topo_graph_node(graph, link->to)->kind == TOPO_NODE_GPU)
            in += (double)use->bytes;
    }
    property_must(property, property->job->nccl || fabs(out - in) < 1, "links: %.0f out, %.0f in", out, in);
    for (guint32 rank = 0; rank < r->ranks; rank++) {
        const SimProgram *program = step_result_program(r, rank);
        for (guint32 id = 0; id < program->ops->len; id++)
            if (sim_program_op(program, id)->work == SIM_WORK_JOINT)
                wanted += property_sent(&property->job->plan, rank, sim_program_op(program, id));
    }
    gboolean far = graph->gpu_forward && out > wanted; // what passes a GPU leaves it once more
    property_must(property, property->job->nccl || far || fabs(out - wanted) <= 1e-9 * wanted + 0.5,
                  "links: %.0f bytes, wanted %.0f", out, wanted);
}

// FLOPs of the programs, all ranks together: the model's, and what recomputation repeats.
static inline void property_flops(const Property *property)
{
    const StepJob *job = property->job;
    double flops = 0, again = 0, wanted = 0;
    for (guint32 rank = 0; rank < property->result->ranks; rank++) {
        const SimProgram *program = step_result_program(property->result, rank);
        for (guint32 id = 0; id < program->ops->len; id++) {
            const SimOp *op = sim_program_op(program, id);
            *(op->kind == SIM_KIND_RECOMPUTE ? &again : &flops) += op->flops;
        }
    }
    double all = step_job_flops(job);
    property_must(property, fabs(flops / all - 1) < 1e-9, "flops: %.17g, wanted %.17g", flops, all);
    double tokens = step_job_tokens(job);
    double layer = model_count_attention(job->model, job->counting, job->plan.sequence) * tokens / 3;
    if (job->plan.recompute == PLAN_RECOMPUTE_SELECTIVE)
        wanted = layer * (double)job->model->layers;
    if (job->plan.recompute == PLAN_RECOMPUTE_FULL) {
        StepItems items; // the share of a layer, by the job's own items
        step_items_init(&items, job);
        double own = 0;
        for (guint i = 0; i < step_items_block(&items, 1)->len; i++)
            own += g_array_index(step_items_block(&items, 1), StepItem, i).model_flops / 3;
        step_items_clear(&items);
        for (guint32 stage = 0; stage < job->plan.pp; stage++)
            for (guint32 chunk = 0; chunk < job->plan.chunks; chunk++) {
                gint64 layers = plan_layers(&job->plan, job->model, stage, chunk);
                gint64 every = job->plan.recompute_every;
                wanted += own * (double)((layers + every - 1) / every) * (double)job->plan.micro_batches *
                          job->plan.gpus / job->plan.pp;
            }
    }
    property_must(property, fabs(again - wanted) <= 1e-9 * wanted, "recomputed: %.17g, wanted %.17g", again,
                  wanted);
}

// Bytes of the operations of a program that are of a kind and of the data group or its shards, or, with
// copies, of the group of the shards' copies.
static inline double property_data(const SimProgram *program, SimKind kind, gboolean copies)
{
    double bytes = 0;
    for (guint32 id = 0; id < program->ops->len; id++) {
        const SimOp *op = sim_program_op(program, id);
        gboolean data = op->dimension == PLAN_GROUP_DATA || op->dimension == PLAN_GROUP_SHARD;
        if (op->work == SIM_WORK_JOINT && op->kind == kind &&
            (copies ? op->dimension == PLAN_GROUP_REPLICA : data))
            bytes += (double)op->bytes;
    }
    return bytes;
}

// A stage reduces all its gradients as often as its plan says, and gathers its weights: once after (or
// before) the step under ZeRO 1 and 2, under 3 for every pass where they are freed.
static inline void property_reduced(const Property *property)
{
    const StepJob *job = property->job;
    const Plan *plan = &job->plan;
    gboolean each = plan->sync_every || (plan->zero >= 2 && plan->gradients == PLAN_GRADIENTS_SHARDED);
    double passes = each ? (double)plan->micro_batches : 1, m = (double)plan->micro_batches;
    for (guint32 stage = 0; stage < plan->pp; stage++) {
        const SimProgram *program = property->result->programs->pdata[stage];
        PlanMemoryStage memory =
            plan_memory_stage(plan, job->model, job->machine->device, job->framework, stage);
        double all = (double)memory.parameters;
        if (plan_data(plan) > 1 && (plan->zero == 0 || plan->shard > 1)) {
            double found = property_data(
                program, plan->zero == 0 ? SIM_KIND_ALL_REDUCE : SIM_KIND_REDUCE_SCATTER, FALSE);
            double wanted = passes * all * (double)plan->gradient_bytes;
            property_must(property, fabs(found - wanted) < 0.5, "stage %u reduces %.0f B, wanted %.0f", stage,
                          found, wanted);
        }
        if (plan->zero > 0 && plan->shard < plan_data(plan)) { // shards are rounded up to a byte
            double times = plan->copies_last ? 1 : passes;
            double found = property_data(program, SIM_KIND_ALL_REDUCE, TRUE);
            double wanted = times * all * (double)plan->gradient_bytes / plan->shard;
            property_must(property, found >= wanted - 0.5 && found <= wanted + (double)program->ops->len,
                          "stage %u sums %.0f B of copies, wanted %.0f", stage, found, wanted);
        }
        if (plan->zero == 0 || plan->shard == 1)
            continue;
        StepItems items;
        step_items_init(&items, job);
        double table = (double)step_items_parameters(&items, 0), head = 0, gathered = all;
        if (stage == plan->pp - 1)
            head = (double)step_items_parameters(&items, (guint32)job->model->layers + 1);
        step_items_clear(&items);
        // The head stays from its forward to its backward pass, with a tied embedding that has been freed.
        double heads = plan->schedule == &PIPE_GPIPE ? 1 : m;
        double tied = job->model->tied && plan->pp == 1 ? table : 0;
        if (plan->zero == 3 && (plan->reshard || plan->offload_weights))
            gathered = 2 * m * (all - head) + heads * (head + tied);
        else if (plan->zero == 3 && plan->pp == 1 && each) // freed after each backward pass that reduces
            gathered = heads * all;
        double found = property_data(program, SIM_KIND_ALL_GATHER, FALSE);
        property_must(property, fabs(found - 2 * gathered) < 0.5, "stage %u gathers %.0f B, wanted %.0f",
                      stage, found, 2 * gathered);
    }
}

// What the timeline's peak may have above plan_memory_peak's closed form: a tied embedding may be gathered
// for the head and, in a model of a few layers, for its own backward pass at once; offloaded activations of
// one micro-batch come in while another's are on their way out, two layers each.
static inline gint64 property_above(const StepJob *job, const PlanMemoryStage *memory)
{
    const Plan *plan = &job->plan;
    gint64 above = 0;
    if (memory->unit > 0 && job->model->tied)
        above += memory->unit_ends + memory->unit_ends / 10;
    if (plan->offload_activations && plan->pp > 1)
        above += 2 * memory->layer + memory->layer / 7;
    return above;
}

// The timeline's peak of a stage is no higher than the closed form's. It is the same where nothing is
// gathered, offloaded or recomputed whole: there the closed form counts the head and the layer that runs
// again together.
static inline void property_peak(const Property *property, guint32 stage)
{
    const StepJob *job = property->job;
    const Plan *plan = &job->plan;
    const TopoDevice *device = job->machine->device;
    PlanMemoryStage memory = plan_memory_stage(plan, job->model, device, job->framework, stage);
    PlanMemoryPeak closed = plan_memory_peak(plan, job->model, device, job->framework, stage);
    const StepUsage *usage = property->result->usage->pdata[stage];
    gint64 wanted = closed.peak, rounding = PLAN_MEMORY_KINDS; // the allowance is rounded kind by kind
    property_must(property, usage->peak <= wanted + property_above(job, &memory) + rounding,
                  "stage %u: peak of %" G_GINT64_FORMAT ", by closed form %" G_GINT64_FORMAT, stage,
                  usage->peak, wanted);
    gboolean layers = plan_layers(plan, job->model, stage, 0) > 0;
    gboolean simple = memory.unit == 0 && !plan->offload_activations && layers;
    property_must(property,
                  ABS(usage->peak - wanted) <= rounding || !simple || plan->recompute == PLAN_RECOMPUTE_FULL,
                  "stage %u: peak of %" G_GINT64_FORMAT ", by closed form %" G_GINT64_FORMAT, stage,
                  usage->peak, wanted);
}

// Memory comes back to where it began, and no kind is ever below what is there all the time.
static inline void property_memory(const Property *property)
{
    const StepJob *job = property->job;
    gint64 most = 0;
    for (guint32 stage = 0; stage < job->plan.pp; stage++) {
        const SimProgram *program = property->result->programs->pdata[stage];
        gint64 left[PLAN_MEMORY_KINDS] = {0};
        for (guint32 id = 0; id < program->ops->len; id++) {
            const SimOp *op = sim_program_op(program, id);
            for (guint32 i = op->first_effect; i < op->first_effect + op->n_effects; i++) {
                const SimEffect *effect = &g_array_index(program->effects, SimEffect, i);
                left[effect->kind] += effect->bytes;
            }
        }
        for (guint kind = 0; kind < PLAN_MEMORY_KINDS; kind++)
            property_must(property, left[kind] == 0, "stage %u ends with %" G_GINT64_FORMAT " B of %s", stage,
                          left[kind], PLAN_MEMORY_NAMES[kind]);
        property_must(property, step_usage_left(program) == 0, "stage %u", stage);
        PlanMemoryStage fixed =
            plan_memory_stage(&job->plan, job->model, job->machine->device, job->framework, stage);
        const StepUsage *usage = property->result->usage->pdata[stage];
        for (guint i = 0; i < usage->points->len; i++) {
            const StepUsagePoint *point = &g_array_index(usage->points, StepUsagePoint, i);
            property_must(property, point->bytes >= fixed.fixed[point->kind],
                          "stage %u at %" G_GINT64_FORMAT " ps: %s", stage, point->time,
                          PLAN_MEMORY_NAMES[point->kind]);
        }
        property_peak(property, stage);
        most = MAX(most, fixed.parameters);
    }
    gint64 own = property->result->gradient_bytes / job->plan.gradient_bytes;
    property_must(property, own == most, "%" G_GINT64_FORMAT " parameters, in memory %" G_GINT64_FORMAT, own,
                  most);
}
