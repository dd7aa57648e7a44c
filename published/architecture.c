// published/architecture.c: reading a table of models.
#include "published/architecture.h"

#include <string.h>

#include "base/record.h"
#include "published/table.h"

#define MODEL_AT(field) G_STRUCT_OFFSET(PublishedModel, field)
static const RecordColumn COLUMNS[] = {
    {"model", RECORD_TEXT, MODEL_AT(name), TRUE},
    {"layers", RECORD_WHOLE, MODEL_AT(layers), FALSE},
    {"hidden", RECORD_WHOLE, MODEL_AT(hidden), FALSE},
    {"heads", RECORD_WHOLE, MODEL_AT(heads), FALSE},
    {"kv_heads", RECORD_WHOLE, MODEL_AT(kv_heads), FALSE},
    {"head_dim", RECORD_WHOLE, MODEL_AT(head_dim), FALSE},
    {"ffn", RECORD_WHOLE, MODEL_AT(ffn), FALSE},
    {"gated_mlp", RECORD_YES, MODEL_AT(gated), FALSE},
    {"vocab", RECORD_WHOLE, MODEL_AT(vocabulary), FALSE},
    {"tied_embeddings", RECORD_YES, MODEL_AT(tied), FALSE},
    {"attn_parallel_block", RECORD_YES, MODEL_AT(parallel_block), FALSE},
    {"norm_pos", RECORD_TEXT, MODEL_AT(norm_pos), FALSE},
    {"attn_kind", RECORD_TEXT, MODEL_AT(attention), FALSE},
    {"n_experts", RECORD_WHOLE, MODEL_AT(experts), FALSE},
    {"source", RECORD_TEXT, MODEL_AT(source), FALSE},
    {NULL, RECORD_TEXT, 0, FALSE},
};

static void model_free(gpointer model)
{
    record_free(COLUMNS, model);
}

static gboolean models_take(gpointer into, gpointer record, const Csv *csv, guint row, GError **error)
{
    (void)csv;
    (void)row;
    (void)error;
    g_hash_table_replace(into, ((PublishedModel *)record)->name, record);
    return TRUE;
}

// Frees csv, which may be NULL.
static gboolean models_of(GHashTable *into, Csv *csv, GError **error)
{
    if (csv == NULL)
        return FALSE;
    gboolean fine = record_read(csv, COLUMNS, sizeof(PublishedModel), models_take, into, error);
    csv_free(csv);
    return fine;
}

gboolean published_models_read(GHashTable *into, const char *path, GError **error)
{
    return models_of(into, csv_read_file(path, error), error);
}

GHashTable *published_models_library(GError **error)
{
    g_autoptr(GHashTable) into = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, model_free);
    return models_of(into, published_table_open("models", error), error) ? g_steal_pointer(&into) : NULL;
}

gboolean published_model_rms(const PublishedModel *model)
{
    if (strstr(model->norm_pos, "RMS") != NULL)
        return TRUE;
    return strstr(model->norm_pos, "LayerNorm") == NULL && model->gated;
}

PublishedPositions published_model_positions(const PublishedModel *model)
{
    if (strstr(model->norm_pos, "ALiBi") != NULL)
        return PUBLISHED_POSITIONS_ALIBI;
    if (strstr(model->norm_pos, "learned") != NULL)
        return PUBLISHED_POSITIONS_LEARNED;
    if (strstr(model->norm_pos, "RoPE") != NULL || model->gated)
        return PUBLISHED_POSITIONS_ROTARY;
    return PUBLISHED_POSITIONS_LEARNED;
}

gboolean published_model_bias(const PublishedModel *model)
{
    return !published_model_rms(model) && strstr(model->norm_pos, "MPT") == NULL && !model->gated;
}
