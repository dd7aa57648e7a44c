// cli/cmd-collective.c: stepline collective: one collective alone on a machine, or stepped through.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/options.h"
#include "coll/choice.h"
#include "coll/group.h"
#include "coll/measure.h"
#include "coll/symbolic.h"

enum { STEPS_RANKS_MAX = 16 }; // more would not fit a page

typedef struct {
    char *machine, *op, *algorithm, *size, *chunk, *queue;
    gint64 ranks;
    gboolean steps, no_shortcuts, json;
} CollectiveOptions;

static void collective_options_clear(CollectiveOptions *options)
{
    g_free(options->machine);
    g_free(options->op);
    g_free(options->algorithm);
    g_free(options->size);
    g_free(options->chunk);
    g_free(options->queue);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CollectiveOptions, collective_options_clear)

// What each rank did in the step at hand, and which pieces it has finished.
typedef struct {
    const CollAlgo *algo;
    CollShape shape;
    guint32 step;
    gboolean any;
    CollSend sent[STEPS_RANKS_MAX], got[STEPS_RANKS_MAX];
    gboolean sends[STEPS_RANKS_MAX], gets[STEPS_RANKS_MAX], adds;
    guint32 done[STEPS_RANKS_MAX];
    GString *finished[STEPS_RANKS_MAX];
    guint32 number; // of the step printed last
} StepsPrint;

static void steps_flush(StepsPrint *print)
{
    if (!print->any)
        return;
    printf("step %u, %s:\n", ++print->number, print->adds ? "the receiver adds" : "the receiver copies");
    for (guint32 rank = 0; rank < print->shape.ranks; rank++) {
        if (!print->sends[rank] && !print->gets[rank])
            continue;
        g_autofree char *sends = print->sends[rank] ? g_strdup_printf("sends piece %u to rank %u",
                                                                      print->sent[rank].piece, print->sent[rank].to)
                                                    : g_strdup("sends nothing");
        g_autofree char *gets = print->gets[rank] ? g_strdup_printf("receives piece %u from rank %u",
                                                                    print->got[rank].piece, print->got[rank].from)
                                                  : g_strdup("receives nothing");
        printf("  rank %-3u%-28s%-34sfinished:%s\n", rank, sends, gets,
               print->finished[rank]->len == 0 ? " none" : print->finished[rank]->str);
        print->sends[rank] = print->gets[rank] = FALSE;
    }
    print->any = FALSE;
}

static void steps_add(gpointer user, const CollSend *send, guint32 done)
{
    StepsPrint *print = user;
    if (print->any && send->step != print->step)
        steps_flush(print);
    print->any = TRUE;
    print->step = send->step;
    print->adds = send->reduce;
    print->sent[send->from] = *send;
    print->sends[send->from] = TRUE;
    print->got[send->to] = *send;
    print->gets[send->to] = TRUE;
    if (done > print->done[send->to])
        g_string_append_printf(print->finished[send->to], " %u", send->piece);
    print->done[send->to] = done;
}

static gboolean collective_steps(const CollAlgo *algo, const CollShape *shape, GError **error)
{
    StepsPrint print = {.algo = algo, .shape = *shape};
    for (guint32 rank = 0; rank < shape->ranks; rank++) {
        print.finished[rank] = g_string_new(NULL);
        if (shape->op == COLL_OP_ALL_GATHER || shape->op == COLL_OP_ALL_GATHER_PAYLOAD) {
            g_string_append_printf(print.finished[rank], " %u", rank);
            print.done[rank] = 1;
        }
    }
    guint32 pieces = algo->pieces(shape);
    printf("%s %s on %u ranks, %u piece%s\n", algo->name, COLL_OP_NAMES[shape->op], shape->ranks, pieces,
           pieces == 1 ? "" : "s");
    CollSymbolic out;
    gboolean fine = coll_symbolic_run(algo, shape, 0, TRUE, steps_add, &print, &out, error);
    steps_flush(&print);
    for (guint32 rank = 0; rank < shape->ranks; rank++)
        g_string_free(print.finished[rank], TRUE);
    if (fine)
        printf("checked: every rank holds every contribution once, after %" G_GUINT64_FORMAT " messages\n\n",
               out.messages);
    return fine;
}

// busbw / algbw of nccl-tests (its PERFORMANCE.md): 2 (p - 1)/p for all-reduce, (p - 1)/p for the others.
static double collective_bus_factor(CollOp op, guint32 ranks)
{
    double p = ranks;
    return (op == COLL_OP_ALL_REDUCE ? 2 : 1) * (p - 1) / p;
}

