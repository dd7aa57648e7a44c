// published/table.h: small library tables as rows of texts, the first fitting line of which counts.
#pragma once

#include <glib.h>

#include "base/csv.h"

// Reads validation/data/NAME.csv; columns (NULL-terminated) get their indices. The tables are the program's
// own: a mistake in one stops it. Caller frees with csv_free.
Csv *published_table_read(const char *name, const char *const *names, guint *columns);
