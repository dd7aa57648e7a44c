// models/spec.c: reading and checking the numbers of a transformer.
#include "models/spec.h"

#include "base/error.h"
#include "base/library.h"
#include "models/count.h"

static const char *const SECTION = "model";
const char *const MODEL_NORM_NAMES[] = {"rms", "layer", NULL};

void model_spec_free(ModelSpec *spec)
{
    if (spec == NULL)
        return;
    g_free(spec->name);
    g_free(spec->title);
    g_free(spec->source);
    g_free(spec);
}

// Refuses what contradicts: the error names the first of keys (NULL-terminated) that stands in this file, so
// that a scenario's line is named where the scenario changed one of them.
static gboolean model_spec_refuse(const Ini *ini, const char *const *keys, GError **error,
                                  const char *message)
{
    const char *key = keys[0];
    for (guint i = 0; keys[i] != NULL; i++) {
        if (ini_has(ini, SECTION, keys[i])) {
            key = keys[i];
            break;
        }
    }
    return ini_refuse(ini, SECTION, key, error, "%s", message);
}

// Reads every key but sequence. need is for those that a model's file must have; absent keys leave their
// fields.
static gboolean model_spec_get(ModelSpec *spec, Ini *ini, IniNeed need, GError **error)
{
    const struct {
        const char *key;
        gint64 *value;
        gint64 low, high;
        IniNeed need;
    } counts[] = {
        {"layers", &spec->layers, 1, MODEL_LAYERS_MAX, need},
        {"hidden", &spec->hidden, 1, MODEL_WIDTH_MAX, need},
        {"heads", &spec->heads, 1, MODEL_WIDTH_MAX, need},
        {"kv_heads", &spec->kv_heads, 1, MODEL_WIDTH_MAX, INI_OPTIONAL},
        {"head_dim", &spec->head_dim, 1, MODEL_WIDTH_MAX, INI_OPTIONAL},
        {"ffn", &spec->ffn, 1, MODEL_WIDTH_MAX, need},
        {"vocabulary", &spec->vocabulary, 1, MODEL_WIDTH_MAX, need},
        {"positions", &spec->positions, 0, MODEL_WIDTH_MAX, INI_OPTIONAL},
        {"parameters", &spec->parameters, 1, MODEL_PARAMETERS_MAX, INI_OPTIONAL},
    };
    if (!ini_get_text(ini, SECTION, "title", need, &spec->title, error) ||
        !ini_get_text(ini, SECTION, "source", need, &spec->source, error))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
        if (!ini_get_count(ini, SECTION, counts[i].key, counts[i].need, counts[i].low, counts[i].high,
                           counts[i].value, error))
            return FALSE;
    guint norm = spec->norm;
    if (!ini_get_choice(ini, SECTION, "norm", need, MODEL_NORM_NAMES, &norm, error))
        return FALSE;
    spec->norm = (ModelNorm)norm;
    return ini_get_flag(ini, SECTION, "gated", need, &spec->gated, error) &&
           ini_get_flag(ini, SECTION, "tied", need, &spec->tied, error) &&
           ini_get_flag(ini, SECTION, "bias", need, &spec->bias, error) &&
           ini_get_flag(ini, SECTION, "norm_parameters", INI_OPTIONAL, &spec->norm_parameters, error) &&
           ini_get_flag(ini, SECTION, "dropout", INI_OPTIONAL, &spec->dropout, error) &&
           ini_get_flag(ini, SECTION, "rotary", INI_OPTIONAL, &spec->rotary, error) &&
           ini_get_flag(ini, SECTION, "parallel_block", INI_OPTIONAL, &spec->parallel_block, error);
}

