// tests/test-plots-sweep.c: which axes are numbers, which are logarithmic, and that pictures are drawn of
// them.
#include "tests/check.h"

#include "plots/sweep.h"
#include "tests/folder.h"
#include "tests/synthetic.h"
#include "timeline/sweep.h"

static char *database; // owned: in the folder

static GPtrArray *list(const char *words)
{
    g_auto(GStrv) items = g_strsplit(words, ";", -1);
    GPtrArray *values = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; items[i] != NULL; i++)
        g_ptr_array_add(values, g_strdup(items[i]));
    return values;
}

static void test_numbers(void **state)
{
    (void)state;
    const struct {
        const char *words;
        double last; // 0: no numbers
        gboolean log;
    } cases[] = {
        {"1;2;4", 4, FALSE},
        {"8;16;64", 64, TRUE},
        {"0;16;64", 64, FALSE},
        {"1 MiB;25 MiB", 26214400, TRUE},
        {"100 Gb/s;10 Gb/s", 1.25e9, TRUE},
        {"1 us;2 ms", 2e-3, TRUE},
        {"47 %;48 %", 0.48, FALSE},
        {"0.3;0.4", 0.4, FALSE},
        {"1 MiB;whole", 0, FALSE},
        {"1 MiB;2", 0, FALSE},
        {"yes;no", 0, FALSE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GPtrArray) values = list(cases[i].words);
        g_autofree double *numbers = plot_sweep_numbers(values);
        assert_true((numbers != NULL) == (cases[i].last > 0));
        if (numbers == NULL)
            continue;
        assert_true(numbers[values->len - 1] == cases[i].last);
        assert_int_equal(plot_sweep_is_log(numbers, values->len), cases[i].log);
    }
}

// A sweep of two axes; the point in the middle failed. All steps as long where flat, 0 where zero.
static void fill(const char *first, const char *second, gboolean zip, Ps unit)
{
    g_remove(database);
    g_autoptr(GPtrArray) a = list(first), b = list(second);
    const TimelineSweepHead head = {.name = "'case' `id`",
                                    .scenario = "",
                                    .axes = "{\"job.a\":[],\"job.b\":[]}",
                                    .mode = zip ? "zip" : "product",
                                    .hash = "1",
                                    .points = a->len * b->len};
    g_autoptr(TimelineSweep) sweep = timeline_sweep_new(database, &head, NULL);
    g_autoptr(StepResult) result = synthetic_result(1);
    guint n = zip ? a->len : a->len * b->len;
    for (guint i = 0; i < n; i++) {
        g_autofree char *axes =
            g_strdup_printf("{\"job.a\":\"%s\",\"job.b\":\"%s\"}", (char *)a->pdata[zip ? i : i / b->len],
                            (char *)b->pdata[zip ? i : i % b->len]);
        TimelineSweepPoint point = {i, axes, axes};
        result->step = (i + 1) * unit;
        assert_true(timeline_sweep_add(sweep, &point, i == n / 2 ? NULL : result, "wrong", NULL));
    }
}

static char *draw(const PlotSweep *what, const char *name, GError **error)
{
    g_autofree char *path = folder_file(name);
    char *shown = NULL;
    if (!plot_sweep_write(database, what, path, &shown, error))
        return NULL;
    GStatBuf status;
    assert_true(g_stat(path, &status) == 0 && status.st_size > 1000);
    return shown;
}

static void test_pictures(void **state)
{
    (void)state;
    g_autofree char *gnuplot = g_find_program_in_path("gnuplot");
    if (gnuplot == NULL)
        print_message("SKIPPED: no gnuplot: nothing is drawn, only the refusal is checked\n");
    const struct {
        const char *first, *second;
        gboolean zip, lines;
        Ps unit;
        const char *shown;
    } cases[] = {
        {"1;2;4", "1 MiB;4 MiB;16 MiB", FALSE, FALSE, PS_PER_SECOND,
         "9 points of step_s over job.a and job.b"},
        {"1;2;4", "1 MiB;4 MiB;16 MiB", FALSE, TRUE, PS_PER_SECOND, "over job.a, lines by job.b"},
        {"8;64;4096;`x`", "yes;no", FALSE, FALSE, 1000000, "8 points of step_s over job.a, lines by job.b"},
        {"8;64;4096", "no;", FALSE, FALSE, PS_PER_SECOND, "over job.a, lines by job.b"},
        {"8;64;8;9", "a;b;c;d", TRUE, FALSE, PS_PER_SECOND, "4 points of step_s over job.a, lines by job.b"},
        {"8", "a", FALSE, FALSE, PS_PER_SECOND, NULL}, // which failed
        {"8;9", "a", FALSE, FALSE, PS_PER_SECOND, "2 points"},
        {"1;2;3", "1;2;3", FALSE, FALSE, 0, "9 points"}, // all 0
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        fill(cases[i].first, cases[i].second, cases[i].zip, cases[i].unit);
        g_autoptr(GError) error = NULL;
        PlotSweep what = {.metric = "step_s", .lines = cases[i].lines};
        g_autofree char *shown = draw(&what, i % 2 == 0 ? "p.png" : "p.svg", &error);
        if (cases[i].shown == NULL) {
            check_says(error, "all of them failed");
            continue;
        }
        if (gnuplot == NULL) {
            assert_null(shown);
            check_says(error, "gnuplot not found");
            continue;
        }
        check_fine(error);
        if (strstr(shown, cases[i].shown) == NULL)
            fail_msg("case %u says '%s', wanted '%s'", i, shown, cases[i].shown);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    fill("1;2", "a;b;c;d;e;f;g;h;i;j;k;l;m", FALSE, PS_PER_SECOND);
    const struct {
        PlotSweep what;
        const char *name, *words;
    } cases[] = {
        {{.metric = "step_s"}, "p.png", "found 13 combinations of the axes but the first, wanted at most 12"},
        {{.metric = "stepp_s"}, "p.png", "--metric: found 'stepp_s'"},
        {{.metric = "step_s", .sweep = 2}, "p.png", "found no sweep 2"},
        {{.metric = "step_s"}, "p.gif", "wanted a name that ends in .png or .svg"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *shown = draw(&cases[i].what, cases[i].name, &error);
        assert_null(shown);
        check_says(error, cases[i].words);
    }
}

static int set_up(void **state)
{
    (void)state;
    if (!folder_make())
        return 1;
    database = folder_file("sweep.db");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove();
    g_free(database);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_pictures),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
