// tests/test-coll-box.c: which groups of a machine are boxes of its torus, and that collectives through them
// take the time of their closed form.
#include "tests/machine.h"

#include "coll/box.h"
#include "coll/choice.h"
#include "coll/closed.h"
#include "coll/measure.h"

#define TORUS(dims, wrap)                                                                                    \
    "[machine]\nchip = tpu-v4\nkind = torus\ndims = " dims "\nwrap = " wrap                                  \
    "\nlink_bandwidth = 45 GB/s\nlink_latency = 1 us\nchips_per_host = 1\nnetwork_bandwidth = 25 GB/s\n"     \
    "network_latency = 50 us\n"

static TopoMachine *must_read(const char *text)
{
    g_autoptr(GError) error = NULL;
    TopoMachine *machine = machine_read(text, 0, &error);
    check_fine(error);
    return machine;
}

// Grids are read off the links: of every torus, and of nothing else.
static void test_grids(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        CollGrid wanted;
    } cases[] = {
        {TORUS("4x4x4", "yes"), {64, {4, 4, 4}, {TRUE, TRUE, TRUE}}},
        {TORUS("4x3x2", "yes"), {24, {4, 3, 2}, {TRUE, TRUE, FALSE}}}, // a row of two has one cable
        {TORUS("5x4", "no"), {20, {5, 4, 1}, {FALSE, FALSE, FALSE}}},
        {TORUS("2x2x5", "yes"), {20, {2, 2, 5}, {FALSE, FALSE, TRUE}}},
        {TORUS("8x1", "yes"), {8, {8, 1, 1}, {TRUE, FALSE, FALSE}}},
        {TORUS("8x8", "yes") "wrap_from = 16\n", {64, {8, 8, 1}, {FALSE, FALSE, FALSE}}},
        {TORUS("4x4", "yes") "slices = 3\n", {16, {4, 4, 1}, {TRUE, TRUE, FALSE}}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(TopoMachine) machine = must_read(cases[i].text);
        CollGrid grid;
        coll_box_find_grid(machine->graph, &grid);
        assert_memory_equal(&grid, &cases[i].wanted, sizeof grid);
    }
    static const char *const others[] = {"dgx-h100", "dgx1-v100-box", "dgx1-v100",  "pcie4-8",
                                         "wan-2x32", "gb200-nvl72",   "l40s-nodes", "deck-network-400g"};
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(others[i], 0, NULL, &error);
        check_fine(error);
        CollGrid grid;
        coll_box_find_grid(machine->graph, &grid);
        assert_int_equal(grid.gpus, 0);
    }
}

// "12r 4l 2f": sizes; r: a ring, l: a line of neighbours, f, F: far, not and round.
static char *box_words(const CollBox *box)
{
    GString *out = g_string_new(NULL);
    for (guint32 i = 0; box != NULL && i < box->axes; i++)
        g_string_append_printf(out, "%s%u%c", i == 0 ? "" : " ", box->axis[i].size,
                               box->axis[i].near ? (box->axis[i].closed ? 'r' : 'l')
                                                 : (box->axis[i].closed ? 'F' : 'f'));
    return g_string_free(out, FALSE);
}