// What one key cannot tell: that the sizes agree, and that their products stay exact.
static gboolean model_spec_check(const ModelSpec *spec, const Ini *ini, GError **error)
{
    g_autofree char *message = NULL;
    if (spec->heads % spec->kv_heads != 0) {
        static const char *const keys[] = {"kv_heads", "heads", NULL};
        message = g_strdup_printf("found %" G_GINT64_FORMAT " heads and %" G_GINT64_FORMAT
                                  " kv_heads, wanted heads that kv_heads divides",
                                  spec->heads, spec->kv_heads);
        return model_spec_refuse(ini, keys, error, message);
    }
    if (spec->head_dim > MODEL_WIDTH_MAX / spec->heads) {
        static const char *const keys[] = {"head_dim", "heads", NULL};
        message = g_strdup_printf("found %" G_GINT64_FORMAT " heads of %" G_GINT64_FORMAT
                                  ", wanted a product of at most %" G_GINT64_FORMAT,
                                  spec->heads, spec->head_dim, MODEL_WIDTH_MAX);
        return model_spec_refuse(ini, keys, error, message);
    }
    // From here on each part fits an int64; the layers together may not.
    ModelParts parts;
    model_count_parts(spec, &parts);
    double layer =
        (double)(parts.attention + parts.attention_bias + parts.mlp + parts.mlp_bias + parts.norms);
    double total = (double)(parts.embedding + parts.positions + parts.final_norm + parts.head);
    total += (double)spec->layers * layer;
    if (total > (double)MODEL_PARAMETERS_MAX) {
        static const char *const keys[] = {"layers",   "hidden",     "ffn",       "heads", "head_dim",
                                           "kv_heads", "vocabulary", "positions", "gated", "tied",
                                           "bias",     "norm",       NULL};
        message = g_strdup_printf("found sizes that make %.3g parameters, wanted at most 1e15", total);
        return model_spec_refuse(ini, keys, error, message);
    }
    gint64 vectors = model_count_vectors(spec);
    if (spec->parameters > 0 && spec->parameters <= vectors) {
        static const char *const keys[] = {"parameters", "layers",   "hidden",          "ffn",
                                           "heads",      "head_dim", "kv_heads",        "gated",
                                           "bias",       "norm",     "norm_parameters", NULL};
        message =
            g_strdup_printf("found a total of %" G_GINT64_FORMAT
                            " parameters, wanted more than the %" G_GINT64_FORMAT " of biases and norms",
                            spec->parameters, vectors);
        return model_spec_refuse(ini, keys, error, message);
    }
    return TRUE;
}

gboolean model_spec_check_sequence(const ModelSpec *spec, gint64 sequence, const Ini *ini, GError **error)
{
    static const char *const keys[] = {"sequence", "positions", NULL};
    if (spec->positions == 0 || sequence <= spec->positions)
        return TRUE;
    g_autofree char *message =
        g_strdup_printf("found a sequence of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                        " learned positions, wanted no sequence longer than they reach",
                        sequence, spec->positions);
    return model_spec_refuse(ini, keys, error, message);
}

static ModelSpec *model_spec_fill(Ini *ini, const char *name, GError **error)
{
    g_autoptr(ModelSpec) spec = g_new0(ModelSpec, 1);
    spec->name = g_strdup(name);
    spec->norm_parameters = TRUE;
    if (!model_spec_get(spec, ini, INI_REQUIRED, error) ||
        !ini_get_count(ini, SECTION, "sequence", INI_REQUIRED, 1, MODEL_SEQUENCE_MAX, &spec->sequence, error))
        return NULL;
    if (!ini_has(ini, SECTION, "rotary"))
        spec->rotary = spec->positions == 0;
    if (spec->kv_heads == 0)
        spec->kv_heads = spec->heads;
    if (spec->head_dim == 0) {
        if (spec->hidden % spec->heads != 0) {
            ini_refuse(ini, SECTION, "heads", error,
                       "found %" G_GINT64_FORMAT ", which does not divide hidden (%" G_GINT64_FORMAT
                       "); wanted head_dim as well",
                       spec->heads, spec->hidden);
            return NULL;
        }
        spec->head_dim = spec->hidden / spec->heads;
    }
    if (!model_spec_check(spec, ini, error) || !model_spec_check_sequence(spec, spec->sequence, ini, error))
        return NULL;
    return g_steal_pointer(&spec);
}

ModelSpec *model_spec_read(const char *name, const char *where, GError **error)
{
    g_autoptr(Ini) ini = library_read_ini("models/data", "model", name, where, error);
    if (ini == NULL)
        return NULL;
    g_autoptr(ModelSpec) spec = model_spec_fill(ini, name, error);
    return spec != NULL && ini_finish(ini, error) ? g_steal_pointer(&spec) : NULL;
}

ModelSpec *model_spec_read_section(Ini *ini, GError **error)
{
    ModelSpec *spec = model_spec_fill(ini, "", error);
    if (spec != NULL) {
        g_free(spec->name);
        spec->name = g_strdup(spec->title);
    }
    return spec;
}

gboolean model_spec_override(ModelSpec *spec, Ini *scenario, GError **error)
{
    gint64 positions = spec->positions;
    if (!model_spec_get(spec, scenario, INI_OPTIONAL, error))
        return FALSE;
    if (spec->positions != positions && !ini_has(scenario, SECTION, "rotary"))
        spec->rotary = spec->positions == 0;
    return model_spec_check(spec, scenario, error);
}
