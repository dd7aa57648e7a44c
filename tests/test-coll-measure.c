// tests/test-coll-measure.c: simulated collectives take the time of their closed forms, to the picosecond.
#include "tests/check.h"

#include "base/hash.h"
#include "coll/choice.h"
#include "coll/closed.h"
#include "coll/measure.h"

static TopoGraph *star(guint gpus, double rate, Ps up, Ps down)
{
    TopoGraph *graph = topo_graph_new();
    guint32 hub = topo_graph_add_node(graph, TOPO_NODE_NVSWITCH, 0);
    for (guint i = 0; i < gpus; i++) {
        guint32 gpu = topo_graph_add_node(graph, TOPO_NODE_GPU, 0);
        topo_graph_add_link(graph, gpu, hub, TOPO_LINK_NVLINK, rate, up);
        topo_graph_add_link(graph, hub, gpu, TOPO_LINK_NVLINK, rate, down);
    }
    g_autoptr(GError) error = NULL;
    topo_graph_check(graph, NULL, &error);
    check_fine(error);
    return graph;
}

static CollMeasure measure(const TopoGraph *graph, CollOp op, const CollAlgo *algo, gint64 bytes,
                           const CollMeasureOptions *options)
{
    CollMeasure out;
    g_autoptr(GError) error = NULL;
    CollMeasureOptions own = options != NULL ? *options : (CollMeasureOptions){0};
    own.choose = algo;
    coll_measure_run(graph, op, bytes, &own, &out, &error);
    check_fine(error);
    return out;
}

// The documents' vector: 52.477828, 531.889263, 542.046278 and 558.985532 ms.
static void test_documents(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        guint ranks;
        double ms;
    } cases[] = {
        {"deck-nvlink-8", 8, 52.477828},
        {"deck-network-400g", 64, 531.889263},
        {"deck-network-400g", 256, 542.046278},
        {"deck-network-400g", 1024, 558.985532},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(cases[i].machine, cases[i].ranks, NULL, &error);
        check_fine(error);
        CollMeasure out = measure(machine->graph, COLL_OP_ALL_REDUCE, &COLL_RING, 13476298752, NULL);
        g_autofree char *found = g_strdup_printf("%.6f", units_seconds(out.time) * 1e3);
        g_autofree char *wanted = g_strdup_printf("%.6f", cases[i].ms);
        assert_string_equal(found, wanted);
    }
}

// Every operation, number of ranks and size where nothing contends; p that divides nothing, 1 byte, 0 bytes.
static void test_closed(void **state)
{
    (void)state;
    static const guint ranks[] = {1, 2, 3, 5, 7, 8, 12, 33};
    static const gint64 sizes[] = {0, 1, 11, 4095, 1000003, 1 << 28, G_GINT64_CONSTANT(13476298752)};
    static const double rates[] = {450e9, 50e9, 7e9};
    static const struct {
        Ps up, down;
    } latencies[] = {{2500000, 2500000}, {3, 0}, {0, 0}};
    for (guint r = 0; r < G_N_ELEMENTS(ranks); r++) {
        for (guint b = 0; b < G_N_ELEMENTS(rates); b++) {
            for (guint l = 0; l < G_N_ELEMENTS(latencies); l++) {
                g_autoptr(TopoGraph) graph = star(ranks[r], rates[b], latencies[l].up, latencies[l].down);
                Ps alpha = latencies[l].up + latencies[l].down;
                UnitsPace pace = units_pace(rates[b]);
                for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
                    guint p = ranks[r];
                    gint64 m = sizes[s];
                    Ps piece = alpha + units_pace_time(pace, (m + p - 1) / p),
                       payload = alpha + units_pace_time(pace, m);
                    Ps reduce = measure(graph, COLL_OP_ALL_REDUCE, &COLL_RING, m, NULL).time;
                    Ps scatter = measure(graph, COLL_OP_REDUCE_SCATTER, &COLL_RING, m, NULL).time;
                    Ps gather = measure(graph, COLL_OP_ALL_GATHER, &COLL_RING, m, NULL).time;
                    assert_int_equal(reduce, 2 * (p - 1) * piece);
                    assert_int_equal(scatter, (p - 1) * piece);
                    assert_int_equal(gather, (p - 1) * piece);
                    assert_int_equal(reduce, scatter + gather); // an all-reduce is one after the other
                    assert_int_equal(measure(graph, COLL_OP_ALL_GATHER_PAYLOAD, &COLL_RING, m, NULL).time,
                                     (p - 1) * payload);
                    guint rounds = 0;
                    while ((1u << rounds) < p)
                        rounds++;
                    assert_int_equal(measure(graph, COLL_OP_ALL_REDUCE, &COLL_BINOMIAL_TREE, m, NULL).time,
                                     2 * rounds * payload);
                }
            }
        }
    }
}

