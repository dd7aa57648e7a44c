// step/run.c: lower, simulate, sum up.
#include "step/run.h"

#include "base/error.h"
#include "coll/measure.h"
#include "step/assume.h"
#include "step/bound.h"
#include "step/explain.h"
#include "step/fold.h"
#include "step/groups.h"
#include "step/lower.h"
#include "step/usage.h"

// One run: everything that lives while the engine runs. Either groups or fold.
typedef struct {
    SimEngine engine;
    StepGroups groups;
    StepFold fold;
    SimStreams streams;
    gboolean folded;
} StepRun;

// A rank that is slow, and jitter: a counter-based random number of the rank and its operation.
static guint32 step_run_scale(gconstpointer user, guint32 rank, guint32 op)
{
    const StepReality *reality = user;
    double factor = rank < reality->slow_ranks ? reality->slow_factor : 1;
    if (reality->jitter > 0) {
        guint64 random = hash_random(reality->seed, (guint64)rank << 32 | op);
        factor *= 1 + reality->jitter * (double)(random >> 11) * 0x1p-53;
    }
    return (guint32)(factor * 1e6 + 0.5);
}

// Messages that a run by messages would send, roughly: for each rank and joint operation twice its group.
static double step_run_size(const StepJob *job, const StepLowered *lowered)
{
    const Plan *plan = &job->plan;
    const double members[PLAN_GROUPS] = {plan->tp,
                                         plan->cp,
                                         plan_data(plan),
                                         plan->shard,
                                         (double)plan_data(plan) / MAX(plan->shard, 1),
                                         plan->pp,
                                         2,
                                         2};
    double sum = 0;
    for (guint32 stage = 0; stage < plan->pp; stage++) {
        const SimProgram *program = lowered->programs->pdata[stage];
        g_autofree guint32 *counts = sim_program_count(program);
        for (guint32 form = 0; form < program->forms->len; form++) {
            const SimOp *op = &g_array_index(program->forms, SimOp, form);
            if (op->work == SIM_WORK_JOINT)
                sum += 2 * counts[form] * (op->dimension < PLAN_GROUPS ? members[op->dimension] : 1);
        }
    }
    return sum * plan->gpus / plan->pp;
}

// Whether to fold; fills why a job that asks for it is not.
static gboolean step_run_folds(const StepJob *job, const StepLowered *lowered, StepResult *result)
{
    static const double MESSAGES_MAX = 2e6; // half a second
    const char *why = step_fold_refuses(job);
    if (job->fidelity == STEP_FIDELITY_MESSAGES ||
        (job->fidelity == STEP_FIDELITY_AUTO && step_run_size(job, lowered) <= MESSAGES_MAX))
        return FALSE;
    if (why != NULL && job->fidelity == STEP_FIDELITY_FOLDED)
        g_ptr_array_add(result->assumptions,
                        g_strdup_printf("simulated message by message, not folded: %s", why));
    return why == NULL;
}

static gboolean step_run_init(StepRun *run, const StepJob *job, const StepLowered *lowered,
                              StepResult *result, GError **error)
{
    *run = (StepRun){.folded = step_run_folds(job, lowered, result)};
    if (!run->folded && !step_lower_check_spans(job, lowered, error))
        return FALSE;
    sim_engine_init(&run->engine, job->queue);
    if (run->folded ? !step_fold_init(&run->fold, job, lowered, &run->engine, &run->streams, error)
                    : !step_groups_init(&run->groups, job, lowered, &run->engine, &run->streams, error)) {
        sim_engine_clear(&run->engine);
        return FALSE;
    }
    result->tracks = run->folded ? job->plan.pp : job->plan.gpus;
    if (run->folded) {
        result->track_ranks = g_new(guint32, result->tracks);
        for (guint32 stage = 0; stage < job->plan.pp; stage++) {
            result->track_ranks[stage] = 0;
            while (lowered->runs[result->track_ranks[stage]] != stage)
                result->track_ranks[stage]++;
        }
        for (guint32 stage = 0; stage < job->plan.pp; stage++)
            result->runs[stage] = stage;
    }
    sim_trace_init(&result->trace, TRUE);
    sim_streams_init(&run->streams, &run->engine,
                     (const SimProgram *const *)(const void *)lowered->programs->pdata, result->runs,
                     result->tracks, &result->trace, run->folded ? step_fold_join : step_groups_join,
                     run->folded ? (gpointer)&run->fold : (gpointer)&run->groups);
    if (job->reality.slow_ranks > 0 || job->reality.jitter > 0) {
        run->streams.scale = step_run_scale;
        run->streams.scale_user = &job->reality;
    }
    return TRUE;
}

