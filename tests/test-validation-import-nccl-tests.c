// tests/test-validation-import-nccl-tests.c: logs of every version and trap, refusals, and hostile input.
#include "tests/check.h"

#include <math.h>

#include "validation/fit.h"
#include "validation/import-nccl-tests.h"

static char *data_path(const char *file)
{
    const char *source = g_getenv("STEPLINE_SOURCE");
    return g_build_filename(source == NULL ? "." : source, "tests/data/nccl-tests", file, NULL);
}

static const struct {
    const char *file;
    guint runs;
    ValidationNcclOp op;
    guint32 ranks, hosts;
    guint rows, points; // of the first run
    const char *device, *version;
    const char *note; // one of them says this; NULL: there is none
} FILES[] = {
    {"old.txt", 1, VALIDATION_NCCL_ALL_REDUCE, 8, 1, 15, 13, "Example GPU X1", NULL,
     ":17: 2 rows of 0 bytes not used"},
    {"alltoall-old.txt", 1, VALIDATION_NCCL_ALL_TO_ALL, 16, 0, 5, 5, NULL, NULL,
     ":5: 5 in-place rows with wrong results"},
    {"tagged.txt", 1, VALIDATION_NCCL_ALL_REDUCE, 24, 0, 15, 15, NULL, NULL,
     ":4: 2 out-of-place rows took 1.5 times"},
    {"newest.txt", 2, VALIDATION_NCCL_ALL_TO_ALL, 16, 2, 9, 9, "Example GPU X1", "nccl-tests version 2.18.3",
     NULL},
    {"report.json", 1, VALIDATION_NCCL_ALL_REDUCE, 8, 1, 15, 15, "Example GPU X1", "NCCL 22703", NULL},
    {"debug-prints.txt", 1, VALIDATION_NCCL_ALL_GATHER, 4, 2, 6, 5, "Example GPU X1", NULL,
     ":9: 1 row of 0 bytes"},
    {"per-size.txt", 1, VALIDATION_NCCL_REDUCE_SCATTER, 8, 1, 5, 5, "Example GPU X1", NULL,
     ":15: 5 rows without in-place"},
    {"noise.txt", 1, VALIDATION_NCCL_ALL_REDUCE, 96, 1, 7, 7, "Example GPU X1", NULL,
     "ends at rank 143, but the figures are "
     "those of 96 ranks"},
};

static void test_files(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(FILES); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path = data_path(FILES[i].file);
        g_autoptr(ValidationNcclLog) log = validation_import_nccl_tests_read(path, &error);
        check_fine(error);
        assert_int_equal(log->runs->len, FILES[i].runs);
        const ValidationNcclRun *run = log->runs->pdata[0];
        assert_int_equal(run->op, FILES[i].op);
        assert_int_equal(run->ranks, FILES[i].ranks);
        assert_int_equal(run->hosts, FILES[i].hosts);
        assert_int_equal(run->rows->len, FILES[i].rows);
        assert_true(g_strcmp0(run->device, FILES[i].device) == 0);
        assert_true(g_strcmp0(run->version, FILES[i].version) == 0);
        guint dropped = 0;
        gboolean erratic = FALSE;
        g_autoptr(GArray) points = validation_nccl_log_run_points(run, &dropped, &erratic);
        assert_int_equal(points->len, FILES[i].points);
        assert_false(erratic);
        // All were made by T = min(10 us + S c / 20 GB/s, 40 us + S c / 100 GB/s).
        double c = validation_nccl_log_factor(run->op, run->ranks);
        for (guint j = 0; j < points->len; j++) {
            const ValidationNcclPoint *point = &g_array_index(points, ValidationNcclPoint, j);
            double made = MIN(10e-6 + point->bytes * c / 20e9, 40e-6 + point->bytes * c / 100e9);
            if (fabs(point->time / made - 1) > 1e-3)
                fail_msg("%s: %g B: read %g s, made %g s", FILES[i].file, point->bytes, point->time, made);
        }
        gboolean said = FILES[i].note == NULL && log->notes->len == 0;
        for (guint j = 0; j < log->notes->len; j++)
            said |= FILES[i].note != NULL && strstr(log->notes->pdata[j], FILES[i].note) != NULL;
        if (!said)
            fail_msg("%s: no note says '%s'", FILES[i].file,
                     FILES[i].note == NULL ? "nothing" : FILES[i].note);
    }
}