// 16-fold compression of a gradient saves far less than 16-fold on the wire once there are many workers.
static void test_compression(void **state)
{
    (void)state;
    gint64 gradient = 1 << 28;
    double last = 16;
    for (guint p = 2; p <= 64; p *= 2) {
        g_autoptr(TopoGraph) graph = star(p, 50e9, 5000000, 5000000);
        double whole = measure(graph, COLL_OP_ALL_REDUCE, &COLL_RING, gradient, NULL).sent_mean;
        double packed = measure(graph, COLL_OP_ALL_GATHER_PAYLOAD, &COLL_RING, gradient / 16, NULL).sent_mean;
        double saving = whole / packed;
        assert_true(saving < last || p == 2);
        assert_true(ABS(saving - 32.0 / p) < 1e-9);
        last = saving;
    }
    assert_true(last < 1); // at 64 workers it costs more than it saves
}

// A ring over unequal links, against its own recurrence: a send enters its link when the piece is there and
// the link is free; one link a hop.
static void test_unequal(void **state)
{
    (void)state;
    for (guint64 seed = 0; seed < 40; seed++) {
        guint p = 2 + (guint)(hash_random(seed, 0) % 9);
        gint64 bytes = (gint64)(hash_random(seed, 1) % 100000000);
        g_autoptr(TopoGraph) graph = topo_graph_new();
        guint32 gpu[16];
        double rate[16];
        Ps latency[16];
        for (guint i = 0; i < p; i++)
            gpu[i] = topo_graph_add_node(graph, TOPO_NODE_GPU, 0);
        for (guint i = 0; i < p; i++) {
            rate[i] = 1e9 * (double)(1 + hash_random(seed, 10 + i) % 100);
            latency[i] = (Ps)(hash_random(seed, 50 + i) % 20000000);
            topo_graph_add_link(graph, gpu[i], gpu[(i + 1) % p], TOPO_LINK_NVLINK, rate[i], latency[i]);
        }
        graph->gpu_forward = TRUE; // a one-way ring: reachable only through GPUs
        g_autoptr(GError) error = NULL;
        topo_graph_check(graph, NULL, &error);
        check_fine(error);
        Ps there[16] = {0}, free[16] = {0}, end = 0;
        for (guint step = 0; step < 2 * (p - 1); step++) {
            Ps next[16] = {0};
            for (guint r = 0; r < p; r++) {
                guint piece = (r + 2 * p - 1 - step) % p;
                gint64 n = bytes / p + (piece < bytes % p);
                Ps head = n == 0 ? there[r] : MAX(there[r], free[r]);
                Ps out = head + units_pace_time(units_pace(rate[r]), n);
                free[r] = MAX(free[r], out);
                next[(r + 1) % p] = out + latency[r];
                end = MAX(end, out + latency[r]);
            }
            memcpy(there, next, sizeof there);
        }
        assert_int_equal(measure(graph, COLL_OP_ALL_REDUCE, &COLL_RING, bytes, NULL).time, end);
    }
}