static void step_run_clear(StepRun *run)
{
    sim_streams_clear(&run->streams);
    if (run->folded)
        step_fold_clear(&run->fold);
    else
        step_groups_clear(&run->groups);
    sim_engine_clear(&run->engine);
}

// The totals of every link that carried something, into the result and its fingerprint.
static void step_run_links(StepRun *run, const StepJob *job, StepResult *result)
{
    const TopoGraph *graph = job->machine->graph;
    SimNetwork *network = &run->groups.network;
    if (run->folded)
        return; // links are followed by messages only
    sim_network_finish(network);
    for (guint32 i = 0; i < graph->links->len; i++) {
        if (network->link_bytes[i] == 0)
            continue;
        const TopoLink *link = topo_graph_link(graph, i);
        g_autofree char *from = topo_graph_name(graph, link->from);
        g_autofree char *to = topo_graph_name(graph, link->to);
        StepLinkUse *use = g_new0(StepLinkUse, 1);
        use->link = i;
        use->name = g_strdup_printf("%s->%s", from, to);
        use->class_name = g_strdup(TOPO_LINK_NAMES[link->class]);
        use->bandwidth = link->bandwidth;
        use->bytes = network->link_bytes[i];
        use->busy = network->link_busy[i];
        g_ptr_array_add(result->links, use);
        sim_trace_add_link(&result->trace, i, use->bytes, use->busy);
    }
}

// FLOPs of the programs by kind, all ranks together: model FLOPs, and those that recomputation repeats.
static void step_run_flops(const StepJob *job, const StepLowered *lowered, double *model, double *again)
{
    *model = *again = 0;
    double ranks = (double)job->plan.gpus / job->plan.pp; // of a stage
    for (guint stage = 0; stage < lowered->programs->len; stage++) {
        const SimProgram *program = lowered->programs->pdata[stage];
        for (guint32 i = 0; i < program->ops->len; i++) {
            const SimOp *op = sim_program_op(program, i);
            *(op->kind == SIM_KIND_RECOMPUTE ? again : model) += ranks * op->flops;
        }
    }
}

// The documents' case: what one all-reduce of the whole gradient takes, alone.
static gboolean step_run_whole(const StepJob *job, StepResult *result, GError **error)
{
    result->plain = step_job_is_plain(job);
    if (!result->plain)
        return TRUE;
    CollMeasure whole;
    CollMeasureOptions options = {.chunk = job->chunk};
    CollNccl nccl;
    step_job_chooser(job, &nccl, &options.chooser, &options.choose);
    if (!coll_measure_run(job->machine->graph, COLL_OP_ALL_REDUCE, result->gradient_bytes, &options, &whole,
                          error))
        return FALSE;
    result->whole_all_reduce = whole.time;
    result->perfect_overlap = MAX(result->compute, whole.time);
    return TRUE;
}

static void step_run_memory(const StepJob *job, StepResult *result)
{
    result->memory_bytes = job->machine->device->memory;
    step_usage(job, result);
    result->states_bytes = 0;
    for (guint32 stage = 0; stage < job->plan.pp; stage++) {
        PlanMemoryStage own =
            plan_memory_stage(&job->plan, job->model, job->machine->device, job->framework, stage);
        double states = (double)(own.fixed[PLAN_MEMORY_WEIGHTS] + own.fixed[PLAN_MEMORY_GRADIENTS] +
                                 own.fixed[PLAN_MEMORY_OPTIMIZER]);
        result->states_bytes = MAX(result->states_bytes, states);
    }
    if (result->peak_bytes > result->memory_bytes) {
        g_ptr_array_unref(result->remedies);
        result->remedies = plan_memory_remedies(&job->plan, job->model, job->machine->device, job->framework);
    }
}

