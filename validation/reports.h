// validation/reports.h: questions whose answers are published, put to the program, and its answers beside
// them.
//
// A table is an .ini file (validation/reports/reports.ini, validation/data/layers.ini). A section [report N]
// tells of one source: title, source, question, answer (all required, one line each). Sections
// [figure N NAME] hold its figures:
//   what       one line for people
//   ask        the question as a command line (validation/ask.h)
//   key        which of its answers
//   less       another ask whose answer is taken off
//   over       another ask by whose answer it is divided, over_key: by which (default: key), over_less: what
//              is taken off that
//   published  the figure, with its unit: a ratio where there is over; may be absent beside a bound, where
//   the
//              source says the direction alone
//   relation   'within 5 %' of it, 'equal' to it (1e-9); 'at least' or 'at most' a bound of its own, where
//   only
//              the direction can be held; or 'refused': the ask is an error whose words hold published
// Published figures enter no computation but that of the verdict.
#pragma once

#include <glib.h>

#include "base/units.h"

typedef enum {
    VALIDATION_WITHIN,
    VALIDATION_EQUAL,
    VALIDATION_AT_LEAST,
    VALIDATION_AT_MOST,
    VALIDATION_REFUSED,
} ValidationRelation;

typedef struct {
    char *name, *what; // owned
    char *ask, *key;   // owned
    char *less, *over; // owned, or NULL
    char *over_key;    // owned, or NULL: key
    char *over_less;   // owned, or NULL
    ValidationRelation relation;
    char *relation_text;  // owned: as written
    double tolerance;     // of VALIDATION_WITHIN: a fraction
    double bound;         // of VALIDATION_AT_LEAST and VALIDATION_AT_MOST, in the kind's base unit
    UnitsKind kind;       // of the two values
    char *published_text; // owned: as written, or NULL
    double published;     // in the kind's base unit; NAN where refused or absent
    double ours;          // the same
    char *refusal;        // owned: what the program said, or NULL
    gboolean agrees;
} ValidationFigure;

typedef struct {
    char *number, *title, *source, *question, *answer; // owned
    GPtrArray *figures;                                // of ValidationFigure *, owned; at least one
} ValidationReport;

// Reads a table and answers the figures of all its reports, or of one (only: its number; NULL: all). NULL
// with an error: a wrong table, an ask that fails, an answer that is not there, no such report. Caller
// unrefs: of ValidationReport *, in the table's order.
GPtrArray *validation_reports_run_text(const char *name, const char *text, gsize length, const char *only,
                                       GError **error);
// The same for a table of the library, by its path in the source tree.
GPtrArray *validation_reports_run(const char *path, const char *only, GError **error);

// One of the two values for people: "22.2 s", "45.5 %". Caller frees.
char *validation_reports_format(UnitsKind kind, double value);
