// cli/cmd-validate.c: stepline validate: the table of what is held against published figures.
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/options.h"
#include "cli/validate-published.h"
#include "cli/validate-verb.h"

static const ValidateVerb *const VERBS[] = {
    &VALIDATE_VERB_COLLECTIVES,
    &VALIDATE_VERB_BUCKETS,
    &VALIDATE_VERB_LAYERS,
    &VALIDATE_VERB_REPORTS,
};

// The verb of a word. NULL with a usage error.
static const ValidateVerb *validate_find(const char *word, GError **error)
{
    const char *names[G_N_ELEMENTS(VERBS) + 1] = {0};
    for (guint i = 0; i < G_N_ELEMENTS(VERBS); i++) {
        names[i] = VERBS[i]->name;
        if (strcmp(word, names[i]) == 0)
            return VERBS[i];
    }
    g_autofree char *quoted = base_error_quote(word);
    g_autofree char *all = g_strjoinv(", ", (char **)names);
    g_autofree char *hint = suggest_hint(word, names);
    base_error_set(error, BASE_ERROR_USAGE, "validate", "found '%s', wanted one of: %s%s", quoted, all, hint);
    return NULL;
}

// FALSE with a usage error for an option that the verb does not take.
static gboolean validate_check(const ValidateVerb *verb, const ValidateArguments *arguments, GError **error)
{
    const struct {
        const char *option;
        gboolean given, taken;
    } options[] = {
        {"--rows", arguments->rows, verb->takes_rows},
        {"--all", arguments->all, verb->takes_all},
        {"--family", arguments->family != NULL, verb->takes_family},
        {"--report", arguments->report != NULL, verb->takes_report},
    };
    g_autofree char *where = g_strdup_printf("validate %s", verb->name);
    for (guint i = 0; i < G_N_ELEMENTS(options); i++)
        if (options[i].given && !options[i].taken)
            return base_error_set(error, BASE_ERROR_USAGE, where, "found %s, wanted: stepline validate %s %s",
                                  options[i].option, verb->name, verb->usage);
    return TRUE;
}

static int validate_run(int argc, char **argv, GError **error)
{
    if (argc < 2 || argv[1][0] == '-')
        return validate_published_run(argc, argv, error);
    gboolean json = FALSE, rows = FALSE, all = FALSE;
    g_autofree char *family = NULL, *report = NULL;
    const GOptionEntry entries[] = {
        {"family", 0, 0, G_OPTION_ARG_STRING, &family, "Only rows of this family (collectives)", "NAME"},
        {"rows", 0, 0, G_OPTION_ARG_NONE, &rows, "Print every row as well (collectives)", NULL},
        {"all", 0, 0, G_OPTION_ARG_NONE, &all, "Also rows that take minutes (collectives)", NULL},
        {"report", 0, 0, G_OPTION_ARG_STRING, &report, "Only this report (reports)", "N"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
        {0}};
    static const char details[] =
        "Without a word: published training runs (stepline validate --help). collectives: measured "
        "collectives, by family of machines. buckets: gradient buckets as PyTorch "
        "formed them.\n"
        "layers: published times of single layers. reports: questions of users whose answer is known.\n"
        "Of the last three the exit status is 3 where one disagrees.";
    if (!options_parse(&COMMAND_VALIDATE, entries, details, 1, 1, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    const ValidateVerb *verb = validate_find(argv[1], error);
    const ValidateArguments arguments = {
        .json = json, .rows = rows, .all = all, .family = family, .report = report};
    if (verb == NULL || !validate_check(verb, &arguments, error))
        return BASE_ERROR_USAGE;
    return verb->run(&arguments, error);
}

const Command COMMAND_VALIDATE = {
    .name = "validate",
    .usage = "[collectives|buckets|layers|reports] [OPTION...]",
    .summary = "Hold the simulation against published figures",
    .run = validate_run,
};
