// cli/fields.c: fields of JSON objects.
#include "cli/fields.h"

void fields_add_text(JsonBuilder *json, const char *key, const char *value)
{
    json_builder_set_member_name(json, key);
    json_builder_add_string_value(json, value);
}

void fields_add_int(JsonBuilder *json, const char *key, gint64 value)
{
    json_builder_set_member_name(json, key);
    json_builder_add_int_value(json, value);
}

void fields_add_double(JsonBuilder *json, const char *key, double value)
{
    json_builder_set_member_name(json, key);
    json_builder_add_double_value(json, value);
}

void fields_begin_object(JsonBuilder *json, const char *key)
{
    json_builder_set_member_name(json, key);
    json_builder_begin_object(json);
}

void fields_begin_array(JsonBuilder *json, const char *key)
{
    json_builder_set_member_name(json, key);
    json_builder_begin_array(json);
}
