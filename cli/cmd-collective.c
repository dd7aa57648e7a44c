// cli/cmd-collective.c: stepline collective: one collective alone on a machine, at one size or many, or
// stepped through.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/collective-steps.h"
#include "cli/options.h"
#include "coll/choice.h"
#include "coll/group.h"
#include "coll/measure.h"
#include "plots/bandwidth.h"
#include "plots/plot.h"

typedef struct {
    char *machine, *op, *algorithm, *protocol, *size, *sizes, *chunk, *queue, *output;
    gint64 ranks;
    gboolean steps, plain, no_shortcuts, json;
} CollectiveOptions;

static void collective_options_clear(CollectiveOptions *options)
{
    char *const texts[] = {options->machine,  options->op,    options->algorithm,
                           options->protocol, options->size,  options->sizes,
                           options->chunk,    options->queue, options->output};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CollectiveOptions, collective_options_clear)

// What is to be simulated.
typedef struct {
    const TopoMachine *machine; // borrowed
    CollOp op;                  //
    const CollAlgo *algo;       // NULL: whatever is chosen
    const char *protocol;       // static, NULL: whatever is chosen
    gint64 first, last;         // sizes, doubling
    CollMeasureOptions how;     //
    gboolean plain;             // the links alone
} Collective;

typedef struct {
    gint64 bytes;
    CollMeasure measure;
    double time, algbw, busbw; // s, bytes/s
    char *label;               // owned: "nvls/simple"
} CollectiveRow;

static void collective_row_clear(gpointer data)
{
    g_free(((CollectiveRow *)data)->label);
}

