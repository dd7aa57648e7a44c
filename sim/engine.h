// sim/engine.h: the clock and the loop.
//
// At each instant the engine first runs what ends (tasks, messages delivered) in order of key, then what
// starts (messages that reach a link) in order of key, including what the ends have just caused to start.
// What these cause at the same instant forms another round. So the order in which messages enter a link
// follows from what they are, never from the order of pushing, and every queue gives the same run.
#pragma once

#include <glib.h>

#include "sim/queue.h"

// Who runs an event.
typedef enum {
    SIM_HANDLER_TASK,    // sim/stream: an operation has ended
    SIM_HANDLER_DELIVER, // sim/message: a message has arrived
    SIM_HANDLER_ARRIVE,  // sim/message: a chunk's head has reached a link
    SIM_HANDLER_FLOW,    // sim/flow: a flow has ended
    SIM_HANDLERS,
} SimHandlerId;

typedef void (*SimHandler)(gpointer owner, const SimEvent *event);

typedef struct {
    Ps now;
    guint64 events;   // run so far
    SimQueue queue;   //
    SimEvents starts; // gathered at this instant
    SimEvents scratch;
    gboolean gathering; // the ends of this instant are being run
    struct {
        SimHandler run;
        gpointer owner; // borrowed
    } handlers[SIM_HANDLERS];
    gboolean (*tick)(gpointer owner, Ps now,
                     guint64 events); // about every million events; FALSE stops the run
    gpointer tick_owner;              // borrowed
} SimEngine;

void sim_engine_init(SimEngine *engine, SimQueueKind queue);
void sim_engine_clear(SimEngine *engine);
void sim_engine_handle(SimEngine *engine, SimHandlerId id, SimHandler run, gpointer owner);

// event->time >= now. (handler, key and order make it unique; see sim/queue.h)
static inline void sim_engine_push(SimEngine *engine, const SimEvent *event)
{
    if (engine->gathering && (event->key & SIM_EVENT_START) != 0 && event->time == engine->now)
        sim_events_add(&engine->starts, event);
    else
        sim_queue_push(&engine->queue, event);
}

// Runs until nothing is pending (TRUE) or tick said stop (FALSE).
gboolean sim_engine_run(SimEngine *engine);
