// tests/test-coll-nccl.c: a measured line comes true in simulation, the quickest line is taken, and words are
// obeyed.
#include "tests/machine.h"

#include "coll/measure.h"
#include "coll/rings.h"
#include "coll/symbolic.h"

// The links carry far more than the lines ask for, so that nothing binds but the lines. The across line is
// one in which hops, filling and links' latencies have room.
static const char LINES[] =
    "all_reduce_8 = 16 us, 200 GB/s; 64 us, 450 GB/s\n"
    "all_gather_8 = 12 us, 180 GB/s; 22 us, 330 GB/s\n"
    "reduce_scatter_8 = 11 us, 220 GB/s; 28 us, 340 GB/s\n"
    "all_to_all_8 = 7.5 us, 50 GB/s; 13 us, 300 GB/s\n"
    "all_reduce_across = 22 us, 15 us, 60 GB/s; 30 us, 75 us, 150 GB/s; 60 us, 95 us, 350 GB/s\n"
    "all_gather_across = 30 us, 12 us, 60 GB/s; 60 us, 40 us, 360 GB/s\n"
    "reduce_scatter_across = 30 us, 12 us, 60 GB/s; 60 us, 40 us, 360 GB/s\n"
    "all_to_all_across = 30 us, 2 us, 48 GB/s\n";

static TopoMachine *nccl_machine(guint32 gpus, guint32 per_node, gboolean switches, gboolean network)
{
    static const char NVLINK[] =
        "nvlink_bandwidth = 500 TB/s\nnvlink_latency = 0.6 us\npcie_bandwidth = 500 TB/s\n";
    g_autofree char *text = g_strdup_printf(
        "[machine]\ntitle = t\nsource = s\nchip = h100-sxm\nkind = islands\ngpus = %u\ngpus_per_node = %u\n%s"
        "network_bandwidth = 500 TB/s\nnetwork_latency = 2.7 us\n[nccl]\nswitch_reduces = "
        "%s\nnetwork_reduces = %s\n%s",
        gpus, per_node, per_node > 1 ? NVLINK : "", switches ? "yes" : "no", network ? "yes" : "no", LINES);
    g_autoptr(GError) error = NULL;
    TopoMachine *machine = machine_read(text, 0, &error);
    check_fine(error);
    return machine;
}

static CollMeasure nccl_measure(const TopoMachine *machine, CollOp op, gint64 bytes, const CollAlgo *algo,
                                const char *protocol)
{
    CollMeasure out;
    g_autoptr(GError) error = NULL;
    coll_measure_machine(machine, op, bytes, algo, protocol, FALSE, NULL, &out, &error);
    check_fine(error);
    return out;
}

