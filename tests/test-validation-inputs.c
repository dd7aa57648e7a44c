// tests/test-validation-inputs.c: real nccl-tests logs, where a folder of them is at hand (STEPLINE_INPUTS).
//
// The folder holds nccl-tests/*.txt and a SUMMARY.csv of figures taken by somebody else: the smallest size
// and its time, the largest size and its busbw, the ranks. Ours must be the same, except where the last lines
// of this table say why not.
#include "tests/check.h"

#include <math.h>

#include "base/csv.h"
#include "coll/measure.h"
#include "validation/compare.h"
#include "validation/constants.h"
#include "validation/fit.h"
#include "validation/import-nccl-tests.h"

// Files that must be refused, and what is said.
static const struct {
    const char *file, *says;
} REFUSED[] = {
    {"a6000_4_crash_after_header.txt", "the run ended before its first result"},
    {"rtx2080ti_2_pcie_reduce_4.txt", "found a run of one rank"},
    {"summary_p3_16xlarge_2n.txt", "found no row of nccl-tests output"},
    {"v100_NOMPI_4x_single_rank_interleaved.txt", "found several runs of one rank each"},
};

static char *inputs_folder(void)
{
    const char *folder = g_getenv("STEPLINE_INPUTS"), *source = g_getenv("STEPLINE_SOURCE");
    g_autofree char *beside = g_build_filename(source == NULL ? "." : source, "../shared/inputs", NULL);
    char *path = g_build_filename(folder == NULL ? beside : folder, "nccl-tests", NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return path;
    print_message("SKIPPED: no folder %s; set STEPLINE_INPUTS to one with real logs\n", path);
    g_free(path);
    return NULL;
}

static const char *field(const Csv *csv, guint row, const char *name)
{
    guint column = 0;
    assert_true(csv_find_column(csv, name, &column, NULL));
    return csv_get(csv, row)->fields[column];
}

static const char *refusal(const char *file)
{
    for (guint i = 0; i < G_N_ELEMENTS(REFUSED); i++)
        if (strcmp(REFUSED[i].file, file) == 0)
            return REFUSED[i].says;
    return NULL;
}

// Whether a's letters are b's, hyphens aside ("allreduce", "all-reduce").
static gboolean same_op(const char *a, const char *b)
{
    g_auto(GStrv) parts = g_strsplit(b, "-", -1);
    g_autofree char *joined = g_strjoinv("", parts);
    return strcmp(a, joined) == 0 || (strcmp(a, "alltoall") == 0 && strcmp(joined, "alltoall") == 0);
}

static void compare(const char *file, const ValidationNcclLog *log, const Csv *csv, guint row)
{
    const ValidationNcclRun *run = log->runs->pdata[0];
    const char *op = field(csv, row, "collective_guess"), *ranks = field(csv, row, "nranks_from_ratio");
    if (*op != '\0' && !same_op(op, VALIDATION_NCCL_OP_NAMES[run->op]))
        fail_msg("%s: read %s, the summary says %s", file, VALIDATION_NCCL_OP_NAMES[run->op], op);
    // The summary's ranks are a ratio turned round: 1450.1 where the device list ends at 1439, 73.0 for 64
    // (two digits).
    if (*ranks != '\0' && fabs(run->ranks / g_ascii_strtod(ranks, NULL) - 1) > 0.13)
        fail_msg("%s: read %u ranks, the summary says %s", file, run->ranks, ranks);
    const char *size = field(csv, row, "min_size"), *time = field(csv, row, "lat_us_min_size_oop");
    if (*size == '\0')
        return; // a log that the summary's author could not read
    // Its smallest size and its time: the first row above 0 bytes. (One summary row mixes two runs of a log,
    // another one eight rows of one size.)
    gint64 bytes = g_ascii_strtoll(size, NULL, 10);
    gboolean found = FALSE, top = FALSE;
    for (guint r = 0; r < log->runs->len; r++) {
        const GArray *rows = ((const ValidationNcclRun *)log->runs->pdata[r])->rows;
        for (guint i = 0; i < rows->len; i++) {
            const ValidationNcclRow *at = &g_array_index(rows, ValidationNcclRow, i);
            const ValidationNcclSide *out = &at->side[VALIDATION_NCCL_OUT];
            found |= at->bytes == bytes && fabs(out->time * 1e6 - g_ascii_strtod(time, NULL)) < 1e-6;
            top |= at->bytes == g_ascii_strtoll(field(csv, row, "max_size"), NULL, 10) &&
                   fabs(out->busbw / 1e9 - g_ascii_strtod(field(csv, row, "busbw_at_max_size"), NULL)) < 0.01;
        }
    }
    if (!found)
        fail_msg("%s: no row of %s B and %s us", file, size, time);
    if (!top)
        fail_msg("%s: no row of %s B and %s GB/s", file, field(csv, row, "max_size"),
                 field(csv, row, "busbw_at_max_size"));
}

static void test_logs(void **state)
{
    (void)state;
    g_autofree char *folder = inputs_folder();
    if (folder == NULL)
        skip();
    g_autoptr(GError) error = NULL;
    g_autofree char *summary = g_build_filename(folder, "SUMMARY.csv", NULL);
    g_autoptr(Csv) csv = csv_read_file(summary, &error);
    check_fine(error);
    for (guint i = 0; i < csv_rows(csv); i++) {
        const char *file = field(csv, i, "file"), *says = refusal(file);
        g_autofree char *path = g_build_filename(folder, file, NULL);
        g_autoptr(ValidationNcclLog) log = validation_import_nccl_tests_read(path, &error);
        if (says != NULL) {
            assert_null(log);
            check_says(error, says);
            g_clear_error(&error);
            continue;
        }
        check_fine(error);
        compare(file, log, csv, i);
    }
}

// Points that the folder's README gives: file, busbw of the top sizes in GB/s.
static void test_points(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        guint32 ranks;
        double busbw;
    } points[] = {
        {"aws_p5_1n_8xh100_allreduce_mpirun_tagged.txt", 8, 482},
        {"h100_hgx_2n_16_ndr400_allreduce.txt", 16, 469},
        {"h100_vm_4n_32_ndr400_allreduce.txt", 32, 366},
        {"a100_40g_sxm_8_allreduce_old_error_format.txt", 8, 235},
        {"h800_8_all_reduce_modified_tool.txt", 8, 164},
        {"v100_8_all_reduce_modified_tool.txt", 8, 134},
        {"a100pcie_8_all_reduce_modified_tool.txt", 8, 15},
        {"coreweave_gb200_1rack_72_allreduce.txt", 72, 835},
        {"coreweave_gb200_2rack_128_allreduce.txt", 128, 805},
        {"coreweave_gb200_20rack_1440_allreduce.txt", 1440, 397},
        {"coreweave_h100_12n_96_sharp_allreduce.txt", 96, 386},
        {"gcp_a3mega_2n_16xh100_allreduce.txt", 16, 339},
    };
    g_autofree char *folder = inputs_folder();
    if (folder == NULL)
        skip();
    for (guint i = 0; i < G_N_ELEMENTS(points); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path = g_build_filename(folder, points[i].file, NULL);
        g_autoptr(ValidationNcclLog) log = validation_import_nccl_tests_read(path, &error);
        check_fine(error);
        const ValidationNcclRun *run = log->runs->pdata[0];
        assert_int_equal(run->ranks, points[i].ranks);
        guint dropped = 0;
        gboolean erratic = FALSE;
        g_autoptr(GArray) times = validation_nccl_log_run_points(run, &dropped, &erratic);
        ValidationFit fit;
        assert_true(
            validation_fit_run(times, validation_nccl_log_factor(run->op, run->ranks), NULL, &fit, &error));
        if (fabs(fit.bandwidth / 1e9 / points[i].busbw - 1) > 0.015)
            fail_msg("%s: %g GB/s, wanted %g", points[i].file, fit.bandwidth / 1e9, points[i].busbw);
    }
}