// What folding took for granted.
static void step_run_folding(const StepRun *run, StepResult *result)
{
    if (!run->folded)
        return;
    const StepSiblings *siblings = &run->fold.siblings;
    double worst = 0;
    for (guint i = 0; i < siblings->all->len; i++) {
        const StepCollective *own = step_siblings_get(siblings, i);
        worst = MAX(worst, (double)own->spread / (double)MAX(own->time, 1));
    }
    g_ptr_array_add(
        result->assumptions,
        g_strdup_printf(
            "folded: one rank of each of %u stages stands for all; %u collectives of different "
            "kind, size or place, of which %u were measured by messages and %u found in the cache",
            result->tracks, siblings->all->len, siblings->measured, siblings->found));
    if (run->fold.flows.slowed > 0)
        g_ptr_array_add(
            result->assumptions,
            g_strdup_printf(
                "folded: collectives that want the same links share them max-min: %" G_GUINT64_FORMAT
                " times one was slowed",
                run->fold.flows.slowed));
    if (run->fold.flows.met > 0)
        g_ptr_array_add(
            result->assumptions,
            g_strdup_printf(
                "folded: %" G_GUINT64_FORMAT
                " collectives began on links that others were using; where these have room for both, "
                "neither is taken to wait for the other",
                run->fold.flows.met));
    if (worst > 0)
        g_ptr_array_add(
            result->assumptions,
            g_strdup_printf("folded: siblings of a collective end up to %.2g %% of its time apart, and are "
                            "taken to end together",
                            100 * worst));
}

static gboolean step_run_sum(StepRun *run, const StepJob *job, const StepLowered *lowered, StepResult *result,
                             GError **error)
{
    result->name = g_strdup(job->name);
    result->text = g_strdup(job->text);
    result->model = g_strdup(job->model->name);
    result->machine = g_strdup(job->machine->name);
    result->chip = g_strdup(job->machine->device->name);
    result->fidelity =
        g_strdup(STEP_FIDELITY_NAMES[run->folded ? STEP_FIDELITY_FOLDED : STEP_FIDELITY_MESSAGES]);
    result->counting = g_strdup(MODEL_COUNTING_NAMES[job->counting]);
    result->plan = step_assume_words(job);
    result->ranks = job->plan.gpus;
    result->tokens = step_job_tokens(job);
    result->model_flops = step_job_flops(job);
    result->peak_flops = step_job_peak(job);
    result->buckets = lowered->buckets;
    result->gradient_bytes = lowered->parameters * job->plan.gradient_bytes;
    result->bound = step_bound(job, lowered);
    step_explain(result);
    double seconds = units_seconds(result->step), model = 0, again = 0;
    step_run_flops(job, lowered, &model, &again);
    double could = result->peak_flops * result->ranks * seconds;
    result->mfu = result->model_flops / could;
    result->hfu = (result->model_flops + again) / could;
    result->tokens_per_s = result->tokens / seconds;
    result->events = run->engine.events;
    result->messages = run->folded ? run->fold.messages : run->groups.network.messages;
    step_run_folding(run, result);
    step_run_links(run, job, result);
    result->fingerprint = hash_add_text(hash_mix(result->trace.fingerprint), result->fidelity);
    step_run_memory(job, result);
    step_assume(result, job);
    return step_run_whole(job, result, error);
}

StepResult *step_run(const StepJob *job, StepProgress progress, gpointer user, GError **error)
{
    if (!step_lower_check(job, error))
        return NULL;
    g_autoptr(StepResult) result = step_result_new();
    StepLowered lowered;
    step_lower(job, &lowered);
    result->programs = lowered.programs;
    g_autofree guint32 *runs = lowered.runs;
    result->runs = g_memdup2(runs, job->plan.gpus * sizeof *runs);
    StepRun run;
    if (!step_run_init(&run, job, &lowered, result, error))
        return NULL;
    run.engine.tick = progress;
    run.engine.tick_owner = user;
    gint64 start = g_get_monotonic_time();
    sim_streams_start(&run.streams);
    gboolean through = sim_engine_run(&run.engine);
    result->wall_s = (double)(g_get_monotonic_time() - start) * 1e-6;
    g_autofree char *stuck = through ? sim_streams_stuck(&run.streams) : g_strdup("the run was stopped");
    gboolean fine = stuck == NULL ? step_run_sum(&run, job, &lowered, result, error)
                                  : base_error_set(error, BASE_ERROR_FAILED, job->name, "%s", stuck);
    step_run_clear(&run);
    return fine ? g_steal_pointer(&result) : NULL;
}
