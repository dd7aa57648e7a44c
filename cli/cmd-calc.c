// cli/cmd-calc.c: "stepline calc": the primer's four numbers for any model size.
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/calc-print.h"
#include "cli/command.h"
#include "cli/options.h"
#include "models/count.h"
#include "models/spec.h"
#include "plans/budget.h"
#include "plans/states.h"

// The primer's four rows, and the deck's NVLink.
static const CalcPrintLink LINKS[] = {
    {"NVLink, both directions", 900e9}, {"NVLink, each way", 450e9}, {"PCIe 4.0 x16", 25e9},
    {"100 Gb Ethernet", 12.5e9},        {"10 Gb Ethernet", 1.25e9},
};

// What was typed as text.
typedef struct {
    char *model, *params, *gpus, *tokens, *peak, *mfu, *optimizer, *card, *measured, *measured_per_gpu,
        *latency, *sequence;
    char **links;
    gboolean json;
} CalcOptions;

static void cmd_calc_options_clear(CalcOptions *options)
{
    char *const texts[] = {options->model,     options->params,   options->gpus,
                           options->tokens,    options->peak,     options->mfu,
                           options->card,      options->latency,  options->measured,
                           options->optimizer, options->sequence, options->measured_per_gpu};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_strfreev(options->links);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CalcOptions, cmd_calc_options_clear)

// As units_parse, as a usage error; value stays as it is where text is NULL.
static gboolean cmd_calc_parse(UnitsKind kind, const char *name, const char *text, double *value,
                               GError **error)
{
    g_autoptr(GError) local = NULL;
    if (text == NULL || units_parse(kind, text, name, value, &local))
        return TRUE;
    return base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", local->message);
}

// Tokens/s, with or without the unit.
static gboolean cmd_calc_parse_speed(const char *name, const char *text, double *value, GError **error)
{
    if (text == NULL)
        return TRUE;
    g_autofree char *bare = g_strchomp(g_strdup(text));
    if (g_str_has_suffix(bare, "tokens/s"))
        bare[strlen(bare) - strlen("tokens/s")] = '\0';
    return cmd_calc_parse(UNITS_NUMBER, name, bare, value, error);
}

// FLOPs of a token with those of attention, which take the model's shape and a length.
static gboolean cmd_calc_read_sequence(const CalcOptions *options, const ModelSpec *spec, CalcPrint *calc,
                                       GError **error)
{
    if (options->sequence == NULL)
        return TRUE;
    if (spec == NULL)
        return base_error_set(error, BASE_ERROR_USAGE, "--sequence",
                              "found it with --params, wanted --model, whose shape attention depends on");
    double sequence = 0;
    if (!cmd_calc_parse(UNITS_COUNT, "--sequence", options->sequence, &sequence, error))
        return FALSE;
    if (sequence < 1 || sequence > (double)MODEL_SEQUENCE_MAX)
        return base_error_set(error, BASE_ERROR_USAGE, "--sequence",
                              "found %.0f, wanted 1 to %" G_GINT64_FORMAT, sequence,
                              (gint64)MODEL_SEQUENCE_MAX);
    calc->counting = MODEL_COUNT_6N_ATTENTION;
    calc->flops_per_token = model_count_flops(spec, calc->counting, (gint64)sequence);
    return TRUE;
}

static gboolean cmd_calc_read_parameters(const CalcOptions *options, CalcPrint *calc, GError **error)
{
    if ((options->params == NULL) == (options->model == NULL))
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "found %s, wanted --params N or --model NAME",
                              options->params == NULL ? "no model size" : "both --params and --model");
    double parameters = 0;
    if (!cmd_calc_parse(UNITS_COUNT, "--params", options->params, &parameters, error))
        return FALSE;
    calc->parameters = (gint64)parameters;
    g_autoptr(ModelSpec) spec = NULL;
    if (options->model != NULL) {
        spec = model_spec_read(options->model, "--model", error);
        if (spec == NULL)
            return FALSE;
        calc->parameters = model_count_parameters(spec);
    }
    return cmd_calc_read_sequence(options, spec, calc, error);
}

static gboolean cmd_calc_read_links(const CalcOptions *options, CalcPrint *calc, GError **error)
{
    if (options->links == NULL)
        g_array_append_vals(calc->links, LINKS, G_N_ELEMENTS(LINKS));
    for (guint i = 0; options->links != NULL && options->links[i] != NULL; i++) {
        CalcPrintLink link = {.name = "as typed"};
        if (!cmd_calc_parse(UNITS_RATE, "--link", options->links[i], &link.bandwidth, error))
            return FALSE;
        if (link.bandwidth < 1 || link.bandwidth > 1e17)
            return base_error_set(error, BASE_ERROR_USAGE, "--link", "found %g B/s, wanted 1 B/s to 1e5 TB/s",
                                  link.bandwidth);
        g_array_append_val(calc->links, link);
    }
    return TRUE;
}

static gboolean cmd_calc_read_measured(const CalcOptions *options, CalcPrint *calc, GError **error)
{
    calc->measured = -1;
    if (options->measured != NULL && options->measured_per_gpu != NULL)
        return base_error_set(error, BASE_ERROR_USAGE, NULL,
                              "found both --measured and --measured-per-gpu, wanted one");
    double each = -1;
    if (!cmd_calc_parse_speed("--measured", options->measured, &calc->measured, error) ||
        !cmd_calc_parse_speed("--measured-per-gpu", options->measured_per_gpu, &each, error))
        return FALSE;
    if (each >= 0)
        calc->measured = each * (double)calc->budget.gpus;
    return plan_budget_check_measured(&calc->budget, calc->measured,
                                      each >= 0 ? "--measured-per-gpu" : "--measured", error);
}

