// base/record.h: rows of a table (base/csv.h) as structs, by a list of columns and fields.
#pragma once

#include <glib.h>

#include "base/csv.h"

typedef enum {
    RECORD_TEXT,   // char *, owned; line ends and tabs become blanks
    RECORD_WHOLE,  // gint64, 0 to 1e12; empty: 0
    RECORD_SMALL,  // guint32, 0 to 1e6; empty: 0
    RECORD_YES,    // gboolean, 0 or 1; empty: FALSE
    RECORD_MAYBE,  // int, 0 or 1; empty: -1
    RECORD_NUMBER, // double, 0 to 1e30; empty: 0
} RecordKind;

typedef struct {
    const char *column; // NULL ends the list
    RecordKind kind;
    gsize at;        // offset of the field
    gboolean needed; // the field may not be empty
} RecordColumn;

// Called with every row as a zeroed record that it owns, texts to be freed by record_clear, and the row's
// number. FALSE with an error stops.
typedef gboolean (*RecordTake)(gpointer user, gpointer record, const Csv *csv, guint row, GError **error);

// Reads all rows of a table; columns that the list does not name are left alone. size: of a record. Whole
// numbers may be written as 5e10. FALSE with an error "file:line: column: ...": a column missing, a field
// that is not what its kind wants, or what take says.
gboolean record_read(const Csv *csv, const RecordColumn *columns, gsize size, RecordTake take, gpointer user,
                     GError **error);
// Frees the texts of a record, and the record.
void record_free(const RecordColumn *columns, gpointer record);
