// cli/cmd-model.c: "stepline model show": what a model of the library, or of a file, is and counts.
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options.h"
#include "models/count.h"
#include "models/spec.h"

// What is printed: the model and its counts.
typedef struct {
    const ModelSpec *spec; // borrowed
    ModelParts parts;      // of the architecture
    gint64 total;          // by this file's count
    gint64 architecture;
    double flops_6n, flops_attention; // per token, forward and backward
} ModelSheet;

static void model_print_count(const char *label, double value, const char *note)
{
    g_autofree char *text =
        value < 0x1p53 ? units_format_count((gint64)value) : g_strdup_printf("%.6g", value);
    g_print("  %-20s%20s%s%s\n", label, text, *note == '\0' ? "" : "  ", note);
}

static void model_print_shape(const ModelSpec *spec)
{
    g_print("\nshape\n");
    model_print_count("layers", (double)spec->layers, "");
    model_print_count("hidden", (double)spec->hidden, "");
    model_print_count("heads", (double)spec->heads, "");
    model_print_count("key/value heads", (double)spec->kv_heads, "");
    model_print_count("head dimension", (double)spec->head_dim, "");
    model_print_count("ffn", (double)spec->ffn, spec->gated ? "gated: three matrices" : "two matrices");
    model_print_count("vocabulary", (double)spec->vocabulary, spec->tied ? "head tied to the embedding" : "");
    model_print_count("learned positions", (double)spec->positions, "");
    model_print_count("sequence", (double)spec->sequence, "tokens");
    g_print("  %-20s%20s\n", "norms", spec->norm == MODEL_NORM_RMS ? "RMS" : "LayerNorm");
    g_print("  %-20s%20s\n", "biases", spec->bias ? "yes" : "no");
}

static void model_print_text(const ModelSheet *sheet)
{
    const ModelSpec *spec = sheet->spec;
    const ModelParts *parts = &sheet->parts;
    g_print("%s\nsource: %s\n", spec->title, spec->source);
    model_print_shape(spec);
    gint64 attention = parts->attention + parts->attention_bias;
    gint64 mlp = parts->mlp + parts->mlp_bias;
    g_print("\nparameters of the architecture\n");
    model_print_count("embedding", (double)parts->embedding, "");
    if (parts->positions > 0)
        model_print_count("positions", (double)parts->positions, "");
    model_print_count("each layer", (double)(attention + mlp + parts->norms), "");
    model_print_count("  attention", (double)attention, "");
    model_print_count("  mlp", (double)mlp, "");
    model_print_count("  norms", (double)parts->norms, "");
    model_print_count("final norm", (double)parts->final_norm, "");
    model_print_count("head", (double)parts->head, spec->tied ? "the embedding's" : "");
    model_print_count("total", (double)sheet->architecture, "");
    g_print("\ncount\n");
    model_print_count("counted here", (double)sheet->total, "");
    model_print_count("difference", (double)(sheet->total - sheet->architecture),
                      spec->parameters > 0     ? "the total is set by the key parameters"
                      : !spec->norm_parameters ? "norms are left out (norm_parameters = no)"
                                               : "");
    g_autofree char *bytes = units_format_bytes(2.0 * (double)sheet->total);
    model_print_count("bytes in bf16", 2.0 * (double)sheet->total, bytes);
    g_autofree char *at = units_format_count(spec->sequence);
    g_autofree char *note = g_strdup_printf("at a sequence of %s", at);
    g_print("\nFLOPs per token, forward and backward\n");
    model_print_count(MODEL_COUNTING_NAMES[MODEL_COUNT_6N], sheet->flops_6n, "");
    model_print_count(MODEL_COUNTING_NAMES[MODEL_COUNT_6N_ATTENTION], sheet->flops_attention, note);
}