// The median of values, which are sorted; 0 without any.
static int compare_double(gconstpointer a, gconstpointer b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(GArray *values)
{
    g_array_sort(values, compare_double);
    return values->len == 0 ? 0 : g_array_index(values, double, values->len / 2);
}

// A machine with the constants fitted to points does what they say: busbw from 1 MiB up and time below, to
// most per cent in the median.
static void check_fitted(const char *name, ValidationNcclOp of, GArray *points, TopoMachine *machine,
                         double most)
{
    g_autoptr(GError) error = NULL;
    ValidationFit fit;
    ValidationConstants constants;
    validation_fit_run(points, validation_nccl_log_factor(of, machine->graph->gpus->len), NULL, &fit, &error);
    check_fine(error);
    assert_true(validation_constants_get(machine, of, &fit, &constants));
    machine_tuning_set(&machine->tuning, constants.op, &constants.fit);
    CollOp op;
    assert_true(coll_choice_find_op(VALIDATION_NCCL_OP_NAMES[of], NULL, &op, NULL));
    g_autoptr(GArray) large = g_array_new(FALSE, FALSE, sizeof(double)),
                      small = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint k = 0; k < points->len; k++) {
        const ValidationNcclPoint *at = &g_array_index(points, ValidationNcclPoint, k);
        CollMeasure out;
        assert_true(
            coll_measure_machine(machine, op, (gint64)at->bytes, NULL, NULL, FALSE, NULL, &out, &error));
        double ratio = units_seconds(out.time) / at->time;
        double off = at->bytes >= (double)VALIDATION_COMPARE_LARGE ? fabs(1 / ratio - 1) : fabs(ratio - 1);
        g_array_append_val(at->bytes >= (double)VALIDATION_COMPARE_LARGE ? large : small, off);
    }
    double busbw = median(large) * 100, time = median(small) * 100;
    print_message("%s: busbw %.1f %%, time %.1f %%\n", name, busbw, time);
    if (busbw > most || time > most)
        fail_msg("%s: busbw %.1f %%, time %.1f %%, wanted %g", name, busbw, time, most);
}