// Queues, shortcuts and chunks never change what comes out; links carry just what ranks sent.
static void test_same(void **state)
{
    (void)state;
    static const char *const machines[] = {"deck-network-400g", "h100-8rail",    "wan-2x32",
                                           "pcie4-8",           "deck-nvlink-8", "tpu-v4"};
    for (guint m = 0; m < G_N_ELEMENTS(machines); m++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(machines[m], 0, NULL, &error);
        check_fine(error);
        for (guint a = 0; COLL_ALGOS[a] != NULL; a++) {
            guint64 fingerprint = 0;
            if (!COLL_ALGOS[a]->ops[COLL_OP_ALL_REDUCE] || COLL_ALGOS[a]->switches != coll_algo_no_switches ||
                (COLL_ALGOS[a] == &COLL_TORUS && !machine->graph->gpu_forward))
                continue;
            for (guint way = 0; way < 4; way++) {
                CollMeasureOptions options = {.queue = way % 2 == 0 ? SIM_QUEUE_RADIX : SIM_QUEUE_HEAP,
                                              .no_fuse = way / 2 == 1,
                                              .chunk = 1 << 20};
                CollMeasure out =
                    measure(machine->graph, COLL_OP_ALL_REDUCE, COLL_ALGOS[a], 100000007, &options);
                if (way > 0)
                    assert_true(out.fingerprint == fingerprint);
                fingerprint = out.fingerprint;
            }
        }
    }
}

// busbw may exceed a link's rate where an algorithm moves fewer bytes (in-switch reduction); what no
// algorithm can do is to move what it moves faster than the ports of a rank carry it.
static void test_moved(void **state)
{
    (void)state;
    static const char *const machines[] = {"h100-8rail", "dgx-h100", "dgx-a100",
                                           "dgx1-v100",  "pcie4-8",  "deck-nvlink-8"};
    gboolean exceeded = FALSE;
    for (guint m = 0; m < G_N_ELEMENTS(machines); m++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(machines[m], 8, NULL, &error);
        check_fine(error);
        const TopoGraph *graph = machine->graph;
        double widest = 0; // of one GPU's ports together, bytes/s
        for (guint32 gpu = 0; gpu < graph->gpus->len; gpu++) {
            double out = 0;
            for (guint32 l = 0; l < graph->links->len; l++)
                if (topo_graph_link(graph, l)->from == topo_graph_gpu(graph, gpu))
                    out += topo_graph_link(graph, l)->bandwidth;
            widest = MAX(widest, out);
        }
        for (guint a = 0; COLL_ALGOS[a] != NULL; a++) {
            for (guint op = 0; op < COLL_OPS; op++) {
                CollMeasure out;
                const CollMeasureOptions options = {.choose = COLL_ALGOS[a]};
                g_autoptr(GError) refusal = NULL;
                gint64 bytes = 1 << 30;
                if (!COLL_ALGOS[a]->ops[op] ||
                    !coll_measure_run(graph, (CollOp)op, bytes / (op == COLL_OP_ALL_GATHER_PAYLOAD ? 8 : 1),
                                      &options, &out, &refusal))
                    continue; // does not do it, or the machine has no switch that reduces
                assert_true(units_seconds(out.time) >= out.sent_max / widest);
                double busbw = (double)bytes * 1.75 / units_seconds(out.time);
                exceeded |= op == COLL_OP_ALL_REDUCE && COLL_ALGOS[a] == &COLL_NVLS && busbw > widest * 1.1;
            }
        }
    }
    assert_true(exceeded);
}

// Eight GPUs through one cut-through switch at 450 GB/s, 5 us a path: 52.5 ms, not 105.
static void test_cut_through(void **state)
{
    (void)state;
    g_autoptr(TopoGraph) graph = star(8, 450e9, 2500000, 2500000);
    CollMeasureOptions options = {.no_fuse = TRUE};
    Ps time = measure(graph, COLL_OP_ALL_REDUCE, &COLL_RING, 13476298752, &options).time;
    assert_true(time > 52400000000 && time < 52500000000);
}

static void test_refuse(void **state)
{
    (void)state;
    g_autoptr(TopoGraph) graph = star(4, 1, 0, 0); // 1 byte/s
    g_autoptr(GError) error = NULL;
    CollMeasure out;
    assert_false(coll_measure_run(graph, COLL_OP_ALL_REDUCE, 1000000, NULL, &out, &error));
    check_says(error, "more days than the clock holds");
    g_clear_error(&error);
    assert_false(coll_measure_run(graph, COLL_OP_ALL_GATHER_PAYLOAD, G_MAXINT64 / 2, NULL, &out, &error));
    check_says(error, "out of range");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents), cmocka_unit_test(test_closed), cmocka_unit_test(test_compression),
        cmocka_unit_test(test_unequal),   cmocka_unit_test(test_same),   cmocka_unit_test(test_cut_through),
        cmocka_unit_test(test_refuse),    cmocka_unit_test(test_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
