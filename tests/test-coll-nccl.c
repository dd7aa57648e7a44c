// tests/test-coll-nccl.c: NCCL's choice and its costs come out of the simulated messages.
#include "tests/check.h"

#include <glib/gstdio.h>
#include <math.h>

#include "coll/measure.h"

// A machine of nodes x 8 GPUs with wide links and the given section [nccl].
static TopoMachine *machine(guint nodes, const char *nccl)
{
    g_autofree char *text = g_strdup_printf(
        "[machine]\ntitle = t\nsource = t\nchip = h100-sxm\nkind = islands\ngpus = %u\ngpus_per_node = 8\n"
        "nvlink_bandwidth = 2000 GB/s\nnvlink_latency = 0.2 us\nnetwork_bandwidth = 1000 "
        "GB/s\nnetwork_latency = 1 us\n"
        "pcie_bandwidth = 1000 GB/s\n[nccl]\n%s",
        nodes * 8, nccl);
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    int fd = g_file_open_tmp("nccl-XXXXXX.ini", &path, &error);
    check_fine(error);
    g_close(fd, NULL);
    g_file_set_contents(path, text, -1, &error);
    check_fine(error);
    TopoMachine *made = topo_machine_read(path, 0, NULL, &error);
    check_fine(error);
    g_remove(path);
    return made;
}

static CollMeasure run(const TopoMachine *on, CollOp op, gint64 bytes, const CollAlgo *algo,
                       const char *protocol)
{
    CollMeasure out;
    g_autoptr(GError) error = NULL;
    coll_measure_machine(on, op, bytes, algo, protocol, FALSE, NULL, &out, &error);
    check_fine(error);
    return out;
}

// alpha + S c / B of a line.
static double law(double alpha_us, double bytes, double factor, double rate)
{
    return alpha_us * 1e-6 + bytes * factor / rate;
}

// Rings, NVLS and pairs in one island: the measured line to 3 % (NVLS: 8 %, its four stages of 64 chunks fill
// first).
static void test_island(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) on =
        machine(1, "switch_reduces = yes\nall_reduce_8 = 30 us, 100 GB/s; 90 us, 400 GB/s\n"
                   "all_gather_8 = 20 us, 90 GB/s; 50 us, 300 GB/s\n"
                   "all_to_all_8 = 15 us, 50 GB/s; 25 us, 250 GB/s\n");
    static const struct {
        CollOp op;
        double factor, low_alpha, low, high_alpha, high;
        const char *algorithms[2];
        double within;
    } cases[] = {
        {COLL_OP_ALL_REDUCE, 1.75, 30, 100e9, 90, 400e9, {"ring", "nvls"}, 0.08},
        {COLL_OP_ALL_GATHER, 0.875, 20, 90e9, 50, 300e9, {"ring", "ring"}, 0.03},
        {COLL_OP_ALL_TO_ALL, 0.875, 15, 50e9, 25, 250e9, {"pairs", "pairs"}, 0.03},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Ps last = 0;
        gboolean switched = FALSE;
        for (gint64 bytes = 1024; bytes <= (gint64)8 << 30; bytes *= 2) {
            CollMeasure out = run(on, cases[i].op, bytes, NULL, NULL);
            double low = law(cases[i].low_alpha, (double)bytes, cases[i].factor, cases[i].low);
            double high = law(cases[i].high_alpha, (double)bytes, cases[i].factor, cases[i].high);
            gboolean is_high = high < low;
            assert_string_equal(out.protocol, is_high ? "simple" : "ll");
            assert_string_equal(out.algo->name, cases[i].algorithms[is_high ? 1 : 0]);
            double wanted = is_high ? high : low;
            if (fabs(units_seconds(out.time) / wanted - 1) > cases[i].within)
                fail_msg("%s of %" G_GINT64_FORMAT " bytes by %s: %g s, wanted %g",
                         COLL_OP_NAMES[cases[i].op], bytes, out.algo->name, units_seconds(out.time), wanted);
            assert_true(out.time >= last);
            last = out.time;
            switched |= is_high;
        }
        assert_true(switched);
    }
}

