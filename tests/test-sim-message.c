// tests/test-sim-message.c: messages take the time of the closed form alone, share links in turn, and never
// exceed one.
#include "tests/check.h"

#include "base/hash.h"
#include "sim/message.h"

enum { SENT_MAX = 400 };

// A little world: links, routes, messages sent at given times, and when each arrived.
typedef struct {
    SimEngine engine;
    SimNetwork network;
    Ps arrived[SENT_MAX];
} World;

static void world_delivered(gpointer user, const SimFlight *flight)
{
    World *world = user;
    world->arrived[flight->from] = world->engine.now;
}

// The sends are caused by events of their own: tasks, which end before messages start.
typedef struct {
    World *world;
    SimFlight flights[SENT_MAX];
} Sender;

static void sender_send(gpointer owner, const SimEvent *event)
{
    Sender *sender = owner;
    sim_network_send(&sender->world->network, &sender->flights[event->a], 0);
}

static void world_init(World *world, Sender *sender, SimQueueKind queue, gint64 chunk)
{
    memset(world, 0, sizeof *world);
    sim_engine_init(&world->engine, queue);
    sim_network_init(&world->network, &world->engine, chunk, world_delivered, world);
    sender->world = world;
    sim_engine_handle(&world->engine, SIM_HANDLER_TASK, sender_send, sender);
}

static void world_send(World *world, Sender *sender, guint32 which, guint32 route, gint64 bytes, Ps time)
{
    sender->flights[which] = (SimFlight){.bytes = bytes, .key = which, .route = route, .from = which};
    SimEvent event = {.time = time, .key = which, .handler = SIM_HANDLER_TASK, .a = which};
    sim_engine_push(&world->engine, &event);
}

static void world_clear(World *world)
{
    sim_network_clear(&world->network);
    sim_engine_clear(&world->engine);
}

// One message alone over a chain of links.
static Ps alone(const double *rates, const Ps *latencies, guint n, gint64 bytes, gint64 chunk, gboolean fuse)
{
    World world;
    g_autofree Sender *sender = g_new0(Sender, 1);
    world_init(&world, sender, SIM_QUEUE_RADIX, chunk);
    guint32 ids[8];
    for (guint i = 0; i < n; i++)
        ids[i] = sim_network_add_link(&world.network, rates[i], latencies[i]);
    guint32 route = sim_routes_add(&world.network.routes, ids, n);
    sim_network_freeze(&world.network, fuse);
    world_send(&world, sender, 0, route, bytes, 0);
    assert_true(sim_engine_run(&world.engine));
    sim_network_finish(&world.network);
    for (guint i = 0; i < n; i++) {
        assert_int_equal(world.network.link_bytes[i], bytes);
        assert_int_equal(world.network.link_busy[i], units_pace_time(units_pace(rates[i]), bytes));
    }
    Ps time = world.arrived[0];
    world_clear(&world);
    return time;
}

static void test_alone(void **state)
{
    (void)state;
    static const double rates[][3] = {
        {50e9, 50e9, 50e9},   {450e9, 50e9, 450e9}, {50e9, 450e9, 12.5e9},
        {12.5e9, 25e9, 50e9}, {7e9, 3e9, 9e9},
    };
    static const Ps latencies[] = {5000000, 1, 333};
    static const gint64 sizes[] = {0, 1, 7, 4096, 1 << 20, 123456789, G_GINT64_CONSTANT(13476298752)};
    static const gint64 chunks[] = {G_GINT64_CONSTANT(32) << 20, 1 << 20, G_GINT64_CONSTANT(1) << 50};
    for (guint r = 0; r < G_N_ELEMENTS(rates); r++) {
        for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
            for (guint n = 1; n <= 3; n++) {
                double least = rates[r][0];
                Ps wanted = 0;
                for (guint i = 0; i < n; i++) {
                    least = MIN(least, rates[r][i]);
                    wanted += latencies[i];
                }
                wanted += units_pace_time(units_pace(least), sizes[s]);
                for (guint c = 0; c < G_N_ELEMENTS(chunks); c++) {
                    assert_int_equal(alone(rates[r], latencies, n, sizes[s], chunks[c], TRUE), wanted);
                    assert_int_equal(alone(rates[r], latencies, n, sizes[s], chunks[c], FALSE), wanted);
                }
            }
        }
    }
}

