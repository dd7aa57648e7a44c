// tests/test-sim-flow.c: flows take their time where links have room, and share them where they do not.
#include "tests/check.h"

#include "base/hash.h"
#include "sim/flow.h"

enum { ONE = SIM_SHARE_ONE, FLOWS_MAX = 12 };

// A flow to be started, and when it ended.
typedef struct {
    Ps start, time, end;
    guint32 share; // of the one resource
} Planned;

typedef struct {
    SimEngine engine;
    SimFlows flows;
    Planned *planned; // borrowed
    SimUse uses[FLOWS_MAX];
} World;

static void begin(gpointer owner, const SimEvent *event)
{
    World *world = owner;
    world->uses[event->a] = (SimUse){0, world->planned[event->a].share};
    sim_flows_start(&world->flows, event->a, world->planned[event->a].time, &world->uses[event->a],
                    world->planned[event->a].share > 0 ? 1 : 0);
}

static void done(gpointer user, guint32 owner)
{
    World *world = user;
    world->planned[owner].end = world->engine.now;
}

// Runs them; fills when each ended, and how often one was slowed and met another.
static void run(Planned *planned, guint n, SimQueueKind queue, guint64 *slowed, guint64 *met)
{
    World world = {.planned = planned};
    sim_engine_init(&world.engine, queue);
    sim_flows_init(&world.flows, &world.engine, 1, done, &world);
    sim_engine_handle(&world.engine, SIM_HANDLER_TASK, begin, &world);
    for (guint32 i = 0; i < n; i++) {
        planned[i].end = -1;
        SimEvent event = {.time = planned[i].start, .key = i, .handler = SIM_HANDLER_TASK, .a = i};
        sim_engine_push(&world.engine, &event);
    }
    assert_true(sim_engine_run(&world.engine));
    *slowed = world.flows.slowed;
    *met = world.flows.met;
    sim_flows_clear(&world.flows);
    sim_engine_clear(&world.engine);
}

static void test_room(void **state)
{
    (void)state;
    Planned planned[] = {{0, 1000, 0, ONE / 10 * 4},
                         {300, 2000, 0, ONE / 10 * 6},
                         {300, 50, 0, 0},
                         {5000, 0, 0, ONE},
                         {9000, 7, 0, ONE}};
    guint64 slowed, met;
    run(planned, G_N_ELEMENTS(planned), SIM_QUEUE_RADIX, &slowed, &met);
    for (guint i = 0; i < G_N_ELEMENTS(planned); i++)
        assert_int_equal(planned[i].end, planned[i].start + planned[i].time);
    assert_int_equal(slowed, 0);
    assert_int_equal(met, 1); // the second, which found room
}

static void test_shared(void **state)
{
    (void)state;
    static const struct {
        Planned planned[3];
        guint n;
        Ps ends[3];
    } cases[] = {
        {{{0, 1000, 0, ONE}, {0, 1000, 0, ONE}}, 2, {2000, 2000}},
        {{{0, 1000, 0, ONE}, {500, 1000, 0, ONE}}, 2, {1500, 2000}},
        {{{0, 1000, 0, ONE}, {0, 100, 0, ONE}}, 2, {1100, 200}},
        {{{0, 900, 0, ONE}, {0, 900, 0, ONE}, {0, 900, 0, ONE}}, 3, {2700, 2700, 2700}},
        {{{0, 300, 0, ONE / 4 * 3}, {0, 600, 0, ONE / 2}}, 2, {450, 600}}, // two thirds of its rate
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Planned planned[3];
        memcpy(planned, cases[i].planned, sizeof planned);
        guint64 slowed, met;
        run(planned, cases[i].n, SIM_QUEUE_RADIX, &slowed, &met);
        assert_true(slowed > 0);
        assert_int_equal(met, cases[i].n - 1);
        for (guint k = 0; k < cases[i].n; k++)
            if (planned[k].end < cases[i].ends[k] || planned[k].end > cases[i].ends[k] + 3)
                fail_msg("case %u: flow %u ends at %" G_GINT64_FORMAT, i, k, planned[k].end);
    }
}

// Flows that want the whole of one resource: it is never idle while there is work, so the last of a busy
// period ends when all its work is done, rounded up; a flow takes at least its time; another queue agrees.
static void test_random(void **state)
{
    (void)state;
    for (guint64 seed = 0; seed < 2000; seed++) {
        guint n = 1 + (guint)(hash_random(seed, 0) % FLOWS_MAX);
        Planned planned[FLOWS_MAX], again[FLOWS_MAX];
        Ps begins = PS_MAX, work = 0, last = 0;
        for (guint i = 0; i < n; i++) {
            planned[i] =
                (Planned){.start = (Ps)(hash_random(seed, 2 * i + 1) % 5000),
                          .time = 6000 + (Ps)(hash_random(seed, 2 * i + 2) % 100000), // one busy period
                          .share = ONE};
            begins = MIN(begins, planned[i].start);
            work += planned[i].time;
        }
        memcpy(again, planned, sizeof again);
        guint64 slowed, met, other;
        run(planned, n, SIM_QUEUE_RADIX, &slowed, &met);
        run(again, n, SIM_QUEUE_HEAP, &other, &met);
        assert_int_equal(slowed, other);
        for (guint i = 0; i < n; i++) {
            assert_true(planned[i].end >= planned[i].start + planned[i].time);
            assert_int_equal(planned[i].end, again[i].end);
            last = MAX(last, planned[i].end);
        }
        if (last < begins + work || last > begins + work + 3 * n * n)
            fail_msg("case %" G_GUINT64_FORMAT ": the last of %u ends at %" G_GINT64_FORMAT
                     ", wanted %" G_GINT64_FORMAT,
                     seed, n, last, begins + work);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
