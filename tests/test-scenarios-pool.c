// tests/test-scenarios-pool.c: any number of workers gives the same, a failure stops nobody, an error stops
// all.
#include "tests/check.h"

#include "base/error.h"
#include "scenarios/pool.h"

static const char TEXT[] =
    "[model]\nuse = gpt2\nlayers = 2\nsequence = 64\n[machine]\nuse = deck-nvlink-8\ngpus = 1; 2; 4\n"
    "[job]\nbatch = 8\nbucket = 1 MiB; 2 B; 4 MiB; whole\n[compute]\nefficiency = 0.4\n";

enum { POINTS = 12 };

typedef struct {
    guint64 fingerprints[POINTS];   // 0: failed
    guint calls[POINTS], all, last; // last: stop after so many calls
} Seen;

static gboolean done(gpointer user, guint point, const StepResult *result, const GError *failure,
                     GError **error)
{
    Seen *seen = user;
    assert_true(point < POINTS && (result == NULL) == (failure != NULL));
    if (failure != NULL)
        check_says(failure, "job.bucket: found less than 1 KiB");
    seen->fingerprints[point] = result == NULL ? 0 : result->fingerprint;
    seen->calls[point]++;
    return ++seen->all != seen->last || base_error_set(error, BASE_ERROR_FAILED, NULL, "the disk is full");
}

static void tick(gpointer user)
{
    (void)user;
}

static gboolean run(guint jobs, Seen *seen, GError **error)
{
    g_autoptr(Ini) ini = ini_read_text("case.ini", TEXT, strlen(TEXT), NULL);
    g_autoptr(ScenarioGrid) grid = scenario_grid_new(ini, NULL, FALSE, NULL);
    assert_int_equal(grid->points, POINTS);
    guint points[POINTS];
    for (guint i = 0; i < POINTS; i++)
        points[i] = i;
    return scenario_pool_run(grid, points, POINTS, jobs, done, tick, seen, error);
}

static void test_same(void **state)
{
    (void)state;
    Seen first = {0};
    assert_true(run(1, &first, NULL));
    const guint jobs[] = {2, 3, 16};
    for (guint i = 0; i < G_N_ELEMENTS(jobs); i++) {
        Seen seen = {0};
        assert_true(run(jobs[i], &seen, NULL));
        assert_memory_equal(seen.fingerprints, first.fingerprints, sizeof first.fingerprints);
        for (guint j = 0; j < POINTS; j++)
            assert_int_equal(seen.calls[j], 1);
    }
    for (guint i = 0; i < POINTS; i++)
        assert_true((first.fingerprints[i] == 0) == (i % 4 == 1));
}

static void test_stop(void **state)
{
    (void)state;
    for (guint jobs = 1; jobs <= 4; jobs++) {
        g_autoptr(GError) error = NULL;
        Seen seen = {.last = 3};
        assert_false(run(jobs, &seen, &error));
        check_says(error, "the disk is full");
        assert_int_equal(seen.all, 3); // nobody is told of a point afterwards
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
