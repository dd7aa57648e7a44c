// sim/queue.h: pending events in a total order.
//
// Order: time, then key, then order. The key is made of the event's content (who, which message), with bit 63
// set for starts, so that at one instant what ends comes before what starts, and ties never depend on who
// pushed first. No two pending events may agree in all three.
//
// Two queues behind one interface give the same order (tests hold them equal): a radix heap (Ahuja, Mehlhorn,
// Orlin and Tarjan, "Faster algorithms for the shortest path problem", JACM 1990), which is the quicker one
// at every size (HACKING.md has the measurement), and a 4-ary heap, which is there to check it. Both are
// monotone: nothing may be pushed before the time that was popped last.
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
    SIM_QUEUE_RADIX,
    SIM_QUEUE_HEAP,
    SIM_QUEUE_KINDS,
} SimQueueKind;

extern const char *const SIM_QUEUE_NAMES[]; // "radix", "heap", NULL

typedef struct {
    SimEvent *events; // owned
    guint32 n, room;
} SimEvents;

// The radix heap's digits: 4 bits each, so that an event moves at most 16 times, and seldom more than 4.
enum { SIM_QUEUE_BITS = 4, SIM_QUEUE_DIGITS = 1 << SIM_QUEUE_BITS, SIM_QUEUE_LEVELS = 64 / SIM_QUEUE_BITS };

typedef struct {
    SimQueueKind kind; //
    SimEvents heap;    //
    SimEvents now;     // events of time last
    // Others by the highest digit in which their time differs from last, and the value of that digit.
    SimEvents buckets[SIM_QUEUE_LEVELS][SIM_QUEUE_DIGITS];
    guint32 levels;                   // bit l: some bucket of level l is not empty
    guint16 digits[SIM_QUEUE_LEVELS]; // bit d of [l]: buckets[l][d] is not empty
    Ps last;                          // time popped last
    SimEvents batch;                  // what pop handed out
    SimEvents scratch;                // for sorting
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

static inline void sim_queue_push_radix(SimQueue *queue, const SimEvent *event)
{
    guint64 differs = (guint64)event->time ^ (guint64)queue->last;
    if (differs == 0) {
        sim_events_add(&queue->now, event);
        return;
    }
    guint level = (63 - (guint)__builtin_clzll(differs)) / SIM_QUEUE_BITS;
    guint digit = (guint)((guint64)event->time >> (level * SIM_QUEUE_BITS)) % SIM_QUEUE_DIGITS;
    queue->levels |= 1u << level;
    queue->digits[level] |= (guint16)(1u << digit);
    sim_events_add(&queue->buckets[level][digit], event);
}

static inline void sim_queue_push(SimQueue *queue, const SimEvent *event)
{
    g_assert(event->time >= queue->last);
    queue->pending++;
    if (queue->kind == SIM_QUEUE_HEAP)
        sim_queue_push_heap(queue, event);
    else
        sim_queue_push_radix(queue, event);
}

// Pops all events of the earliest time, in order: a borrowed array that is valid until the next pop. NULL
// when nothing is pending. Events of the same time that are pushed meanwhile form the next batch.
const SimEvent *sim_queue_pop(SimQueue *queue, guint32 *n);
