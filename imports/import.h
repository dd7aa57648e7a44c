// imports/import.h: importers of one node's topology from files that users have, and the table of them.
#pragma once

#include <glib.h>

#include "topo/graph.h"

// What an importer made of a file.
typedef struct {
    TopoGraph *graph; // owned: one node (host); frozen and checked
    char *chip;       // owned: the nearest name of the chip library, NULL: the file does not say
    GPtrArray
        *notes; // of char *, owned: what was understood, one sentence each ("8 GPUs, sm90, 18 NVLinks each")
    GPtrArray *assumed; // of char *, owned: what was not in the file and had to be assumed, or was ignored
} Import;

void import_init(Import *import);
void import_clear(Import *import);

// Adds one sentence to notes, or to assumed.
void import_note(Import *import, const char *format, ...) G_GNUC_PRINTF(2, 3);
void import_assume(Import *import, const char *format, ...) G_GNUC_PRINTF(2, 3);

typedef struct {
    const char *name;  // "nccl-xml"
    const char *title; // "NCCL topology XML (NCCL_TOPO_DUMP_FILE)"
    // How much a text looks like this kind, 0 (not at all) to 100; never fails on any bytes.
    int (*sniff)(const char *text, gsize length);
    // Reads it; name stands in errors ("name:line: found ..., wanted ..."). FALSE with an error, import then
    // only good to be cleared.
    gboolean (*read)(const char *name, const char *text, gsize length, Import *import, GError **error);
} Importer;

extern const Importer IMPORT_NCCL, IMPORT_SMI;

// All importers, NULL-terminated.
extern const Importer *const IMPORTERS[];

// Reads a file (4 MiB at most) with the importer that it looks most like. FALSE with an error; a file that
// looks like none is refused with what was tried.
gboolean import_read(const char *path, Import *import, GError **error);
