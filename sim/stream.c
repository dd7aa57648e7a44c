// sim/stream.c: in-order streams of every rank.
#include "sim/stream.h"

#include <string.h>

#include "sim/pace.h"

static SimLane *sim_streams_lane(const SimStreams *streams, guint32 rank, guint32 stream)
{
    return &streams->lanes[(gsize)rank * streams->width + stream];
}

static void sim_streams_ended(gpointer owner, const SimEvent *event)
{
    SimStreams *streams = owner;
    if (event->order == sim_streams_lane(streams, event->a, event->b)->generation)
        sim_streams_end(streams, event->a, event->b);
}

// The id of the operation that comes after those of a rank's stream that have ended; G_MAXUINT32: it is
// through.
static guint32 sim_streams_next(const SimStreams *streams, guint32 rank, guint32 stream)
{
    const SimProgram *program = sim_streams_program(streams, rank);
    if (stream >= sim_program_streams(program))
        return G_MAXUINT32;
    const GArray *order = program->order->pdata[stream];
    guint32 position = sim_streams_lane(streams, rank, stream)->ended;
    return position < order->len ? ((const guint32 *)(const void *)order->data)[position] : G_MAXUINT32;
}

void sim_streams_init(SimStreams *streams, SimEngine *engine, const SimProgram *const *programs,
                      const guint32 *runs, guint32 ranks, SimTrace *trace, SimJoin join, gpointer user)
{
    g_assert(ranks > 0);
    *streams = (SimStreams){.engine = engine,
                            .programs = programs,
                            .runs = runs,
                            .trace = trace,
                            .ranks = ranks,
                            .join = join,
                            .user = user};
    for (guint32 rank = 0; rank < ranks; rank++) {
        streams->width = MAX(streams->width, sim_program_streams(sim_streams_program(streams, rank)));
        streams->left += sim_streams_program(streams, rank)->ops->len;
    }
    g_assert(streams->width > 0 && streams->width <= SIM_STREAMS_WIDTH);
    streams->lanes = g_new0(SimLane, (gsize)ranks * streams->width);
    streams->behind = g_new0(guint64, (gsize)ranks * streams->width);
    streams->paced = g_new0(guint64, ranks);
    streams->moving = g_new0(guint32, ranks);
    for (guint32 rank = 0; rank < ranks; rank++)
        for (guint32 stream = 0; stream < streams->width; stream++) {
            SimLane *lane = sim_streams_lane(streams, rank, stream);
            lane->started = -1;
            lane->at = sim_streams_next(streams, rank, stream);
        }
    sim_engine_handle(engine, SIM_HANDLER_TASK, sim_streams_ended, streams);
}

void sim_streams_clear(SimStreams *streams)
{
    g_free(streams->lanes);
    g_free(streams->behind);
    g_free(streams->paced);
    g_free(streams->moving);
    memset(streams, 0, sizeof *streams);
}

// Pushes the end of a timed operation, given the work that it has left now.
static void sim_streams_push(SimStreams *streams, guint32 rank, guint32 stream, guint32 slow)
{
    SimLane *lane = sim_streams_lane(streams, rank, stream);
    lane->generation++;
    SimEvent end = {.time = streams->engine->now +
                            (streams->moving[rank] > 0 ? sim_pace_time(lane->left, slow) : lane->left),
                    .key = (guint64)rank << 8 | stream,
                    .order = lane->generation,
                    .handler = SIM_HANDLER_TASK,
                    .a = rank,
                    .b = stream};
    sim_engine_push(streams->engine, &end);
}

// Starts the operation that comes next.
static void sim_streams_begin(SimStreams *streams, guint32 rank, guint32 stream, const SimOp *op)
{
    SimLane *lane = sim_streams_lane(streams, rank, stream);
    lane->started = streams->engine->now;
    if (op->work == SIM_WORK_JOINT) {
        streams->join(streams->user, rank, lane->at);
        return;
    }
    lane->left = op->duration;
    if (streams->scale != NULL)
        lane->left =
            (Ps)(((__int128)op->duration * streams->scale(streams->scale_user, rank, lane->at) + 999999) /
                 1000000);
    lane->since = streams->engine->now;
    if (op->slow > 0)
        streams->paced[rank] |= (guint64)1 << stream;
    sim_streams_push(streams, rank, stream, op->slow);
}

