// coll/measure.c: one collective alone on a machine.
#include "coll/measure.h"

#include "base/error.h"
#include "coll/fabric.h"
#include "coll/group.h"
#include "sim/trace.h"

typedef struct {
    SimEngine *engine; // borrowed
    CollGroup *group;  // borrowed
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
    measuring->end = measuring->engine->now;
}

gboolean coll_measure_check(const TopoGraph *graph, gint64 bytes, const char *where, GError **error)
{
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        if (units_pace_fits(units_pace(link->bandwidth), bytes))
            continue;
        g_autofree char *rate = units_format_rate(link->bandwidth);
        g_autofree char *size = units_format_bytes((double)bytes);
        return base_error_set(error, BASE_ERROR_FAILED, where, "%s at %s would take more than a day on one link", size,
                              rate);
    }
    return TRUE;
}

gboolean coll_measure_run(const TopoGraph *graph, CollOp op, const CollAlgo *algo, gint64 bytes,
                          const CollMeasureOptions *options, CollMeasure *out, GError **error)
{
    guint32 ranks = graph->gpus->len;
    if (ranks > COLL_GROUP_RANKS_MAX)
        return base_error_set(error, BASE_ERROR_FAILED, NULL, "found %u GPUs, wanted at most %u", ranks,
                              COLL_GROUP_RANKS_MAX);
    gint64 vector = 0;
    if (__builtin_mul_overflow(bytes, op == COLL_OP_ALL_GATHER_PAYLOAD ? (gint64)ranks : 1, &vector) ||
        !coll_measure_check(graph, vector, NULL, error))
        return error != NULL && *error != NULL
                   ? FALSE
                   : base_error_set(error, BASE_ERROR_FAILED, NULL, "found a size out of range");
    CollMeasureOptions defaults = {0};
    if (options == NULL)
        options = &defaults;
    SimEngine engine;
    SimNetwork network;
    CollFabric fabric;
    CollMeasuring measuring = {.engine = &engine};
    sim_engine_init(&engine, options->queue);
    sim_network_init(&network, &engine, options->chunk > 0 ? options->chunk : COLL_CHUNK_DEFAULT,
                     coll_measure_delivered, &measuring);
    coll_fabric_init(&fabric, graph, &network);
    g_autofree guint32 *members = g_new(guint32, ranks);
    for (guint32 i = 0; i < ranks; i++)
        members[i] = i;
    g_autoptr(CollGroup) group = coll_group_new(0, algo, &fabric, members, ranks, coll_measure_done, &measuring);
    measuring.group = group;
    sim_network_freeze(&network, !options->no_fuse);
    gint64 start = g_get_monotonic_time();
    for (guint32 i = 0; i < ranks; i++)
        coll_group_arrive(group, op, bytes);
    sim_engine_run(&engine);
    gint64 stop = g_get_monotonic_time();
    g_assert(group->left == 0);
    sim_network_finish(&network);
    SimTrace trace;
    sim_trace_init(&trace, FALSE);
    sim_trace_add(&trace, 0, (guint32)op, 0, measuring.end);
    for (guint32 i = 0; i < graph->links->len; i++)
        if (network.link_busy[i] != 0 || network.link_bytes[i] != 0)
            sim_trace_add_link(&trace, i, network.link_bytes[i], network.link_busy[i]);
    *out = (CollMeasure){.time = measuring.end,
                         .messages = network.messages,
                         .events = engine.events,
                         .fingerprint = trace.fingerprint,
                         .wall_s = (double)(stop - start) * 1e-6};
    for (guint32 i = 0; i < ranks; i++) {
        out->sent_mean += (double)group->sent[i] / (double)ranks;
        out->sent_max = MAX(out->sent_max, (double)group->sent[i]);
    }
    sim_trace_clear(&trace);
    coll_fabric_clear(&fabric);
    sim_network_clear(&network);
    sim_engine_clear(&engine);
    return TRUE;
}
