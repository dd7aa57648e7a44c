// sim/queue.c: the 4-ary heap and the radix heap.
#include "sim/queue.h"

#include <string.h>

enum { HEAP_LIMIT = 2048 }; // pending events beyond which SIM_QUEUE_AUTO changes to the radix heap (HACKING.md)

void sim_queue_init(SimQueue *queue, SimQueueKind kind)
{
    memset(queue, 0, sizeof *queue);
    queue->radix = kind == SIM_QUEUE_RADIX;
    queue->may_change = kind == SIM_QUEUE_AUTO;
}

void sim_queue_clear(SimQueue *queue)
{
    g_free(queue->heap.events);
    g_free(queue->batch.events);
    g_free(queue->scratch.events);
    for (guint i = 0; i < SIM_QUEUE_BUCKETS; i++)
        g_free(queue->buckets[i].events);
    memset(queue, 0, sizeof *queue);
}

void sim_events_grow(SimEvents *events)
{
    g_assert(events->room < G_MAXUINT32 / 2);
    events->room = MAX(64, events->room * 2);
    events->events = g_renew(SimEvent, events->events, events->room);
}

static inline gboolean sim_event_before(const SimEvent *a, const SimEvent *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->key != b->key)
        return a->key < b->key;
    return a->order < b->order;
}

// One merge of neighbouring runs of a width, from one array to another.
static void sim_events_merge(const SimEvent *from, SimEvent *to, guint32 n, guint32 width)
{
    for (guint32 low = 0; low < n; low += 2 * width) {
        guint32 i = low, middle = MIN(low + width, n), j = middle, high = MIN(low + 2 * width, n), k = low;
        while (i < middle && j < high)
            to[k++] = sim_event_before(&from[j], &from[i]) ? from[j++] : from[i++];
        while (i < middle)
            to[k++] = from[i++];
        while (j < high)
            to[k++] = from[j++];
    }
}

void sim_events_sort(SimEvents *events, SimEvents *scratch)
{
    enum { RUN = 16 };
    SimEvent *at = events->events;
    guint32 n = events->n, sorted = 1;
    while (sorted < n && !sim_event_before(&at[sorted], &at[sorted - 1]))
        sorted++;
    if (sorted >= n) // the usual case: lock-step steps come in order
        return;
    for (guint32 low = 0; low < n; low += RUN) {
        guint32 high = MIN(low + RUN, n);
        for (guint32 i = low + 1; i < high; i++) {
            SimEvent event = at[i];
            guint32 j = i;
            for (; j > low && sim_event_before(&event, &at[j - 1]); j--)
                at[j] = at[j - 1];
            at[j] = event;
        }
    }
    while (scratch->room < n)
        sim_events_grow(scratch);
    for (guint32 width = RUN; width < n; width *= 2) {
        sim_events_merge(events->events, scratch->events, n, width);
        SimEvents swap = *events;
        events->events = scratch->events;
        events->room = scratch->room;
        scratch->events = swap.events;
        scratch->room = swap.room;
    }
}

static void sim_queue_change(SimQueue *queue)
{
    queue->radix = TRUE;
    queue->may_change = FALSE;
    SimEvents heap = queue->heap;
    queue->heap = (SimEvents){0};
    queue->pending -= heap.n;
    for (guint32 i = 0; i < heap.n; i++)
        sim_queue_push(queue, &heap.events[i]);
    g_free(heap.events);
}

void sim_queue_push_heap(SimQueue *queue, const SimEvent *event)
{
    sim_events_add(&queue->heap, event);
    SimEvent *heap = queue->heap.events;
    guint32 at = queue->heap.n - 1;
    while (at > 0) {
        guint32 parent = (at - 1) / 4;
        if (!sim_event_before(event, &heap[parent]))
            break;
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = *event;
    if (queue->may_change && queue->heap.n > HEAP_LIMIT)
        sim_queue_change(queue);
}

static void sim_queue_pop_heap(SimQueue *queue)
{
    SimEvent *heap = queue->heap.events;
    guint32 n = --queue->heap.n;
    SimEvent last = heap[n];
    guint32 at = 0;
    for (;;) {
        guint32 child = 4 * at + 1;
        if (child >= n)
            break;
        guint32 least = child, end = MIN(child + 4, n);
        for (child++; child < end; child++)
            if (sim_event_before(&heap[child], &heap[least]))
                least = child;
        if (!sim_event_before(&heap[least], &last))
            break;
        heap[at] = heap[least];
        at = least;
    }
    heap[at] = last;
}

static void sim_queue_take_heap(SimQueue *queue)
{
    SimEvents *heap = &queue->heap;
    queue->batch.n = 0;
    queue->last = heap->events[0].time;
    do {
        sim_events_add(&queue->batch, &heap->events[0]);
        sim_queue_pop_heap(queue);
    } while (heap->n > 0 && heap->events[0].time == queue->last);
}

// Moves the lowest filled bucket's earliest events into bucket 0 and the others further down.
static void sim_queue_refill(SimQueue *queue)
{
    guint b = 1 + (guint)__builtin_ctzll(queue->filled);
    SimEvents *bucket = &queue->buckets[b];
    queue->filled &= queue->filled - 1;
    Ps least = bucket->events[0].time;
    for (guint32 i = 1; i < bucket->n; i++)
        least = MIN(least, bucket->events[i].time);
    queue->last = least;
    guint32 n = bucket->n;
    bucket->n = 0;
    for (guint32 i = 0; i < n; i++) {
        const SimEvent *event = &bucket->events[i];
        guint64 differs = (guint64)event->time ^ (guint64)least;
        guint lower = differs == 0 ? 0 : 64 - (guint)__builtin_clzll(differs);
        if (lower != 0)
            queue->filled |= G_GUINT64_CONSTANT(1) << (lower - 1);
        sim_events_add(&queue->buckets[lower], event);
    }
}

const SimEvent *sim_queue_pop(SimQueue *queue, guint32 *n)
{
    if (queue->pending == 0)
        return NULL;
    if (!queue->radix) {
        sim_queue_take_heap(queue);
    } else {
        if (queue->buckets[0].n == 0)
            sim_queue_refill(queue);
        SimEvents batch = queue->batch;
        queue->batch = queue->buckets[0];
        queue->buckets[0] = batch;
        queue->buckets[0].n = 0;
        sim_events_sort(&queue->batch, &queue->scratch);
    }
    *n = queue->batch.n;
    queue->pending -= *n;
    return queue->batch.events;
}
