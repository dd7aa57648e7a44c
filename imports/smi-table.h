// imports/smi-table.h: the matrix of 'nvidia-smi topo -m' as text becomes devices and what lies between them.
//
// Robust rule: names come from the rows, the header is only held against them; a row has as many cells as
// there are columns, and its X in its own column. Both halves of the matrix must agree; a pair that only one
// half gives is taken from there.
#pragma once

#include <glib.h>

#include "imports/smi-cell.h"

enum { IMPORT_SMI_DEVICES = 256 }; // the most rows or columns

typedef struct {
    char *label;  // owned: as in the rows: "GPU0", "NIC3", "mlx5_0"
    char *device; // owned: what the NIC legend calls it, or NULL
    char *cpus;   // owned: CPU affinity, a sound list; NULL: not given
    char *numa;   // owned: NUMA affinity; NULL: not given or N/A
    gboolean gpu;
    guint line; // of its row; 0: it has none
} ImportSmiDevice;

typedef struct {
    GPtrArray *devices;   // of ImportSmiDevice *; owned; in order of the rows
    ImportSmiCell *cells; // owned: devices x devices, both halves alike
    guint gpus;
} ImportSmiTable;

// How much a text looks like 'nvidia-smi topo', 0..100: a matrix of links 95, one of -p2p or -mp 60, words of
// it 30.
int import_smi_table_sniff(const char *text, gsize length);

// Reads the first matrix of links in text; name stands in errors. What a -p2p matrix behind it says goes to
// notes, what was ignored or assumed to assumed (both of char *, owned by the array). Between two GPUs there
// is always something; other pairs may be IMPORT_SMI_UNKNOWN. NULL with an error: no such matrix; cells that
// contradict each other, are not known or too many; a text cut so far that GPUs are missing. Caller frees.
ImportSmiTable *import_smi_table_read(const char *name, const char *text, gsize length, GPtrArray *notes,
                                      GPtrArray *assumed, GError **error);
void import_smi_table_free(ImportSmiTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImportSmiTable, import_smi_table_free)

static inline ImportSmiCell import_smi_table_get(const ImportSmiTable *table, guint a, guint b)
{
    return table->cells[a * table->devices->len + b];
}

static inline ImportSmiDevice *import_smi_table_device(const ImportSmiTable *table, guint index)
{
    return g_ptr_array_index(table->devices, index);
}
