// cli/cmd-plot.c: "stepline plot": pictures of what a run left behind.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options.h"
#include "plots/timeline.h"

static int plot_run_command(int argc, char **argv, GError **error)
{
    gint64 run = G_MININT64; // which nobody types
    g_autofree char *output = NULL, *ranks = NULL, *from = NULL, *to = NULL;
    const GOptionEntry entries[] = {
        {"run", 0, 0, G_OPTION_ARG_INT64, &run,
         "Run to draw, as 'stepline runs' numbers them (default: the last)", "N"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Picture to write: .png or .svg", "FILE"},
        {"ranks", 0, 0, G_OPTION_ARG_STRING, &ranks, "Ranks to draw: 0,5,8-11 (default: up to eight, chosen)",
         "LIST"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &from, "Start of the stretch that is drawn, '1.2 s' (default: 0)",
         "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &to, "Its end (default: the step's)", "TIME"},
        {0},
    };
    if (!options_parse(&COMMAND_PLOT, entries,
                       "Kinds of picture: timeline (lanes of ranks and streams over time).", 2, 2, &argc,
                       &argv, error))
        return BASE_ERROR_USAGE;
    static const char *const kinds[] = {"timeline", NULL};
    if (strcmp(argv[2], kinds[0]) != 0) {
        g_autofree char *kind = base_error_quote(argv[2]);
        g_autofree char *hint = suggest_hint(argv[2], kinds);
        base_error_set(error, BASE_ERROR_USAGE, NULL, "unknown kind of picture '%s'%s, wanted: timeline",
                       kind, hint);
        return BASE_ERROR_USAGE;
    }
    if (output == NULL) {
        base_error_set(error, BASE_ERROR_USAGE, NULL,
                       "-o: found none, wanted a picture to write (.png or .svg)");
        return BASE_ERROR_USAGE;
    }
    if (run < 1 && run != G_MININT64) {
        base_error_set(error, BASE_ERROR_USAGE, NULL, "--run: found %" G_GINT64_FORMAT ", wanted 1 or more",
                       run);
        return BASE_ERROR_USAGE;
    }
    PlotTimeline what = {.run = MAX(run, 0), .ranks = ranks, .from = 0, .to = -1};
    g_autoptr(GError) local = NULL;
    if ((from != NULL && !units_parse_ps(from, "--from", &what.from, &local)) ||
        (to != NULL && !units_parse_ps(to, "--to", &what.to, &local))) {
        base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", local->message);
        return BASE_ERROR_USAGE;
    }
    g_autofree char *shown = NULL;
    if (!plot_timeline_write(argv[1], &what, output, &shown, error))
        return BASE_ERROR_FAILED;
    printf("%s: %s\n", output, shown);
    return 0;
}

const Command COMMAND_PLOT = {
    .name = "plot",
    .usage = "DB timeline -o FILE.(png|svg) [--run N] [--ranks LIST] [--from TIME] [--to TIME]",
    .summary = "Draw a run from its timeline file",
    .run = plot_run_command,
};
