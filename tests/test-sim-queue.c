// tests/test-sim-queue.c: both queues pop the same events in the same total order.
#include "tests/check.h"

#include "base/hash.h"
#include "sim/queue.h"

// A mixed life: pushes at times from a seed (many ties where spread is small), pops a batch now and then,
// pushes more at the time just popped. Returns a checksum of the order of popping.
static guint64 live(SimQueueKind kind, guint64 seed, guint64 spread, guint rounds)
{
    SimQueue queue;
    sim_queue_init(&queue, kind);
    guint64 sum = 0, drawn = 0;
    Ps now = 0;
    for (guint round = 0; round < rounds; round++) {
        guint pushes = (guint)(hash_random(seed, drawn++) % 40);
        for (guint i = 0; i < pushes; i++) {
            guint64 r = hash_random(seed, drawn++);
            guint64 key = hash_random(seed, drawn++) & ~1u;
            SimEvent event = {
                .time = now + (Ps)(r % spread), .key = key, .order = (guint32)i, .a = (guint32)drawn};
            sim_queue_push(&queue, &event);
            if (r % 7 == 0) { // the same time and key, told apart by order only
                event.order += 1000;
                sim_queue_push(&queue, &event);
            }
        }
        if (hash_random(seed, drawn++) % 3 != 0 && round + 1 < rounds)
            continue;
        guint32 n = 0;
        const SimEvent *batch = sim_queue_pop(&queue, &n);
        if (batch == NULL)
            continue;
        assert_true(batch[0].time >= now);
        now = batch[0].time;
        for (guint32 i = 0; i < n; i++) {
            assert_int_equal(batch[i].time, now);
            if (i > 0)
                assert_true(batch[i - 1].key < batch[i].key ||
                            (batch[i - 1].key == batch[i].key && batch[i - 1].order < batch[i].order));
            sum = hash_add(hash_add(sum, batch[i].a), (guint64)now);
        }
        if (n > 0 && round % 5 == 0) { // a push at the present instant makes a new batch of it
            SimEvent again = {.time = now, .key = drawn};
            sim_queue_push(&queue, &again);
            batch = sim_queue_pop(&queue, &n);
            assert_non_null(batch);
            assert_int_equal(batch[0].time, now);
            assert_int_equal(n, 1);
        }
    }
    guint32 n = 0;
    const SimEvent *batch;
    while ((batch = sim_queue_pop(&queue, &n)) != NULL)
        for (guint32 i = 0; i < n; i++)
            sum = hash_add(hash_add(sum, batch[i].a), (guint64)batch[i].time);
    assert_int_equal(queue.pending, 0);
    sim_queue_clear(&queue);
    return sum;
}

static void test_same_order(void **state)
{
    (void)state;
    static const guint64 spreads[] = {1, 3, 1000, G_GUINT64_CONSTANT(1) << 40};
    for (guint i = 0; i < G_N_ELEMENTS(spreads); i++) {
        for (guint64 seed = 0; seed < 12; seed++) {
            guint64 heap = live(SIM_QUEUE_HEAP, seed, spreads[i], 600);
            assert_true(heap == live(SIM_QUEUE_RADIX, seed, spreads[i], 600));
        }
        assert_true(live(SIM_QUEUE_RADIX, 99, spreads[i], 0) == 0);
    }
}

static void test_order_of_pushing(void **state)
{
    (void)state;
    enum { N = 5000 };
    for (guint kind = 0; kind < SIM_QUEUE_KINDS; kind++) {
        guint64 sums[2] = {0};
        for (guint way = 0; way < 2; way++) {
            SimQueue queue;
            sim_queue_init(&queue, (SimQueueKind)kind);
            for (guint i = 0; i < N; i++) {
                guint which = way == 0 ? i : N - 1 - i;
                SimEvent event = {.time = (Ps)(which % 7), .key = hash_mix(which), .a = which};
                sim_queue_push(&queue, &event);
            }
            guint32 n = 0, all = 0;
            const SimEvent *batch;
            while ((batch = sim_queue_pop(&queue, &n)) != NULL)
                for (guint32 i = 0; i < n; i++, all++)
                    sums[way] = hash_add(sums[way], batch[i].a);
            assert_int_equal(all, N);
            sim_queue_clear(&queue);
        }
        assert_true(sums[0] == sums[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_order),
        cmocka_unit_test(test_order_of_pushing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
