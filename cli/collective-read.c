// cli/collective-read.c: what a person typed after "stepline collective", read and checked.
#include "cli/collective-read.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/options.h"
#include "coll/choice.h"
#include "coll/group.h"
#include "coll/nccl.h"
#include "plots/plot.h"

void collective_options_clear(CollectiveOptions *options)
{
    char *const texts[] = {options->machine,  options->op,    options->algorithm,
                           options->protocol, options->size,  options->sizes,
                           options->chunk,    options->queue, options->output};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
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

gboolean collective_read(const CollectiveOptions *options, Collective *what, GError **error)
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

gboolean collective_options_read(CollectiveOptions *options, int argc, char **argv, GError **error)
{
    *options = (CollectiveOptions){.ranks = G_MININT64};
    const GOptionEntry entries[] = {
        {"machine", 0, 0, G_OPTION_ARG_STRING, &options->machine, "Machine to run on", "NAME|FILE"},
        {"ranks", 0, 0, G_OPTION_ARG_INT64, &options->ranks, "How many of its GPUs (default: all)", "N"},
        {"op", 0, 0, G_OPTION_ARG_STRING, &options->op,
         "all-reduce (default), reduce-scatter, all-gather, all-gather-payload, broadcast, reduce, "
         "all-to-all, "
         "send-recv",
         "OP"},
        {"algorithm", 0, 0, G_OPTION_ARG_STRING, &options->algorithm,
         "A name of 'stepline list algorithms' (default: NCCL's choice, without [nccl] the ring)", "NAME"},
        {"protocol", 0, 0, G_OPTION_ARG_STRING, &options->protocol,
         "ll, ll128, simple (default: NCCL's choice)", "NAME"},
        {"plain", 0, 0, G_OPTION_ARG_NONE, &options->plain,
         "The links alone, whatever the machine's [nccl] says", NULL},
        {"size", 0, 0, G_OPTION_ARG_STRING, &options->size,
         "Bytes of the vector (all-gather-payload: of one rank's piece)", "SIZE"},
        {"sizes", 0, 0, G_OPTION_ARG_STRING, &options->sizes,
         "Many sizes, doubling: a table as nccl-tests prints it", "FIRST..LAST"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
         "With --sizes: draw bus bandwidth against size", "FILE.png|FILE.svg"},
        {"steps", 0, 0, G_OPTION_ARG_NONE, &options->steps, "Print first who sends which piece to whom",
         NULL},
        {"chunk", 0, 0, G_OPTION_ARG_STRING, &options->chunk,
         "Cut messages into chunks of this (default 32 MiB)", "SIZE"},
        {"queue", 0, 0, G_OPTION_ARG_STRING, &options->queue,
         "radix (default) or heap: never changes the result", "KIND"},
        {"no-shortcuts", 0, 0, G_OPTION_ARG_NONE, &options->no_shortcuts,
         "Every hop is an event: the same result", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print one JSON object", NULL},
        {0}};
    return options_parse(&COMMAND_COLLECTIVE, entries, NULL, 0, 0, &argc, &argv, error) &&
           collective_check_options(options, error);
}