static void collective_print(const TopoMachine *machine, const CollShape *shape, const CollAlgo *algo,
                             const CollMeasure *measure, gboolean json)
{
    double seconds = units_seconds(measure->time);
    double vector = (double)shape->bytes * (shape->op == COLL_OP_ALL_GATHER_PAYLOAD ? shape->ranks : 1);
    double algbw = seconds > 0 ? vector / seconds : 0, busbw = algbw * collective_bus_factor(shape->op, shape->ranks);
    if (json) {
        JsonNode *node = json_node_alloc();
        g_autoptr(JsonObject) row = json_object_new();
        json_object_set_string_member(row, "machine", machine->name);
        json_object_set_int_member(row, "ranks", shape->ranks);
        json_object_set_string_member(row, "op", COLL_OP_NAMES[shape->op]);
        json_object_set_string_member(row, "algorithm", algo->name);
        json_object_set_int_member(row, "bytes", shape->bytes);
        json_object_set_double_member(row, "time_s", seconds);
        json_object_set_double_member(row, "algbw_Bps", algbw);
        json_object_set_double_member(row, "busbw_Bps", busbw);
        json_object_set_double_member(row, "sent_mean_bytes", measure->sent_mean);
        json_object_set_double_member(row, "sent_max_bytes", measure->sent_max);
        json_object_set_int_member(row, "messages", (gint64)measure->messages);
        json_object_set_int_member(row, "events", (gint64)measure->events);
        g_autofree char *fingerprint = g_strdup_printf("%016" G_GINT64_MODIFIER "x", measure->fingerprint);
        json_object_set_string_member(row, "fingerprint", fingerprint);
        json_object_set_double_member(row, "wall_s", measure->wall_s);
        JsonArray *rows = json_array_new();
        json_array_add_object_element(rows, g_steal_pointer(&row));
        JsonObject *object = json_object_new();
        json_object_set_array_member(object, "rows", rows);
        json_node_init_object(node, object);
        json_object_unref(object);
        options_print_json(node);
        return;
    }
    g_autofree char *size = units_format_bytes((double)shape->bytes);
    g_autofree char *alg = units_format_rate(algbw);
    g_autofree char *bus = units_format_rate(busbw);
    g_autofree char *mean = units_format_bytes(measure->sent_mean);
    g_autofree char *most = units_format_bytes(measure->sent_max);
    printf("%s %s of %s on %u ranks of %s\n", algo->name, COLL_OP_NAMES[shape->op], size, shape->ranks, machine->name);
    printf("time       %.6f ms\n", seconds * 1e3);
    printf("bandwidth  algbw %s, busbw %s\n", alg, bus);
    printf("sent       %s a rank on average, %s at most\n", mean, most);
    printf("simulated  %" G_GUINT64_FORMAT " messages, %" G_GUINT64_FORMAT " events, fingerprint %016" G_GINT64_MODIFIER
           "x\n",
           measure->messages, measure->events, measure->fingerprint);
}

static gboolean collective_read(const CollectiveOptions *options, CollMeasureOptions *how, CollShape *shape,
                                const CollAlgo **algo, GError **error)
{
    if (!coll_choice_find_op(options->op != NULL ? options->op : "all-reduce", "--op", &shape->op, error) ||
        !units_parse_whole(UNITS_BYTES, options->size, "--size", &shape->bytes, error))
        return FALSE;
    CollChoice choice;
    coll_choice_plain(NULL, shape, &choice);
    *algo = options->algorithm != NULL ? coll_choice_find(options->algorithm, shape->op, "--algorithm", error) : choice.algo;
    if (*algo == NULL)
        return FALSE;
    how->no_fuse = options->no_shortcuts;
    if (options->chunk != NULL && !units_parse_whole(UNITS_BYTES, options->chunk, "--chunk", &how->chunk, error))
        return FALSE;
    if (options->chunk != NULL && how->chunk < 4096)
        return base_error_set(error, BASE_ERROR_FAILED, "--chunk", "found less than 4 KiB, wanted a size like '32 MiB'");
    guint queue = 0;
    while (options->queue != NULL && queue < SIM_QUEUE_KINDS && strcmp(SIM_QUEUE_NAMES[queue], options->queue) != 0)
        queue++;
    g_autofree char *quoted = base_error_quote(options->queue != NULL ? options->queue : "");
    if (queue == SIM_QUEUE_KINDS)
        return base_error_set(error, BASE_ERROR_FAILED, "--queue", "found '%s', wanted one of: radix, heap", quoted);
    how->queue = (SimQueueKind)queue;
    return TRUE;
}

