// sim/engine.c: the loop.
#include "sim/engine.h"

#include <string.h>

void sim_engine_init(SimEngine *engine, SimQueueKind queue)
{
    memset(engine, 0, sizeof *engine);
    sim_queue_init(&engine->queue, queue);
}

void sim_engine_clear(SimEngine *engine)
{
    sim_queue_clear(&engine->queue);
    g_free(engine->starts.events);
    g_free(engine->scratch.events);
    memset(engine, 0, sizeof *engine);
}

void sim_engine_handle(SimEngine *engine, SimHandlerId id, SimHandler run, gpointer owner)
{
    engine->handlers[id].run = run;
    engine->handlers[id].owner = owner;
}

static inline void sim_engine_dispatch(SimEngine *engine, const SimEvent *event)
{
    engine->handlers[event->handler].run(engine->handlers[event->handler].owner, event);
}

gboolean sim_engine_run(SimEngine *engine)
{
    enum { TICK = 1 << 20 };
    guint64 next_tick = engine->events + TICK;
    const SimEvent *batch;
    guint32 n;
    while ((batch = sim_queue_pop(&engine->queue, &n)) != NULL) {
        engine->now = batch[0].time;
        guint32 ends = 0;
        engine->gathering = TRUE;
        for (; ends < n && (batch[ends].key & SIM_EVENT_START) == 0; ends++)
            sim_engine_dispatch(engine, &batch[ends]);
        engine->gathering = FALSE;
        for (guint32 i = ends; i < n; i++)
            sim_events_add(&engine->starts, &batch[i]);
        engine->events += ends + engine->starts.n;
        if (engine->starts.n > 1)
            sim_events_sort(&engine->starts, &engine->scratch);
        for (guint32 i = 0; i < engine->starts.n; i++)
            sim_engine_dispatch(engine, &engine->starts.events[i]);
        engine->starts.n = 0;
        if (G_UNLIKELY(engine->events >= next_tick)) {
            next_tick = engine->events + TICK;
            if (engine->tick != NULL && !engine->tick(engine->tick_owner, engine->now, engine->events))
                return FALSE;
        }
    }
    return TRUE;
}
