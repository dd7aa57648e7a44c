// coll/measure.c: one collective alone on a machine.
#include "coll/measure.h"

#include "base/error.h"
#include "coll/fabric.h"
#include "coll/group.h"
#include "sim/trace.h"

// What a run needs, and its tear-down.
typedef struct {
    SimEngine engine;
    SimNetwork network;
    CollFabric fabric;
    CollGroup *group; // owned
    Ps end;
} CollMeasuring;

static void coll_measure_delivered(gpointer user, const SimFlight *flight)
{
    coll_group_received(((CollMeasuring *)user)->group, flight);
}

static void coll_measure_done(gpointer user, CollGroup *group)
{
    (void)group;
    CollMeasuring *measuring = user;
    measuring->end = measuring->engine.now;
}

static void coll_measure_init(CollMeasuring *run, const TopoGraph *graph, const CollMeasureOptions *options)
{
    *run = (CollMeasuring){0};
    sim_engine_init(&run->engine, options->queue);
    sim_network_init(&run->network, &run->engine, options->chunk > 0 ? options->chunk : COLL_CHUNK_DEFAULT,
                     coll_measure_delivered, run);
    coll_fabric_init(&run->fabric, graph, &run->network);
    guint32 ranks = graph->gpus->len;
    g_autofree guint32 *members = g_new(guint32, ranks);
    for (guint32 i = 0; i < ranks; i++)
        members[i] = i;
    run->group = coll_group_new(0, options->chooser != NULL ? options->chooser : coll_choice_plain,
                                options->choose, &run->fabric, members, ranks, coll_measure_done, run);
}

static void coll_measure_clear(CollMeasuring *run)
{
    coll_group_free(run->group);
    coll_fabric_clear(&run->fabric);
    sim_network_clear(&run->network);
    sim_engine_clear(&run->engine);
}

static void coll_measure_sum(CollMeasuring *run, const TopoGraph *graph, CollOp op, CollMeasure *out)
{
    sim_network_finish(&run->network);
    SimTrace trace;
    sim_trace_init(&trace, FALSE);
    sim_trace_add(&trace, 0, (guint32)op, 0, run->end);
    for (guint32 i = 0; i < graph->links->len; i++)
        if (run->network.link_bytes[i] != 0)
            sim_trace_add_link(&trace, i, run->network.link_bytes[i], run->network.link_busy[i]);
    out->time = run->end;
    out->messages = run->network.messages;
    out->events = run->engine.events;
    out->fingerprint = trace.fingerprint;
    guint32 ranks = run->group->run.shape.ranks;
    for (guint32 i = 0; i < ranks; i++) {
        out->sent_mean += (double)run->group->sent[i] / (double)ranks;
        out->sent_max = MAX(out->sent_max, (double)run->group->sent[i]);
    }
    sim_trace_clear(&trace);
}

gboolean coll_measure_run(const TopoGraph *graph, CollOp op, gint64 bytes, const CollMeasureOptions *options,
                          CollMeasure *out, GError **error)
{
    const CollMeasureOptions defaults = {0};
    guint32 ranks = graph->gpus->len;
    if (ranks > COLL_GROUP_RANKS_MAX)
        return base_error_set(error, BASE_ERROR_FAILED, NULL, "found %u GPUs, wanted at most %u", ranks,
                              COLL_GROUP_RANKS_MAX);
    gint64 vector = 0;
    if (__builtin_mul_overflow(bytes, (gint64)ranks, &vector))
        return base_error_set(error, BASE_ERROR_FAILED, NULL,
                              "found %u pieces of a size that is out of range", ranks);
    const CollShape shape = {.op = op, .ranks = ranks, .bytes = bytes};
    vector = coll_vector_bytes(&shape);
    if (options == NULL)
        options = &defaults;
    *out = (CollMeasure){0};
    CollMeasuring run;
    coll_measure_init(&run, graph, options);
    gboolean fine = coll_group_prepare(run.group, op, bytes, error);
    if (fine) {
        sim_network_freeze(&run.network, !options->no_fuse);
        fine = coll_group_check(run.group, vector, 1, NULL, error);
    }
    if (fine) {
        gint64 start = g_get_monotonic_time();
        for (guint32 i = 0; i < ranks; i++)
            coll_group_arrive(run.group, op, bytes);
        sim_engine_run(&run.engine);
        out->wall_s = (double)(g_get_monotonic_time() - start) * 1e-6;
        g_assert(run.group->left == 0);
        coll_measure_sum(&run, graph, op, out);
        const CollChoice *choice = coll_group_choice(run.group, op, bytes);
        out->algo = choice->algo;
        out->protocol = choice->protocol;
    }
    coll_measure_clear(&run);
    return fine;
}

guint64 coll_measure_count(const TopoMachine *machine, CollOp op, gint64 bytes)
{
    guint32 ranks = machine->graph->gpus->len;
    g_autofree guint32 *members = g_new(guint32, ranks);
    for (guint32 i = 0; i < ranks; i++)
        members[i] = i;
    CollGrid grid;
    coll_box_find_grid(machine->graph, &grid);
    g_autofree CollBox *box = coll_box_find(&grid, members, ranks);
    CollShape shape = {.op = op,
                       .ranks = ranks,
                       .island = coll_fabric_island(machine->graph, members, ranks),
                       .bytes = bytes,
                       .box = box};
    CollChoice choice;
    CollNccl nccl;
    if (machine->tuning.present) {
        coll_nccl_init(&nccl, &machine->tuning, machine->graph, NULL, NULL);
        coll_nccl_choose(&nccl, &shape, &choice);
    } else {
        coll_choice_plain(NULL, &shape, &choice);
    }
    shape.chunks = choice.chunks;
    return choice.algo->messages(&shape);
}

gboolean coll_measure_machine(const TopoMachine *machine, CollOp op, gint64 bytes, const CollAlgo *algo,
                              const char *protocol, gboolean plain, const CollMeasureOptions *options,
                              CollMeasure *out, GError **error)
{
    CollMeasureOptions own = options != NULL ? *options : (CollMeasureOptions){0};
    CollNccl nccl;
    own.chooser = coll_choice_plain;
    own.choose = algo;
    if (!plain && machine->tuning.present) {
        coll_nccl_init(&nccl, &machine->tuning, machine->graph, algo, protocol);
        own.chooser = coll_nccl_choose;
        own.choose = &nccl;
    }
    return coll_measure_run(machine->graph, op, bytes, &own, out, error);
}
