// tests/test-plans-pipe.c: pipeline schedules: complete, free of deadlock, and as idle as their formula says.
#include "tests/check.h"

#include "plans/pipe.h"

enum { P_MAX = 8, M_MAX = 16, V_MAX = 4 };

// One schedule of one size, run by a simulation of its own: slots of one forward pass, backward passes two.
typedef struct {
    guint32 p, m, v;
    GArray *steps[P_MAX];
    guint32 next[P_MAX];                   // steps done
    gint64 now[P_MAX];                     // when the stage is free
    gint64 done[2][P_MAX * V_MAX][M_MAX];  // backward, virtual stage, micro-batch: when; -1: not yet
    guint32 held[P_MAX], held_most[P_MAX]; // forward passes whose backward pass has not run
    guint32 runs[2][P_MAX * V_MAX][M_MAX]; // how often
} Run;

static void run_init(Run *run, const PipeKind *kind, guint32 p, guint32 m, guint32 v)
{
    memset(run, 0, sizeof *run);
    memset(run->done, -1, sizeof run->done);
    run->p = p;
    run->m = m;
    run->v = v;
    for (guint32 s = 0; s < p; s++) {
        run->steps[s] = g_array_new(FALSE, FALSE, sizeof(PipeStep));
        kind->steps(run->steps[s], s, p, m, v);
        assert_int_equal(run->steps[s]->len, 2 * m * v);
    }
}

static void run_clear(Run *run)
{
    for (guint32 s = 0; s < run->p; s++)
        g_array_unref(run->steps[s]);
}

// When what a step needs is done; -1: not yet.
static gint64 run_needs(const Run *run, guint32 stage, const PipeStep *step)
{
    guint32 last = run->p * run->v - 1;
    if (!step->backward)
        return stage == 0 ? 0 : run->done[0][stage - 1][step->micro_batch];
    gint64 own = run->done[0][stage][step->micro_batch];
    gint64 after = stage == last ? own : run->done[1][stage + 1][step->micro_batch];
    return own < 0 || after < 0 ? -1 : MAX(own, after);
}

// Runs the next step of a stage if it can.
static gboolean run_step(Run *run, guint32 s)
{
    if (run->next[s] == run->steps[s]->len)
        return FALSE;
    const PipeStep *step = &g_array_index(run->steps[s], PipeStep, run->next[s]);
    assert_true(step->micro_batch < run->m && step->chunk < run->v);
    guint32 stage = step->chunk * run->p + s, backward = step->backward ? 1 : 0;
    gint64 needs = run_needs(run, stage, step);
    if (needs < 0)
        return FALSE;
    run->now[s] = MAX(run->now[s], needs) + 1 + backward;
    run->done[backward][stage][step->micro_batch] = run->now[s];
    run->runs[backward][stage][step->micro_batch]++;
    run->held[s] += backward == 0;
    run->held_most[s] = MAX(run->held_most[s], run->held[s]);
    run->held[s] -= backward;
    run->next[s]++;
    return TRUE;
}

static void run_all(Run *run)
{
    gboolean moved = TRUE;
    while (moved) {
        moved = FALSE;
        for (guint32 s = 0; s < run->p; s++)
            while (run_step(run, s))
                moved = TRUE;
    }
}

static void check_schedule(const PipeKind *kind, guint32 p, guint32 m, guint32 v)
{
    Run run;
    run_init(&run, kind, p, m, v);
    run_all(&run);
    gint64 end = 0;
    for (guint32 s = 0; s < p; s++) {
        if (run.next[s] != 2 * m * v)
            fail_msg("%s: stage %u of %u is stuck at step %u (m %u, v %u)", kind->name, s, p, run.next[s], m,
                     v);
        end = MAX(end, run.now[s]);
        if (run.held_most[s] != kind->in_flight(s, p, m, v))
            fail_msg("%s: stage %u of %u holds %u, in_flight says %u (m %u, v %u)", kind->name, s, p,
                     run.held_most[s], kind->in_flight(s, p, m, v), m, v);
    }
    for (guint32 stage = 0; stage < p * v; stage++) {
        for (guint32 i = 0; i < m; i++) {
            assert_int_equal(run.runs[0][stage][i], 1);
            assert_int_equal(run.runs[1][stage][i], 1);
        }
    }
    // Every stage works 3 m v slots, so that all are idle for the same time.
    guint64 num = 0, den = 0, work = 3 * (guint64)m * v;
    kind->bubble(p, m, v, &num, &den);
    if (((guint64)end - work) * den != num * work)
        fail_msg("%s: p %u, m %u, v %u take %d slots", kind->name, p, m, v, (int)end);
    run_clear(&run);
}

static void test_all(void **state)
{
    (void)state;
    guint counts[8] = {0};
    for (guint k = 0; PIPE_KINDS[k] != NULL; k++)
        for (guint32 p = 1; p <= P_MAX; p++)
            for (guint32 m = 1; m <= M_MAX; m++)
                for (guint32 v = 1; v <= V_MAX; v++)
                    if (PIPE_KINDS[k]->refuses(p, m, v) == NULL) {
                        check_schedule(PIPE_KINDS[k], p, m, v);
                        counts[k]++;
                    }
    assert_int_equal(counts[0], P_MAX * M_MAX);
    assert_int_equal(counts[1], P_MAX * M_MAX);
    assert_int_equal(counts[2], 3 * (8 + 5 + 4 + 3 + 2 + 2 + 2)); // m in multiples of p = 2 .. 8
}

