// cli/fit-run.c: the runs of one log fitted, simulated beside what was measured, and printed.
#include "cli/fit-run.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/fit-print.h"
#include "coll/choice.h"
#include "coll/group.h"
#include "coll/measure.h"
#include "validation/import-nccl-tests.h"

void fit_clear(Fit *fit)
{
    fit_options_clear(&fit->options);
    g_clear_pointer(&fit->constants, g_array_unref);
    g_clear_object(&fit->builder);
    topo_machine_free(fit->topo);
}

// The simulator's time of one collective, s. NAN where it does not have the operation.
static gboolean fit_simulate(const TopoMachine *machine, ValidationNcclOp op, gint64 bytes, double *time,
                             GError **error)
{
    CollOp coll;
    *time = (double)NAN;
    if (!coll_choice_find_op(VALIDATION_NCCL_OP_NAMES[op], NULL, &coll, NULL))
        return TRUE;
    CollMeasure measure;
    if (!coll_measure_machine(machine, coll, bytes, NULL, NULL, FALSE, NULL, &measure, error))
        return FALSE;
    *time = units_seconds(measure.time);
    return TRUE;
}

// Runs the machine at the measured sizes. What the machine cannot do is a note.
static gboolean fit_run_machine(Fit *fit, FitPrint *at, GError **error)
{
    if (at->ranks == 0)
        return base_error_set(error, BASE_ERROR_USAGE, at->file,
                              "found no number of ranks, wanted --ranks N beside "
                              "--machine");
    if (at->ranks > COLL_GROUP_RANKS_MAX) {
        g_ptr_array_add(at->notes,
                        g_strdup_printf("%u ranks are more than a collective is simulated with (%d): not "
                                        "simulated",
                                        at->ranks, COLL_GROUP_RANKS_MAX));
        return TRUE;
    }
    if (fit->topo == NULL || fit->topo_ranks != at->ranks) {
        g_clear_pointer(&fit->topo, topo_machine_free);
        g_autoptr(GError) local = NULL;
        fit->topo = topo_machine_read(fit->options.machine, at->ranks, "--machine", &local);
        if (fit->topo == NULL) {
            g_propagate_prefixed_error(error, g_steal_pointer(&local), "%s: %u ranks: ", at->file, at->ranks);
            return FALSE;
        }
        fit->topo_ranks = at->ranks;
    }
    at->simulated = g_new(double, at->points->len);
    for (guint i = 0; i < at->points->len; i++)
        if (!fit_simulate(fit->topo, at->op, (gint64)g_array_index(at->points, ValidationNcclPoint, i).bytes,
                          &at->simulated[i], error))
            return FALSE;
    if (isnan(at->simulated[0]))
        g_ptr_array_add(at->notes, g_strdup_printf("%s is not simulated", VALIDATION_NCCL_OP_NAMES[at->op]));
    return TRUE;
}

static void fit_check_ranks(const Fit *fit, FitPrint *at)
{
    at->ranks = fit->options.ranks > 0 ? (guint32)fit->options.ranks : at->run->ranks;
    if (fit->options.ranks > 0 && at->run->ranks != 0 && at->run->ranks != at->ranks)
        g_ptr_array_add(at->notes, g_strdup_printf("--ranks %u, but the log's figures are those of %u ranks",
                                                   at->ranks, at->run->ranks));
    if (at->run->op == VALIDATION_NCCL_OPS && fit->options.only == VALIDATION_NCCL_OPS)
        g_ptr_array_add(at->notes,
                        g_strdup("the file does not say which operation: all-reduce assumed (--op)"));
    if (at->ranks == 0)
        g_ptr_array_add(at->notes,
                        g_strdup("ranks not known (--ranks): bandwidths are bytes / time, not busbw"));
}