static void test_boxes(void **state)
{
    (void)state;
    const CollGrid grid = {.gpus = 16 * 8 * 4, .sides = {16, 8, 4}, .wraps = {TRUE, TRUE, FALSE}};
    enum { SLICE = 16 * 8 * 4 };
    static const struct {
        guint32 first, counts[3], strides[3]; // the group: first + i strides[0] + j strides[1] + ...
        const char *wanted;
    } cases[] = {
        {0, {16, 1, 1}, {1, 1, 1}, "16r"},
        {16, {16, 1, 1}, {1, 1, 1}, "16r"},
        {8, {8, 1, 1}, {1, 1, 1}, "8l"}, // half a row
        {0, {32, 1, 1}, {1, 1, 1}, "16r 2l"},
        {0, {24, 1, 1}, {1, 1, 1}, ""},          // a row and a half
        {12, {8, 1, 1}, {1, 1, 1}, ""},          // of two rows
        {3, {32, 1, 1}, {16, 1, 1}, "8r 4l"},    // what is left beside whole rows
        {3, {2, 32, 1}, {8, 16, 1}, "2f 8r 4l"}, // beside half rows
        {3, {4, 1, 1}, {4, 1, 1}, "4F"},
        {0, {3, 1, 1}, {4, 1, 1}, "3f"},
        {5, {8, 1, 1}, {16, 1, 1}, "8r"},
        {0, {SLICE, 1, 1}, {1, 1, 1}, "16r 8r 4l"},
        {0, {2 * SLICE, 1, 1}, {1, 1, 1}, "16r 8r 4l 2f"},
        {7, {2, 1, 1}, {SLICE, 1, 1}, "2f"},
        {7, {32, 3, 1}, {16, SLICE, 1}, "8r 4l 3F"},
        {SLICE - 16, {32, 1, 1}, {1, 1, 1}, ""}, // the last row of a slice and the first of the next
        {9, {1, 1, 1}, {1, 1, 1}, ""},           // one rank
    };
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(GArray) gpus = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (guint32 k = 0; k < cases[c].counts[2]; k++)
            for (guint32 j = 0; j < cases[c].counts[1]; j++)
                for (guint32 i = 0; i < cases[c].counts[0]; i++) {
                    guint32 gpu = cases[c].first + i * cases[c].strides[0] + j * cases[c].strides[1] +
                                  k * cases[c].strides[2];
                    g_array_append_val(gpus, gpu);
                }
        g_autofree CollBox *box = coll_box_find(&grid, (const guint32 *)(void *)gpus->data, gpus->len);
        g_autofree char *words = box_words(box);
        assert_string_equal(words, cases[c].wanted);
    }
    const guint32 backwards[] = {3, 2, 1, 0}, twice[] = {0, 1, 1, 2};
    assert_null(coll_box_find(&grid, backwards, 4));
    assert_null(coll_box_find(&grid, twice, 4));
    const CollGrid none = {0};
    assert_null(coll_box_find(&none, backwards, 4));
}

// Rows of a box of 4 x 3 lines and rings, and of far ones: which lanes, by which order, with which share.
static void test_lanes(void **state)
{
    (void)state;
    CollBox box = {.axes = 4,
                   .axis = {{.size = 2},
                            {.size = 4, .near = TRUE, .closed = TRUE},
                            {.size = 3, .near = TRUE},
                            {.size = 5, .closed = TRUE}}};
    coll_box_set_lanes(&box);
    static const guint32 orders[2][4] = {{1, 2, 0, 3}, {2, 1, 0, 3}}, first[] = {0, 4, 6};
    assert_int_equal(box.lanes, 2);
    for (guint i = 0; i < 2; i++)
        assert_memory_equal(box.order[i], orders[i], sizeof orders[i]);
    assert_memory_equal(box.first, first, sizeof first);
    assert_int_equal(box.axis[3].stride, 24);
    assert_int_equal(coll_box_longest(&box), 5);
    box.axes = 1; // far only
    coll_box_set_lanes(&box);
    assert_int_equal(box.lanes, 1);
    assert_int_equal(box.first[1], 2);
}

static Ps measure(const TopoMachine *machine, CollOp op, gint64 bytes, const CollAlgo *wanted)
{
    g_autoptr(GError) error = NULL;
    CollMeasure out;
    coll_measure_run(machine->graph, op, bytes, NULL, &out, &error);
    check_fine(error);
    assert_ptr_equal(out.algo, wanted);
    return out.time;
}

