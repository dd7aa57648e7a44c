// sim/stream.c: in-order streams of every rank.
#include "sim/stream.h"

#include <string.h>

static void sim_streams_ended(gpointer owner, const SimEvent *event)
{
    sim_streams_end(owner, event->a, event->b);
}

void sim_streams_init(SimStreams *streams, SimEngine *engine, const SimProgram *program, guint32 ranks,
                      SimTrace *trace, SimJoin join, gpointer user)
{
    guint32 width = sim_program_streams(program);
    g_assert(width > 0 && width < 256 && ranks > 0);
    *streams = (SimStreams){.engine = engine,
                            .program = program,
                            .trace = trace,
                            .ranks = ranks,
                            .width = width,
                            .left = (guint64)ranks * program->ops->len,
                            .join = join,
                            .user = user};
    streams->ended = g_new0(guint32, (gsize)ranks * width);
    streams->started = g_new(Ps, (gsize)ranks * width);
    for (gsize i = 0; i < (gsize)ranks * width; i++)
        streams->started[i] = -1;
    sim_engine_handle(engine, SIM_HANDLER_TASK, sim_streams_ended, streams);
}

void sim_streams_clear(SimStreams *streams)
{
    g_free(streams->ended);
    g_free(streams->started);
    memset(streams, 0, sizeof *streams);
}

// The id of the operation that a rank's stream is at; G_MAXUINT32: it is through.
static guint32 sim_streams_at(const SimStreams *streams, guint32 rank, guint32 stream)
{
    const GArray *order = streams->program->order->pdata[stream];
    guint32 position = streams->ended[(gsize)rank * streams->width + stream];
    return position < order->len ? ((const guint32 *)(const void *)order->data)[position] : G_MAXUINT32;
}

static gboolean sim_streams_ready(const SimStreams *streams, guint32 rank, const SimOp *op)
{
    const SimWait *waits = (const SimWait *)(const void *)streams->program->waits->data;
    for (guint32 i = op->first_wait; i < op->first_wait + op->n_waits; i++)
        if (streams->ended[(gsize)rank * streams->width + waits[i].stream] < waits[i].count)
            return FALSE;
    return TRUE;
}

static void sim_streams_try(SimStreams *streams, guint32 rank, guint32 stream)
{
    gsize slot = (gsize)rank * streams->width + stream;
    if (streams->started[slot] >= 0)
        return;
    guint32 id = sim_streams_at(streams, rank, stream);
    if (id == G_MAXUINT32)
        return;
    const SimOp *op = sim_program_op(streams->program, id);
    if (!sim_streams_ready(streams, rank, op))
        return;
    streams->started[slot] = streams->engine->now;
    if (op->work == SIM_WORK_JOINT) {
        streams->join(streams->user, rank, id);
        return;
    }
    SimEvent end = {.time = streams->engine->now + op->duration,
                    .key = (guint64)rank << 8 | stream,
                    .handler = SIM_HANDLER_TASK,
                    .a = rank,
                    .b = stream};
    sim_engine_push(streams->engine, &end);
}

void sim_streams_start(SimStreams *streams)
{
    for (guint32 rank = 0; rank < streams->ranks; rank++)
        for (guint32 stream = 0; stream < streams->width; stream++)
            sim_streams_try(streams, rank, stream);
}

void sim_streams_end(SimStreams *streams, guint32 rank, guint32 stream)
{
    gsize slot = (gsize)rank * streams->width + stream;
    g_assert(streams->started[slot] >= 0);
    guint32 id = sim_streams_at(streams, rank, stream);
    sim_trace_add(streams->trace, rank, id, streams->started[slot], streams->engine->now);
    streams->started[slot] = -1;
    streams->ended[slot]++;
    streams->left--;
    for (guint32 other = 0; other < streams->width; other++)
        sim_streams_try(streams, rank, other);
}

char *sim_streams_stuck(const SimStreams *streams)
{
    enum { NAMED = 3 };
    if (streams->left == 0)
        return NULL;
    GString *out = g_string_new("the step is stuck: ");
    guint named = 0;
    for (guint32 rank = 0; rank < streams->ranks; rank++) {
        for (guint32 stream = 0; stream < streams->width && named < NAMED; stream++) {
            guint32 id = sim_streams_at(streams, rank, stream);
            if (id == G_MAXUINT32)
                continue;
            gboolean runs = streams->started[(gsize)rank * streams->width + stream] >= 0;
            g_string_append_printf(out, "%srank %u %s '%s'", named == 0 ? "" : ", ", rank,
                                   runs ? "is in" : "waits before",
                                   sim_program_op(streams->program, id)->name);
            named++;
        }
    }
    g_string_append_printf(out, " (%" G_GUINT64_FORMAT " operations have not ended)", streams->left);
    return g_string_free(out, FALSE);
}
