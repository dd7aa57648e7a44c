// cli/fit-print.h: what "stepline fit" prints of one run, as text and as JSON.
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "validation/fit.h"

// What is known of one run, and what came out. All borrowed but simulated.
typedef struct {
    const char *file;
    const ValidationNcclRun *run;
    ValidationNcclOp op;
    guint32 ranks; // 0: not known
    GArray *points;
    ValidationFit law;
    GPtrArray *notes;  // of char *
    double *simulated; // owned by whoever fills it in: by point, s; NULL without a machine
} FitPrint;

// Text on stdout: the law, its errors, the notes; with simulated also a table of sizes.
void fit_print_text(const FitPrint *at);
// One object at builder's place.
void fit_print_json(JsonBuilder *builder, const FitPrint *at);
