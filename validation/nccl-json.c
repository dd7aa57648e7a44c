// validation/nccl-json.c: reads nccl-tests' JSON report (its util.cu, JSON_FILE_VERSION 3).
#include "validation/nccl-json.h"

#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "base/error.h"
#include "validation/nccl-line.h"
#include "validation/nccl-table.h"

enum { DEPTH_MOST = 64 }; // json-glib recurses: a hostile file would run out of stack

static gboolean validation_nccl_json_too_deep(const char *text, gsize length)
{
    guint depth = 0;
    gboolean quoted = FALSE;
    for (gsize i = 0; i < length; i++) {
        char c = text[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '[') && ++depth > DEPTH_MOST)
            return TRUE;
        else if (!quoted && (c == '}' || c == ']') && depth > 0)
            depth--;
    }
    return FALSE;
}

static JsonNode *validation_nccl_json_find(JsonObject *object, const char *key)
{
    return object == NULL ? NULL : json_object_get_member(object, key);
}

static double validation_nccl_json_number(JsonObject *object, const char *key)
{
    JsonNode *node = validation_nccl_json_find(object, key);
    if (node == NULL || !JSON_NODE_HOLDS_VALUE(node))
        return (double)NAN;
    GType type = json_node_get_value_type(node);
    if (type == G_TYPE_INT64)
        return (double)json_node_get_int(node);
    return type == G_TYPE_DOUBLE ? json_node_get_double(node) : (double)NAN;
}

static const char *validation_nccl_json_text(JsonObject *object, const char *key)
{
    JsonNode *node = validation_nccl_json_find(object, key);
    return node != NULL && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING
               ? json_node_get_string(node)
               : NULL;
}

