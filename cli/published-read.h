// cli/published-read.h: the tables of published runs that a command works on.
#pragma once

#include <glib.h>

// Reads runs (of PublishedRun *) from the table points, NULL: our own, and our own models beside those of the
// table models (may be NULL); checks a number of threads. Returns the exit status, 0 or one with an error;
// caller unrefs both.
int published_read(const char *points, const char *models_file, int jobs, GPtrArray **runs,
                   GHashTable **models, GError **error);
