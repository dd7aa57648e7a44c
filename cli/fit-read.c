// cli/fit-read.c: what a person typed after "stepline fit", read and checked.
#include "cli/fit-read.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/options.h"

static gboolean fit_options_check(FitOptions *options, GError **error)
{
    if (options->write != NULL && options->machine == NULL)
        return base_error_set(error, BASE_ERROR_USAGE, "--write",
                              "wanted --machine too: whose file it is to be");
    options->only = VALIDATION_NCCL_OPS;
    if (options->ranks != 0 && (options->ranks < 2 || options->ranks > 1 << 24))
        return base_error_set(error, BASE_ERROR_USAGE, "--ranks",
                              "found %" G_GINT64_FORMAT ", wanted 2 to %d", options->ranks, 1 << 24);
    if (options->op == NULL)
        return TRUE;
    for (guint i = 0; i < VALIDATION_NCCL_OPS; i++)
        if (strcmp(options->op, VALIDATION_NCCL_OP_NAMES[i]) == 0)
            options->only = (ValidationNcclOp)i;
    if (options->only != VALIDATION_NCCL_OPS)
        return TRUE;
    g_autofree char *quoted = base_error_quote(options->op),
                    *hint = suggest_hint(options->op, VALIDATION_NCCL_OP_NAMES);
    return base_error_set(error, BASE_ERROR_USAGE, "--op",
                          "found '%s', wanted an operation like all-reduce%s", quoted, hint);
}

gboolean fit_options_read(FitOptions *options, int *argc, char ***argv, GError **error)
{
    *options = (FitOptions){0};
    const GOptionEntry entries[] = {
        {"machine", 0, 0, G_OPTION_ARG_STRING, &options->machine, "Simulate the same sizes on this machine",
         "NAME|FILE"},
        {"ranks", 0, 0, G_OPTION_ARG_INT64, &options->ranks,
         "How many ranks took part (default: as the log's figures say)", "N"},
        {"op", 0, 0, G_OPTION_ARG_STRING, &options->op, "Only this operation; what a CSV measured", "OP"},
        {"write", 0, 0, G_OPTION_ARG_FILENAME, &options->write,
         "Write the machine's file with [nccl] replaced by what was fitted", "FILE.ini"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print {\"rows\": [...]}", NULL},
        {0},
    };
    static const char details[] =
        "A LOG is what nccl-tests or rccl-tests print (any version, with NCCL's and mpirun's "
        "words between), their JSON (-J), or a CSV with columns bytes and seconds, ms or us. "
        "A log that cannot be used does not stop the others; the status is 1 then.";
    return options_parse(&COMMAND_FIT, entries, details, 1, G_MAXINT, argc, argv, error) &&
           fit_options_check(options, error);
}

void fit_options_clear(FitOptions *options)
{
    g_free(options->machine);
    g_free(options->op);
    g_free(options->write);
}