static ValidationNcclLog *read_text(const char *name, const char *text, GError **error)
{
    return validation_import_nccl_tests_read_text(name, text, strlen(text), error);
}

#define COLUMNS                                                                                              \
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw " \
    "  busbw #wrong\n"
#define DEVICE(rank) "#  Rank  " #rank " Group  0 Pid  1 on hosta device  0 [0x08] Example GPU\n"

static void test_ops(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        ValidationNcclOp op;
        guint32 ranks;
        gboolean assumed;
    } cases[] = {
        // No header at all: 8 ranks out of the ratio 1.75.
        {"t", "53687090 26843545 half sum -1 287.0 187.07 327.37 0 287.6 186.67 326.68 0\n",
         VALIDATION_NCCL_ALL_REDUCE, 8, FALSE},
        // Half a row, no root.
        {"t", "1048576 262144 float sum 27.24 38.49 67.36 N/A\n", VALIDATION_NCCL_ALL_REDUCE, 8, FALSE},
        // Whole numbers for times must not be taken for a root.
        {"t", "268435456 67108864 float sum 122131 2.20 4.33 2e-06 122165 2.20 4.33 2e-06\n",
         VALIDATION_NCCL_ALL_REDUCE, 64, FALSE},
        {"t", DEVICE(71) "268435456 67108864 float sum 122131 2.20 4.33 2e-06 122165 2.20 4.33 2e-06\n",
         VALIDATION_NCCL_ALL_REDUCE, 72, FALSE},
        {"t", DEVICE(1) "1048576 262144 float sum 0 100.0 10.49 10.49 0 100.0 10.49 10.49 0\n",
         VALIDATION_NCCL_REDUCE, 2, FALSE},
        {"t", DEVICE(1) "1048576 262144 float none 0 100.0 10.49 10.49 0 100.0 10.49 10.49 0\n",
         VALIDATION_NCCL_BROADCAST, 2, FALSE},
        {"t", "1048576 65536 float none -1 100.0 10.49 7.86 0 100.0 10.49 7.86 0\n",
         VALIDATION_NCCL_ALL_GATHER, 4, TRUE},
        {"/x/my_alltoall.log", "1048576 65536 float none -1 100.0 10.49 7.86 0 100.0 10.49 7.86 0\n",
         VALIDATION_NCCL_ALL_TO_ALL, 4, FALSE},
        {"t", "./alltoall_perf -b 1M\n1048576 65536 float none -1 100.0 10.49 7.86 0 100.0 10.49 7.86 0\n",
         VALIDATION_NCCL_ALL_TO_ALL, 4, FALSE},
        {"t", "1048576 65536 float sum -1 100.0 10.49 7.86 0 100.0 10.49 7.86 0\n",
         VALIDATION_NCCL_REDUCE_SCATTER, 4, FALSE},
        // The program's name does not win against the columns.
        {"t", "all_gather_perf\n1048576 262144 float sum -1 27.24 38.49 67.36 0\n",
         VALIDATION_NCCL_ALL_REDUCE, 8, FALSE},
        {"t", DEVICE(3) "1048576 262144 float sum -1 100.0 10.49 10.49 0 100.0 10.49 10.49 0\n",
         VALIDATION_NCCL_SEND_RECV, 4, FALSE},
        // Colours, a label, lost blanks after '#', NUL.
        {"t",
         "\x1b[1m12: #Rank 7 Pid 1 on h device 0 [0x1] G\n\x1b[0m" COLUMNS
         "3:  1048576 262144 float sum -1 27.24 38.49 67.36 0 27.24 38.49 67.36 0\n",
         VALIDATION_NCCL_ALL_REDUCE, 8, FALSE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ValidationNcclLog) log = read_text(cases[i].name, cases[i].text, &error);
        check_fine(error);
        const ValidationNcclRun *run = log->runs->pdata[0];
        if (run->op != cases[i].op || run->ranks != cases[i].ranks || run->op_assumed != cases[i].assumed)
            fail_msg("case %u: %s on %u ranks%s", i, VALIDATION_NCCL_OP_NAMES[run->op], run->ranks,
                     run->op_assumed ? ", assumed" : "");
    }
}

