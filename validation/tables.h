// validation/tables.h: the documents' tables: every printed figure beside the computed and the simulated one.
//
// The printed figures are validation/data/DOCUMENT.csv: table,case,quantity,value,unit,digits. None of them
// enters a computation. A computed figure agrees where, rounded to the printed digits (half away from zero,
// on its decimal value), it is the printed one.
#pragma once

#include <glib.h>

// "primer", "deck", NULL.
extern const char *const VALIDATION_TABLES_DOCUMENTS[];

typedef struct {
    char *document, *table, *case_name, *quantity, *unit; // owned
    char *printed;                                        // owned: as printed, with that many digits
    guint digits;                                         // behind the point
    double computed;                                      // by the closed form, in unit
    double simulated;                                     // in unit; NAN: this figure is not simulated
    gboolean agrees; // both with the printed one (a simulated one that is for information does not count)
    char *note;      // owned, or NULL: what a reader should know
} ValidationTablesRow;

// All rows of a document, in its order (GPtrArray of ValidationTablesRow *, owned). NULL with an error: a
// wrong file, a row that nothing computes, a figure that no row uses, a row given twice, a run that fails.
// Caller unrefs.
GPtrArray *validation_tables_run(const char *document, GError **error);
// The same for a table given as text; name stands in errors where a file's path would.
GPtrArray *validation_tables_run_text(const char *document, const char *name, const char *text, gsize length,
                                      GError **error);