// A note where the machine's own links are slower to answer than what was fitted: no constants can make up
// for that.
static void fit_check_links(const Fit *fit, FitPrint *at)
{
    CollOp op;
    CollMeasure empty;
    if (!coll_choice_find_op(VALIDATION_NCCL_OP_NAMES[at->op], NULL, &op, NULL) ||
        !coll_measure_machine(fit->topo, op, 0, NULL, NULL, TRUE, NULL, &empty, NULL) ||
        units_seconds(empty.time) <= at->law.branch[0].alpha)
        return;
    g_autofree char *links = units_format_time(empty.time);
    g_autofree char *fitted = units_format_seconds(at->law.branch[0].alpha);
    g_ptr_array_add(
        at->notes,
        g_strdup_printf("the links of %s alone take %s for an empty message round, the fit says %s: "
                        "its latencies are too long for these constants",
                        fit->options.machine, links, fitted));
}

static gboolean fit_run(Fit *fit, const ValidationNcclLog *log, const ValidationNcclRun *run, GError **error)
{
    FitPrint at = {.file = log->name, .run = run, .op = run->op};
    if (at.op == VALIDATION_NCCL_OPS)
        at.op = fit->options.only == VALIDATION_NCCL_OPS ? VALIDATION_NCCL_ALL_REDUCE : fit->options.only;
    if (fit->options.only != VALIDATION_NCCL_OPS && fit->options.only != at.op && !run->op_assumed)
        return TRUE;
    if (fit->options.only != VALIDATION_NCCL_OPS)
        at.op = fit->options.only;
    g_autoptr(GPtrArray) notes = at.notes = g_ptr_array_new_with_free_func(g_free);
    fit_check_ranks(fit, &at);
    guint dropped = 0;
    gboolean erratic = FALSE;
    g_autoptr(GArray) points = at.points = validation_nccl_log_run_points(run, &dropped, &erratic);
    if (dropped > 0)
        g_ptr_array_add(notes,
                        g_strdup_printf("%u size%s without a usable time", dropped, dropped == 1 ? "" : "s"));
    if (erratic)
        g_ptr_array_add(
            notes, g_strdup("times fall where sizes grow: no law of latency and bandwidth describes them"));
    double factor = at.ranks == 0 ? 1 : validation_nccl_log_factor(at.op, at.ranks);
    if (!validation_fit_run(points, factor, at.file, &at.law, error))
        return FALSE;
    if (at.law.words != NULL)
        g_ptr_array_add(notes, g_strdup(at.law.words));
    gboolean fine = fit->options.machine == NULL || fit_run_machine(fit, &at, error);
    ValidationConstants constants;
    if (fine && fit->constants != NULL) {
        if (validation_constants_get(fit->topo, at.op, &at.law, &constants)) {
            if (validation_constants_add(fit->constants, &constants))
                g_ptr_array_add(notes,
                                g_strdup("written: the latency of each step between this and the other "
                                         "number of islands, and bandwidths of the smaller one"));
            fit_check_links(fit, &at);
        } else {
            g_ptr_array_add(notes, g_strdup_printf("%s has no constants in a machine's [nccl]: not written",
                                                   VALIDATION_NCCL_OP_NAMES[at.op]));
        }
    }
    if (fine && fit->builder != NULL) {
        fit_print_json(fit->builder, &at);
    } else if (fine) {
        if (fit->runs > 0)
            printf("\n");
        fit_print_text(&at);
    }
    g_free(at.simulated);
    fit->runs++;
    return fine;
}

gboolean fit_run_file(Fit *fit, const char *path, GError **error)
{
    g_autoptr(ValidationNcclLog) log = validation_import_nccl_tests_read(path, error);
    if (log == NULL)
        return FALSE;
    for (guint i = 0; i < log->notes->len; i++)
        g_printerr("%s\n", (const char *)log->notes->pdata[i]);
    guint before = fit->runs;
    for (guint i = 0; i < log->runs->len; i++)
        if (!fit_run(fit, log, log->runs->pdata[i], error))
            return FALSE;
    if (fit->runs == before)
        return base_error_set(error, BASE_ERROR_FAILED, path, "found no run of %s, wanted one (--op)",
                              fit->options.op);
    return TRUE;
}
