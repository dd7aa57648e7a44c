// cli/cmd-fit.c: "stepline fit": measured collectives -> latency, bandwidth, a law; and what a machine does.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/fit-published.h"
#include "cli/fit-run.h"
#include "cli/options.h"

static int fit_run_command(int argc, char **argv, GError **error)
{
    if (argc > 1 && strcmp(argv[1], "published") == 0)
        return fit_published_run(argc, argv, error);
    g_auto(Fit) fit = {0};
    if (!fit_options_read(&fit.options, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    if (fit.options.write != NULL)
        fit.constants = g_array_new(FALSE, FALSE, sizeof(ValidationConstants));
    if (fit.options.json) {
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
        if (i + 1 == argc && fit.runs == 0 && !fit.options.json) {
            g_propagate_error(error, g_steal_pointer(&local));
            return status;
        }
        g_printerr("stepline: %s\n", local->message);
    }
    if (fit.options.json) {
        json_builder_end_array(fit.builder);
        json_builder_end_object(fit.builder);
        options_print_json(json_builder_get_root(fit.builder));
    }
    if (fit.options.write != NULL) {
        if (!validation_constants_write(fit.options.write, fit.options.machine, fit.constants, error))
            return BASE_ERROR_FAILED;
        if (!fit.options.json)
            printf("\nwritten    %u set%s of constants to %s\n", fit.constants->len,
                   fit.constants->len == 1 ? "" : "s", fit.options.write);
    }
    return status;
}

const Command COMMAND_FIT = {
    .name = "fit",
    .usage = "LOG... [--machine NAME|FILE] [--ranks N] [--op OP] [--write FILE] [--json]",
    .summary = "Fit latency and bandwidth to the output of nccl-tests",
    .run = fit_run_command,
};