static gboolean cmd_calc_read(const CalcOptions *options, CalcPrint *calc, GError **error)
{
    if (!cmd_calc_read_parameters(options, calc, error))
        return FALSE;
    if (options->gpus == NULL)
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "found no number of GPUs, wanted --gpus N");
    double gpus = 0;
    if (!cmd_calc_parse(UNITS_COUNT, "--gpus", options->gpus, &gpus, error))
        return FALSE;
    plan_budget_init(&calc->budget, (double)calc->parameters, (gint64)gpus);
    PlanBudget *budget = &calc->budget;
    if (calc->counting == MODEL_COUNT_6N_ATTENTION)
        budget->flops_per_token = calc->flops_per_token;
    calc->card = 80.0 * 1073741824.0;
    if (!cmd_calc_parse(UNITS_COUNT, "--tokens", options->tokens, &budget->tokens, error) ||
        !cmd_calc_parse(UNITS_FLOPS, "--peak", options->peak, &budget->peak, error) ||
        !cmd_calc_parse(UNITS_FRACTION, "--mfu", options->mfu, &budget->mfu, error) ||
        !cmd_calc_parse(UNITS_BYTES, "--card", options->card, &calc->card, error) ||
        !cmd_calc_parse(UNITS_TIME, "--latency", options->latency, &budget->latency, error))
        return FALSE;
    g_autoptr(GError) local = NULL;
    if (!plan_budget_check(budget, &local))
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "--%s", local->message);
    if (calc->card < 1)
        return base_error_set(error, BASE_ERROR_USAGE, "--card", "found 0 B, wanted more than that");
    calc->optimizer = PLAN_OPTIMIZER_ADAM_MIXED;
    if (options->optimizer != NULL) {
        guint at = 0;
        while (PLAN_OPTIMIZER_NAMES[at] != NULL && strcmp(PLAN_OPTIMIZER_NAMES[at], options->optimizer) != 0)
            at++;
        if (PLAN_OPTIMIZER_NAMES[at] == NULL) {
            g_autofree char *found = base_error_quote(options->optimizer);
            g_autofree char *wanted = g_strjoinv(", ", (char **)PLAN_OPTIMIZER_NAMES);
            g_autofree char *hint = suggest_hint(options->optimizer, PLAN_OPTIMIZER_NAMES);
            return base_error_set(error, BASE_ERROR_USAGE, "--optimizer", "found '%s', wanted one of: %s%s",
                                  found, wanted, hint);
        }
        calc->optimizer = (PlanOptimizer)at;
    }
    return cmd_calc_read_links(options, calc, error) && cmd_calc_read_measured(options, calc, error);
}

static int cmd_calc_run(int argc, char **argv, GError **error)
{
    g_auto(CalcOptions) options = {0};
    const GOptionEntry entries[] = {
        {"params", 0, 0, G_OPTION_ARG_STRING, &options.params, "Parameters of the model: 7e9", "N"},
        {"model", 0, 0, G_OPTION_ARG_STRING, &options.model, "Or a model of the library", "NAME"},
        {"gpus", 0, 0, G_OPTION_ARG_STRING, &options.gpus, "Data-parallel GPUs", "N"},
        {"link", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.links,
         "A link's bandwidth, used as given: '50 GB/s' (may "
         "be repeated; default: the documents')",
         "RATE"},
        {"latency", 0, 0, G_OPTION_ARG_STRING, &options.latency,
         "Latency of a message: '10 us' (default none)", "TIME"},
        {"tokens", 0, 0, G_OPTION_ARG_STRING, &options.tokens, "Tokens per GPU and step (default 4096)", "N"},
        {"sequence", 0, 0, G_OPTION_ARG_STRING, &options.sequence,
         "With --model: count attention too, at this length", "LEN"},
        {"peak", 0, 0, G_OPTION_ARG_STRING, &options.peak, "Peak of a GPU (default '989 TFLOP/s')", "FLOPS"},
        {"mfu", 0, 0, G_OPTION_ARG_STRING, &options.mfu,
         "MFU that compute sustains and you want (default 40%)", "FRACTION"},
        {"optimizer", 0, 0, G_OPTION_ARG_STRING, &options.optimizer,
         "sgd-momentum, adam (default) or adam-fp32", "NAME"},
        {"card", 0, 0, G_OPTION_ARG_STRING, &options.card, "Memory of a GPU (default '80 GiB')", "SIZE"},
        {"measured", 0, 0, G_OPTION_ARG_STRING, &options.measured, "Tokens/s of a run, all GPUs together",
         "TOKENS_PER_S"},
        {"measured-per-gpu", 0, 0, G_OPTION_ARG_STRING, &options.measured_per_gpu, "Or of one GPU",
         "TOKENS_PER_S"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    if (!options_parse(
            &COMMAND_CALC, entries,
            "Closed forms, nothing is simulated: data parallel, one ring all-reduce of 16-bit gradients, 6N\n"
            "FLOPs a token (with --sequence 6N+12LHQT). NVLink is sold by the sum of both directions and a "
            "ring sends on one: where a\n"
            "bandwidth is known as one of the two, the other is worked out as well.",
            0, 0, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(CalcPrintLink));
    CalcPrint calc = {.links = links};
    if (!cmd_calc_read(&options, &calc, error))
        return BASE_ERROR_USAGE;
    if (options.json)
        calc_print_json(&calc);
    else
        calc_print_text(&calc);
    return 0;
}

const Command COMMAND_CALC = {
    .name = "calc",
    .usage = "(--params N | --model NAME) --gpus N [OPTION...]",
    .summary =
        "The numbers that decide a design: memory, sync time, its share of the step, throughput for an MFU",
    .run = cmd_calc_run,
};
