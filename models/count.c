// models/count.c: the closed forms of parameters and FLOPs.
#include "models/count.h"

const char *const MODEL_COUNTING_NAMES[] = {"6N", "6N+12LHQT", NULL};

void model_count_parts(const ModelSpec *spec, ModelParts *parts)
{
    gint64 queries = spec->heads * spec->head_dim;
    gint64 keys = spec->kv_heads * spec->head_dim;
    gint64 inner = spec->gated ? 2 : 1; // matrices from hidden to ffn
    gint64 norm = spec->norm == MODEL_NORM_LAYER ? 2 * spec->hidden : spec->hidden;
    *parts = (ModelParts){
        .embedding = spec->vocabulary * spec->hidden,
        .positions = spec->positions * spec->hidden,
        .attention = 2 * spec->hidden * (queries + keys),
        .attention_bias = spec->bias ? queries + 2 * keys + spec->hidden : 0,
        .mlp = (inner + 1) * spec->hidden * spec->ffn,
        .mlp_bias = spec->bias ? inner * spec->ffn + spec->hidden : 0,
        .norms = spec->parallel_block ? norm : 2 * norm,
        .final_norm = norm,
        .head = spec->tied ? 0 : spec->vocabulary * spec->hidden,
    };
}

gint64 model_count_norms(const ModelSpec *spec)
{
    ModelParts parts;
    model_count_parts(spec, &parts);
    return spec->layers * parts.norms + parts.final_norm;
}

gint64 model_count_vectors(const ModelSpec *spec)
{
    ModelParts parts;
    model_count_parts(spec, &parts);
    gint64 biases = spec->layers * (parts.attention_bias + parts.mlp_bias);
    return spec->norm_parameters ? biases + model_count_norms(spec) : biases;
}

gint64 model_count_architecture(const ModelSpec *spec)
{
    ModelParts parts;
    model_count_parts(spec, &parts);
    gint64 layer = parts.attention + parts.attention_bias + parts.mlp + parts.mlp_bias + parts.norms;
    return parts.embedding + parts.positions + spec->layers * layer + parts.final_norm + parts.head;
}

gint64 model_count_parameters(const ModelSpec *spec)
{
    if (spec->parameters > 0)
        return spec->parameters;
    gint64 all = model_count_architecture(spec);
    return spec->norm_parameters ? all : all - model_count_norms(spec);
}

double model_count_attention(const ModelSpec *spec, ModelCounting counting, gint64 sequence)
{
    if (counting == MODEL_COUNT_6N)
        return 0;
    return 12.0 * (double)(spec->heads * spec->head_dim) * (double)sequence;
}

double model_count_flops(const ModelSpec *spec, ModelCounting counting, gint64 sequence)
{
    double matmuls = 6.0 * (double)model_count_parameters(spec);
    return matmuls + (double)spec->layers * model_count_attention(spec, counting, sequence);
}
