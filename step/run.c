// step/run.c: lower, simulate, sum up.
#include "step/run.h"

#include "base/error.h"
#include "coll/fabric.h"
#include "coll/group.h"
#include "coll/measure.h"
#include "sim/stream.h"
#include "step/bound.h"
#include "step/explain.h"
#include "step/lower.h"

// One run: everything that lives while the engine runs.
typedef struct {
    SimEngine engine;
    SimNetwork network;
    CollFabric fabric;
    SimStreams streams;
    CollNccl nccl;
    CollGroup *group; // the data-parallel group; owned
    guint32 op;       // which collective it is at
} StepRun;

static void step_run_join(gpointer user, guint32 rank, guint32 op)
{
    (void)rank;
    StepRun *run = user;
    run->op = op;
    coll_group_arrive(run->group, COLL_OP_ALL_REDUCE, sim_program_op(run->streams.program, op)->bytes);
}

static void step_run_delivered(gpointer user, const SimFlight *flight)
{
    coll_group_received(((StepRun *)user)->group, flight);
}

static void step_run_done(gpointer user, CollGroup *group)
{
    StepRun *run = user;
    guint32 stream = sim_program_op(run->streams.program, run->op)->stream;
    for (guint32 i = 0; i < group->run.shape.ranks; i++)
        sim_streams_end(&run->streams, group->gpus[i], stream);
}

static void step_run_init(StepRun *run, const StepJob *job, StepResult *result)
{
    *run = (StepRun){0};
    sim_engine_init(&run->engine, job->queue);
    sim_network_init(&run->network, &run->engine, job->chunk, step_run_delivered, run);
    coll_fabric_init(&run->fabric, job->machine->graph, &run->network);
    g_autofree guint32 *members = g_new(guint32, job->dp);
    for (guint32 i = 0; i < job->dp; i++)
        members[i] = i;
    CollChooser chooser;
    gconstpointer choose;
    step_job_chooser(job, &run->nccl, &chooser, &choose);
    run->group = coll_group_new(0, chooser, choose, &run->fabric, members, job->dp, step_run_done, run);
    sim_trace_init(&result->trace, TRUE);
    sim_streams_init(&run->streams, &run->engine, result->program, job->dp, &result->trace, step_run_join,
                     run);
}

// Compiles what every collective of the program needs.
static gboolean step_run_prepare(StepRun *run, const StepJob *job, const StepResult *result, GError **error)
{
    for (guint32 id = 0; id < result->program->ops->len; id++) {
        const SimOp *op = sim_program_op(result->program, id);
        if (op->work == SIM_WORK_JOINT &&
            !coll_group_prepare(run->group, COLL_OP_ALL_REDUCE, op->bytes, error))
            return FALSE;
    }
    sim_network_freeze(&run->network, !job->no_fuse);
    return TRUE;
}

static void step_run_clear(StepRun *run)
{
    sim_streams_clear(&run->streams);
    coll_group_free(run->group);
    coll_fabric_clear(&run->fabric);
    sim_network_clear(&run->network);
    sim_engine_clear(&run->engine);
}

// The totals of every link that carried something, into the result and its fingerprint.
static void step_run_links(StepRun *run, const StepJob *job, StepResult *result)
{
    const TopoGraph *graph = job->machine->graph;
    sim_network_finish(&run->network);
    for (guint32 i = 0; i < graph->links->len; i++) {
        if (run->network.link_bytes[i] == 0)
            continue;
        const TopoLink *link = topo_graph_link(graph, i);
        g_autofree char *from = topo_graph_name(graph, link->from);
        g_autofree char *to = topo_graph_name(graph, link->to);
        StepLinkUse *use = g_new0(StepLinkUse, 1);
        use->link = i;
        use->name = g_strdup_printf("%s->%s", from, to);
        use->class_name = g_strdup(TOPO_LINK_NAMES[link->class]);
        use->bandwidth = link->bandwidth;
        use->bytes = run->network.link_bytes[i];
        use->busy = run->network.link_busy[i];
        g_ptr_array_add(result->links, use);
        sim_trace_add_link(&result->trace, i, use->bytes, use->busy);
    }
}

