// models/tensor.c: laying out the parameter tensors of a model.
#include "models/tensor.h"

#include "models/count.h"

// The list while it is built.
typedef struct {
    GArray *tensors; // of ModelTensor, borrowed
    guint32 block;   // that tensors are added to
    gint64 matrices; // sum of the matrices' sizes in the architecture
    gint64 wanted;   // the same after an override of the total
    gint64 given;    // of wanted, so far
    guint last;      // index of the last matrix that is stored
} ModelTensorList;

static ModelTensor *model_tensor_add(ModelTensorList *list, const char *name, gint64 parameters)
{
    ModelTensor tensor = {
        .name = name, .block = list->block, .parameters = parameters, .multiplied = parameters};
    g_array_append_val(list->tensors, tensor);
    return &g_array_index(list->tensors, ModelTensor, list->tensors->len - 1);
}

// A matrix takes its share of the wanted total, rounded down. Sizes and totals stay below 1e15
// (models/spec.h).
static ModelTensor *model_tensor_add_matrix(ModelTensorList *list, const char *name, gint64 rows,
                                            gint64 columns)
{
    gint64 size = rows * columns;
    if (list->wanted != list->matrices)
        size = (gint64)((__int128)size * list->wanted / list->matrices);
    list->given += size;
    list->last = list->tensors->len;
    return model_tensor_add(list, name, size);
}

static void model_tensor_add_linear(ModelTensorList *list, const ModelSpec *spec, const char *weight,
                                    const char *bias, gint64 inputs, gint64 outputs)
{
    model_tensor_add_matrix(list, weight, outputs, inputs);
    if (spec->bias)
        model_tensor_add(list, bias, outputs);
}

static void model_tensor_add_norm(ModelTensorList *list, const ModelSpec *spec, const char *weight,
                                  const char *bias)
{
    if (!spec->norm_parameters)
        return;
    model_tensor_add(list, weight, spec->hidden);
    if (spec->norm == MODEL_NORM_LAYER)
        model_tensor_add(list, bias, spec->hidden);
}

static void model_tensor_add_layer(ModelTensorList *list, const ModelSpec *spec)
{
    gint64 hidden = spec->hidden;
    gint64 queries = spec->heads * spec->head_dim;
    gint64 keys = spec->kv_heads * spec->head_dim;
    model_tensor_add_linear(list, spec, "q_proj.weight", "q_proj.bias", hidden, queries);
    model_tensor_add_linear(list, spec, "k_proj.weight", "k_proj.bias", hidden, keys);
    model_tensor_add_linear(list, spec, "v_proj.weight", "v_proj.bias", hidden, keys);
    guint output = list->tensors->len;
    model_tensor_add_linear(list, spec, "o_proj.weight", "o_proj.bias", queries, hidden);
    g_array_index(list->tensors, ModelTensor, output).attention = TRUE;
    if (spec->gated)
        model_tensor_add_linear(list, spec, "gate_proj.weight", "gate_proj.bias", hidden, spec->ffn);
    model_tensor_add_linear(list, spec, "up_proj.weight", "up_proj.bias", hidden, spec->ffn);
    model_tensor_add_linear(list, spec, "down_proj.weight", "down_proj.bias", spec->ffn, hidden);
    model_tensor_add_norm(list, spec, "input_layernorm.weight", "input_layernorm.bias");
    if (!spec->parallel_block)
        model_tensor_add_norm(list, spec, "post_attention_layernorm.weight", "post_attention_layernorm.bias");
}

GArray *model_tensors(const ModelSpec *spec)
{
    gint64 vectors = model_count_vectors(spec);
    gint64 architecture = model_count_architecture(spec);
    ModelTensorList list = {
        .tensors = g_array_new(FALSE, FALSE, sizeof(ModelTensor)),
        .matrices = architecture - vectors - (spec->norm_parameters ? 0 : model_count_norms(spec)),
        .wanted = model_count_parameters(spec) - vectors,
    };
    g_assert(list.wanted > 0);
    model_tensor_add_matrix(&list, "embed_tokens.weight", spec->vocabulary, spec->hidden);
    if (spec->positions > 0)
        model_tensor_add_matrix(&list, "embed_positions.weight", spec->positions, spec->hidden);
    for (gint64 layer = 0; layer < spec->layers; layer++) {
        list.block++;
        model_tensor_add_layer(&list, spec);
    }
    list.block++;
    model_tensor_add_norm(&list, spec, "norm.weight", "norm.bias");
    if (spec->tied) {
        ModelTensor *head = model_tensor_add(&list, "lm_head.weight", 0);
        ModelTensor *embedding = &g_array_index(list.tensors, ModelTensor, 0);
        head->multiplied = embedding->parameters;
        embedding->multiplied = 0;
    } else {
        model_tensor_add_matrix(&list, "lm_head.weight", spec->vocabulary, spec->hidden);
    }
    ModelTensor *last = &g_array_index(list.tensors, ModelTensor, list.last);
    last->parameters += list.wanted - list.given;
    last->multiplied += list.wanted - list.given;
    return list.tensors;
}