// Every operation and protocol on several shapes: the simulated time is the line's own within 3 %. What is
// left is the filling of a pipeline where even 4,096 chunks pass a quarter of alpha, and halves of ways that
// are not quite half.
static void test_lines(void **state)
{
    (void)state;
    static const guint32 shapes[][2] = {{2, 2}, {5, 5}, {8, 8}, {8, 4}, {16, 8}, {24, 8}, {4, 1}};
    static const gint64 sizes[] = {0,       1,        1000,      65536,
                                   1 << 20, 16 << 20, 256 << 20, G_GINT64_CONSTANT(4) << 30};
    gboolean seen[16] = {FALSE};
    for (guint s = 0; s < G_N_ELEMENTS(shapes) * 3; s++) {
        const guint32 *shape = shapes[s / 3];
        g_autoptr(TopoMachine) machine = nccl_machine(shape[0], shape[1], s % 3 > 0, s % 3 > 1);
        for (guint op = 0; op < COLL_OPS; op++) {
            for (guint i = 0; i < G_N_ELEMENTS(sizes) * 4; i++) {
                const char *protocol = COLL_NCCL_PROTOCOLS[i % 4]; // the last is NCCL's own choice
                gint64 bytes = sizes[i / 4];
                gboolean own =
                    op == COLL_OP_ALL_TO_ALL || op == COLL_OP_SEND_RECV || op == COLL_OP_ALL_GATHER_PAYLOAD;
                if ((op != COLL_OP_ALL_REDUCE && s % 3 > 0) || (own && bytes > 16 << 20) ||
                    (shape[0] > 8 && bytes > 256 << 20) || (shape[0] > 16 && bytes > 16 << 20) ||
                    (s % 3 > 0 && shape[0] < 5))
                    continue;
                CollMeasure out = nccl_measure(machine, (CollOp)op, bytes, NULL, protocol);
                CollNccl nccl;
                coll_nccl_init(&nccl, &machine->tuning, machine->graph, NULL, protocol);
                CollShape whole = {.op = (CollOp)op, .ranks = shape[0], .island = shape[1], .bytes = bytes};
                double line = coll_nccl_predict(&nccl, &whole), found = (double)out.time * 1e-12;
                if (!(found > line * 0.97 && found < line * 1.03))
                    fail_msg("%s/%s %s of %" G_GINT64_FORMAT
                             " B on %u ranks in islands of %u: %g s, the line says %g s",
                             out.algo->name, out.protocol, COLL_OP_NAMES[op], bytes, shape[0], shape[1],
                             found, line);
                for (guint a = 0; COLL_ALGOS[a] != NULL; a++)
                    seen[a] = seen[a] || COLL_ALGOS[a] == out.algo;
            }
        }
    }
    static const CollAlgo *const wanted[] = {&COLL_RING,      &COLL_RAILS, &COLL_DOUBLE_TREE, &COLL_NVLS,
                                             &COLL_NVLS_TREE, &COLL_SHARP, &COLL_PAIRS,       &COLL_CHAIN};
    for (guint a = 0; COLL_ALGOS[a] != NULL; a++)
        for (guint w = 0; w < G_N_ELEMENTS(wanted); w++)
            if (COLL_ALGOS[a] == wanted[w] && !seen[a])
                fail_msg("%s was never chosen", COLL_ALGOS[a]->name);
}

static void test_monotone(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) machine = nccl_machine(16, 8, TRUE, FALSE);
    for (guint op = 0; op < COLL_OPS; op++) {
        Ps last = 0;
        for (gint64 bytes = 1; bytes < 64 << 20; bytes += bytes / 2 + 1) {
            CollMeasure out = nccl_measure(machine, (CollOp)op, bytes, NULL, NULL);
            if (out.time < last - last / 1000)
                fail_msg("%s of %" G_GINT64_FORMAT " B: %" G_GINT64_FORMAT
                         " ps, fewer took %" G_GINT64_FORMAT,
                         COLL_OP_NAMES[op], bytes, out.time, last);
            last = out.time;
        }
    }
}

// Lines 16 us, 200 GB/s and 64 us, 450 GB/s cross at S = 48 us / (1.75 (1/200 - 1/450)) = 9.87 MB.
static void test_crossing(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) machine = nccl_machine(8, 8, TRUE, FALSE);
    CollMeasure below = nccl_measure(machine, COLL_OP_ALL_REDUCE, 9800000, NULL, NULL);
    CollMeasure above = nccl_measure(machine, COLL_OP_ALL_REDUCE, 9950000, NULL, NULL);
    assert_ptr_equal(below.algo, &COLL_RING);
    assert_string_equal(below.protocol, "ll");
    assert_ptr_equal(above.algo, &COLL_NVLS);
    assert_string_equal(above.protocol, "simple");
    // Four ranks of an island have no use for the switch.
    g_autoptr(TopoMachine) four = nccl_machine(4, 4, TRUE, FALSE);
    assert_ptr_equal(nccl_measure(four, COLL_OP_ALL_REDUCE, 1 << 30, NULL, NULL).algo, &COLL_RING);
    // Nodes of one GPU have none at all.
    g_autoptr(TopoMachine) ones = nccl_machine(4, 1, TRUE, TRUE);
    assert_ptr_equal(nccl_measure(ones, COLL_OP_ALL_REDUCE, 1 << 30, NULL, NULL).algo, &COLL_DOUBLE_TREE);
}