// Chosen by itself, and to the picosecond where the pieces are equal and nothing contends.
static void test_closed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        guint axes;
        gint64 sides[3];
        gboolean closed;
    } cases[] = {
        {TORUS("4x4x4", "yes"), 3, {4, 4, 4}, TRUE},  {TORUS("5x5x5", "yes"), 3, {5, 5, 5}, TRUE},
        {TORUS("6x6", "yes"), 2, {6, 6}, TRUE},       {TORUS("16x1", "yes"), 1, {16}, TRUE},
        {TORUS("7x1", "yes"), 1, {7}, TRUE},          {TORUS("3x4x5", "yes"), 3, {3, 4, 5}, TRUE},
        {TORUS("16x4", "yes"), 2, {16, 4}, TRUE},     {TORUS("4x8x8", "yes"), 3, {4, 8, 8}, TRUE},
        {TORUS("8x5x3", "yes"), 3, {8, 5, 3}, TRUE},  {TORUS("7x1", "no"), 1, {7}, FALSE},
        {TORUS("2x2x2", "yes"), 3, {2, 2, 2}, FALSE}, {TORUS("5x5", "no"), 2, {5, 5}, FALSE},
        {TORUS("4x4x4", "no"), 3, {4, 4, 4}, FALSE},  {TORUS("6x3", "no"), 2, {6, 3}, FALSE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(TopoMachine) machine = must_read(cases[i].text);
        gint64 ranks = machine->graph->gpus->len;
        const gint64 sizes[] = {0, 12 * ranks, 12 * ranks * 9000};
        for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
            Ps wanted = -1;
            assert_true(coll_closed_torus_time(cases[i].axes, cases[i].sides, cases[i].closed, sizes[s],
                                               1000000, units_pace(45e9), &wanted));
            Ps scatter = measure(machine, COLL_OP_REDUCE_SCATTER, sizes[s], &COLL_TORUS);
            Ps gather = measure(machine, COLL_OP_ALL_GATHER, sizes[s], &COLL_TORUS);
            Ps reduce = measure(machine, COLL_OP_ALL_REDUCE, sizes[s], &COLL_TORUS);
            assert_int_equal(scatter, wanted);
            if (cases[i].closed || cases[i].axes == 1) {
                assert_int_equal(gather, wanted);
                assert_int_equal(reduce, 2 * wanted);
            } else { // the middle of a line is done before its ends, and goes on
                assert_true(gather <= wanted && reduce <= 2 * wanted);
            }
        }
        // Pieces that differ by a byte: at most the time of the longer ones.
        Ps most = -1, least = -1;
        gint64 odd = 12 * ranks * 9000 + 17;
        assert_true(coll_closed_torus_time(cases[i].axes, cases[i].sides, cases[i].closed, odd, 1000000,
                                           units_pace(45e9), &most));
        assert_true(coll_closed_torus_time(cases[i].axes, cases[i].sides, cases[i].closed, odd - 17, 1000000,
                                           units_pace(45e9), &least));
        Ps found = measure(machine, COLL_OP_REDUCE_SCATTER, odd, &COLL_TORUS);
        assert_true(found >= least && found <= most);
    }
}

// Sides that differ: some links rest while the longest lane ends. Slices: the
// data-centre network carries what one chip has left, so that twice the chips cost little.
static void test_unequal(void **state)
{
    (void)state;
    const gint64 bytes = 1 << 28;
    g_autoptr(TopoMachine) machine = must_read(TORUS("4x8x8", "yes"));
    double least = (double)bytes * 255 / 256 / (6 * 45e9);
    double found = units_seconds(measure(machine, COLL_OP_ALL_GATHER, bytes, &COLL_TORUS));
    assert_true(found >= least && found < 1.2 * least);
    g_autoptr(TopoMachine) slices = must_read(TORUS("4x8x8", "yes") "slices = 2\n");
    double two = units_seconds(measure(slices, COLL_OP_ALL_GATHER, bytes, &COLL_TORUS));
    double across = (double)bytes / 256 / 2 / 25e9 + 50e-6;
    assert_true(two > found + 0.9 * across && two < 1.1 * (found + across));
    measure(machine, COLL_OP_ALL_TO_ALL, 1 << 20, &COLL_PAIRS); // what it does not do
    g_autoptr(GError) error = NULL;
    g_autoptr(TopoMachine) switched = topo_machine_read("deck-nvlink-8", 0, NULL, &error);
    check_fine(error);
    measure(switched, COLL_OP_ALL_GATHER, bytes, &COLL_RING);
    CollMeasure out;
    const CollMeasureOptions torus = {.choose = &COLL_TORUS};
    assert_false(coll_measure_run(switched->graph, COLL_OP_ALL_GATHER, bytes, &torus, &out, &error));
    check_says(error, "wants ranks that are a box of a torus");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids),  cmocka_unit_test(test_boxes),   cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_closed), cmocka_unit_test(test_unequal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