static void model_print_json(const ModelSheet *sheet)
{
    const ModelSpec *spec = sheet->spec;
    const ModelParts *parts = &sheet->parts;
    const struct {
        const char *key;
        gint64 value;
    } counts[] = {
        {"layers", spec->layers},
        {"hidden", spec->hidden},
        {"heads", spec->heads},
        {"kv_heads", spec->kv_heads},
        {"head_dim", spec->head_dim},
        {"ffn", spec->ffn},
        {"vocabulary", spec->vocabulary},
        {"positions", spec->positions},
        {"sequence", spec->sequence},
        {"parameters", sheet->total},
        {"architecture_parameters", sheet->architecture},
        {"parameters_difference", sheet->total - sheet->architecture},
        {"embedding_parameters", parts->embedding},
        {"position_parameters", parts->positions},
        {"layer_attention_parameters", parts->attention + parts->attention_bias},
        {"layer_mlp_parameters", parts->mlp + parts->mlp_bias},
        {"layer_norm_parameters", parts->norms},
        {"final_norm_parameters", parts->final_norm},
        {"head_parameters", parts->head},
        {"bf16_bytes", 2 * sheet->total},
    };
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    const char *words[][2] = {{"name", spec->name},
                              {"title", spec->title},
                              {"source", spec->source},
                              {"norm", MODEL_NORM_NAMES[spec->norm]}};
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        json_builder_set_member_name(builder, words[i][0]);
        json_builder_add_string_value(builder, words[i][1]);
    }
    const struct {
        const char *key;
        gboolean value;
    } flags[] = {{"gated", spec->gated},
                 {"tied", spec->tied},
                 {"bias", spec->bias},
                 {"norm_parameters", spec->norm_parameters}};
    for (guint i = 0; i < G_N_ELEMENTS(flags); i++) {
        json_builder_set_member_name(builder, flags[i].key);
        json_builder_add_boolean_value(builder, flags[i].value);
    }
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        json_builder_set_member_name(builder, counts[i].key);
        json_builder_add_int_value(builder, counts[i].value);
    }
    json_builder_set_member_name(builder, "flops_per_token_6n");
    json_builder_add_double_value(builder, sheet->flops_6n);
    json_builder_set_member_name(builder, "flops_per_token_6n_attention");
    json_builder_add_double_value(builder, sheet->flops_attention);
    json_builder_end_object(builder);
    options_print_json(json_builder_get_root(builder));
}

// Overrides from --set: any key of the model but use; here, where there is no scenario, sequence too.
static gboolean model_set(ModelSpec *spec, char **assignments, GError **error)
{
    g_autoptr(Ini) ini = ini_read_text("--set", "", 0, error);
    if (ini == NULL)
        return FALSE;
    for (guint i = 0; assignments != NULL && assignments[i] != NULL; i++)
        if (!ini_set(ini, assignments[i], error))
            return FALSE;
    if (!model_spec_override(spec, ini, error) ||
        !ini_get_count(ini, "model", "sequence", INI_OPTIONAL, 1, MODEL_SEQUENCE_MAX, &spec->sequence, error))
        return FALSE;
    return model_spec_check_sequence(spec, spec->sequence, ini, error) && ini_finish(ini, error);
}

static int model_run(int argc, char **argv, GError **error)
{
    g_auto(GStrv) assignments = NULL;
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &assignments, "Change a number of the model",
         "model.key=value"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    static const char *const words[] = {"show", NULL};
    if (!options_parse(&COMMAND_MODEL, entries,
                       "NAME is one of 'stepline list models', or the path of an .ini file.", 2, 2, &argc,
                       &argv, error))
        return BASE_ERROR_USAGE;
    if (strcmp(argv[1], words[0]) != 0) {
        g_autofree char *quoted = base_error_quote(argv[1]);
        g_autofree char *hint = suggest_hint(argv[1], words);
        base_error_set(error, BASE_ERROR_USAGE, NULL,
                       "found 'stepline model %s', wanted 'stepline model show NAME'%s", quoted, hint);
        return BASE_ERROR_USAGE;
    }
    g_autoptr(ModelSpec) spec = model_spec_read(argv[2], NULL, error);
    if (spec == NULL || !model_set(spec, assignments, error))
        return BASE_ERROR_FAILED;
    ModelSheet sheet = {
        .spec = spec,
        .total = model_count_parameters(spec),
        .architecture = model_count_architecture(spec),
        .flops_6n = model_count_flops(spec, MODEL_COUNT_6N, spec->sequence),
        .flops_attention = model_count_flops(spec, MODEL_COUNT_6N_ATTENTION, spec->sequence),
    };
    model_count_parts(spec, &sheet.parts);
    if (json)
        model_print_json(&sheet);
    else
        model_print_text(&sheet);
    return 0;
}

const Command COMMAND_MODEL = {
    .name = "model",
    .usage = "show NAME [--set model.key=value]... [--json]",
    .summary = "Shows a model: its shape, parameters and FLOPs",
    .run = model_run,
};
