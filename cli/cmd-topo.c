// cli/cmd-topo.c: stepline topo: the table of what can be done with a machine's graph.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/topo-verb.h"
#include "cli/words.h"

static const TopoVerb *const VERBS[] = {
    &TOPO_VERB_SHOW, &TOPO_VERB_CHECK, &TOPO_VERB_IMPORT, &TOPO_VERB_DOT, &TOPO_VERB_ROUTES,
};

// The verb of a word. NULL with a usage error.
static const TopoVerb *topo_find_verb(const char *word, GError **error)
{
    const char *names[G_N_ELEMENTS(VERBS) + 1] = {0};
    guint at = 0;
    for (guint i = 0; i < G_N_ELEMENTS(VERBS); i++)
        names[i] = VERBS[i]->name;
    return words_find("topo", word, names, &at, error) ? VERBS[at] : NULL;
}

// FALSE with a usage error for an option that the verb does not take, or a wrong number of words.
static gboolean topo_check_arguments(const TopoVerb *verb, const TopoVerbArguments *arguments, int words,
                                     GError **error)
{
    const WordsOption options[] = {
        {"--gpus", arguments->gpus != 0, verb->takes_gpus},
        {"--json", arguments->json, verb->takes_json},
        {"-o", arguments->output != NULL, verb->takes_output},
        {"--chip", arguments->chip != NULL, verb->takes_chip},
        {NULL, FALSE, FALSE},
    };
    g_autofree char *where = g_strdup_printf("topo %s", verb->name);
    if (!words_check("topo", verb->name, verb->usage, options, error))
        return FALSE;
    if (words != verb->words)
        return base_error_set(error, BASE_ERROR_USAGE, where, "found %d word%s, wanted: stepline topo %s %s",
                              words, words == 1 ? "" : "s", verb->name, verb->usage);
    return TRUE;
}

static gboolean topo_parse_gpus(const char *text, guint32 *gpus, GError **error)
{
    gint64 number = 0;
    g_autoptr(GError) local = NULL;
    if (text == NULL)
        return TRUE;
    if (!units_parse_whole(UNITS_COUNT, text, "--gpus", &number, &local))
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", local->message);
    if (number < 1 || number > G_MAXUINT32)
        return base_error_set(error, BASE_ERROR_USAGE, "--gpus", "found %s, wanted a whole number from 1",
                              text);
    *gpus = (guint32)number;
    return TRUE;
}

static int topo_run(int argc, char **argv, GError **error)
{
    g_autofree char *gpus_text = NULL, *output = NULL, *chip = NULL;
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        {"gpus", 0, 0, G_OPTION_ARG_STRING, &gpus_text, "Build the machine with N GPUs", "N"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object (show, routes)", NULL},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write the machine file here (import)", "FILE"},
        {"chip", 0, 0, G_OPTION_ARG_STRING, &chip, "Which chip the GPUs are (import)", "NAME"},
        {0},
    };
    static const char details[] =
        "A NAME is one of 'stepline list machines'; with a '/' or ending in .ini it is a file; a file that "
        "is no .ini\n"
        "(an NCCL topology XML) is imported.\n"
        "show prints nodes, links and two paths; check says whether every GPU reaches every other; import "
        "prints what it\n"
        "understood and assumed, and writes a machine file (without -o to stdout); dot prints the graph for "
        "Graphviz;\n"
        "routes prints the path between two GPUs (gpu0 or 0; nic0 and other nodes too) hop by hop.\n";
    if (!options_parse(&COMMAND_TOPO, entries, details, 1, 8, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    const TopoVerb *verb = topo_find_verb(argv[1], error);
    TopoVerbArguments arguments = {.words = argv + 2, .json = json, .output = output, .chip = chip};
    if (verb == NULL || !topo_parse_gpus(gpus_text, &arguments.gpus, error) ||
        !topo_check_arguments(verb, &arguments, argc - 2, error))
        return BASE_ERROR_USAGE;
    return verb->run(&arguments, error);
}

const Command COMMAND_TOPO = {
    .name = "topo",
    .usage = "show NAME [--gpus N] [--json] | check NAME|FILE [--gpus N] | import FILE [--chip NAME] [-o "
             "MACHINE.ini] | "
             "dot NAME|FILE | routes NAME|FILE A B",
    .summary = "Show, check, import or draw a machine's nodes, links and paths",
    .run = topo_run,
};