// Two messages of 10 chunks on one link: both take the time of 20 chunks, the first to come one chunk less.
static void test_share(void **state)
{
    (void)state;
    World world;
    g_autofree Sender *sender = g_new0(Sender, 1);
    world_init(&world, sender, SIM_QUEUE_RADIX, 1000);
    guint32 link = sim_network_add_link(&world.network, 1e9, 500); // 1,000 ps a byte
    guint32 route = sim_routes_add(&world.network.routes, &link, 1);
    sim_network_freeze(&world.network, TRUE);
    world_send(&world, sender, 0, route, 10000, 0);
    world_send(&world, sender, 1, route, 10000, 0);
    world_send(&world, sender, 2, route, 0, 1); // empty: waits for nobody
    assert_true(sim_engine_run(&world.engine));
    assert_int_equal(world.arrived[0], 19 * 1000000 + 500);
    assert_int_equal(world.arrived[1], 20 * 1000000 + 500);
    assert_int_equal(world.arrived[2], 501);
    world_clear(&world);
}

// A random network of 12 links, 20 routes, 200 messages: the arrivals, folded into one word.
static guint64 random_world(guint64 seed, SimQueueKind queue, gboolean fuse, gboolean backwards)
{
    enum { LINKS = 12, ROUTES = 20, SENDS = 200 };
    static const double rates[] = {50e9, 450e9, 12.5e9, 50e9};
    World world;
    g_autofree Sender *sender = g_new0(Sender, 1);
    guint64 drawn = 0;
    world_init(&world, sender, queue, 64 << 10);
    for (guint i = 0; i < LINKS; i++) {
        double rate = rates[hash_random(seed, drawn++) % 4];
        sim_network_add_link(&world.network, rate, (Ps)(hash_random(seed, drawn++) % 3 * 1000000));
    }
    for (guint i = 0; i < ROUTES; i++) {
        // Link l leads to link 2l % 12 or the one after it, so that some are fed by one link only.
        guint32 ids[4];
        guint n = 1 + (guint)(hash_random(seed, drawn++) % 4);
        ids[0] = (guint32)(hash_random(seed, drawn++) % LINKS);
        for (guint j = 1; j < n; j++)
            ids[j] = (ids[j - 1] * 2 + (guint32)(hash_random(seed, drawn++) % 2)) % LINKS;
        sim_routes_add(&world.network.routes, ids, n);
    }
    sim_network_freeze(&world.network, fuse);
    for (guint k = 0; k < SENDS; k++) {
        guint i = backwards ? SENDS - 1 - k : k;
        guint64 r = hash_random(seed + 1, i);
        gint64 bytes = r % 5 == 0 ? 0 : (gint64)(r % 300000);
        world_send(&world, sender, i, (guint32)(hash_random(seed + 2, i) % ROUTES), bytes,
                   (Ps)(hash_random(seed + 3, i) % 20 * 1000000));
    }
    assert_true(sim_engine_run(&world.engine));
    sim_network_finish(&world.network);
    guint64 sum = 0;
    Ps end = 0;
    for (guint i = 0; i < SENDS; i++) {
        sum = hash_add(sum, (guint64)world.arrived[i]);
        end = MAX(end, world.arrived[i]);
    }
    for (guint i = 0; i < LINKS; i++) {
        assert_true(world.network.link_busy[i] <= end); // never over capacity
        sum = hash_add(sum, (guint64)world.network.link_busy[i]);
    }
    world_clear(&world);
    return sum;
}

static void test_exact_shortcut(void **state)
{
    (void)state;
    for (guint64 seed = 0; seed < 300; seed++) {
        guint64 plain = random_world(seed, SIM_QUEUE_HEAP, FALSE, FALSE);
        assert_true(plain == random_world(seed, SIM_QUEUE_HEAP, TRUE, FALSE));
        assert_true(plain == random_world(seed, SIM_QUEUE_RADIX, TRUE, FALSE));
        assert_true(plain ==
                    random_world(seed, SIM_QUEUE_RADIX, FALSE, TRUE)); // pushed in the opposite order
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_exact_shortcut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
