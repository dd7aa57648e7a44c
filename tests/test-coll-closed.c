// tests/test-coll-closed.c: the closed forms give the documents' figures to the picosecond.
#include "tests/check.h"

#include <math.h>

#include "coll/closed.h"

enum { US = 1000000 }; // picoseconds

static Ps time_of(CollClosed form, gint64 ranks, gint64 bytes, Ps latency, double bandwidth)
{
    Ps time = -1;
    assert_true(coll_closed_time(form, ranks, bytes, latency, units_pace(bandwidth), &time));
    return time;
}

static void test_times(void **state)
{
    (void)state;
    const gint64 m = 13476298752;
    static const struct {
        CollClosed form;
        gint64 ranks, bytes;
        Ps latency;
        double bandwidth;
        Ps want; // worked out by hand with fractions
    } cases[] = {
        {COLL_CLOSED_ALL_REDUCE, 8, 13476298752, 5 * US, 450e9, 52477828480},
        {COLL_CLOSED_ALL_REDUCE, 64, 13476298752, 10 * US, 50e9, 531889263360},
        {COLL_CLOSED_ALL_REDUCE, 256, 13476298752, 10 * US, 50e9, 542046278400},
        {COLL_CLOSED_ALL_REDUCE, 1024, 13476298752, 10 * US, 50e9, 558985532160},
        {COLL_CLOSED_TREE_ALL_REDUCE, 64, 13476298752, 10 * US, 50e9, 3234431700480},
        {COLL_CLOSED_TREE_ALL_REDUCE, 5, 1000, 1, 1e9, 6 * 1000001},
        {COLL_CLOSED_REDUCE_SCATTER, 5, 1001, 1, 1e9, 4 * 201001},
        {COLL_CLOSED_GATHER_PIECES, 5, 1001, 1, 1e9, 4 * 1001001},
        {COLL_CLOSED_ALL_REDUCE, 3, 1, 0, 3e12, 4}, // a third of a picosecond, rounded up, four times
        {COLL_CLOSED_ALL_REDUCE, 7, 0, 10, 1e9, 120},
        {COLL_CLOSED_ALL_REDUCE, 1, 1000, 10, 1e9, 0},
        {COLL_CLOSED_TREE_ALL_REDUCE, 1, 1000, 10, 1e9, 0},
        {COLL_CLOSED_TREE_ALL_REDUCE, 2, 1000, 0, 1e9, 2000000},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_int_equal(
            time_of(cases[i].form, cases[i].ranks, cases[i].bytes, cases[i].latency, cases[i].bandwidth),
            cases[i].want);
    // An all-reduce is a reduce-scatter followed by an all-gather, to the picosecond.
    static const gint64 ranks[] = {1, 2, 3, 5, 7, 12, 64, 1024};
    for (guint i = 0; i < G_N_ELEMENTS(ranks); i++)
        assert_int_equal(time_of(COLL_CLOSED_ALL_REDUCE, ranks[i], m + 1, 7, 450e9),
                         time_of(COLL_CLOSED_REDUCE_SCATTER, ranks[i], m + 1, 7, 450e9) +
                             time_of(COLL_CLOSED_ALL_GATHER, ranks[i], m + 1, 7, 450e9));
}

// Worked out by hand.
static void test_torus(void **state)
{
    (void)state;
    static const struct {
        guint axes;
        gint64 sides[3], bytes;
        gboolean closed;
        Ps want; // at 1e9 bytes/s and 7 ps
    } cases[] = {
        {1, {4}, 8000, TRUE, 2 * 7 + 1000 * (1000 + 2000)},
        {1, {5}, 1000, TRUE, 2 * (7 + 200 * 1000)},
        {1, {5}, 1001, TRUE, 2 * (7 + 202 * 1000)}, // ten pieces of 101 at most
        {1, {5}, 1000, FALSE, 4 * (7 + 200 * 1000)},
        {1, {2}, 1000, FALSE, 7 + 500 * 1000},
        {2, {3, 3}, 3600, TRUE, 7 + 600 * 1000 + 7 + 200 * 1000},
        {3, {4, 4, 4}, 38400, TRUE, 6 * 7 + 1000 * (1600 + 3200 + 400 + 800 + 100 + 200)},
        {2, {3, 5}, 3000, TRUE, 2 * (7 + 300 * 1000) + 2 * (7 + 100 * 1000)}, // 3 then 5: 500, 2 x 100
        {1, {3}, 0, TRUE, 7},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Ps time = -1;
        assert_true(coll_closed_torus_time(cases[i].axes, cases[i].sides, cases[i].closed, cases[i].bytes, 7,
                                           units_pace(1e9), &time));
        assert_int_equal(time, cases[i].want);
    }
    // The book's M/(2 k B), but for a rank's own part, and half of every ring's latency.
    static const gint64 cube[] = {16, 16, 16}, large[] = {G_MAXINT32, G_MAXINT32, G_MAXINT32}, four[] = {4};
    const gint64 bytes = G_GINT64_CONSTANT(4096) * 6000000;
    Ps time = -1;
    assert_true(coll_closed_torus_time(3, cube, TRUE, bytes, 1000000, units_pace(45e9), &time));
    double book = (double)bytes / (2 * 3 * 45e9) * 4095 / 4096 + 3 * 8 * 1e-6;
    assert_true(fabs(units_seconds(time) - book) < 1e-9);
    time = 42;
    assert_false(coll_closed_torus_time(3, large, TRUE, 1, 0, units_pace(1e9), &time));
    assert_false(coll_closed_torus_time(1, four, TRUE, G_MAXINT64, 0, units_pace(1), &time));
    assert_false(coll_closed_torus_time(1, four, TRUE, 1, PS_MAX, units_pace(1e9), &time));
    assert_int_equal(time, 42);
}

static void test_range(void **state)
{
    (void)state;
    Ps time = 42;
    assert_false(coll_closed_time(COLL_CLOSED_ALL_REDUCE, 8, G_MAXINT64, 0, units_pace(1), &time));
    assert_false(coll_closed_time(COLL_CLOSED_ALL_REDUCE, 8, 1, PS_MAX, units_pace(1e9), &time));
    assert_false(
        coll_closed_time(COLL_CLOSED_ALL_REDUCE, G_MAXINT64 / 4, 1, 10 * US, units_pace(1e9), &time));
    assert_int_equal(time, 42);
}

// Real and integer forms differ by the rounding only: less than a byte and a picosecond a message.
static void test_real(void **state)
{
    (void)state;
    for (gint64 p = 1; p <= 130; p++) {
        for (guint form = COLL_CLOSED_ALL_REDUCE; form <= COLL_CLOSED_GATHER_PIECES; form++) {
            double exact = units_seconds(time_of((CollClosed)form, p, 1000003, 5 * US, 50e9));
            double real = coll_closed_seconds((CollClosed)form, p, 1000003, 5e-6, 50e9);
            if (fabs(exact - real) > 2 * (double)p * 22e-12)
                fail_msg("form %u, %d ranks: %.15g s against %.15g s", form, (int)p, exact, real);
        }
    }
}

static void test_sent(void **state)
{
    (void)state;
    assert_true(coll_closed_sent(COLL_CLOSED_ALL_REDUCE, 8, 14e9) == 24.5e9);
    assert_true(coll_closed_sent(COLL_CLOSED_REDUCE_SCATTER, 8, 14e9) == 12.25e9);
    assert_true(coll_closed_sent(COLL_CLOSED_ALL_GATHER, 8, 14e9) == 12.25e9);
    assert_true(coll_closed_sent(COLL_CLOSED_TREE_ALL_REDUCE, 8, 14e9) == 28e9);
    assert_true(coll_closed_sent(COLL_CLOSED_GATHER_PIECES, 8, 1e9) == 7e9);
    for (guint form = COLL_CLOSED_ALL_REDUCE; form <= COLL_CLOSED_GATHER_PIECES; form++)
        assert_true(coll_closed_sent((CollClosed)form, 1, 14e9) == 0);
    // 16-fold compressed gradients cannot be summed on the way: beyond some 32 workers a rank sends more, not
    // less.
    double whole = coll_closed_sent(COLL_CLOSED_ALL_REDUCE, 8, 16e9);
    assert_true(coll_closed_sent(COLL_CLOSED_GATHER_PIECES, 8, 1e9) > whole / 16 * 3.9);
    assert_true(coll_closed_sent(COLL_CLOSED_GATHER_PIECES, 64, 1e9) >
                coll_closed_sent(COLL_CLOSED_ALL_REDUCE, 64, 16e9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times), cmocka_unit_test(test_torus), cmocka_unit_test(test_range),
        cmocka_unit_test(test_real),  cmocka_unit_test(test_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