static int collective_run(int argc, char **argv, GError **error)
{
    g_auto(CollectiveOptions) options = {.ranks = G_MININT64}; // which nobody types
    const GOptionEntry entries[] = {
        {"machine", 0, 0, G_OPTION_ARG_STRING, &options.machine, "Machine to run on", "NAME|FILE"},
        {"ranks", 0, 0, G_OPTION_ARG_INT64, &options.ranks, "How many of its GPUs (default: all)", "N"},
        {"op", 0, 0, G_OPTION_ARG_STRING, &options.op,
         "all-reduce (default), reduce-scatter, all-gather, all-gather-payload", "OP"},
        {"algorithm", 0, 0, G_OPTION_ARG_STRING, &options.algorithm, "ring (default), binomial-tree", "NAME"},
        {"size", 0, 0, G_OPTION_ARG_STRING, &options.size,
         "Bytes of the vector (all-gather-payload: of one rank's piece)", "SIZE"},
        {"steps", 0, 0, G_OPTION_ARG_NONE, &options.steps, "Print first who sends which piece to whom", NULL},
        {"chunk", 0, 0, G_OPTION_ARG_STRING, &options.chunk, "Cut messages into chunks of this (default 32 MiB)", "SIZE"},
        {"queue", 0, 0, G_OPTION_ARG_STRING, &options.queue, "radix (default) or heap: never changes the result",
         "KIND"},
        {"no-shortcuts", 0, 0, G_OPTION_ARG_NONE, &options.no_shortcuts, "Every hop is an event: the same result", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
        {0}};
    if (!options_parse(&COMMAND_COLLECTIVE, entries, NULL, 0, 0, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    if (options.machine == NULL || options.size == NULL) {
        base_error_set(error, BASE_ERROR_USAGE, NULL, "wanted --machine and --size (see 'stepline collective --help')");
        return BASE_ERROR_USAGE;
    }
    guint32 ranks = 0; // all
    if (options.ranks != G_MININT64)
        ranks = (guint32)CLAMP(options.ranks, 0, COLL_GROUP_RANKS_MAX);
    if (options.ranks != G_MININT64 && (ranks == 0 || ranks != options.ranks)) {
        base_error_set(error, BASE_ERROR_USAGE, "--ranks", "found %" G_GINT64_FORMAT ", wanted 1 to %d", options.ranks,
                       COLL_GROUP_RANKS_MAX);
        return BASE_ERROR_USAGE;
    }
    if (options.steps && options.json) {
        base_error_set(error, BASE_ERROR_USAGE, NULL, "found both --steps and --json, wanted one");
        return BASE_ERROR_USAGE;
    }
    CollShape shape = {0};
    CollMeasureOptions how = {0};
    const CollAlgo *algo = NULL;
    if (!collective_read(&options, &how, &shape, &algo, error))
        return BASE_ERROR_FAILED;
    g_autoptr(TopoMachine) machine = topo_machine_read(options.machine, ranks, ranks == 0 ? "--machine" : "--ranks", error);
    if (machine == NULL)
        return BASE_ERROR_FAILED;
    shape.ranks = machine->graph->gpus->len;
    if (options.steps && shape.ranks > STEPS_RANKS_MAX) {
        base_error_set(error, BASE_ERROR_USAGE, "--steps", "found %u ranks, wanted at most %d (use --ranks)", shape.ranks,
                       STEPS_RANKS_MAX);
        return BASE_ERROR_USAGE;
    }
    if (options.steps && algo->switches(&shape) > 0) {
        base_error_set(error, BASE_ERROR_USAGE, "--steps", "algorithm '%s' works in switches, wanted one of ranks only",
                       algo->name);
        return BASE_ERROR_USAGE;
    }
    how.choose = algo;
    CollMeasure measure;
    if (!coll_measure_run(machine->graph, shape.op, shape.bytes, &how, &measure, error) ||
        (options.steps && !collective_steps(algo, &shape, error)))
        return BASE_ERROR_FAILED;
    collective_print(machine, &shape, algo, &measure, options.json);
    return 0;
}

const Command COMMAND_COLLECTIVE = {
    .name = "collective",
    .usage = "--machine T --size SIZE [--ranks N] [--op OP] [--algorithm NAME] [--steps] [--json]",
    .summary = "Simulate one collective alone, message by message",
    .run = collective_run,
};
