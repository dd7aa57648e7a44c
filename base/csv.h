// base/csv.h: tables of text: RFC 4180 with a header line, comments, and the line of every row.
//
// Fields are separated by ','; a field in double quotes may hold ',' '"' (written twice) and line ends. Lines
// end in LF or CR LF. Blank lines, and lines that start with '#', are skipped (a first field that starts with
// '#' is written in quotes). The first row that is left names the columns; every other row has as many
// fields. Fields are kept as written, blanks included. All errors are "file:line: ...".
#pragma once

#include <glib.h>

typedef struct {
    guint line;    // where the row starts, from 1
    char **fields; // owned by the Csv: one per column, NULL-terminated
} CsvRow;

typedef struct Csv Csv;

// Reads a file (4 MiB at most, UTF-8, a byte order mark is skipped, no control characters but tabs and line
// ends). NULL with an error: unreadable, no header, a column named twice or without name, a row with more or
// fewer fields, more than 256 columns, a stray or open quote. Caller frees with csv_free.
Csv *csv_read_file(const char *path, GError **error);
// The same from memory; name stands in errors where a file's path would.
Csv *csv_read_text(const char *name, const char *text, gsize length, GError **error);
void csv_free(Csv *csv);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Csv, csv_free)

// Rows below the header, and one of them. Borrowed.
guint csv_rows(const Csv *csv);
const CsvRow *csv_get(const Csv *csv, guint row);

// The index of a column by its name. FALSE with an error that names the nearest column.
gboolean csv_find_column(const Csv *csv, const char *name, guint *column, GError **error);

// "file:line: column" of one field, the start of an error about it. Caller frees.
char *csv_where(const Csv *csv, guint row, guint column);