// The formulas themselves: Narayanan et al. 2021, section 2.2.
static void test_bubbles(void **state)
{
    (void)state;
    static const struct {
        const PipeKind *kind;
        guint32 p, m, v;
        guint64 num, den;
    } cases[] = {
        {&PIPE_GPIPE, 4, 8, 1, 3, 8},        {&PIPE_1F1B, 4, 8, 1, 3, 8},     {&PIPE_1F1B, 1, 7, 1, 0, 7},
        {&PIPE_INTERLEAVED, 4, 8, 2, 3, 16}, {&PIPE_1F1B, 16, 16, 1, 15, 16},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint64 num = 0, den = 0;
        cases[i].kind->bubble(cases[i].p, cases[i].m, cases[i].v, &num, &den);
        assert_int_equal(num, cases[i].num);
        assert_int_equal(den, cases[i].den);
    }
    assert_int_equal(PIPE_GPIPE.in_flight(3, 4, 8, 1), 8);
    assert_int_equal(PIPE_1F1B.in_flight(0, 4, 8, 1), 4);
    assert_int_equal(PIPE_1F1B.in_flight(3, 4, 8, 1), 1);
    assert_int_equal(PIPE_1F1B.in_flight(0, 4, 2, 1), 2);
    // p (1 + (p - 1)/(p v)) whole stages, in chunks of 1/v.
    assert_int_equal(PIPE_INTERLEAVED.in_flight(0, 4, 8, 2), 11);
    assert_int_equal(PIPE_INTERLEAVED.in_flight(3, 4, 8, 2), 5);
    assert_int_equal(PIPE_INTERLEAVED.in_flight(3, 4, 4, 2), 5);
}

static void test_refusals(void **state)
{
    (void)state;
    assert_string_equal(PIPE_GPIPE.refuses(4, 8, 2), "wants one chunk a stage");
    assert_string_equal(PIPE_1F1B.refuses(4, 8, 2), "wants one chunk a stage");
    assert_non_null(PIPE_1F1B.refuses(0, 8, 1));
    assert_non_null(PIPE_1F1B.refuses(4, G_MAXUINT32, 1));
    assert_null(PIPE_1F1B.refuses(1, 1, 1));
    assert_string_equal(PIPE_INTERLEAVED.refuses(1, 8, 2), "wants at least 2 stages");
    assert_string_equal(PIPE_INTERLEAVED.refuses(4, 8, 1), "wants at least 2 chunks a stage");
    assert_string_equal(PIPE_INTERLEAVED.refuses(4, 6, 2), "wants micro-batches that divide by the stages");
    assert_non_null(PIPE_INTERLEAVED.refuses(4, 0, 2));
    assert_non_null(PIPE_INTERLEAVED.refuses(65536, 65536, 65536));
}

// The order that Megatron-LM prints for groups of p = 2 micro-batches.
static void test_megatron(void **state)
{
    (void)state;
    static const guint32 micro_batches[] = {0, 1, 0, 1, 2, 3, 2, 3}, chunks[] = {0, 0, 1, 1, 0, 0, 1, 1};
    for (guint32 s = 0; s < 2; s++) {
        g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(PipeStep));
        PIPE_INTERLEAVED.steps(steps, s, 2, 4, 2);
        guint32 seen[2] = {0}, warm_up = 0;
        for (guint i = 0; i < steps->len; i++) {
            const PipeStep *step = &g_array_index(steps, PipeStep, i);
            guint32 k = seen[step->backward ? 1 : 0]++;
            assert_int_equal(step->micro_batch, micro_batches[k]);
            assert_int_equal(step->chunk, step->backward ? 1 - chunks[k] : chunks[k]);
            warm_up += seen[1] == 0;
        }
        assert_int_equal(warm_up, (2 - s - 1) * 2 + 2 + 1); // the last one is of the steady state
    }
}

static void test_find(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    assert_ptr_equal(pipe_find("1f1b", NULL, &error), &PIPE_1F1B);
    assert_ptr_equal(pipe_find("interleaved", NULL, &error), &PIPE_INTERLEAVED);
    assert_null(error);
    assert_null(pipe_find("interleave", "a.ini:3: job.schedule", &error));
    check_says(error, "a.ini:3: job.schedule: found schedule 'interleave', wanted one of: gpipe, 1f1b, "
                      "interleaved (did you mean 'interleaved'?)");
}

// 4 stages, 8 micro-batches, against tables that have been looked at (figures 3 and 4 of the paper).
static void test_tables(void **state)
{
    (void)state;
    for (guint k = 0; PIPE_KINDS[k] != NULL; k++) {
        g_autofree char *table = pipe_table(PIPE_KINDS[k], 4, 8, PIPE_KINDS[k] == &PIPE_INTERLEAVED ? 2 : 1);
        g_autofree char *name = g_strdup_printf("pipe-%s.txt", PIPE_KINDS[k]->name);
        g_autofree char *path = g_build_filename(g_getenv("STEPLINE_SOURCE"), "tests", "data", name, NULL);
        g_autofree char *golden = NULL;
        assert_true(g_file_get_contents(path, &golden, NULL, NULL));
        assert_string_equal(table, golden);
    }
    g_autofree char *one = pipe_table(&PIPE_1F1B, 1, 1, 1);
    assert_true(g_str_has_prefix(one, "slot     0  1  2\nstage 0  F0 B0---\n1f1b, 1 stage, 1 micro-batch: "));
    g_autofree char *many = pipe_table(&PIPE_INTERLEAVED, 2, 2, 27);
    assert_non_null(strstr(many, "B1.26"));
    g_autofree char *wide = pipe_table(&PIPE_1F1B, 3, 400, 1);
    assert_non_null(strstr(wide, " 1205\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),      cmocka_unit_test(test_bubbles), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_megatron), cmocka_unit_test(test_find),    cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
