// tests/test-coll-symbolic.c: every algorithm leaves every rank with what its operation promises, in any
// order.
#include "tests/check.h"

#include "coll/choice.h"
#include "coll/symbolic.h"

// Ranks and the size of an island.
static const guint32 SHAPES[][2] = {{1, 1},  {2, 2},  {2, 1},  {3, 3},  {4, 2},  {5, 5},  {6, 2},  {6, 3},
                                    {7, 1},  {8, 8},  {8, 4},  {8, 2},  {8, 1},  {12, 4}, {12, 3}, {15, 5},
                                    {16, 8}, {16, 1}, {20, 4}, {21, 3}, {24, 8}, {33, 1}};
static const gint64 SIZES[] = {0, 1, 5, 1000, 1 << 20};

// A box for so many ranks: a line (way 1), a ring (2), rows of the island's size and the islands beside them
// as lines (3), rings (4) or far away (5), the prime factors as sides, rings and lines by turns, one far (6).
// FALSE: no box (0, and where there is none).
enum { BOXES = 7 };

static gboolean box_of(guint way, guint32 ranks, guint32 island, CollBox *box)
{
    guint32 sizes[COLL_BOX_AXES] = {ranks, 1, 1, 1};
    if (way >= 3) {
        sizes[0] = island;
        sizes[1] = ranks / island;
    }
    if (way == 6) {
        for (guint i = 0; i < COLL_BOX_AXES; i++) {
            sizes[i] = i == COLL_BOX_AXES - 1 ? ranks : MIN(ranks, 2);
            while (ranks % sizes[i] != 0)
                sizes[i]++;
            ranks /= sizes[i];
        }
    }
    *box = (CollBox){0};
    for (guint i = 0; way > 0 && i < COLL_BOX_AXES; i++)
        if (sizes[i] > 1)
            box->axis[box->axes++] =
                (CollAxis){.size = sizes[i],
                           .closed = sizes[i] > 2 && (way == 2 || way == 4 || (way == 6 && i % 2 == 0)),
                           .near = way == 5 ? i == 0 : way != 6 || i != 1};
    coll_box_set_lanes(box);
    return box->axes > 0;
}

static void check_one(const CollAlgo *algo, const CollShape *shape, guint64 seed)
{
    CollSymbolic out;
    g_autoptr(GError) error = NULL;
    if (!coll_symbolic_run(algo, shape, seed, seed == 0, NULL, NULL, &out, &error))
        fail_msg("%s %s on %u ranks in islands of %u, %u chunks, %u axes, the first of %u: %s", algo->name,
                 COLL_OP_NAMES[shape->op], shape->ranks, shape->island, shape->chunks,
                 shape->box == NULL ? 0 : shape->box->axes, shape->box == NULL ? 0 : shape->box->axis[0].size,
                 error->message);
    // No all-reduce sends less than 2 (p - 1)/p of the vector per rank (Patarasuk and Yuan 2009), unless a
    // switch reduces; one through a box sends just that.
    if (shape->op == COLL_OP_ALL_REDUCE && algo->switches == coll_algo_no_switches)
        assert_true(out.bytes >= 2 * (shape->ranks - 1) * shape->bytes);
    if (algo == &COLL_TORUS && shape->op == COLL_OP_ALL_REDUCE)
        assert_int_equal(out.bytes, 2 * (shape->ranks - 1) * shape->bytes);
}

// One test for all implementations: every operation, shape, box, chunking and order of receipts.
static void test_all(void **state)
{
    (void)state;
    guint checked = 0, boxes = 0;
    for (guint a = 0; COLL_ALGOS[a] != NULL; a++) {
        for (guint op = 0; op < COLL_OPS; op++) {
            for (guint r = 0; r < G_N_ELEMENTS(SHAPES) * BOXES; r++) {
                const guint32 *size = SHAPES[r / BOXES];
                CollBox box;
                gboolean has = box_of(r % BOXES, size[0], size[1], &box);
                if (!COLL_ALGOS[a]->ops[op] || has == (r % BOXES == 0) ||
                    (r % BOXES > 0 && COLL_ALGOS[a] != &COLL_TORUS)) // to others a box says nothing
                    continue;
                for (guint s = 0; s < G_N_ELEMENTS(SIZES); s++) {
                    const CollShape shape = {.op = (CollOp)op,
                                             .ranks = size[0],
                                             .island = size[1],
                                             .chunks = s,
                                             .bytes = SIZES[s],
                                             .box = has ? &box : NULL};
                    if (COLL_ALGOS[a]->refuses(&shape) != NULL)
                        continue;
                    check_one(COLL_ALGOS[a], &shape, s);
                    checked++;
                    boxes += has ? 1 : 0;
                }
            }
        }
    }
    assert_true(checked > 3500 && boxes > 2000);
}