static void step_run_assume(StepResult *result, const StepJob *job)
{
    GPtrArray *list = result->assumptions;
    g_ptr_array_add(
        list, g_strdup_printf("every operator runs at %.4g of the chip's peak: efficiency is a word of the "
                              "scenario, not a measurement",
                              job->efficiency));
    g_ptr_array_add(list, g_strdup("collectives do not slow compute, and launching work costs nothing"));
    if (job->update == STEP_UPDATE_NONE)
        g_ptr_array_add(list, g_strdup("the optimizer takes no time (compute.optimizer_time = none)"));
    g_ptr_array_add(list, g_strdup_printf("model FLOPs are counted as %s, the embedding included",
                                          MODEL_COUNTING_NAMES[job->counting]));
    if (job->bucket_split)
        g_ptr_array_add(list, g_strdup("a split gradient is ready in proportion to its backward FLOPs"));
    const char *how = job->nccl
                          ? "as NCCL chooses them, with the latencies and bandwidths of the machine's [nccl]"
                          : "by the links alone: no cost of starting, of protocols or of kernels";
    g_ptr_array_add(list, g_strdup_printf("collectives are timed %s", how));
    for (guint i = 0; i < job->machine->notes->len; i++)
        g_ptr_array_add(list, g_strdup_printf("machine: %s", (const char *)job->machine->notes->pdata[i]));
    g_ptr_array_add(list, g_strdup_printf("machine %s: %s", job->machine->name, job->machine->source));
}

static gboolean step_run_sum(StepRun *run, const StepJob *job, StepResult *result, GError **error)
{
    result->name = g_strdup(job->name);
    result->text = g_strdup(job->text);
    result->model = g_strdup(job->model->name);
    result->machine = g_strdup(job->machine->name);
    result->chip = g_strdup(job->machine->device->name);
    result->fidelity = g_strdup("messages");
    result->counting = g_strdup(MODEL_COUNTING_NAMES[job->counting]);
    result->ranks = job->dp;
    result->tokens = (double)job->tokens;
    result->model_flops = step_job_flops(job) * job->dp;
    result->peak_flops = step_job_peak(job);
    result->bound = step_bound(job);
    result->states_bytes = step_states(model_count_parameters(job->model), job->optimizer, 0, job->dp).total;
    result->memory_bytes = job->machine->device->memory;
    step_explain(result);
    double seconds = units_seconds(result->step);
    result->mfu = result->hfu = result->model_flops / (result->peak_flops * job->dp * seconds);
    result->tokens_per_s = result->tokens / seconds;
    result->events = run->engine.events;
    result->messages = run->network.messages;
    step_run_links(run, job, result);
    result->fingerprint = hash_add_text(hash_mix(result->trace.fingerprint), result->fidelity);
    CollMeasure whole;
    CollMeasureOptions options = {.chunk = job->chunk};
    step_job_chooser(job, &run->nccl, &options.chooser, &options.choose);
    if (!coll_measure_run(job->machine->graph, COLL_OP_ALL_REDUCE, result->gradient_bytes, &options, &whole,
                          error))
        return FALSE;
    result->whole_all_reduce = whole.time;
    result->perfect_overlap = MAX(result->compute, whole.time);
    step_run_assume(result, job);
    return TRUE;
}

StepResult *step_run(const StepJob *job, StepProgress progress, gpointer user, GError **error)
{
    if (!step_lower_check(job, error))
        return NULL;
    g_autoptr(StepResult) result = step_result_new();
    StepLowered lowered;
    step_lower(job, &lowered);
    result->program = lowered.program;
    result->buckets = lowered.buckets;
    result->gradient_bytes = step_job_gradient(job);
    StepRun run;
    step_run_init(&run, job, result);
    if (!step_run_prepare(&run, job, result, error) ||
        !coll_group_check(run.group, result->gradient_bytes, result->buckets, job->name, error)) {
        step_run_clear(&run);
        return NULL;
    }
    run.engine.tick = progress;
    run.engine.tick_owner = user;
    gint64 start = g_get_monotonic_time();
    sim_streams_start(&run.streams);
    gboolean through = sim_engine_run(&run.engine);
    result->wall_s = (double)(g_get_monotonic_time() - start) * 1e-6;
    g_autofree char *stuck = through ? sim_streams_stuck(&run.streams) : g_strdup("the run was stopped");
    gboolean fine = stuck == NULL ? step_run_sum(&run, job, result, error)
                                  : base_error_set(error, BASE_ERROR_FAILED, job->name, "%s", stuck);
    step_run_clear(&run);
    return fine ? g_steal_pointer(&result) : NULL;
}
