// cli/cmd-fit.c: "stepline fit": measured collectives -> latency, bandwidth, a law; and what a machine does.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/fit-print.h"
#include "cli/options.h"
#include "coll/choice.h"
#include "coll/group.h"
#include "coll/measure.h"
#include "machines/machine.h"
#include "validation/constants.h"
#include "validation/fit.h"
#include "validation/import-nccl-tests.h"

typedef struct {
    char *machine, *op, *write; // owned: options
    GArray *constants;          // of ValidationConstants, owned with --write, else NULL
    gint64 ranks;               // 0: as the log says
    gboolean json;
    ValidationNcclOp only; // of --op; VALIDATION_NCCL_OPS: all
    JsonBuilder *builder;  // owned with --json, else NULL
    TopoMachine *topo;     // owned: the last one built, of topo_ranks GPUs
    guint32 topo_ranks;    //
    guint runs;            // fitted so far
} Fit;

static void fit_clear(Fit *fit)
{
    g_free(fit->machine);
    g_free(fit->op);
    g_free(fit->write);
    g_clear_pointer(&fit->constants, g_array_unref);
    g_clear_object(&fit->builder);
    topo_machine_free(fit->topo);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fit, fit_clear)

// The simulator's time of one collective, s: the one place that chooses how (a ring, so far). NAN where it
// does not have the operation.
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
        fit->topo = topo_machine_read(fit->machine, at->ranks, "--machine", &local);
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
    at->ranks = fit->ranks > 0 ? (guint32)fit->ranks : at->run->ranks;
    if (fit->ranks > 0 && at->run->ranks != 0 && at->run->ranks != at->ranks)
        g_ptr_array_add(at->notes, g_strdup_printf("--ranks %u, but the log's figures are those of %u ranks",
                                                   at->ranks, at->run->ranks));
    if (at->run->op == VALIDATION_NCCL_OPS && fit->only == VALIDATION_NCCL_OPS)
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
                        fit->machine, links, fitted));
}

static gboolean fit_run(Fit *fit, const ValidationNcclLog *log, const ValidationNcclRun *run, GError **error)
{
    FitPrint at = {.file = log->name, .run = run, .op = run->op};
    if (at.op == VALIDATION_NCCL_OPS)
        at.op = fit->only == VALIDATION_NCCL_OPS ? VALIDATION_NCCL_ALL_REDUCE : fit->only;
    if (fit->only != VALIDATION_NCCL_OPS && fit->only != at.op && !run->op_assumed)
        return TRUE;
    if (fit->only != VALIDATION_NCCL_OPS)
        at.op = fit->only;
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
    gboolean fine = fit->machine == NULL || fit_run_machine(fit, &at, error);
    ValidationConstants constants;
    if (fine && fit->constants != NULL) {
        if (validation_constants_get(fit->topo, at.op, &at.law, &constants)) {
            g_array_append_val(fit->constants, constants);
            fit_check_links(fit, &at);
        } else
            g_ptr_array_add(notes, g_strdup_printf("%s has no constants in a machine's [nccl]: not written",
                                                   VALIDATION_NCCL_OP_NAMES[at.op]));
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

static gboolean fit_run_file(Fit *fit, const char *path, GError **error)
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
                              fit->op);
    return TRUE;
}

static gboolean fit_check(Fit *fit, GError **error)
{
    if (fit->write != NULL && fit->machine == NULL)
        return base_error_set(error, BASE_ERROR_USAGE, "--write",
                              "wanted --machine too: whose file it is to be");
    if (fit->write != NULL)
        fit->constants = g_array_new(FALSE, FALSE, sizeof(ValidationConstants));
    fit->only = VALIDATION_NCCL_OPS;
    if (fit->ranks != 0 && (fit->ranks < 2 || fit->ranks > 1 << 24))
        return base_error_set(error, BASE_ERROR_USAGE, "--ranks",
                              "found %" G_GINT64_FORMAT ", wanted 2 to %d", fit->ranks, 1 << 24);
    if (fit->op == NULL)
        return TRUE;
    for (guint i = 0; i < VALIDATION_NCCL_OPS; i++)
        if (strcmp(fit->op, VALIDATION_NCCL_OP_NAMES[i]) == 0)
            fit->only = (ValidationNcclOp)i;
    if (fit->only != VALIDATION_NCCL_OPS)
        return TRUE;
    g_autofree char *quoted = base_error_quote(fit->op),
                    *hint = suggest_hint(fit->op, VALIDATION_NCCL_OP_NAMES);
    return base_error_set(error, BASE_ERROR_USAGE, "--op",
                          "found '%s', wanted an operation like all-reduce%s", quoted, hint);
}

static int fit_run_command(int argc, char **argv, GError **error)
{
    g_auto(Fit) fit = {0};
    const GOptionEntry entries[] = {
        {"machine", 0, 0, G_OPTION_ARG_STRING, &fit.machine, "Simulate the same sizes on this machine",
         "NAME|FILE"},
        {"ranks", 0, 0, G_OPTION_ARG_INT64, &fit.ranks,
         "How many ranks took part (default: as the log's figures say)", "N"},
        {"op", 0, 0, G_OPTION_ARG_STRING, &fit.op, "Only this operation; what a CSV measured", "OP"},
        {"write", 0, 0, G_OPTION_ARG_FILENAME, &fit.write,
         "Write the machine's file with [nccl] replaced by what was fitted", "FILE.ini"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &fit.json, "Print {\"rows\": [...]}", NULL},
        {0},
    };
    static const char details[] =
        "A LOG is what nccl-tests or rccl-tests print (any version, with NCCL's and mpirun's "
        "words between), their JSON (-J), or a CSV with columns bytes and seconds, ms or us. "
        "A log that cannot be used does not stop the others; the status is 1 then.";
    if (!options_parse(&COMMAND_FIT, entries, details, 1, G_MAXINT, &argc, &argv, error) ||
        !fit_check(&fit, error))
        return BASE_ERROR_USAGE;
    if (fit.json) {
        fit.builder = json_builder_new();
        json_builder_begin_object(fit.builder);
        json_builder_set_member_name(fit.builder, "rows");
        json_builder_begin_array(fit.builder);
    }
    int status = 0;
    for (int i = 1; i < argc; i++) {
        g_autoptr(GError) local = NULL;
        if (fit_run_file(&fit, argv[i], &local))
            continue;
        status = local->domain == BASE_ERROR ? local->code : BASE_ERROR_FAILED;
        if (i + 1 == argc && fit.runs == 0 && !fit.json) {
            g_propagate_error(error, g_steal_pointer(&local));
            return status;
        }
        g_printerr("stepline: %s\n", local->message);
    }
    if (fit.json) {
        json_builder_end_array(fit.builder);
        json_builder_end_object(fit.builder);
        options_print_json(json_builder_get_root(fit.builder));
    }
    if (fit.write != NULL) {
        if (!validation_constants_write(fit.write, fit.machine, fit.constants, error))
            return BASE_ERROR_FAILED;
        if (!fit.json)
            printf("\nwritten    %u set%s of constants to %s\n", fit.constants->len,
                   fit.constants->len == 1 ? "" : "s", fit.write);
    }
    return status;
}

const Command COMMAND_FIT = {
    .name = "fit",
    .usage = "LOG... [--machine NAME|FILE] [--ranks N] [--op OP] [--write FILE] [--json]",
    .summary = "Fit latency and bandwidth to the output of nccl-tests",
    .run = fit_run_command,
};
