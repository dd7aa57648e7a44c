// base/ini.h: a GKeyFile that knows the line of every key, refuses duplicates, and reports what nobody read.
//
// Life: ini_read_file or ini_read_text, any number of ini_set (--set), then the getters, then ini_finish,
// which turns every key that no getter asked for into an error with the nearest name that one did ask for.
// All errors are "file:line: section.key: ...". Getters return FALSE with an error on a wrong value; on an
// absent key they return TRUE and leave *value as it was (the default), unless INI_REQUIRED is given.
#pragma once

#include <glib.h>

#include "base/units.h"

typedef struct Ini Ini;

typedef enum {
    INI_OPTIONAL,
    INI_REQUIRED,
} IniNeed;

// Reads a file: 1 MiB at most, UTF-8 (a byte order mark is skipped), no control characters but tabs and line
// ends (LF or CR LF), so that no value can steer a terminal. NULL with an error. Caller frees with ini_free.
Ini *ini_read_file(const char *path, GError **error);
// The same from memory; name stands in errors where a file's path would.
Ini *ini_read_text(const char *name, const char *text, gsize length, GError **error);
void ini_free(Ini *ini);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ini, ini_free)

// The path or name it was read from, and its text as read. Borrowed.
const char *ini_name(const Ini *ini);
const char *ini_text(const Ini *ini);

// Overrides or adds one key: "section.key=value". FALSE with a usage error. Later errors name it as "--set".
gboolean ini_set(Ini *ini, const char *assignment, GError **error);

// Whether the section or the key is there (the key need not have been read).
gboolean ini_has_section(const Ini *ini, const char *section);
gboolean ini_has(const Ini *ini, const char *section, const char *key);

// The key number at, in the order of the lines, then of ini_set; FALSE past the last one. Borrowed until the
// next ini_set. Does not count as reading it.
gboolean ini_peek(const Ini *ini, guint at, const char **section, const char **key, const char **value);

// "file:line: section.key", or "file: section.key" where the key is absent. Caller frees.
char *ini_where(const Ini *ini, const char *section, const char *key);

// What all getters stand on: remembers that the key is known; *value becomes its text (borrowed until the
// next ini_set), NULL where it is absent. FALSE with an error where it is required and absent, naming a line
// that may be it misspelt.
gboolean ini_ask(Ini *ini, const char *section, const char *key, IniNeed need, const char **value,
                 GError **error);

// The getters are in base/ini-get.c.
gboolean ini_get_text(Ini *ini, const char *section, const char *key, IniNeed need, char **value,
                      GError **error);
gboolean ini_get_flag(Ini *ini, const char *section, const char *key, IniNeed need, gboolean *value,
                      GError **error); // yes or no
gboolean ini_get(Ini *ini, const char *section, const char *key, IniNeed need, UnitsKind kind, double *value,
                 GError **error);
gboolean ini_get_whole(Ini *ini, const char *section, const char *key, IniNeed need, UnitsKind kind,
                       gint64 *value, GError **error);
// A count that must lie in low..high.
gboolean ini_get_count(Ini *ini, const char *section, const char *key, IniNeed need, gint64 low, gint64 high,
                       gint64 *value, GError **error);
gboolean ini_get_ps(Ini *ini, const char *section, const char *key, IniNeed need, Ps *value, GError **error);
// One of names (NULL-terminated): its index.
gboolean ini_get_choice(Ini *ini, const char *section, const char *key, IniNeed need,
                        const char *const *names, guint *value, GError **error);

// An error about one key of this file, from a reader that found its value wrong. Returns FALSE.
gboolean ini_refuse(const Ini *ini, const char *section, const char *key, GError **error, const char *format,
                    ...) G_GNUC_PRINTF(5, 6);

// The keys of a section, in the file's order. Caller frees with g_strfreev; NULL-terminated, never NULL.
char **ini_keys(const Ini *ini, const char *section);

// FALSE with an error for the first section or key (by line) that no getter asked for.
gboolean ini_finish(const Ini *ini, GError **error);