// Times of our own, the better of two lines, so that there is a fit where no real logs are at hand: 20 us and
// 200 GB/s, 60 us and 400 GB/s.
static void test_fitted_law(void **state)
{
    (void)state;
    static const struct {
        ValidationNcclOp op;
        guint32 ranks;
    } cases[] = {
        {VALIDATION_NCCL_ALL_REDUCE, 8}, {VALIDATION_NCCL_ALL_GATHER, 8}, {VALIDATION_NCCL_ALL_REDUCE, 32}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read("dgx-h100", cases[i].ranks, NULL, &error);
        check_fine(error);
        double factor = validation_nccl_log_factor(cases[i].op, cases[i].ranks);
        g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(ValidationNcclPoint));
        for (double bytes = 1024; bytes <= 1 << 30; bytes *= 2) {
            double moved = bytes * factor;
            ValidationNcclPoint at = {.bytes = bytes,
                                      .time = MIN(20e-6 + moved / 200e9, 60e-6 + moved / 400e9)};
            g_array_append_val(points, at);
        }
        check_fitted(VALIDATION_NCCL_OP_NAMES[cases[i].op], cases[i].op, points, machine, 5);
    }
}

// The real logs.
static void test_fitted(void **state)
{
    (void)state;
    static const struct {
        const char *file, *machine;
        guint run;
        double most; // %
    } logs[] = {
        {"aws_p5_1n_8xh100_allreduce_mpirun_tagged.txt", "p5-h100", 0, 5},
        {"dgxh100_1n_8_allreduce_dgxc.txt", "dgx-h100", 0, 5},
        {"a100_40g_sxm_8_alltoall_old.txt", "a100-40g-cloud", 0, 5},
        {"a100pcie_8_all_reduce_modified_tool.txt", "a100-pcie", 0, 5},
        {"v100_8_all_reduce_modified_tool.txt", "dgx1-v100", 0, 5},
        {"v100_8_all_gather_modified_tool.txt", "dgx1-v100", 0, 5},
        {"h800_8_all_gather_modified_tool.txt", "h800", 0, 5},
        {"rtx4090_2_reduce_scatter_modified_tool.txt", "rtx4090-8", 0, 5},
        {"coreweave_gb200_2rack_128_allreduce.txt", "gb200-nvl64", 0, 5},
        {"coreweave_h100_12n_96_sharp_allreduce.txt", "dgx-h100", 0, 5},
        {"gcp_a3mega_2n_16xh100_allreduce.txt", "a3mega-h100", 0, 5},
        {"h100_hgx_2n_16_ndr400_allreduce.txt", "dgx-h100", 0, 5},
        {"h100_vm_4n_32_ndr400_allreduce.txt", "dgx-h100", 0, 5},
        {"h200_2n_16_roce400_baremetal_allreduce.txt", "hgx-h200", 0, 5},
        {"v100_2n_4_allgather_debugprefix_full.txt", "v100-25g", 0, 5},
        {"v100_2n_2_allgather_debugprefix_two_runs.txt", "v100-25g", 0, 6}, // bends up from 1 to 4 MiB
        {"v100_2n_2_allgather_debugprefix_two_runs.txt", "v100-25g", 1, 5},
        {"v100_8n_64_allreduce_ib100_old.txt", "v100-ib100", 0, 5},
        {"v100_pcie_2n_16_allreduce_old_partial.txt", "v100-pcie", 0, 5},
    };
    g_autofree char *folder = inputs_folder();
    if (folder == NULL)
        skip();
    for (guint i = 0; i < G_N_ELEMENTS(logs); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path = g_build_filename(folder, logs[i].file, NULL);
        g_autoptr(ValidationNcclLog) log = validation_import_nccl_tests_read(path, &error);
        check_fine(error);
        const ValidationNcclRun *run = log->runs->pdata[logs[i].run];
        g_autoptr(TopoMachine) machine = topo_machine_read(logs[i].machine, run->ranks, NULL, &error);
        check_fine(error);
        guint dropped = 0;
        gboolean erratic = FALSE;
        g_autoptr(GArray) points = validation_nccl_log_run_points(run, &dropped, &erratic);
        g_autofree char *name = g_strdup_printf("%s, run %u", logs[i].file, logs[i].run);
        check_fitted(name, run->op, points, machine, logs[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_fitted_law),
        cmocka_unit_test(test_fitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
