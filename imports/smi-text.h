// imports/smi-text.h: text that holds the output of 'nvidia-smi topo' somewhere, taken apart into its
// matrices.
//
// Around the matrix stand prompts, log lines, the legend, a -p2p matrix, or the matrix of another machine. A
// matrix starts with the row of its first GPU, whose first cell is X.
#pragma once

#include <glib.h>

#include "imports/smi-row.h"

typedef struct {
    ImportSmiHeader *header; // owned: NULL: none stood before the rows
    GPtrArray *rows;         // of ImportSmiRow *; owned; from 1
    GPtrArray *nics;         // of char *, owned: what the NIC legend says: "NIC0", "mlx5_2", "NIC1", ...
    gboolean peer;           // a matrix of -p2p
} ImportSmiBlock;

typedef struct {
    ImportSmiBlock *links; // owned: the first matrix of links; NULL: none
    ImportSmiBlock *peers; // owned: the first matrix of -p2p; NULL: none
    guint more;            // how many matrices followed that are of no use
    guint more_line;       // where the first of these starts
    guint alone;           // the first line with a row that belongs to no matrix; 0: none
    guint affinity;        // the first line that gives a GPU only its affinity (-mp); 0: none
    guint crowded;         // the first line with more than the most rows of a matrix; 0: none
    gboolean words;        // some line has a word of nvidia-smi topo
    guint other;           // how many lines are none of all this
    guint other_line;      // the first of these
    char *other_text;      // owned: as it stands there; NULL: none
} ImportSmiText;

// Takes text apart; any bytes will do (UTF-16 with its mark is understood). rows_most: the most rows that a
// matrix keeps. Caller frees.
ImportSmiText *import_smi_text_read(const char *text, gsize length, guint rows_most);
void import_smi_text_free(ImportSmiText *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImportSmiText, import_smi_text_free)
