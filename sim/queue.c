// sim/queue.c: the 4-ary heap and the radix heap.
#include "sim/queue.h"

#include <string.h>

const char *const SIM_QUEUE_NAMES[] = {"radix", "heap", NULL};

void sim_queue_init(SimQueue *queue, SimQueueKind kind)
{
    memset(queue, 0, sizeof *queue);
    queue->kind = kind;
}

void sim_queue_clear(SimQueue *queue)
{
    g_free(queue->heap.events);
    g_free(queue->batch.events);
    g_free(queue->scratch.events);
    g_free(queue->now.events);
    for (guint level = 0; level < SIM_QUEUE_LEVELS; level++)
        for (guint digit = 0; digit < SIM_QUEUE_DIGITS; digit++)
            g_free(queue->buckets[level][digit].events);
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

// Moves the first filled bucket's earliest events to now and the others to lower levels, which are all empty.
static void sim_queue_refill(SimQueue *queue)
{
    guint level = (guint)__builtin_ctz(queue->levels);
    guint digit = (guint)__builtin_ctz(queue->digits[level]);
    SimEvents *bucket = &queue->buckets[level][digit];
    queue->digits[level] &= (guint16)(queue->digits[level] - 1);
    if (queue->digits[level] == 0)
        queue->levels &= queue->levels - 1;
    guint32 n = bucket->n;
    const SimEvent *events = bucket->events;
    Ps least = events[0].time;
    for (guint32 i = 1; i < n; i++)
        least = MIN(least, events[i].time);
    queue->last = least;
    bucket->n = 0;
    for (guint32 i = 0; i < n; i++)
        sim_queue_push_radix(queue, &events[i]);
}

const SimEvent *sim_queue_pop(SimQueue *queue, guint32 *n)
{
    if (queue->pending == 0)
        return NULL;
    if (queue->kind == SIM_QUEUE_HEAP) {
        sim_queue_take_heap(queue);
    } else {
        if (queue->now.n == 0)
            sim_queue_refill(queue);
        SimEvents batch = queue->batch;
        queue->batch = queue->now;
        queue->now = batch;
        queue->now.n = 0;
        sim_events_sort(&queue->batch, &queue->scratch);
    }
    *n = queue->batch.n;
    queue->pending -= *n;
    return queue->batch.events;
}
