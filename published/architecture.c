// published/architecture.c: reading a table of models.
#include "published/architecture.h"

#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/library.h"

typedef struct {
    const char *column;
    enum { MODEL_TEXT, MODEL_WHOLE, MODEL_FLAG } kind;
    gsize at;
    gboolean needed;
} ModelColumn;

#define MODEL_AT(field) G_STRUCT_OFFSET(PublishedModel, field)
static const ModelColumn COLUMNS[] = {
    {"model", MODEL_TEXT, MODEL_AT(name), TRUE},
    {"layers", MODEL_WHOLE, MODEL_AT(layers), FALSE},
    {"hidden", MODEL_WHOLE, MODEL_AT(hidden), FALSE},
    {"heads", MODEL_WHOLE, MODEL_AT(heads), FALSE},
    {"kv_heads", MODEL_WHOLE, MODEL_AT(kv_heads), FALSE},
    {"head_dim", MODEL_WHOLE, MODEL_AT(head_dim), FALSE},
    {"ffn", MODEL_WHOLE, MODEL_AT(ffn), FALSE},
    {"gated_mlp", MODEL_FLAG, MODEL_AT(gated), FALSE},
    {"vocab", MODEL_WHOLE, MODEL_AT(vocabulary), FALSE},
    {"tied_embeddings", MODEL_FLAG, MODEL_AT(tied), FALSE},
    {"attn_parallel_block", MODEL_FLAG, MODEL_AT(parallel_block), FALSE},
    {"norm_pos", MODEL_TEXT, MODEL_AT(norm_pos), FALSE},
    {"attn_kind", MODEL_TEXT, MODEL_AT(attention), FALSE},
    {"n_experts", MODEL_WHOLE, MODEL_AT(experts), FALSE},
    {"source", MODEL_TEXT, MODEL_AT(source), FALSE},
};
enum { MODEL_COLUMNS = G_N_ELEMENTS(COLUMNS) };

static void model_free(gpointer data)
{
    PublishedModel *model = data;
    g_free(model->name);
    g_free(model->norm_pos);
    g_free(model->attention);
    g_free(model->source);
    g_free(model);
}

static gboolean model_read_field(PublishedModel *model, const ModelColumn *column, const char *text)
{
    gpointer field = (char *)model + column->at;
    if (column->kind == MODEL_TEXT) {
        *(char **)field = g_strdup(text);
        g_strdelimit(*(char **)field, "\r\n\t", ' '); // texts go into lines
        return !column->needed || text[0] != '\0';
    }
    if (text[0] == '\0')
        return TRUE;
    char *end = NULL;
    double value = g_ascii_strtod(text, &end);
    gint64 whole = value >= 0 && value <= 1e9 ? (gint64)value : -1;
    if (*end != '\0' || end == text || whole < 0 || (double)whole < value)
        return FALSE;
    if (column->kind == MODEL_WHOLE)
        *(gint64 *)field = whole;
    else
        *(gboolean *)field = whole != 0;
    return column->kind == MODEL_WHOLE || whole <= 1;
}

static gboolean models_of(GHashTable *into, const Csv *csv, GError **error)
{
    guint columns[MODEL_COLUMNS];
    for (guint i = 0; i < MODEL_COLUMNS; i++)
        if (!csv_find_column(csv, COLUMNS[i].column, &columns[i], error))
            return FALSE;
    for (guint row = 0; row < csv_rows(csv); row++) {
        PublishedModel *model = g_new0(PublishedModel, 1);
        for (guint i = 0; i < MODEL_COLUMNS; i++) {
            const char *text = csv_get(csv, row)->fields[columns[i]];
            if (model_read_field(model, &COLUMNS[i], text))
                continue;
            static const char *const wanted[] = {
                [MODEL_TEXT] = "a name", [MODEL_WHOLE] = "a whole number", [MODEL_FLAG] = "0 or 1"};
            g_autofree char *where = csv_where(csv, row, columns[i]);
            g_autofree char *quoted = base_error_quote(text);
            model_free(model);
            return base_error_set(error, BASE_ERROR_FAILED, where, "found '%s', wanted %s", quoted,
                                  wanted[COLUMNS[i].kind]);
        }
        g_hash_table_replace(into, model->name, model);
    }
    return TRUE;
}

gboolean published_models_read(GHashTable *into, const char *path, GError **error)
{
    Csv *csv = csv_read_file(path, error);
    if (csv == NULL)
        return FALSE;
    gboolean fine = models_of(into, csv, error);
    csv_free(csv);
    return fine;
}

GHashTable *published_models_library(GError **error)
{
    static const char *const path = "validation/data/models.csv";
    g_autoptr(GBytes) bytes = library_find(path);
    g_assert(bytes != NULL);
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    Csv *csv = csv_read_text(path, text, length, error);
    if (csv == NULL)
        return NULL;
    g_autoptr(GHashTable) into = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, model_free);
    gboolean fine = models_of(into, csv, error);
    csv_free(csv);
    return fine ? g_steal_pointer(&into) : NULL;
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