// Across islands: a ring per rail to 5 % (eight rings take turns on a port); trees by their order of size,
// since their pipelines fill and overlap.
static void test_across(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) on = machine(
        4, "switch_reduces = yes\nall_gather_across = 30 us, 40 us, 200 GB/s\n"
           "all_reduce_across = 20 us, 10 us, 10 GB/s; 50 us, 20 us, 100 GB/s; 100 us, 50 us, 300 GB/s\n");
    for (gint64 bytes = 1 << 20; bytes <= (gint64)4 << 30; bytes *= 4) {
        CollMeasure out = run(on, COLL_OP_ALL_GATHER, bytes, NULL, NULL);
        assert_string_equal(out.algo->name, "rails");
        double wanted = law(30 + 3 * 40, (double)bytes, 31.0 / 32, 200e9);
        if (fabs(units_seconds(out.time) / wanted - 1) > 0.05)
            fail_msg("all-gather of %" G_GINT64_FORMAT ": %g s, wanted %g", bytes, units_seconds(out.time),
                     wanted);
    }
    CollMeasure small = run(on, COLL_OP_ALL_REDUCE, 8, NULL, NULL);
    assert_string_equal(small.algo->name, "double-tree");
    assert_true(fabs(units_seconds(small.time) / 40e-6 - 1) < 0.1); // 20 + 10 log2 4
    CollMeasure large = run(on, COLL_OP_ALL_REDUCE, (gint64)8 << 30, NULL, NULL);
    assert_string_equal(large.algo->name, "nvls-tree");
    double wanted = law(200, 8589934592.0, 2 * 31.0 / 32, 300e9);
    assert_true(fabs(units_seconds(large.time) / wanted - 1) < 0.15);
}

static void test_overrides(void **state)
{
    (void)state;
    g_autoptr(TopoMachine) on =
        machine(2, "all_reduce_8 = 30 us, 100 GB/s; 90 us, 400 GB/s\n"
                   "all_reduce_across = 20 us, 10 us, 10 GB/s; 100 us, 50 us, 300 GB/s\n");
    gint64 bytes = 1 << 24;
    assert_string_equal(run(on, COLL_OP_ALL_REDUCE, bytes, &COLL_TWO_LEVEL, NULL).algo->name, "two-level");
    assert_string_equal(run(on, COLL_OP_ALL_REDUCE, bytes, NULL, "ll").protocol, "ll");
    assert_string_equal(run(on, COLL_OP_ALL_REDUCE, bytes, NULL, "ll128").protocol, "ll128");
    assert_string_equal(run(on, COLL_OP_ALL_REDUCE, 8, NULL, "simple").protocol, "simple");
    assert_string_equal(run(on, COLL_OP_ALL_REDUCE, bytes, &COLL_RING, "simple").algo->name, "ring");
    assert_true(run(on, COLL_OP_ALL_REDUCE, 0, NULL, NULL).time > 0);
    assert_string_equal(run(on, COLL_OP_BROADCAST, bytes, NULL, NULL).algo->name, "chain");
    assert_string_equal(run(on, COLL_OP_SEND_RECV, bytes, NULL, NULL).algo->name, "pairs");
    for (guint i = 0; COLL_ALGOS[i] != NULL;
         i++) // every algorithm that needs no reducing switch between islands runs
        if (COLL_ALGOS[i]->ops[COLL_OP_ALL_REDUCE] && COLL_ALGOS[i] != &COLL_NVLS)
            assert_true(run(on, COLL_OP_ALL_REDUCE, bytes, COLL_ALGOS[i], NULL).time > 0);
    CollMeasure out;
    g_autoptr(GError) error = NULL;
    assert_false(
        coll_measure_machine(on, COLL_OP_ALL_REDUCE, 8, &COLL_NVLS, NULL, FALSE, NULL, &out, &error));
    check_says(error, "algorithm 'nvls' works inside one island");
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
        {"all_reduce_8 = 1 us, 1 GB/s; 2 us, 2 GB/s; 3 us, 3 GB/s; 4 us, 4 GB/s\n",
         "found 4 lines, wanted one to three"},
        {"all_reduce_8 = 3 s, 1 GB/s\n", "wanted at most a second"},
        {"al_reduce_8 = 3 us, 1 GB/s\n", "unknown key"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *text = g_strdup_printf("[nccl]\n%s", bad[i].nccl);
        g_autoptr(GError) error = NULL;
        g_autoptr(Ini) ini = ini_read_text("m.ini", text, strlen(text), &error);
        check_fine(error);
        TopoTuning tuning;
        topo_tuning_init(&tuning);
        assert_false(topo_tuning_read(&tuning, ini, &error) && ini_finish(ini, &error));
        check_says(error, bad[i].says);
        check_says(error, "m.ini:2: nccl.");
        topo_tuning_clear(&tuning);
    }
    // What is written is read back as it was.
    g_autoptr(TopoMachine) on = machine(
        1, "all_reduce_8 = 30.5 us, 100 GB/s; 90 us, 400 GB/s\nall_to_all_across = 1 us, 2 us, 3 GB/s\n");
    g_autofree char *text = topo_tuning_write(&on->tuning);
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini = ini_read_text("m.ini", text, strlen(text), &error);
    TopoTuning again;
    topo_tuning_init(&again);
    assert_true(topo_tuning_read(&again, ini, &error) && ini_finish(ini, &error));
    g_autofree char *twice = topo_tuning_write(&again);
    assert_string_equal(text, twice);
    topo_tuning_clear(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_island),
        cmocka_unit_test(test_across),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
