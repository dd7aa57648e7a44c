// validation/compare.h: measured collectives beside simulated ones, and the error of each family.
#pragma once

#include <glib.h>

#include "validation/collectives.h"

// From this size on busbw is compared, below it the time.
#define VALIDATION_COMPARE_LARGE (G_GINT64_CONSTANT(1) << 20)

typedef struct {
    const ValidationCollective *row; // borrowed
    double simulated;                // s; NAN: not simulated
    double error;                    // of busbw (large) or time (small): simulated/measured - 1; NAN
    char *algorithm;                 // owned: what was simulated ("nvls/simple"), NULL
    char *reason;                    // owned: why it was not, NULL
} ValidationCompared;

typedef struct {
    char *family;          // owned
    guint rows, skipped;   // simulated, not simulated
    guint large, small;    // simulated, by size
    double busbw, latency; // median |error|; NAN without rows
} ValidationFamily;

// Simulates every row: on the library machine that it names, with as many GPUs as it had ranks, as NCCL does
// on it. A row that cannot be run has a reason: no such machine, a number of ranks that it does not build,
// more messages than messages_max (0: no limit). FALSE with an error only where the library itself is broken.
// Caller unrefs: of ValidationCompared *, in the order of rows (which must outlive it).
GPtrArray *validation_compare_run(const GPtrArray *rows, guint64 messages_max, GError **error);

// By family, in order of name. Caller unrefs: of ValidationFamily *.
GPtrArray *validation_compare_families(const GPtrArray *compared);
