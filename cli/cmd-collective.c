// cli/cmd-collective.c: stepline collective: one collective alone on a machine, at one size or many, or
// stepped through.
#include "base/error.h"
#include "base/units.h"
#include "cli/collective-print.h"
#include "cli/collective-read.h"
#include "cli/collective-steps.h"
#include "cli/command.h"
#include "coll/fabric.h"

static void collective_row_clear(gpointer data)
{
    g_free(((CollectiveRow *)data)->label);
}

// busbw / algbw of nccl-tests (its PERFORMANCE.md): 2 (p - 1)/p for all-reduce, 1 for broadcast, reduce and
// send/receive, (p - 1)/p for the others.
static double collective_bus_factor(CollOp op, guint32 ranks)
{
    double p = ranks;
    if (op == COLL_OP_BROADCAST || op == COLL_OP_REDUCE || op == COLL_OP_SEND_RECV)
        return 1;
    return (op == COLL_OP_ALL_REDUCE ? 2 : 1) * (p - 1) / p;
}

static gboolean collective_measure(const Collective *what, gint64 bytes, CollectiveRow *row, GError **error)
{
    *row = (CollectiveRow){.bytes = bytes};
    if (!coll_measure_machine(what->machine, what->op, bytes, what->algo, what->protocol, what->plain,
                              &what->how, &row->measure, error))
        return FALSE;
    guint32 ranks = what->machine->graph->gpus->len;
    double vector = (double)bytes * (what->op == COLL_OP_ALL_GATHER_PAYLOAD ? ranks : 1);
    row->time = units_seconds(row->measure.time);
    row->algbw = row->time > 0 ? vector / row->time : 0;
    row->busbw = row->algbw * collective_bus_factor(what->op, ranks);
    row->label = row->measure.protocol == NULL
                     ? g_strdup(row->measure.algo->name)
                     : g_strdup_printf("%s/%s", row->measure.algo->name, row->measure.protocol);
    return TRUE;
}

// The algorithm that would run, stepped through.
static gboolean collective_steps(const Collective *what, const CollectiveRow *row, GError **error)
{
    const TopoGraph *graph = what->machine->graph;
    CollShape shape = {.op = what->op, .ranks = graph->gpus->len, .bytes = row->bytes};
    if (shape.ranks > COLLECTIVE_STEPS_RANKS)
        return base_error_set(error, BASE_ERROR_USAGE, "--steps",
                              "found %u ranks, wanted at most %d (use --ranks)", shape.ranks,
                              COLLECTIVE_STEPS_RANKS);
    guint32 gpus[COLLECTIVE_STEPS_RANKS];
    for (guint32 i = 0; i < shape.ranks; i++)
        gpus[i] = i;
    shape.island = coll_fabric_island(graph, gpus, shape.ranks);
    CollGrid grid;
    coll_box_find_grid(graph, &grid);
    g_autofree CollBox *box = coll_box_find(&grid, gpus, shape.ranks);
    shape.box = box;
    if (row->measure.algo->switches(&shape) > 0)
        return base_error_set(error, BASE_ERROR_USAGE, "--steps",
                              "algorithm '%s' works in switches, wanted one of ranks only",
                              row->measure.algo->name);
    return collective_steps_print(row->measure.algo, &shape, error);
}

static gboolean collective_do(const Collective *what, const CollectiveOptions *options, GError **error)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CollectiveRow));
    g_array_set_clear_func(rows, collective_row_clear);
    for (gint64 bytes = what->first; bytes <= what->last; bytes *= 2) {
        CollectiveRow row;
        if (!collective_measure(what, bytes, &row, error))
            return FALSE;
        g_array_append_val(rows, row);
        if (bytes == 0)
            break;
    }
    const CollectiveRow *first = &g_array_index(rows, CollectiveRow, 0);
    if ((options->steps && !collective_steps(what, first, error)) ||
        (options->output != NULL && !collective_print_plot(what, rows, options->output, error)))
        return FALSE;
    if (options->json)
        collective_print_json(what, rows);
    else if (options->sizes != NULL)
        collective_print_table(what, rows);
    else
        collective_print_one(what, first);
    return TRUE;
}

static int collective_run(int argc, char **argv, GError **error)
{
    g_auto(CollectiveOptions) options = {0};
    if (!collective_options_read(&options, argc, argv, error))
        return BASE_ERROR_USAGE;
    Collective what = {0};
    if (!collective_read(&options, &what, error))
        return BASE_ERROR_FAILED;
    guint32 ranks = options.ranks == G_MININT64 ? 0 : (guint32)options.ranks;
    g_autoptr(TopoMachine) machine =
        topo_machine_read(options.machine, ranks, ranks == 0 ? "--machine" : "--ranks", error);
    what.machine = machine;
    if (machine != NULL && what.protocol != NULL && !machine->tuning.present) {
        base_error_set(error, BASE_ERROR_FAILED, "--protocol",
                       "means nothing on %s, whose file has no section [nccl]", options.machine);
        return BASE_ERROR_FAILED;
    }
    return machine != NULL && collective_do(&what, &options, error) ? 0 : BASE_ERROR_FAILED;
}

const Command COMMAND_COLLECTIVE = {
    .name = "collective",
    .usage =
        "--machine T --size SIZE|--sizes A..B [--ranks N] [--op OP] [--algorithm NAME] [--steps] [--json]",
    .summary = "Simulate one collective alone, message by message",
    .run = collective_run,
};
