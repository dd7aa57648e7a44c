// cli/cmd-plot.c: "stepline plot": pictures of what a run left behind.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options.h"
#include "plots/sweep.h"
#include "plots/timeline.h"
#include "plots/validation.h"

typedef struct {
    gint64 run, sweep, validation; // G_MININT64: not given, which nobody types
    char *output, *ranks, *from, *to, *metric;
    gboolean lines;
} PlotOptions;

static void plot_options_clear(PlotOptions *options)
{
    g_free(options->output);
    g_free(options->ranks);
    g_free(options->from);
    g_free(options->to);
    g_free(options->metric);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PlotOptions, plot_options_clear)

static gboolean plot_draw_timeline(const char *database, const PlotOptions *options, char **shown,
                                   GError **error)
{
    PlotTimeline what = {.run = MAX(options->run, 0), .ranks = options->ranks, .from = 0, .to = -1};
    g_autoptr(GError) local = NULL;
    if ((options->from != NULL && !units_parse_ps(options->from, "--from", &what.from, &local)) ||
        (options->to != NULL && !units_parse_ps(options->to, "--to", &what.to, &local)))
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", local->message);
    return plot_timeline_write(database, &what, options->output, shown, error);
}

static gboolean plot_draw_sweep(const char *database, const PlotOptions *options, char **shown,
                                GError **error)
{
    PlotSweep what = {.sweep = MAX(options->sweep, 0),
                      .metric = options->metric == NULL ? "step_s" : options->metric,
                      .lines = options->lines};
    return plot_sweep_write(database, &what, options->output, shown, error);
}

static gboolean plot_draw_validation(const char *database, const PlotOptions *options, char **shown,
                                     GError **error)
{
    return plot_validation_write(database, MAX(options->validation, 0), options->output, shown, error);
}

// A kind of picture, and the options that mean something only for it.
typedef struct {
    const char *name;
    gboolean (*draw)(const char *database, const PlotOptions *options, char **shown, GError **error);
} PlotKind;

static const PlotKind KINDS[] = {
    {"timeline", plot_draw_timeline}, {"sweep", plot_draw_sweep}, {"validation", plot_draw_validation}};

static const PlotKind *plot_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(KINDS) + 1] = {0};
    for (guint i = 0; i < G_N_ELEMENTS(KINDS); i++) {
        names[i] = KINDS[i].name;
        if (strcmp(name, names[i]) == 0)
            return &KINDS[i];
    }
    g_autofree char *kind = base_error_quote(name), *hint = suggest_hint(name, names);
    base_error_set(error, BASE_ERROR_USAGE, NULL,
                   "unknown kind of picture '%s'%s, wanted: timeline, sweep or validation", kind, hint);
    return NULL;
}

static gboolean plot_check_options(const PlotKind *kind, const PlotOptions *options, GError **error)
{
    const struct {
        const char *name, *kind;
        gboolean given;
    } given[] = {
        {"--run", "timeline", options->run != G_MININT64},
        {"--ranks", "timeline", options->ranks != NULL},
        {"--from", "timeline", options->from != NULL},
        {"--to", "timeline", options->to != NULL},
        {"--sweep", "sweep", options->sweep != G_MININT64},
        {"--metric", "sweep", options->metric != NULL},
        {"--lines", "sweep", options->lines},
        {"--validation", "validation", options->validation != G_MININT64},
    };
    for (guint i = 0; i < G_N_ELEMENTS(given); i++)
        if (given[i].given && strcmp(given[i].kind, kind->name) != 0)
            return base_error_set(error, BASE_ERROR_USAGE, given[i].name,
                                  "means nothing for a %s, only for a %s", kind->name, given[i].kind);
    if (options->output == NULL)
        return base_error_set(error, BASE_ERROR_USAGE, NULL,
                              "-o: found none, wanted a picture to write (.png or .svg)");
    const gint64 ids[] = {options->run, options->sweep, options->validation};
    static const char *const words[] = {"--run", "--sweep", "--validation"};
    for (guint i = 0; i < G_N_ELEMENTS(ids); i++)
        if (ids[i] < 1 && ids[i] != G_MININT64)
            return base_error_set(error, BASE_ERROR_USAGE, NULL,
                                  "%s: found %" G_GINT64_FORMAT ", wanted 1 or more", words[i], ids[i]);
    return TRUE;
}

static int plot_run_command(int argc, char **argv, GError **error)
{
    g_auto(PlotOptions) options = {.run = G_MININT64, .sweep = G_MININT64, .validation = G_MININT64};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Picture to write: .png or .svg", "FILE"},
        {"run", 0, 0, G_OPTION_ARG_INT64, &options.run,
         "timeline: run to draw, as 'stepline runs' numbers them (default: the last)", "N"},
        {"ranks", 0, 0, G_OPTION_ARG_STRING, &options.ranks,
         "timeline: ranks to draw: 0,5,8-11 (default: up to eight, chosen)", "LIST"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &options.from,
         "timeline: start of the stretch that is drawn, '1.2 s' (default: 0)", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &options.to, "timeline: its end (default: the step's)", "TIME"},
        {"sweep", 0, 0, G_OPTION_ARG_INT64, &options.sweep, "sweep: which (default: the last)", "N"},
        {"metric", 0, 0, G_OPTION_ARG_STRING, &options.metric,
         "sweep: number to draw, a key of 'stepline sweep --json' (default: step_s)", "NAME"},
        {"lines", 0, 0, G_OPTION_ARG_NONE, &options.lines, "sweep: lines also for two axes of numbers", NULL},
        {"validation", 0, 0, G_OPTION_ARG_INT64, &options.validation, "validation: which (default: the last)",
         "N"},
        {0},
    };
    if (!options_parse(
            &COMMAND_PLOT, entries,
            "Kinds of picture: timeline (lanes of ranks and streams over time), sweep (a number over\n"
            "the axes of 'stepline sweep'), validation (simulated against published steps).",
            2, 2, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    const PlotKind *kind = plot_find(argv[2], error);
    if (kind == NULL || !plot_check_options(kind, &options, error))
        return BASE_ERROR_USAGE;
    g_autofree char *shown = NULL;
    if (!kind->draw(argv[1], &options, &shown, error))
        return BASE_ERROR_FAILED;
    printf("%s: %s\n", options.output, shown);
    return 0;
}

const Command COMMAND_PLOT = {
    .name = "plot",
    .usage = "DB timeline|sweep|validation -o FILE.(png|svg) [OPTION...]",
    .summary = "Draw a run, a sweep or a validation from its timeline file",
    .run = plot_run_command,
};
