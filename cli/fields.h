// cli/fields.h: adding one field to a JSON object under construction.
#pragma once

#include <json-glib/json-glib.h>

void fields_add_text(JsonBuilder *json, const char *key, const char *value);
void fields_add_int(JsonBuilder *json, const char *key, gint64 value);
void fields_add_double(JsonBuilder *json, const char *key, double value);

// Opens an object or an array under a key; json_builder_end_object or _end_array closes it.
void fields_begin_object(JsonBuilder *json, const char *key);
void fields_begin_array(JsonBuilder *json, const char *key);