static void test_words(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) machine = nccl_machine(16, 8, TRUE, FALSE);
    for (guint a = 0; COLL_ALGOS[a] != NULL; a++) {
        CollShape shape = {.op = COLL_OP_ALL_REDUCE, .ranks = 16, .island = 8};
        if (!COLL_ALGOS[a]->ops[COLL_OP_ALL_REDUCE] || COLL_ALGOS[a]->refuses(&shape) != NULL)
            continue;
        for (guint p = 0; COLL_NCCL_PROTOCOLS[p] != NULL; p++) {
            CollMeasure out =
                nccl_measure(machine, COLL_OP_ALL_REDUCE, 1 << 20, COLL_ALGOS[a], COLL_NCCL_PROTOCOLS[p]);
            assert_ptr_equal(out.algo, COLL_ALGOS[a]);
            assert_string_equal(out.protocol, COLL_NCCL_PROTOCOLS[p]);
            assert_true(out.time > 0);
        }
    }
    // An algorithm told that does not do the operation leaves it to NCCL's choice.
    assert_ptr_equal(nccl_measure(machine, COLL_OP_ALL_TO_ALL, 4096, &COLL_RING, NULL).algo, &COLL_PAIRS);
    CollMeasure one = nccl_measure(machine, COLL_OP_ALL_REDUCE, 0, NULL, NULL);
    assert_true(one.time > 0); // nothing to send takes the latency all the same
    g_autoptr(TopoMachine) single = nccl_machine(1, 1, TRUE, FALSE);
    assert_int_equal(nccl_measure(single, COLL_OP_ALL_REDUCE, 1 << 20, NULL, NULL).time, 0);
}

// Two operations of one communicator keep their own bandwidths.
static void test_ops(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) machine = nccl_machine(8, 8, FALSE, FALSE);
    double gather = (double)nccl_measure(machine, COLL_OP_ALL_GATHER, 1 << 28, NULL, "simple").time;
    double scatter = (double)nccl_measure(machine, COLL_OP_REDUCE_SCATTER, 1 << 28, NULL, "simple").time;
    assert_true(gather / scatter > 1.01 && gather / scatter < 1.04); // 330 against 340 GB/s, 22 against 28 us
}

