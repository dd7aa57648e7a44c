// validation/nccl-table.h: tables as they are met in a log, and the runs that they make.
#pragma once

#include <glib.h>

#include "validation/nccl-log.h"

// What a table's header says.
typedef struct {
    guint32 ranks;     // highest rank + 1
    guint zeros;       // how many devices are called rank 0
    GHashTable *hosts; // owned: set of names; only counted
    char *device;      // owned: the first one's name, or NULL
} ValidationNcclFacts;

void validation_nccl_table_facts_init(ValidationNcclFacts *facts);
void validation_nccl_table_facts_clear(ValidationNcclFacts *facts);
// device may be NULL.
void validation_nccl_table_facts_add(ValidationNcclFacts *facts, guint32 rank, const char *host,
                                     const char *device);

typedef struct {
    guint line;             // of its first row
    ValidationNcclOp named; // what the log calls it; VALIDATION_NCCL_OPS: nothing
    gboolean redop_column;
    guint32 ranks, zeros, hosts; // of the facts; 0: no device list
    char *device;                // owned, or NULL
    GArray *rows;                // owned: of ValidationNcclRow, not empty
} ValidationNcclTable;

ValidationNcclTable *validation_nccl_table_new(guint line, ValidationNcclOp named,
                                               const ValidationNcclFacts *facts);
void validation_nccl_table_free(ValidationNcclTable *table);

// Turns tables (of ValidationNcclTable *, in order) into log's runs: the same operation on the same ranks is
// one run. version may be NULL. FALSE with an error of one line where no run is left; a run that cannot be
// used beside others that can is a note.
gboolean validation_nccl_table_add_runs(const GPtrArray *tables, const char *version, ValidationNcclLog *log,
                                        GError **error);