static void test_sides(void **state)
{
    (void)state;
    static const char text[] =
        COLUMNS "1024 256 float sum -1 90.00 0.01 0.02 0 20.00 0.05 0.09 0\n"  // a warm-up: in place counts
                "4096 1024 float sum -1 30.00 0.14 0.24 7 31.00 0.13 0.23 0\n" // wrong: in place counts
                "16384 4096 float sum -1 40.00 0.41 0.72 7 41.00 0.40 0.70 7\n"
                "65536 16384 float sum -1 50.00 1.31 2.29 0 51.00 1.29 2.25 0\n"
                "65536 16384 float sum -1 54.00 1.21 2.12 0 51.00 1.29 2.25 0\n"
                "65536 16384 float sum -1 70.00 0.94 1.64 0 51.00 1.29 2.25 0\n";
    g_autoptr(GError) error = NULL;
    g_autoptr(ValidationNcclLog) log = read_text("t", text, &error);
    check_fine(error);
    guint dropped = 0;
    gboolean erratic = TRUE;
    g_autoptr(GArray) points = validation_nccl_log_run_points(log->runs->pdata[0], &dropped, &erratic);
    static const double times[] = {20e-6, 31e-6, 54e-6};
    assert_int_equal(points->len, 3);
    assert_int_equal(dropped, 1);
    assert_false(erratic);
    for (guint i = 0; i < 3; i++)
        assert_true(fabs(g_array_index(points, ValidationNcclPoint, i).time / times[i] - 1) < 1e-9);
}

static void test_csv(void **state)
{
    (void)state;
    static const char *const good[] = {"bytes,us\n1024,10\n1048576,30.5\n",
                                       "# mine\n\nbytes,seconds\n1024,1e-05\n1048576,3.05e-5\n",
                                       "\xef\xbb\xbfms,note,bytes\n0.01,a,1024\n0.0305,b,1048576\n"};
    for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ValidationNcclLog) log = read_text("t.csv", good[i], &error);
        check_fine(error);
        const ValidationNcclRun *run = log->runs->pdata[0];
        assert_int_equal(run->op, VALIDATION_NCCL_OPS);
        guint dropped = 0;
        gboolean erratic = FALSE;
        g_autoptr(GArray) points = validation_nccl_log_run_points(run, &dropped, &erratic);
        assert_int_equal(points->len, 2);
        assert_true(fabs(g_array_index(points, ValidationNcclPoint, 1).time - 30.5e-6) < 1e-15);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "t: found no row of nccl-tests output, wanted lines like"},
        {"# p3.16xlarge x2, 1 node 36 min\n", "t: found no row"},
        {"make: done\n# nThread 1 nGpus 1\n" DEVICE(0) "hosta: Test NCCL failure all_gather.cu:47\n",
         "t:2: found the head of a table but no row: the run ended before its first result ('hosta: Test "
         "NCCL failure"},
        {COLUMNS "1048576 262144 float sum -1 25.4", "t:2: 1 line begins like a row but cannot be read"},
        {COLUMNS "1048576 262144 float sum -1 25.40 99.00 99.00 0\n", "a bandwidth that is not size / time"},
        {COLUMNS "1048576 262144 float sum -1 nan 41.28 72.24 0\n", "begins like a row"},
        {COLUMNS "1048576 262144 float sum -1 -25.40 41.28 72.24 0\n", "begins like a row"},
        {COLUMNS "99999999999999999999 262144 float sum -1 25.40 41.28 72.24 0\n",
         "the size or the count is out of range"},
        // Four processes that each think they are alone.
        {"# nThread 1 nGpus 1\n" DEVICE(0) DEVICE(0) COLUMNS
         "1048576 262144 float sum -1 10.00 104.86 0.00 0 0.14 7489.83 0.00 0\n",
         "t:5: found several runs of one rank each (rank 0 is listed more than once), wanted at least two"},
        {"# nThread 1 nGpus 1\n" DEVICE(0) COLUMNS
         "1048576 262144 float sum 0 6.42 163.33 163.33 0 0.19 5518.82 5518.82 0\n",
         "t:4: found a run of one rank, wanted at least two: nothing was sent"},
        {COLUMNS "1048576 262144 float sum -1 25.40 41.28 72.24 3 25.40 41.28 72.24 3\n",
         "t:2: found wrong results in every row"},
        {"#  size count type redop root cputime algbw busbw #wrong\n1048576 262144 float sum -1 25.40 41.28 "
         "72.24 0\n",
         "t:2: a table of 'cputime' dropped"},
        {"./hypercube_perf\n1048576 262144 float none -1 25.40 41.28 41.28 0\n",
         "t:2: a table of hypercube_perf"},
        {"bytes,time\n1,2\n", "t: found no column of times, wanted one named seconds, ms or us"},
        {"bytes,us\n", "t: found no row below the header"},
        {"bytes,us\n1024,0\n", "t:2: us: found '0', wanted a number above 0"},
        {"bytes,us\n1024,nan\n", "t:2: us: found 'nan'"},
        {"bytes,us\n-5,1\n", "t:2: bytes: "},
        {"bytes,us\n1024\n", "t:2: found 1 field, wanted 2"},
        {"{", "t: found broken JSON"},
        {"{\"results\": 5}", "t: found JSON without 'results'"},
        {"{\"results\": [{\"size\": \"x\"}]}", "t: results: row 1 has no usable size"},
        {"{\"results\": [[1]]}", "t: results: row 1 has no usable size"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ValidationNcclLog) log = read_text("t", bad[i].text, &error);
        if (log != NULL)
            fail_msg("case %u: read, wanted '%s'", i, bad[i].says);
        check_says(error, bad[i].says);
    }
    g_autoptr(GError) error = NULL;
    assert_null(validation_import_nccl_tests_read("/no/such.log", &error));
    check_says(error, "/no/such.log: no such file");
    g_clear_error(&error);
    assert_null(validation_import_nccl_tests_read("/dev/zero", &error));
    check_says(error, "/dev/zero: found no regular file");
}

