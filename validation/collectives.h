// validation/collectives.h: the project's own table of measured collectives
// (validation/data/collectives.csv).
#pragma once

#include <glib.h>

#include "validation/nccl-log.h"

typedef struct {
    guint line;    // of the table
    char *family;  // owned: what one figure of accuracy is printed for, "h100-nvlink"
    char *machine; // owned: the library machine that should do the same, "dgx-h100"; it need not exist yet
    ValidationNcclOp op;  //
    guint32 ranks, nodes; // ranks >= 2, nodes >= 1
    gint64 bytes;         // > 0, as nccl-tests counts
    double time;          // s; the one of the two that the source has not is worked out from the other
    double busbw;         // bytes/s
    gboolean has_time;    // the source has the time
    char *source;         // owned: where the figure stands
    char *by;             // owned: who measured
    char *note;           // owned: what is special or was assumed, or ""
} ValidationCollective;

// Reads a table from memory; name stands in errors. NULL with an error "file:line: column: ...": a column
// missing, a figure that is no number, both or neither of time_us and busbw_GBps, a row twice. Caller unrefs:
// of ValidationCollective *.
GPtrArray *validation_collectives_read_text(const char *name, const char *text, gsize length, GError **error);
// The table that ships with the program.
GPtrArray *validation_collectives_read(GError **error);
