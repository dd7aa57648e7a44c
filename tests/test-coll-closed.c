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
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_real),
        cmocka_unit_test(test_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