// busbw / algbw of nccl-tests (its PERFORMANCE.md): 2 (p - 1)/p for all-reduce, 1 for broadcast and
// send/receive, (p - 1)/p for the others.
static double collective_bus_factor(CollOp op, guint32 ranks)
{
    double p = ranks;
    if (op == COLL_OP_BROADCAST || op == COLL_OP_SEND_RECV)
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

static void collective_print_json(const Collective *what, const GArray *all)
{
    JsonArray *rows = json_array_new();
    for (guint i = 0; i < all->len; i++) {
        const CollectiveRow *at = &g_array_index(all, CollectiveRow, i);
        JsonObject *row = json_object_new();
        json_object_set_string_member(row, "machine", what->machine->name);
        json_object_set_int_member(row, "ranks", what->machine->graph->gpus->len);
        json_object_set_string_member(row, "op", COLL_OP_NAMES[what->op]);
        json_object_set_string_member(row, "algorithm", at->measure.algo->name);
        if (at->measure.protocol != NULL)
            json_object_set_string_member(row, "protocol", at->measure.protocol);
        else
            json_object_set_null_member(row, "protocol");
        json_object_set_int_member(row, "bytes", at->bytes);
        json_object_set_double_member(row, "time_s", at->time);
        json_object_set_double_member(row, "algbw_Bps", at->algbw);
        json_object_set_double_member(row, "busbw_Bps", at->busbw);
        json_object_set_double_member(row, "sent_mean_bytes", at->measure.sent_mean);
        json_object_set_double_member(row, "sent_max_bytes", at->measure.sent_max);
        json_object_set_int_member(row, "messages", (gint64)at->measure.messages);
        json_object_set_int_member(row, "events", (gint64)at->measure.events);
        g_autofree char *fingerprint = g_strdup_printf("%016" G_GINT64_MODIFIER "x", at->measure.fingerprint);
        json_object_set_string_member(row, "fingerprint", fingerprint);
        json_object_set_double_member(row, "wall_s", at->measure.wall_s);
        json_array_add_object_element(rows, row);
    }
    JsonObject *object = json_object_new();
    json_object_set_array_member(object, "rows", rows);
    JsonNode *node = json_node_alloc();
    json_node_init_object(node, object);
    json_object_unref(object);
    options_print_json(node);
}

static void collective_print_one(const Collective *what, const CollectiveRow *row)
{
    g_autofree char *size = units_format_bytes((double)row->bytes);
    g_autofree char *alg = units_format_rate(row->algbw);
    g_autofree char *bus = units_format_rate(row->busbw);
    g_autofree char *mean = units_format_bytes(row->measure.sent_mean);
    g_autofree char *most = units_format_bytes(row->measure.sent_max);
    printf("%s %s of %s on %u ranks of %s\n", row->label, COLL_OP_NAMES[what->op], size,
           what->machine->graph->gpus->len, what->machine->name);
    printf("time       %.6f ms\n", row->time * 1e3);
    printf("bandwidth  algbw %s, busbw %s\n", alg, bus);
    printf("sent       %s a rank on average, %s at most\n", mean, most);
    printf("simulated  %" G_GUINT64_FORMAT " messages, %" G_GUINT64_FORMAT
           " events, fingerprint %016" G_GINT64_MODIFIER "x\n",
           row->measure.messages, row->measure.events, row->measure.fingerprint);
}

// The columns of nccl-tests, out of place.
static void collective_print_table(const Collective *what, const GArray *all)
{
    printf("# %s on %u ranks of %s\n", COLL_OP_NAMES[what->op], what->machine->graph->gpus->len,
           what->machine->name);
    printf("#%13s%12s%10s%10s  %s\n#%13s%12s%10s%10s\n", "size", "time", "algbw", "busbw", "algorithm", "(B)",
           "(us)", "(GB/s)", "(GB/s)");
    for (guint i = 0; i < all->len; i++) {
        const CollectiveRow *row = &g_array_index(all, CollectiveRow, i);
        printf("%14" G_GINT64_FORMAT "%12.2f%10.2f%10.2f  %s\n", row->bytes, row->time * 1e6,
               row->algbw * 1e-9, row->busbw * 1e-9, row->label);
    }
}

static gboolean collective_plot(const Collective *what, const GArray *all, const char *path, GError **error)
{
    g_autofree PlotBandwidth *points = g_new0(PlotBandwidth, all->len);
    for (guint i = 0; i < all->len; i++) {
        const CollectiveRow *row = &g_array_index(all, CollectiveRow, i);
        points[i] = (PlotBandwidth){(double)row->bytes, row->time, row->busbw, row->label};
    }
    g_autofree char *title = g_strdup_printf("%s on %u ranks of %s", COLL_OP_NAMES[what->op],
                                             what->machine->graph->gpus->len, what->machine->name);
    return plot_bandwidth_write(path, title, points, all->len, error);
}

// The index of a word among names; FALSE with an error about an option.
static gboolean collective_pick(const char *option, const char *word, const char *const *names, guint *index,
                                GError **error)
{
    for (guint i = 0; word != NULL && names[i] != NULL; i++) {
        if (strcmp(names[i], word) == 0) {
            *index = i;
            return TRUE;
        }
    }
    if (word == NULL)
        return TRUE;
    g_autofree char *quoted = base_error_quote(word);
    g_autofree char *wanted = g_strjoinv(", ", (char **)names);
    g_autofree char *hint = suggest_hint(word, names);
    return base_error_set(error, BASE_ERROR_FAILED, option, "found '%s', wanted one of: %s%s", quoted, wanted,
                          hint);
}

// --size SIZE, or --sizes FIRST..LAST.
static gboolean collective_read_sizes(const CollectiveOptions *options, Collective *what, GError **error)
{
    if (options->size != NULL) {
        if (!units_parse_whole(UNITS_BYTES, options->size, "--size", &what->first, error))
            return FALSE;
        what->last = what->first;
        return TRUE;
    }
    g_auto(GStrv) ends = g_strsplit(options->sizes, "..", 2);
    g_autofree char *quoted = base_error_quote(options->sizes);
    if (g_strv_length(ends) != 2)
        return base_error_set(error, BASE_ERROR_FAILED, "--sizes",
                              "found '%s', wanted two sizes such as '1KiB..8GiB'", quoted);
    if (!units_parse_whole(UNITS_BYTES, ends[0], "--sizes", &what->first, error) ||
        !units_parse_whole(UNITS_BYTES, ends[1], "--sizes", &what->last, error))
        return FALSE;
    if (what->first < 1 || what->last < what->first)
        return base_error_set(error, BASE_ERROR_FAILED, "--sizes",
                              "found '%s', wanted a first size of at least 1 B and "
                              "a last one that is not less",
                              quoted);
    return TRUE;
}

static gboolean collective_read(const CollectiveOptions *options, Collective *what, GError **error)
{
    guint queue = 0, protocol = G_MAXUINT;
    if (!coll_choice_find_op(options->op != NULL ? options->op : "all-reduce", "--op", &what->op, error) ||
        !collective_read_sizes(options, what, error) ||
        !collective_pick("--queue", options->queue, SIM_QUEUE_NAMES, &queue, error) ||
        !collective_pick("--protocol", options->protocol, COLL_NCCL_PROTOCOLS, &protocol, error))
        return FALSE;
    if (options->algorithm != NULL) {
        what->algo = coll_choice_find(options->algorithm, what->op, "--algorithm", error);
        if (what->algo == NULL)
            return FALSE;
    }
    what->plain = options->plain;
    what->protocol = protocol == G_MAXUINT ? NULL : COLL_NCCL_PROTOCOLS[protocol];
    what->how.no_fuse = options->no_shortcuts;
    what->how.queue = (SimQueueKind)queue;
    if (options->chunk != NULL &&
        !units_parse_whole(UNITS_BYTES, options->chunk, "--chunk", &what->how.chunk, error))
        return FALSE;
    if (options->chunk != NULL && what->how.chunk < 4096)
        return base_error_set(error, BASE_ERROR_FAILED, "--chunk",
                              "found less than 4 KiB, wanted a size like '32 MiB'");
    return options->output == NULL || plot_check(options->output, error);
}

// What does not go together. FALSE with a usage error.
static gboolean collective_check_options(const CollectiveOptions *options, GError **error)
{
    const char *words = NULL;
    if (options->machine == NULL || (options->size == NULL) == (options->sizes == NULL))
        words = "wanted --machine and one of --size and --sizes (see 'stepline collective --help')";
    else if (options->steps && options->json)
        words = "found both --steps and --json, wanted one";
    else if (options->steps && options->sizes != NULL)
        words = "found both --steps and --sizes, wanted one";
    else if (options->output != NULL && options->sizes == NULL)
        words = "found --output without --sizes, wanted both";
    else if (options->plain && options->protocol != NULL)
        words = "found both --plain and --protocol, wanted one";
    if (words != NULL)
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", words);
    gboolean all = options->ranks == G_MININT64;
    if (!all && (options->ranks < 1 || options->ranks > COLL_GROUP_RANKS_MAX))
        return base_error_set(error, BASE_ERROR_USAGE, "--ranks",
                              "found %" G_GINT64_FORMAT ", wanted 1 to %d", options->ranks,
                              COLL_GROUP_RANKS_MAX);
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
        (options->output != NULL && !collective_plot(what, rows, options->output, error)))
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
    g_auto(CollectiveOptions) options = {.ranks = G_MININT64}; // which nobody types
    const GOptionEntry entries[] = {
        {"machine", 0, 0, G_OPTION_ARG_STRING, &options.machine, "Machine to run on", "NAME|FILE"},
        {"ranks", 0, 0, G_OPTION_ARG_INT64, &options.ranks, "How many of its GPUs (default: all)", "N"},
        {"op", 0, 0, G_OPTION_ARG_STRING, &options.op,
         "all-reduce (default), reduce-scatter, all-gather, all-gather-payload, broadcast, all-to-all, "
         "send-recv",
         "OP"},
        {"algorithm", 0, 0, G_OPTION_ARG_STRING, &options.algorithm,
         "A name of 'stepline list algorithms' (default: NCCL's choice, without [nccl] the ring)", "NAME"},
        {"protocol", 0, 0, G_OPTION_ARG_STRING, &options.protocol,
         "ll, ll128, simple (default: NCCL's choice)", "NAME"},
        {"plain", 0, 0, G_OPTION_ARG_NONE, &options.plain,
         "The links alone, whatever the machine's [nccl] says", NULL},
        {"size", 0, 0, G_OPTION_ARG_STRING, &options.size,
         "Bytes of the vector (all-gather-payload: of one rank's piece)", "SIZE"},
        {"sizes", 0, 0, G_OPTION_ARG_STRING, &options.sizes,
         "Many sizes, doubling: a table as nccl-tests prints it", "FIRST..LAST"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
         "With --sizes: draw bus bandwidth against size", "FILE.png|FILE.svg"},
        {"steps", 0, 0, G_OPTION_ARG_NONE, &options.steps, "Print first who sends which piece to whom", NULL},
        {"chunk", 0, 0, G_OPTION_ARG_STRING, &options.chunk,
         "Cut messages into chunks of this (default 32 MiB)", "SIZE"},
        {"queue", 0, 0, G_OPTION_ARG_STRING, &options.queue,
         "radix (default) or heap: never changes the result", "KIND"},
        {"no-shortcuts", 0, 0, G_OPTION_ARG_NONE, &options.no_shortcuts,
         "Every hop is an event: the same result", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
        {0}};
    if (!options_parse(&COMMAND_COLLECTIVE, entries, NULL, 0, 0, &argc, &argv, error) ||
        !collective_check_options(&options, error))
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
