// tests/test-scenarios-grid.c: which lists are axes, in which order points come, what is refused, what is
// equal.
#include "tests/check.h"

#include "scenarios/grid.h"
#include "scenarios/scenario.h"
#include "tests/folder.h"

static const char TEXT[] = "[scenario]\ntitle = a; b\n[job]\nbucket = 1 MiB; 25 MiB ;whole\noverlap = yes\n"
                           "[model]\nuse = gpt2\n[nccl]\nx = 1 us, 2 GB/s; 3 us, 4 GB/s\n";

static ScenarioGrid *make(const char *text, const char *const *sets, gboolean zip, GError **error)
{
    g_autoptr(Ini) ini = ini_read_text("case.ini", text, strlen(text), error);
    return ini == NULL ? NULL : scenario_grid_new(ini, sets, zip, error);
}

static ScenarioGrid *made(const char *text, const char *const *sets, gboolean zip)
{
    g_autoptr(GError) error = NULL;
    ScenarioGrid *grid = make(text, sets, zip, &error);
    check_fine(error);
    return grid;
}

static void test_product(void **state)
{
    (void)state;
    const char *const sets[] = {"machine.gpus=8;16", "model.use=gpt2-xl", "job.overlap = yes; no", NULL};
    g_autoptr(ScenarioGrid) grid = made(TEXT, sets, FALSE);
    assert_int_equal(grid->axes->len, 3); // the file's, then the set ones as typed
    assert_int_equal(grid->points, 12);
    g_autofree char *first = scenario_grid_words(grid, 0), *second = scenario_grid_words(grid, 1);
    g_autofree char *last = scenario_grid_words(grid, 11);
    assert_string_equal(first, "job.bucket = 1 MiB, machine.gpus = 8, job.overlap = yes");
    assert_string_equal(second, "job.bucket = 1 MiB, machine.gpus = 8, job.overlap = no");
    assert_string_equal(last, "job.bucket = whole, machine.gpus = 16, job.overlap = no");
    g_auto(GStrv) own = scenario_grid_sets(grid, 4);
    g_autofree char *all = g_strjoinv("|", own);
    assert_string_equal(all, "model.use=gpt2-xl|job.bucket=25 MiB|machine.gpus=8|job.overlap=yes");
    g_autofree char *json = scenario_grid_json(grid, 11), *axes = scenario_grid_json_all(grid);
    assert_string_equal(json, "{\"job.bucket\":\"whole\",\"machine.gpus\":\"16\",\"job.overlap\":\"no\"}");
    assert_string_equal(axes,
                        "{\"job.bucket\":[\"1 MiB\",\"25 MiB\",\"whole\"],\"machine.gpus\":[\"8\",\"16\"],"
                        "\"job.overlap\":[\"yes\",\"no\"]}");
}

static void test_zip(void **state)
{
    (void)state;
    const char *const sets[] = {"machine.gpus=8;16;8", NULL};
    g_autoptr(ScenarioGrid) grid = made(TEXT, sets, TRUE);
    assert_int_equal(grid->points, 3);
    g_autofree char *last = scenario_grid_words(grid, 2);
    assert_string_equal(last, "job.bucket = whole, machine.gpus = 8");
}

// A list of one value, and a list that --set replaces by a value.
static void test_one(void **state)
{
    (void)state;
    const char *const sets[] = {"job.bucket=25 MiB;", NULL};
    g_autoptr(ScenarioGrid) grid = made(TEXT, sets, FALSE);
    assert_int_equal(grid->points, 1);
    assert_string_equal(scenario_grid_value(grid, 0, 0), "25 MiB");
    const char *const plain[] = {"job.bucket=25 MiB", "job.overlap=yes;no", NULL};
    g_autoptr(ScenarioGrid) other = made(TEXT, plain, FALSE);
    assert_int_equal(other->axes->len, 1);
    // The same point of two grids is one, another is not, and what the title says does not count.
    g_autofree char *a = scenario_grid_hash(grid, 0), *b = scenario_grid_hash(other, 0);
    g_autofree char *c = scenario_grid_hash(other, 1);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    g_autofree char *all = scenario_grid_hash_all(grid), *all_other = scenario_grid_hash_all(other);
    assert_string_not_equal(all, all_other);
    g_autofree char *renamed = g_strconcat("# a comment\n", TEXT, NULL);
    memcpy(strstr(renamed, "a; b"), "c; d", 4);
    g_autoptr(ScenarioGrid) same = made(renamed, sets, FALSE);
    g_autofree char *d = scenario_grid_hash(same, 0);
    assert_string_equal(a, d);
}

// A file that a value names counts with what is in it.
static void test_file(void **state)
{
    (void)state;
    g_autofree char *path = folder_file("m.ini");
    g_autofree char *set = g_strconcat("machine.use=", path, NULL);
    const char *const sets[] = {set, NULL};
    g_autoptr(ScenarioGrid) grid = made(TEXT, sets, FALSE);
    assert_true(g_file_set_contents(path, "one", -1, NULL));
    g_autofree char *one = scenario_grid_hash(grid, 0), *again = scenario_grid_hash(grid, 0);
    assert_true(g_file_set_contents(path, "two", -1, NULL));
    g_autofree char *two = scenario_grid_hash(grid, 0);
    assert_string_equal(one, again);
    assert_string_not_equal(one, two);
}

static void test_refusals(void **state)
{
    (void)state;
    g_autoptr(GString) many = g_string_new("job.batch=0");
    for (guint i = 1; i <= SCENARIO_GRID_POINTS_MAX; i++)
        g_string_append_printf(many, ";%u", i);
    const struct {
        const char *set;
        gboolean zip;
        const char *words;
    } cases[] = {
        {"job.bucket=1 MiB", FALSE, "case.ini: found no list"},
        {"job.bucket=1;;2", FALSE, "--set: job.bucket: found an empty value"},
        {"job.bucket=;", FALSE, "--set: job.bucket: found an empty value"},
        {"job.bucket=;1", FALSE, "--set: job.bucket: found an empty value"},
        {"job.bucket=1; 2;1", FALSE, "--set: job.bucket: found '1' twice"},
        {"job.overlap=yes;no", TRUE, "found 3 values of job.bucket and 2 of job.overlap"},
        {many->str, FALSE, "found more than 100000 points"},
        {"nonsense", FALSE, "wanted section.key=value"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        const char *const sets[] = {cases[i].set, NULL};
        g_autoptr(ScenarioGrid) grid = make(TEXT, sets, cases[i].zip, &error);
        assert_null(grid);
        check_says(error, cases[i].words);
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) text = g_string_new("[job]\n");
    for (guint i = 0; i <= SCENARIO_GRID_AXES_MAX; i++)
        g_string_append_printf(text, "k%u = 1;\n", i);
    g_autoptr(ScenarioGrid) grid = make(text->str, NULL, FALSE, &error);
    assert_null(grid);
    check_says(error, "job.k16: found a list, wanted at most 16");
}

// Who wants one step says so, at the list's line.
static void test_single(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) ini = ini_read_text("case.ini", TEXT, strlen(TEXT), &error);
    g_autoptr(StepJob) job = scenario_read(ini, NULL, &error);
    assert_null(job);
    check_says(error,
               "case.ini:4: job.bucket: found a list '1 MiB; 25 MiB ;whole', wanted one value: 'stepline "
               "sweep' runs lists");
}

static int set_up(void **state)
{
    (void)state;
    return !folder_make();
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product), cmocka_unit_test(test_zip),      cmocka_unit_test(test_one),
        cmocka_unit_test(test_file),    cmocka_unit_test(test_refusals), cmocka_unit_test(test_single),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
