// cli/json-text.c: a JSON tree as text that every JSON reader takes.
#include "cli/json-text.h"

#include <math.h>
#include <string.h>

static void json_text_add_string(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text == NULL ? "" : text, -1);
    g_string_append_c(out, '"');
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        if (c == '"' || c == '\\')
            g_string_append_printf(out, "\\%c", (int)c);
        else if (c >= 0x20 && c < 0x7f)
            g_string_append_c(out, (char)c);
        else if (c < 0x10000)
            g_string_append_printf(out, "\\u%04x", c);
        else
            g_string_append_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                                   0xdc00 + (c & 0x3ff));
    }
    g_string_append_c(out, '"');
}

static void json_text_add_double(GString *out, double value)
{
    static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};
    if (!isfinite(value)) {
        g_string_append(out, "null");
        return;
    }
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_ascii_formatd(text, sizeof text, formats[i], value);
        double back = g_ascii_strtod(text, NULL);
        if (memcmp(&back, &value, sizeof value) == 0)
            break;
    }
    g_string_append(out, text);
    if (strpbrk(text, ".e") == NULL)
        g_string_append(out, ".0");
}

static void json_text_add_value(GString *out, JsonNode *node)
{
    GType type = json_node_get_value_type(node);
    if (type == G_TYPE_STRING)
        json_text_add_string(out, json_node_get_string(node));
    else if (type == G_TYPE_BOOLEAN)
        g_string_append(out, json_node_get_boolean(node) ? "true" : "false");
    else if (type == G_TYPE_DOUBLE)
        json_text_add_double(out, json_node_get_double(node));
    else
        g_string_append_printf(out, "%" G_GINT64_FORMAT, json_node_get_int(node));
}

// A new line inside depth brackets.
static void json_text_add_line(GString *out, guint depth)
{
    g_string_append_printf(out, "\n%*s", (int)(2 * depth), "");
}

static void json_text_add(GString *out, JsonNode *node, guint depth)
{
    JsonObject *object = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
    JsonArray *array = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
    if (object == NULL && array == NULL) {
        if (JSON_NODE_HOLDS_NULL(node))
            g_string_append(out, "null");
        else
            json_text_add_value(out, node);
        return;
    }
    g_autoptr(GList) members = object == NULL ? NULL : json_object_get_members(object);
    guint n = object == NULL ? json_array_get_length(array) : json_object_get_size(object);
    g_string_append_c(out, object == NULL ? '[' : '{');
    const GList *member = members;
    for (guint i = 0; i < n; i++) {
        json_text_add_line(out, depth + 1);
        if (object != NULL) {
            json_text_add_string(out, member->data);
            g_string_append(out, " : ");
            json_text_add(out, json_object_get_member(object, member->data), depth + 1);
            member = member->next;
        } else {
            json_text_add(out, json_array_get_element(array, i), depth + 1);
        }
        if (i + 1 < n)
            g_string_append_c(out, ',');
    }
    if (n > 0)
        json_text_add_line(out, depth);
    g_string_append_c(out, object == NULL ? ']' : '}');
}

char *json_text_new(JsonNode *node)
{
    GString *out = g_string_new(NULL);
    json_text_add(out, node, 0);
    return g_string_free(out, FALSE);
}
