// timeline/run-row.h: what every run leaves in a timeline file, with its timeline or without: its row and its
// metrics. Its makers stand in a transaction of their own (timeline_run_row_begin to COMMIT).
#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "step/result.h"

// Begins a transaction on a file that is ours, and makes its tables where it is empty. FALSE with an error.
gboolean timeline_run_row_begin(sqlite3 *database, const char *path, GError **error);

// Adds the run; *id becomes its number. FALSE with an error.
gboolean timeline_run_row_add(sqlite3 *database, const char *path, const StepResult *result, gint64 *id,
                              GError **error);

// Inserts what was bound to a statement, and makes it ready for the next row. FALSE with an error.
gboolean timeline_run_row_insert(sqlite3 *database, const char *path, sqlite3_stmt *statement,
                                 GError **error);

// Binds text, which must live until the insert; NULL is an empty one.
void timeline_run_row_bind(sqlite3_stmt *statement, int column, const char *text);

// Now, UTC: 2024-05-01T12:00:00Z. Caller frees.
char *timeline_run_row_now(void);
