// tests/test-plots-validation.c: pictures of validations are drawn, whatever their names, sizes and numbers.
#include "tests/check.h"

#include <math.h>

#include "plots/validation.h"
#include "tests/folder.h"
#include "timeline/published.h"

static char *database; // owned: in the folder

// runs of so many sources; every fourth is a headline run; each published longer than the one before by step.
static void fill(guint runs, guint sources, double first, double step, double ratio)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(timeline_published_free);
    for (guint i = 0; i < runs; i++) {
        TimelinePublished *row = timeline_published_new();
        row->name = g_strdup_printf("run %u", i);
        row->source = g_strdup_printf("`touch x` '%u\" %%s \\n {/*2 x}", i % sources);
        row->model = g_strdup(i % 8 == 0 ? "m\303\274del `id` \"; system 'id'" : "llama");
        row->chip = g_strdup("H100");
        row->precision = g_strdup("bf16");
        row->split = g_strdup(i % 4 == 0 ? "headline" : "calib");
        row->gpus = 8 << (i % 10);
        row->published = first * pow(step, i);
        row->simulated = row->published * (i % 2 == 0 ? ratio : 2 - ratio);
        if (i % 5 == 4)
            row->reason = g_strdup("cannot");
        if (i % 5 == 4)
            row->simulated = (double)NAN;
        g_ptr_array_add(rows, row);
    }
    g_autoptr(GError) error = NULL;
    timeline_published_write(database, rows, NULL, &error);
    check_fine(error);
}

static char *draw(gint64 validation, const char *name, GError **error)
{
    g_autofree char *path = folder_file(name);
    char *shown = NULL;
    if (!plot_validation_write(database, validation, path, &shown, error))
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
        guint runs, sources;
        double first, step, ratio;
        const char *shown;
    } cases[] = {
        {1, 1, 1, 2, 1.05, "1 runs of 1 source, 1 within 10 %, 0 left out"},
        {2, 1, 3, 1, 1, "2 runs of 1 source, 2 within 10 %"},
        {8, 3, 1, 2, 1.2, "7 runs of 3 sources, 0 within 10 %, 1 left out"},
        {350, 40, 1e-3, 1.03, 0.93, "280 runs of 15 sources, 280 within 10 %, 70 left out"},
        {60, 2, 1e-9, 2, 1, "48 runs of 2 sources"},
        {100, 2, 1e-9, 2, 1.5, "48 runs of 2 sources"}, // the rest too long
        {20, 20, 12, 1.01, 1.99, "16 runs of 15 sources, 0 within 10 %"},
        {20, 4, 12, 1.01, 1e-4, "16 runs of 4 sources, 0 within 10 %"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_remove(database);
        fill(cases[i].runs, cases[i].sources, cases[i].first, cases[i].step, cases[i].ratio);
        g_autoptr(GError) error = NULL;
        g_autofree char *shown = draw(0, i % 2 == 0 ? "p.png" : "p.svg", &error);
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
    g_remove(database);
    fill(5, 1, 1e10, 2, 1); // too long, all of them
    const struct {
        gint64 validation;
        const char *name, *words;
    } cases[] = {
        {0, "p.png", "found no run with a published and a simulated step"},
        {2, "p.png", "found no validation 2"},
        {0, "p.gif", "wanted a name that ends in .png or .svg"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *shown = draw(cases[i].validation, cases[i].name, &error);
        assert_null(shown);
        check_says(error, cases[i].words);
    }
}

static int set_up(void **state)
{
    (void)state;
    if (!folder_make())
        return 1;
    database = folder_file("validation.db");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pictures), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
