// published/table.h: small library tables as rows of texts, the first fitting line of which counts.
#pragma once

#include <glib.h>

#include "base/csv.h"

// Opens validation/data/NAME.csv. NULL with an error; caller frees with csv_free.
Csv *published_table_open(const char *name, GError **error);
// The same; columns of names (NULL-terminated) get their indices. A mistake in such a table of the program's
// own stops it.
Csv *published_table_read(const char *name, const char *const *names, guint *columns);