// Starts the operation that comes next, if it waits for nothing; else the lane stands behind a stream that it
// waits for, and is tried again when an operation of that one has ended. The wait is kept, so that until it
// is over the lanes tell: programs are far larger than a cache.
static inline void sim_streams_try(SimStreams *streams, guint32 rank, guint32 stream)
{
    SimLane *lanes = sim_streams_lane(streams, rank, 0), *lane = &lanes[stream];
    if (lane->started >= 0 || lane->at == G_MAXUINT32)
        return;
    guint64 *behind = &streams->behind[(gsize)rank * streams->width];
    if (lanes[lane->waits.stream].ended < lane->waits.count) {
        behind[lane->waits.stream] |= (guint64)1 << stream;
        return;
    }
    const SimProgram *program = sim_streams_program(streams, rank);
    const SimOp *op = sim_program_op(program, lane->at);
    const SimWait *waits = sim_program_waits(program, lane->at);
    for (guint32 i = 0; i < op->n_waits; i++)
        if (lanes[waits[i].stream].ended < waits[i].count) {
            lane->waits = waits[i];
            behind[waits[i].stream] |= (guint64)1 << stream;
            return;
        }
    sim_streams_begin(streams, rank, stream, op);
}

void sim_streams_start(SimStreams *streams)
{
    for (guint32 rank = 0; rank < streams->ranks; rank++)
        for (guint32 stream = 0; stream < streams->width; stream++)
            sim_streams_try(streams, rank, stream);
}

// The first joint operation of a rank begins to move, or the last has ended: timed ones change their rate.
static void sim_streams_repace(SimStreams *streams, guint32 rank, gboolean was_slow)
{
    for (guint64 left = streams->paced[rank]; left != 0; left &= left - 1) {
        guint32 stream = (guint32)__builtin_ctzll(left);
        SimLane *lane = sim_streams_lane(streams, rank, stream);
        const SimOp *op = sim_program_op(sim_streams_program(streams, rank), lane->at);
        Ps elapsed = streams->engine->now - lane->since;
        lane->left -= MIN(lane->left, was_slow ? sim_pace_done(elapsed, op->slow) : elapsed);
        lane->since = streams->engine->now;
        sim_streams_push(streams, rank, stream, op->slow);
    }
}

void sim_streams_move(SimStreams *streams, guint32 rank, guint32 stream)
{
    SimLane *lane = sim_streams_lane(streams, rank, stream);
    g_assert(lane->started >= 0 && !lane->moving);
    lane->started = streams->engine->now;
    lane->moving = TRUE;
    if (streams->moving[rank]++ == 0)
        sim_streams_repace(streams, rank, FALSE);
}

void sim_streams_end(SimStreams *streams, guint32 rank, guint32 stream)
{
    SimLane *lane = sim_streams_lane(streams, rank, stream);
    g_assert(lane->started >= 0);
    sim_trace_add(streams->trace, rank, lane->at, lane->started, streams->engine->now);
    lane->started = -1;
    streams->paced[rank] &= ~((guint64)1 << stream);
    lane->ended++;
    lane->at = sim_streams_next(streams, rank, stream);
    lane->waits = (SimWait){0};
    streams->left--;
    if (lane->moving) {
        lane->moving = FALSE;
        if (--streams->moving[rank] == 0)
            sim_streams_repace(streams, rank, TRUE);
    }
    guint64 *behind = &streams->behind[(gsize)rank * streams->width + stream];
    guint64 tried = *behind | (guint64)1 << stream; // nobody else waits for what has ended
    *behind = 0;
    for (; tried != 0; tried &= tried - 1)
        sim_streams_try(streams, rank, (guint32)__builtin_ctzll(tried));
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
            const SimLane *lane = sim_streams_lane(streams, rank, stream);
            if (lane->at == G_MAXUINT32)
                continue;
            g_autofree char *title = sim_program_title(sim_streams_program(streams, rank), lane->at);
            g_string_append_printf(out, "%srank %u %s '%s'", named == 0 ? "" : ", ", rank,
                                   lane->started >= 0 ? "is in" : "waits before", title);
            named++;
        }
    }
    g_string_append_printf(out, " (%" G_GUINT64_FORMAT " operations have not ended)", streams->left);
    return g_string_free(out, FALSE);
}
