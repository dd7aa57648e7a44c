// cli/cmd-validate.c: stepline validate: the table of what is held against published figures.
#include <string.h>

#include "base/error.h"
#include "cli/options.h"
#include "cli/validate-verb.h"
#include "cli/words.h"

// The first is what no word stands for.
static const ValidateVerb *const VERBS[] = {
    &VALIDATE_VERB_RUNS,   &VALIDATE_VERB_COLLECTIVES, &VALIDATE_VERB_BUCKETS,
    &VALIDATE_VERB_LAYERS, &VALIDATE_VERB_REPORTS,
};

static void validate_arguments_clear(ValidateArguments *arguments)
{
    g_free(arguments->family);
    g_free(arguments->report);
    g_free(arguments->points);
    g_free(arguments->models);
    g_free(arguments->run);
    g_free(arguments->db);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ValidateArguments, validate_arguments_clear)

// The verb of a word (NULL: of none). NULL with a usage error.
static const ValidateVerb *validate_find(const char *word, GError **error)
{
    const char *names[G_N_ELEMENTS(VERBS) + 1] = {0};
    guint at = 0;
    for (guint i = 0; i < G_N_ELEMENTS(VERBS); i++)
        names[i] = VERBS[i]->name;
    return word == NULL || words_find("validate", word, names, &at, error) ? VERBS[at] : NULL;
}

// FALSE with a usage error for an option that the verb does not take, or two of which only one can be.
static gboolean validate_check(const ValidateVerb *verb, const ValidateArguments *a, GError **error)
{
    WordsOption options[] = {
        {"--rows", a->rows, FALSE},
        {"--all", a->all, FALSE},
        {"--family", a->family != NULL, FALSE},
        {"--report", a->report != NULL, FALSE},
        {"--points", a->points != NULL, FALSE},
        {"--models", a->models != NULL, FALSE},
        {"--families", a->families, FALSE},
        {"--run", a->run != NULL, FALSE},
        {"--csv", a->csv, FALSE},
        {"--db", a->db != NULL, FALSE},
        {"--jobs", a->threads, FALSE},
        {NULL, FALSE, FALSE},
    };
    for (guint i = 0; options[i].option != NULL; i++)
        options[i].taken = g_strv_contains(verb->takes, options[i].option);
    return words_check("validate", verb->name, verb->usage, options, error);
}

static int validate_run(int argc, char **argv, GError **error)
{
    g_auto(ValidateArguments) a = {.jobs = -1};
    const GOptionEntry entries[] = {
        {"points", 0, 0, G_OPTION_ARG_FILENAME, &a.points, "Runs of this table instead of our own (runs)",
         "FILE"},
        {"models", 0, 0, G_OPTION_ARG_FILENAME, &a.models, "Models of this table beside our own (runs)",
         "FILE"},
        {"families", 0, 0, G_OPTION_ARG_NONE, &a.families, "Print every family, not only the worst (runs)",
         NULL},
        {"run", 0, 0, G_OPTION_ARG_STRING, &a.run,
         "Print one run as a scenario, and what is assumed of it (runs)", "ID"},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &a.csv, "Print every row as CSV (runs)", NULL},
        {"db", 0, 0, G_OPTION_ARG_FILENAME, &a.db, "Add every row to this database (runs)", "FILE"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &a.jobs, "Threads, one a core unless given (runs)", "N"},
        {"family", 0, 0, G_OPTION_ARG_STRING, &a.family, "Only rows of this family (collectives)", "NAME"},
        {"rows", 0, 0, G_OPTION_ARG_NONE, &a.rows,
         "Print every row as well (runs, collectives, layers, reports)", NULL},
        {"all", 0, 0, G_OPTION_ARG_NONE, &a.all, "Also rows that take minutes (collectives)", NULL},
        {"report", 0, 0, G_OPTION_ARG_STRING, &a.report, "Only this report (reports)", "N"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &a.json, "Print one JSON object", NULL},
        {0}};
    static const char details[] =
        "runs, or no word: published training runs. collectives: measured collectives, by family of "
        "machines.\n"
        "buckets: gradient buckets as PyTorch formed them. layers: published times of single layers. "
        "reports: "
        "questions\n"
        "of users whose answer is known. Of the last three the exit status is 3 where one disagrees.";
    if (!options_parse(&COMMAND_VALIDATE, entries, details, 0, 1, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    a.threads = a.jobs != -1;
    if (!a.threads)
        a.jobs = (int)g_get_num_processors();
    const ValidateVerb *verb = validate_find(argc > 1 ? argv[1] : NULL, error);
    if (verb == NULL || !validate_check(verb, &a, error))
        return BASE_ERROR_USAGE;
    return verb->run(&a, error);
}

const Command COMMAND_VALIDATE = {
    .name = "validate",
    .usage = "[runs|collectives|buckets|layers|reports] [OPTION...]",
    .summary = "Hold the simulation against published figures",
    .run = validate_run,
};