static void test_big(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autofree char *brackets = g_strnfill(100000, '[');
    g_autofree char *deep = g_strconcat("{\"results\":", brackets, NULL);
    assert_null(read_text("t", deep, &error));
    check_says(error, "nested more than 64 deep");
    g_clear_error(&error);
    g_autofree char *digits = g_strnfill(1 << 20, '7');
    g_autofree char *line = g_strconcat(digits, "\n1048576 262144 float sum -1 27.24 38.49 67.36 0\n", NULL);
    g_autoptr(ValidationNcclLog) log = read_text("t", line, &error);
    check_fine(error);
    assert_non_null(strstr(log->notes->pdata[0], "t:1: longer than 4096 bytes"));
    g_autoptr(GString) many = g_string_new(NULL);
    for (guint i = 0; i < 100001; i++)
        g_string_append(many, "8 2 float sum -1 9.00 0.00 0.00 0\n");
    assert_null(read_text("t", many->str, &error));
    check_says(error, "t: found more than 100000 rows");
}

// Reads and fits; whatever comes, a refusal is one line.
static void read_hostile(const char *text, gsize length)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ValidationNcclLog) log = validation_import_nccl_tests_read_text("t", text, length, &error);
    if (log == NULL) {
        check_says(error, "t");
        return;
    }
    for (guint i = 0; i < log->runs->len; i++) {
        const ValidationNcclRun *run = log->runs->pdata[i];
        guint dropped = 0;
        gboolean erratic = FALSE;
        g_autoptr(GArray) points = validation_nccl_log_run_points(run, &dropped, &erratic);
        for (guint j = 0; j < points->len; j++) {
            const ValidationNcclPoint *point = &g_array_index(points, ValidationNcclPoint, j);
            assert_true(point->bytes > 0 && point->time > 0 && isfinite(point->time));
            assert_true(j == 0 || point[-1].bytes < point->bytes);
        }
        assert_true(run->ranks != 1);
        for (guint j = 0; j < log->notes->len; j++)
            assert_null(strchr(log->notes->pdata[j], '\n'));
    }
}

static void test_hostile(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(FILES); i++) {
        g_autofree char *path = data_path(FILES[i].file), *text = NULL;
        gsize length = 0;
        assert_true(g_file_get_contents(path, &text, &length, NULL));
        for (gsize cut = 0; cut < length; cut++)
            read_hostile(text, cut);
        g_autoptr(GRand) rand = g_rand_new_with_seed(20 + i);
        for (guint j = 0; j < 400; j++) {
            g_autofree char *other = g_memdup2(text, length);
            for (gint32 flips = g_rand_int_range(rand, 1, 9); flips > 0; flips--)
                other[g_rand_int_range(rand, 0, (gint32)length)] ^= (char)(1 << g_rand_int_range(rand, 0, 8));
            read_hostile(other, length);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),   cmocka_unit_test(test_ops),      cmocka_unit_test(test_sides),
        cmocka_unit_test(test_csv),     cmocka_unit_test(test_refusals), cmocka_unit_test(test_big),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
