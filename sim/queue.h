// sim/queue.h: pending events in a total order.
//
// Order: time, then key, then order. The key is made of the event's content (who, which message), with bit 63 set
// for starts, so that at one instant what ends comes before what starts, and ties never depend on who pushed first.
// No two pending events may agree in all three.
//
// Two queues behind one interface give the same order (tests hold them equal): a 4-ary heap, quick while few events
// are pending, and a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path
// problem", JACM 1990), quick when many are, and when many fall on one instant. Both are monotone: nothing may be
// pushed before the time that was popped last. SIM_QUEUE_AUTO starts as a heap and changes over once.
#pragma once

#include <glib.h>

#include "base/units.h"

#define SIM_EVENT_START (G_GUINT64_CONSTANT(1) << 63)

typedef struct {
    Ps time;
    guint64 key;
    guint32 order;   // which chunk of a message
    guint32 handler; // who runs it (sim/engine.h)
    guint32 a, b;    // the handler's words
} SimEvent;

typedef enum {
    SIM_QUEUE_AUTO,
    SIM_QUEUE_HEAP,
    SIM_QUEUE_RADIX,
} SimQueueKind;

typedef struct {
    SimEvent *events; // owned
    guint32 n, room;
} SimEvents;

enum { SIM_QUEUE_BUCKETS = 65 };

typedef struct {
    gboolean radix;                       // which of the two it is now
    gboolean may_change;                  // SIM_QUEUE_AUTO that is still a heap
    SimEvents heap;                       //
    SimEvents buckets[SIM_QUEUE_BUCKETS]; // by highest bit in which time differs from last; 0: equal to last
    guint64 filled;                       // bit b - 1: buckets[b] is not empty (b >= 1)
    Ps last;                              // time popped last
    SimEvents batch;                      // what pop handed out
    SimEvents scratch;                    // for sorting
    gsize pending;
} SimQueue;

void sim_queue_init(SimQueue *queue, SimQueueKind kind);
void sim_queue_clear(SimQueue *queue);

// Appends to a growing array of events.
void sim_events_grow(SimEvents *events);
static inline void sim_events_add(SimEvents *events, const SimEvent *event)
{
    if (G_UNLIKELY(events->n == events->room))
        sim_events_grow(events);
    events->events[events->n++] = *event;
}

// Sorts by (key, order); for events of one time. scratch is work space.
void sim_events_sort(SimEvents *events, SimEvents *scratch);

void sim_queue_push_heap(SimQueue *queue, const SimEvent *event);

static inline void sim_queue_push(SimQueue *queue, const SimEvent *event)
{
    g_assert(event->time >= queue->last);
    queue->pending++;
    if (!queue->radix) {
        sim_queue_push_heap(queue, event);
        return;
    }
    guint64 differs = (guint64)event->time ^ (guint64)queue->last;
    guint bucket = differs == 0 ? 0 : 64 - (guint)__builtin_clzll(differs);
    if (bucket != 0)
        queue->filled |= G_GUINT64_CONSTANT(1) << (bucket - 1);
    sim_events_add(&queue->buckets[bucket], event);
}

// Pops all events of the earliest time, in order: a borrowed array that is valid until the next pop. NULL when
// nothing is pending. Events of the same time that are pushed meanwhile form the next batch.
const SimEvent *sim_queue_pop(SimQueue *queue, guint32 *n);
