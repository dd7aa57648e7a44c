// timeline/database.h: opening a timeline file, knowing whose it is, and SQLite's errors in our words.
#pragma once

#include <glib.h>
#include <sqlite3.h>

typedef enum {
    TIMELINE_DATABASE_READ,  // the file must be there
    TIMELINE_DATABASE_WRITE, // it is made where it is not (empty, and the caller's to remove if nothing is
                             // written)
} TimelineDatabaseMode;

// Opens path, which is always a file's name (":memory:" and "file:..." mean nothing special). Triggers and
// views of the file never run; a lock of another process is waited for, two minutes at most. NULL with an
// error "PATH: ...". Caller frees with timeline_database_free.
sqlite3 *timeline_database_new(const char *path, TimelineDatabaseMode mode, GError **error);
void timeline_database_free(sqlite3 *database);

// Whether there is nothing at path, so that opening it for writing makes it.
gboolean timeline_database_is_absent(const char *path);
// Ends what failed: rolls back, closes (database may be NULL), and removes the file where it was made for
// this and is empty (one that is not holds what another program has written meanwhile).
void timeline_database_abandon(sqlite3 *database, const char *path, gboolean made);

// Whether the file is a timeline of ours: FALSE with an error for a foreign or newer one. A file that holds
// nothing at all is an error too, unless empty is given, which then says so.
gboolean timeline_database_check(sqlite3 *database, const char *path, gboolean *empty, GError **error);

// Runs SQL text (of ours, constant) that gives no rows. FALSE with an error.
gboolean timeline_database_run(sqlite3 *database, const char *path, const char *sql, GError **error);

// A prepared statement, NULL with an error. Caller frees with sqlite3_finalize.
sqlite3_stmt *timeline_database_prepare(sqlite3 *database, const char *path, const char *sql, GError **error);

// The one whole number that a statement gives. FALSE with an error.
gboolean timeline_database_number(sqlite3 *database, const char *path, const char *sql, gint64 *number,
                                  GError **error);

// Turns SQLite's last error into "PATH: ..." in one line. Returns FALSE.
gboolean timeline_database_refuse(sqlite3 *database, const char *path, GError **error);