static void test_sent(void **state)
{
    (void)state;
    CollSymbolic out;
    CollShape shape = {.op = COLL_OP_ALL_REDUCE, .ranks = 8, .bytes = 8000};
    assert_true(coll_symbolic_run(&COLL_RING, &shape, 1, FALSE, NULL, NULL, &out, NULL));
    assert_int_equal(out.bytes_max, 2 * 7 * 1000);
    shape.op = COLL_OP_REDUCE_SCATTER;
    assert_true(coll_symbolic_run(&COLL_RING, &shape, 1, FALSE, NULL, NULL, &out, NULL));
    assert_int_equal(out.bytes_max, 7 * 1000);
    shape = (CollShape){
        .op = COLL_OP_ALL_GATHER_PAYLOAD, .ranks = 8, .bytes = 1000}; // each sends (p - 1) x payload
    assert_true(coll_symbolic_run(&COLL_RING, &shape, 1, FALSE, NULL, NULL, &out, NULL));
    assert_int_equal(out.bytes_max, 7 * 1000);
    shape = (CollShape){.op = COLL_OP_ALL_REDUCE, .ranks = 8, .bytes = 8000};
    assert_true(coll_symbolic_run(&COLL_BINOMIAL_TREE, &shape, 1, FALSE, NULL, NULL, &out, NULL));
    assert_int_equal(out.bytes, 2 * 7 * 8000);
}

// Algorithms with one mistake each, built from the ring.
static void wrong_piece(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    (void)from;
    if (step + 1 < 2 * (run->shape.ranks - 1)) {
        CollSend send = {
            .step = step + 1, .from = to, .to = (to + 1) % run->shape.ranks, .piece = to, .pieces = 1};
        run->emit(run, &send);
    }
}

static void too_short(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    if (step < 3)
        COLL_RING.received(run, step, from, to);
}

static guint32 odd_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    (void)slot;
    return (rank + 2) % shape->ranks;
}

static void test_mistakes(void **state)
{
    (void)state;
    CollShape shape = {.op = COLL_OP_ALL_REDUCE, .ranks = 5, .bytes = 100};
    CollSymbolic out;
    g_autoptr(GError) error = NULL;
    CollAlgo algo = COLL_RING;
    algo.received = wrong_piece;
    assert_false(coll_symbolic_run(&algo, &shape, 1, FALSE, NULL, NULL, &out, &error));
    check_says(error, "contribution");
    g_clear_error(&error);
    algo.received = too_short;
    assert_false(coll_symbolic_run(&algo, &shape, 1, FALSE, NULL, NULL, &out, &error));
    check_says(error, "messages, wanted 40");
    g_clear_error(&error);
    algo = COLL_RING;
    algo.peer = odd_peer;
    assert_false(coll_symbolic_run(&algo, &shape, 1, FALSE, NULL, NULL, &out, &error));
    check_says(error, "no peer");
}

// The average of W workers' mean gradients over B/W windows is the mean gradient of the whole batch: the step
// shows every rank holding the mean of all windows, once each. Numbers instead of symbols, through the same
// ring.
typedef struct {
    CollRun run; // first
    double *held;
    GArray *parcels; // of struct parcel
} Numbers;

struct parcel {
    CollSend send;
    double value;
};

static void numbers_emit(CollRun *run, const CollSend *send)
{
    Numbers *numbers = (Numbers *)run;
    struct parcel parcel = {*send, numbers->held[send->from * run->shape.ranks + send->piece]};
    g_array_append_val(numbers->parcels, parcel);
}

static void test_mean(void **state)
{
    (void)state;
    enum { W = 4, WINDOWS = 8, EACH = WINDOWS / W };
    double held[W * W], whole[W] = {0};
    for (guint rank = 0; rank < W; rank++) {
        for (guint piece = 0; piece < W; piece++) {
            double sum = 0;
            for (guint i = 0; i < EACH; i++) {
                double gradient = (double)((rank * EACH + i + 1) * (piece + 1) % 16); // of one window, exact
                sum += gradient;
                whole[piece] += gradient / WINDOWS;
            }
            held[rank * W + piece] = sum / EACH;
        }
    }
    Numbers numbers = {
        .run = {.shape = {.op = COLL_OP_ALL_REDUCE, .ranks = W, .bytes = W}, .emit = numbers_emit},
        .held = held,
        .parcels = g_array_new(FALSE, FALSE, sizeof(struct parcel))};
    COLL_RING.begin(&numbers.run);
    while (numbers.parcels->len > 0) {
        struct parcel parcel = g_array_index(numbers.parcels, struct parcel, 0);
        g_array_remove_index(numbers.parcels, 0);
        double *own = &held[parcel.send.to * W + parcel.send.piece];
        *own = parcel.send.reduce ? *own + parcel.value : parcel.value;
        COLL_RING.received(&numbers.run, parcel.send.step, parcel.send.from, parcel.send.to);
    }
    for (guint i = 0; i < W * W; i++)
        assert_true(held[i] / W == whole[i % W]);
    g_array_unref(numbers.parcels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_sent),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