static JsonObject *validation_nccl_json_object(JsonObject *object, const char *key)
{
    JsonNode *node = validation_nccl_json_find(object, key);
    return node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static JsonArray *validation_nccl_json_array(JsonObject *object, const char *key)
{
    JsonNode *node = validation_nccl_json_find(object, key);
    return node != NULL && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static void validation_nccl_json_side(JsonObject *row, const char *key, ValidationNcclSide *side)
{
    const double half = 0.5e-6; // it prints six decimals, of us and GB/s
    JsonObject *object = validation_nccl_json_object(row, key);
    *side = (ValidationNcclSide){.time = validation_nccl_json_number(object, "time") * 1e-6,
                                 .algbw = validation_nccl_json_number(object, "alg_bw") * 1e9,
                                 .busbw = validation_nccl_json_number(object, "bus_bw") * 1e9,
                                 .time_half = half * 1e-6,
                                 .algbw_half = half * 1e9,
                                 .busbw_half = half * 1e9,
                                 .wrong = validation_nccl_json_number(object, "nwrong") > 0};
    if (!(side->time > 0) || !isfinite(side->time) || !isfinite(side->algbw) || !isfinite(side->busbw))
        *side = VALIDATION_NCCL_NO_SIDE;
}

static gboolean validation_nccl_json_row(JsonObject *object, ValidationNcclRow *row)
{
    double bytes = validation_nccl_json_number(object, "size"),
           count = validation_nccl_json_number(object, "count");
    const char *type = validation_nccl_json_text(object, "type"),
               *redop = validation_nccl_json_text(object, "redop");
    const char *root = validation_nccl_json_text(object, "root");
    if (!(bytes >= 0 && bytes <= 0x1p50) || !(count >= 0 && count <= 0x1p50) || type == NULL ||
        validation_nccl_line_type_bytes(type) == 0)
        return FALSE;
    row->bytes = (gint64)bytes;
    row->count = (gint64)count;
    g_strlcpy(row->type, type, sizeof row->type);
    g_strlcpy(row->redop, redop == NULL ? "" : redop, sizeof row->redop);
    row->root = root == NULL ? -1 : MAX(-1, g_ascii_strtoll(root, NULL, 10));
    validation_nccl_json_side(object, "out_of_place", &row->side[VALIDATION_NCCL_OUT]);
    validation_nccl_json_side(object, "in_place", &row->side[VALIDATION_NCCL_IN]);
    return row->side[VALIDATION_NCCL_OUT].time > 0 || row->side[VALIDATION_NCCL_IN].time > 0;
}

static void validation_nccl_json_facts(JsonObject *root, ValidationNcclFacts *facts)
{
    JsonArray *devices = validation_nccl_json_array(validation_nccl_json_object(root, "config"), "devices");
    for (guint i = 0; devices != NULL && i < json_array_get_length(devices); i++) {
        JsonNode *node = json_array_get_element(devices, i);
        JsonObject *device = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
        double rank = validation_nccl_json_number(device, "rank");
        const char *host = validation_nccl_json_text(device, "hostname");
        if (rank >= 0 && rank < 1 << 24 && host != NULL)
            validation_nccl_table_facts_add(facts, (guint32)rank, host,
                                            validation_nccl_json_text(device, "device_info"));
    }
}

gboolean validation_nccl_json_read(const char *name, const char *text, gsize length, GPtrArray *tables,
                                   char **version, GError **error)
{
    *version = NULL;
    if (length > 64 << 20 || validation_nccl_json_too_deep(text, length))
        return base_error_set(error, BASE_ERROR_FAILED, name,
                              "found JSON nested more than %d deep or longer than 64 MiB, "
                              "wanted the report of nccl-tests -J",
                              DEPTH_MOST);
    g_autoptr(JsonParser) parser = json_parser_new_immutable();
    g_autoptr(GError) local = NULL;
    if (!json_parser_load_from_data(parser, text, (gssize)length, &local)) {
        g_autofree char *why = base_error_quote(local->message);
        return base_error_set(error, BASE_ERROR_FAILED, name,
                              "found broken JSON (%s), wanted the report of nccl-tests -J", why);
    }
    JsonNode *top = json_parser_get_root(parser);
    JsonObject *root = top != NULL && JSON_NODE_HOLDS_OBJECT(top) ? json_node_get_object(top) : NULL;
    JsonArray *results = validation_nccl_json_array(root, "results");
    if (results == NULL || json_array_get_length(results) == 0)
        return base_error_set(error, BASE_ERROR_FAILED, name,
                              "found JSON without 'results', wanted the report of "
                              "nccl-tests -J");
    JsonArray *args = validation_nccl_json_array(root, "args");
    JsonNode *program =
        args == NULL || json_array_get_length(args) == 0 ? NULL : json_array_get_element(args, 0);
    const char *word =
        program != NULL && JSON_NODE_HOLDS_VALUE(program) ? json_node_get_string(program) : NULL;
    ValidationNcclFacts facts;
    validation_nccl_table_facts_init(&facts);
    validation_nccl_json_facts(root, &facts);
    ValidationNcclTable *table = validation_nccl_table_new(
        1, word == NULL ? VALIDATION_NCCL_OPS : validation_nccl_line_find_op(word), &facts);
    validation_nccl_table_facts_clear(&facts);
    g_ptr_array_add(tables, table);
    double number = validation_nccl_json_number(root, "nccl_version");
    if (number > 0 && number < 1e9)
        *version = g_strdup_printf("NCCL %.0f", number);
    for (guint i = 0; i < json_array_get_length(results); i++) {
        JsonNode *node = json_array_get_element(results, i);
        ValidationNcclRow row = {.line = i + 1};
        if (!JSON_NODE_HOLDS_OBJECT(node) || !validation_nccl_json_row(json_node_get_object(node), &row))
            return base_error_set(error, BASE_ERROR_FAILED, name,
                                  "results: row %u has no usable size, count, type or time", i + 1);
        g_array_append_val(table->rows, row);
    }
    return TRUE;
}
