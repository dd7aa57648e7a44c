// imports/smi-row.h: one line of 'nvidia-smi topo' text: a row of the matrix, its header, or something else.
//
// Lines come from terminals, logs and web pages, so blanks and tabs count for nothing: a row is a name
// followed by cells, wherever it stands in the line; what follows the cells is the device's affinity.
#pragma once

#include <glib.h>

#include "imports/smi-cell.h"

// The text without what shows nothing: escape sequences of terminals, carriage returns, table bars and
// non-breaking spaces become blanks. The line ends stay where they were. Caller frees.
char *import_smi_row_clean(const char *text, gsize length);

// Whether word is GPU or NIC (what) and a number, with nothing behind it.
gboolean import_smi_row_is(const char *word, const char *what);

// Whether a word looks like an affinity: "0-23,48-71", "0", "N/A", and damaged ones like "-31,64-95".
gboolean import_smi_row_is_affinity(const char *word);

typedef struct {
    guint line;      // in the file, from 1
    char *label;     // owned: "GPU0", "NIC3", "mlx5_0"
    GArray *cells;   // of ImportSmiCell; owned; none where the word behind the name is bad
    GPtrArray *rest; // of char *; owned: the words behind the cells
    guint glued;     // how many words held more than one cell, or a cell and something else
} ImportSmiRow;

// Reads a clean line as a row. NULL: it is none. Caller frees.
ImportSmiRow *import_smi_row_read(const char *line, guint number);
void import_smi_row_free(ImportSmiRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImportSmiRow, import_smi_row_free)

// Appends the cells and words of a line that holds nothing but these: the rest of a row that a narrow
// terminal broke. FALSE: the line is something else, row is unchanged.
gboolean import_smi_row_add(ImportSmiRow *row, const char *line);

typedef struct {
    guint line;
    GPtrArray
        *labels;   // of char *; owned: the columns; names that ran together are told apart where they can be
    gboolean cpus; // there is a column 'CPU Affinity'
    gboolean numa; // there is a column 'NUMA Affinity'
    gboolean gpu_numa; // there is a column 'GPU NUMA ID'
} ImportSmiHeader;

// Reads a clean line as a header. NULL: it is none. Caller frees.
ImportSmiHeader *import_smi_row_read_header(const char *line, guint number);
void import_smi_row_free_header(ImportSmiHeader *header);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImportSmiHeader, import_smi_row_free_header)
