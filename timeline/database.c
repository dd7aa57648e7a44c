// timeline/database.c: opening a timeline file, knowing whose it is, and SQLite's errors in our words.
#include "timeline/database.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>

#include "base/error.h"

enum {
    DATABASE_ID = 0x7374706c, // "stpl"; as in schema.sql
    DATABASE_VERSION = 3,     // as in schema.sql
    DATABASE_WAIT_MS = 120000,
};

gboolean timeline_database_refuse(sqlite3 *database, const char *path, GError **error)
{
    int code = sqlite3_extended_errcode(database), cause = sqlite3_system_errno(database);
    switch (code & 0xff) {
    case SQLITE_NOTADB:
        return base_error_set(error, BASE_ERROR_FAILED, path,
                              "found a file that is no SQLite database, wanted a timeline of stepline");
    case SQLITE_CORRUPT:
        return base_error_set(error, BASE_ERROR_FAILED, path, "found a damaged SQLite database");
    case SQLITE_BUSY:
        return base_error_set(error, BASE_ERROR_FAILED, path, "locked by another process for more than %d s",
                              DATABASE_WAIT_MS / 1000);
    case SQLITE_READONLY:
        return base_error_set(error, BASE_ERROR_FAILED, path, "cannot be written: it is read-only");
    case SQLITE_CANTOPEN:
        return base_error_set(error, BASE_ERROR_FAILED, path, "cannot be opened: %s",
                              cause != 0 ? g_strerror(cause) : "wanted a file in a folder that is there");
    case SQLITE_FULL:
        return base_error_set(error, BASE_ERROR_FAILED, path, "cannot be written: the disk is full");
    case SQLITE_IOERR:
        return base_error_set(error, BASE_ERROR_FAILED, path, "cannot be read or written: %s",
                              cause != 0 ? g_strerror(cause) : "input/output error");
    default: {
        g_autofree char *message = base_error_quote(sqlite3_errmsg(database));
        return base_error_set(error, BASE_ERROR_FAILED, path, "SQLite says: %s", message);
    }
    }
}

void timeline_database_free(sqlite3 *database)
{
    sqlite3_close(database);
}

gboolean timeline_database_is_absent(const char *path)
{
    return !g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK);
}

void timeline_database_abandon(sqlite3 *database, const char *path, gboolean made)
{
    GStatBuf status;
    if (database != NULL)
        sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL); // where it has not been rolled back already
    timeline_database_free(database);
    if (made && g_stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        g_unlink(path);
}

// Makes an empty file, because SQLite does not say why it cannot. A link that leads nowhere is left to
// SQLite.
static gboolean database_make(const char *path, GError **error)
{
    int handle = g_open(path, O_CREAT | O_EXCL | O_RDWR, 0644);
    if (handle >= 0)
        return g_close(handle, NULL);
    return errno == EEXIST ||
           base_error_set(error, BASE_ERROR_FAILED, path, "cannot be made: %s", g_strerror(errno));
}

sqlite3 *timeline_database_new(const char *path, TimelineDatabaseMode mode, GError **error)
{
    GStatBuf status;
    if (*path == '\0') {
        base_error_set(error, BASE_ERROR_FAILED, NULL, "found '' for a database, wanted a file's name");
        return NULL;
    }
    if (g_stat(path, &status) == 0) {
        if (!S_ISREG(status.st_mode)) { // a pipe would hang, a device hold nothing
            base_error_set(error, BASE_ERROR_FAILED, path, "found a %s, wanted a file",
                           S_ISDIR(status.st_mode) ? "folder" : "device or pipe");
            return NULL;
        }
    } else if (mode == TIMELINE_DATABASE_READ || errno != ENOENT) {
        base_error_set(error, BASE_ERROR_FAILED, path, "cannot be opened: %s", g_strerror(errno));
        return NULL;
    } else if (!database_make(path, error)) {
        return NULL;
    }
    // SQLite gives a meaning to names such as ":memory:"; none begins with a dot or a slash.
    g_autofree char *name = g_path_is_absolute(path) ? g_strdup(path) : g_strconcat("./", path, NULL);
    // A reader may have to roll back what a killed writer left, so it asks to write as well; SQLite falls
    // back to reading where that is not allowed.
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                (mode == TIMELINE_DATABASE_WRITE ? SQLITE_OPEN_CREATE : 0);
    sqlite3 *database = NULL;
    if (sqlite3_open_v2(name, &database, flags, NULL) != SQLITE_OK) {
        timeline_database_refuse(database, path, error);
        sqlite3_close(database);
        return NULL;
    }
    sqlite3_busy_timeout(database, DATABASE_WAIT_MS);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return database;
}

gboolean timeline_database_run(sqlite3 *database, const char *path, const char *sql, GError **error)
{
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        return timeline_database_refuse(database, path, error);
    return TRUE;
}

sqlite3_stmt *timeline_database_prepare(sqlite3 *database, const char *path, const char *sql, GError **error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        timeline_database_refuse(database, path, error);
    return statement;
}

gboolean timeline_database_number(sqlite3 *database, const char *path, const char *sql, gint64 *number,
                                  GError **error)
{
    sqlite3_stmt *statement = timeline_database_prepare(database, path, sql, error);
    if (statement == NULL)
        return FALSE;
    gboolean fine = sqlite3_step(statement) == SQLITE_ROW;
    if (fine)
        *number = sqlite3_column_int64(statement, 0);
    else
        timeline_database_refuse(database, path, error);
    sqlite3_finalize(statement);
    return fine;
}

gboolean timeline_database_check(sqlite3 *database, const char *path, gboolean *empty, GError **error)
{
    gint64 things = 0, id = 0, version = 0, tables = 0;
    if (!timeline_database_number(database, path, "SELECT count(*) FROM sqlite_master", &things, error) ||
        !timeline_database_number(database, path, "PRAGMA application_id", &id, error) ||
        !timeline_database_number(database, path, "PRAGMA user_version", &version, error) ||
        !timeline_database_number(
            database, path,
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND name "
            "IN ('run', 'metric', 'assumption', 'lane', 'span', 'link_use', 'exposure', 'memory', "
            "'sweep', 'point', 'published')",
            &tables, error))
        return FALSE;
    if (empty != NULL)
        *empty = things == 0 && id == 0 && version == 0;
    if (things == 0 && id == 0 && version == 0)
        return empty != NULL || base_error_set(error, BASE_ERROR_FAILED, path,
                                               "found an empty database, wanted a timeline of stepline");
    if (id != DATABASE_ID)
        return base_error_set(error, BASE_ERROR_FAILED, path,
                              "found a database of another program (application_id %" G_GINT64_FORMAT
                              "), wanted a timeline of stepline (%d)",
                              id, DATABASE_ID);
    if (version > DATABASE_VERSION)
        return base_error_set(error, BASE_ERROR_FAILED, path,
                              "found a timeline of a newer stepline (version %" G_GINT64_FORMAT
                              "), wanted version %d",
                              version, DATABASE_VERSION);
    if (version < DATABASE_VERSION && version > 0)
        return base_error_set(error, BASE_ERROR_FAILED, path,
                              "found a timeline of an older stepline (version %" G_GINT64_FORMAT
                              "), wanted version %d: a new file",
                              version, DATABASE_VERSION);
    if (version < DATABASE_VERSION || tables != 11)
        return base_error_set(error, BASE_ERROR_FAILED, path,
                              "found a timeline without all its tables, wanted version %d", DATABASE_VERSION);
    return TRUE;
}
