// validation/nccl-log.c: rows and runs of measured collectives, and one point per size out of them.
#include "validation/nccl-log.h"

#include <math.h>
#include <string.h>

const char *const VALIDATION_NCCL_OP_NAMES[] = {
    [VALIDATION_NCCL_ALL_REDUCE] = "all-reduce",
    [VALIDATION_NCCL_ALL_GATHER] = "all-gather",
    [VALIDATION_NCCL_REDUCE_SCATTER] = "reduce-scatter",
    [VALIDATION_NCCL_ALL_TO_ALL] = "all-to-all",
    [VALIDATION_NCCL_BROADCAST] = "broadcast",
    [VALIDATION_NCCL_REDUCE] = "reduce",
    [VALIDATION_NCCL_SEND_RECV] = "send-recv",
    [VALIDATION_NCCL_GATHER] = "gather",
    [VALIDATION_NCCL_SCATTER] = "scatter",
    [VALIDATION_NCCL_OPS] = NULL,
};

static void validation_nccl_log_free_run(gpointer run)
{
    validation_nccl_log_run_free(run);
}

ValidationNcclLog *validation_nccl_log_new(const char *name)
{
    ValidationNcclLog *log = g_new0(ValidationNcclLog, 1);
    log->name = g_strdup(name);
    log->runs = g_ptr_array_new_with_free_func(validation_nccl_log_free_run);
    log->notes = g_ptr_array_new_with_free_func(g_free);
    return log;
}

void validation_nccl_log_free(ValidationNcclLog *log)
{
    if (log == NULL)
        return;
    g_ptr_array_unref(log->runs);
    g_ptr_array_unref(log->notes);
    g_free(log->name);
    g_free(log);
}

void validation_nccl_log_add_note(ValidationNcclLog *log, guint line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *note = line == 0 ? g_strdup_printf("%s: %s", log->name, text)
                                      : g_strdup_printf("%s:%u: %s", log->name, line, text);
    if (!g_ptr_array_find_with_equal_func(log->notes, note, g_str_equal, NULL))
        g_ptr_array_add(log->notes, g_steal_pointer(&note));
}

ValidationNcclRun *validation_nccl_log_run_new(ValidationNcclOp op)
{
    ValidationNcclRun *run = g_new0(ValidationNcclRun, 1);
    run->op = op;
    run->rows = g_array_new(FALSE, FALSE, sizeof(ValidationNcclRow));
    return run;
}

void validation_nccl_log_run_free(ValidationNcclRun *run)
{
    if (run == NULL)
        return;
    g_array_unref(run->rows);
    g_free(run->device);
    g_free(run->version);
    g_free(run);
}

static int validation_nccl_compare_rows(gconstpointer left, gconstpointer right)
{
    const ValidationNcclRow *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

void validation_nccl_log_run_finish(ValidationNcclRun *run)
{
    g_array_sort(run->rows, validation_nccl_compare_rows);
    for (guint side = 0; side < VALIDATION_NCCL_SIDES; side++) {
        double least = HUGE_VAL; // of all sizes above group's
        for (guint end = run->rows->len; end > 0;) {
            const ValidationNcclRow *last = &g_array_index(run->rows, ValidationNcclRow, end - 1);
            gint64 bytes = last->bytes;
            double group = HUGE_VAL;
            while (end > 0 && g_array_index(run->rows, ValidationNcclRow, end - 1).bytes == bytes) {
                ValidationNcclSide *at = &g_array_index(run->rows, ValidationNcclRow, --end).side[side];
                at->outlier = at->time > VALIDATION_NCCL_OUTLIER * least;
                if (isfinite(at->time) && !at->wrong)
                    group = MIN(group, at->time);
            }
            least = MIN(least, group);
        }
    }
}

double validation_nccl_log_factor(ValidationNcclOp op, guint32 ranks)
{
    double n = ranks;
    switch (op) {
    case VALIDATION_NCCL_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case VALIDATION_NCCL_ALL_GATHER:
    case VALIDATION_NCCL_REDUCE_SCATTER:
    case VALIDATION_NCCL_ALL_TO_ALL:
    case VALIDATION_NCCL_GATHER:
    case VALIDATION_NCCL_SCATTER:
        return (n - 1) / n;
    case VALIDATION_NCCL_BROADCAST:
    case VALIDATION_NCCL_REDUCE:
    case VALIDATION_NCCL_SEND_RECV:
    case VALIDATION_NCCL_OPS:
        break;
    }
    return 1;
}

static int validation_nccl_compare_doubles(gconstpointer left, gconstpointer right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

// The median of the usable times of rows [from, to) on one side; NAN without.
static double validation_nccl_median(const ValidationNcclRun *run, guint from, guint to, guint side,
                                     gboolean outliers)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = from; i < to; i++) {
        const ValidationNcclSide *at = &g_array_index(run->rows, ValidationNcclRow, i).side[side];
        if (at->time > 0 && !at->wrong && (outliers || !at->outlier))
            g_array_append_val(times, at->time);
    }
    if (times->len == 0)
        return (double)NAN;
    g_array_sort(times, validation_nccl_compare_doubles);
    double low = g_array_index(times, double, (times->len - 1) / 2),
           high = g_array_index(times, double, times->len / 2);
    return (low + high) / 2;
}

GArray *validation_nccl_log_run_points(const ValidationNcclRun *run, guint *dropped, gboolean *erratic)
{
    GArray *points = g_array_new(FALSE, FALSE, sizeof(ValidationNcclPoint));
    const guint rows = run->rows->len;
    guint outliers = 0;
    for (guint i = 0; i < rows; i++)
        outliers += g_array_index(run->rows, ValidationNcclRow, i).side[VALIDATION_NCCL_OUT].outlier ? 1 : 0;
    *erratic = outliers > 1 && outliers > rows / 4;
    *dropped = 0;
    for (guint from = 0, to; from < rows; from = to) {
        gint64 bytes = g_array_index(run->rows, ValidationNcclRow, from).bytes;
        for (to = from + 1; to < rows && g_array_index(run->rows, ValidationNcclRow, to).bytes == bytes;)
            to++;
        if (bytes == 0)
            continue;
        double time = validation_nccl_median(run, from, to, VALIDATION_NCCL_OUT, *erratic);
        if (isnan(time))
            time = validation_nccl_median(run, from, to, VALIDATION_NCCL_IN, *erratic);
        if (isnan(time)) {
            (*dropped)++;
            continue;
        }
        ValidationNcclPoint point = {(double)bytes, time};
        g_array_append_val(points, point);
    }
    return points;
}