// The hybrid cube mesh holds three rings each way round, and they sum up what they should.
static void test_mesh(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    static const struct {
        guint32 gpus, rings;
    } cases[] = {{8, 6}, {4, 4}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(TopoMachine) machine = topo_machine_read("dgx1-v100-box", cases[i].gpus, NULL, &error);
        check_fine(error);
        guint32 gpus[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        CollRings *rings = coll_rings_find(machine->graph, gpus, cases[i].gpus);
        assert_non_null(rings);
        assert_int_equal(rings->count, cases[i].rings);
        for (guint op = 0; op < COLL_OPS; op++) {
            CollShape shape = {.op = (CollOp)op, .ranks = cases[i].gpus, .bytes = 12345, .rings = rings};
            CollSymbolic out;
            if (COLL_RAILS.ops[op])
                coll_symbolic_run(&COLL_RAILS, &shape, 0, TRUE, NULL, NULL, &out, &error);
            check_fine(error);
        }
        coll_rings_free(rings);
    }
    // A switch is no mesh.
    guint32 all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    g_autoptr(TopoMachine) island = nccl_machine(8, 8, FALSE, FALSE);
    assert_null(coll_rings_find(island->graph, all, 8));
}

static void test_file(void **state)
{
    (void)state;
    static const struct {
        const char *nccl, *says;
    } bad[] = {
        {"all_reduce_8 = 30 us\n", "wanted '16.5 us, 216 GB/s'"},
        {"all_reduce_8 = 30, 100 GB/s\n", "(no unit)"},
        {"all_reduce_8 = 30 us, 100 GB\n", "(a size), wanted a rate"},
        {"all_reduce_across = 30 us, 100 GB/s\n", "wanted '60 us, 95 us, 365 GB/s'"},
        {"all_reduce_1 = 30 us, 100 GB/s\n", "all_reduce_N (N ranks of an island)"},
        {"all_reduce_8 = 1 us, 1 GB/s; 2 us, 2 GB/s; 3 us, 3 GB/s; 4 us, 4 GB/s; 5 us, 5 "
         "GB/s\n",
         "found 5 lines, wanted one to four"},
        {"all_reduce_8 = 3 s, 1 GB/s\n", "wanted at most a second"},
        {"al_reduce_8 = 3 us, 1 GB/s\n", "unknown key"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *text = g_strdup_printf("[nccl]\n%s", bad[i].nccl);
        g_autoptr(GError) error = NULL;
        g_autoptr(Ini) ini = ini_read_text("m.ini", text, strlen(text), &error);
        check_fine(error);
        MachineTuning tuning;
        machine_tuning_init(&tuning);
        assert_false(machine_tuning_read(&tuning, ini, &error) && ini_finish(ini, &error));
        check_says(error, bad[i].says);
        check_says(error, "m.ini:2: nccl.");
        machine_tuning_clear(&tuning);
    }
    // What is written is read back as it was.
    g_autoptr(TopoMachine) on = nccl_machine(8, 8, TRUE, FALSE);
    g_autofree char *text = machine_tuning_write(&on->tuning);
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini = ini_read_text("m.ini", text, strlen(text), &error);
    MachineTuning again;
    machine_tuning_init(&again);
    assert_true(machine_tuning_read(&again, ini, &error) && ini_finish(ini, &error));
    g_autofree char *twice = machine_tuning_write(&again);
    assert_string_equal(text, twice);
    machine_tuning_clear(&again);
}

// The nearest of what was measured is found: by ranks in an island, by islands across; and "reduce" is not
// the start of "reduce_scatter".
static void test_nearest(void **state)
{
    (void)state;
    static const char text[] = "[nccl]\nreduce_2 = 1 us, 1 GB/s\nreduce_8 = 2 us, 1 GB/s\n"
                               "reduce_scatter_8 = 3 us, 1 GB/s\nreduce_across = 4 us, 1 us, 1 GB/s\n"
                               "reduce_across_20 = 5 us, 1 us, 1 GB/s\n";
    static const struct {
        MachineTuningOp op;
        guint32 ranks, islands;
        Ps latency; // us; 0: none
    } cases[] = {
        {MACHINE_TUNING_REDUCE, 3, 1, 1},         {MACHINE_TUNING_REDUCE, 5, 1, 2},
        {MACHINE_TUNING_REDUCE, 16, 2, 4},        {MACHINE_TUNING_REDUCE, 48, 6, 4},
        {MACHINE_TUNING_REDUCE, 56, 7, 5},        {MACHINE_TUNING_REDUCE, 800, 100, 5},
        {MACHINE_TUNING_REDUCE_SCATTER, 2, 1, 3}, {MACHINE_TUNING_REDUCE_SCATTER, 2, 2, 0},
        {MACHINE_TUNING_BROADCAST, 2, 1, 0},
    };
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini = ini_read_text("m.ini", text, strlen(text), &error);
    MachineTuning tuning;
    machine_tuning_init(&tuning);
    assert_true(machine_tuning_read(&tuning, ini, &error) && ini_finish(ini, &error));
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const MachineTuningFit *fit =
            machine_tuning_find(&tuning, cases[i].op, cases[i].ranks, cases[i].islands);
        assert_int_equal(fit == NULL ? 0 : fit->line[0].latency, cases[i].latency * 1000000);
    }
    g_autofree char *written = machine_tuning_write(&tuning);
    assert_non_null(strstr(written, "\nreduce_across_20 = 5 us, 1 us, 1 GB/s\n"));
    // A new fit across islands takes the place of both.
    const MachineTuningFit fit = {.lines = 1, .line = {{6000000, 0, 1e9}}};
    machine_tuning_set(&tuning, MACHINE_TUNING_REDUCE, &fit);
    assert_int_equal(machine_tuning_find(&tuning, MACHINE_TUNING_REDUCE, 160, 20)->line[0].latency, 6000000);
    assert_int_equal(tuning.fits[MACHINE_TUNING_REDUCE]->len, 3);
    machine_tuning_clear(&tuning);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines), cmocka_unit_test(test_monotone), cmocka_unit_test(test_crossing),
        cmocka_unit_test(test_words), cmocka_unit_test(test_ops),      cmocka_unit_test(test_mesh),
        cmocka_unit_test(test_file),  cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
