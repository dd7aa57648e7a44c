// cli/collective-print.h: what "stepline collective" prints and draws of the sizes that it simulated.
#pragma once

#include "cli/collective-read.h"

typedef struct {
    gint64 bytes;
    CollMeasure measure;
    double time, algbw, busbw; // s, bytes/s
    char *label;               // owned: "nvls/simple"
} CollectiveRow;

// All rows as one JSON object, as a table with the columns of nccl-tests, or one row in words.
void collective_print_json(const Collective *what, const GArray *all);
void collective_print_table(const Collective *what, const GArray *all);
void collective_print_one(const Collective *what, const CollectiveRow *row);

// Bus bandwidth against size as a picture. FALSE with an error.
gboolean collective_print_plot(const Collective *what, const GArray *all, const char *path, GError **error);
