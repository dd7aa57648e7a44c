// validation/nccl-json.h: the JSON that nccl-tests writes with -J.
#pragma once

#include <glib.h>

#include "validation/nccl-log.h"

// Adds the tables of one JSON report to tables (of ValidationNcclTable *). A row's line is its number in
// "results". *version is what it calls NCCL (caller frees), or NULL. FALSE with an error: not JSON, nested
// more than 64 deep, no "results", a row without size, count, type or time.
gboolean validation_nccl_json_read(const char *name, const char *text, gsize length, GPtrArray *tables,
                                   char **version, GError **error);
