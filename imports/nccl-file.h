// imports/nccl-file.h: the grammar of NCCL topology files: which attributes there are, how numbers and PCI
// classes are written, and the list of what was replaced, ignored or left out while reading one.
#pragma once

#include <glib.h>

#include "imports/xml.h"

typedef struct {
    char *what;        // owned
    guint line, times; // the first line; how often
} ImportNcclIssue;

typedef struct {
    const char *name;  // borrowed: the file's, for errors
    GPtrArray *issues; // of ImportNcclIssue, in the order met; owned
    guint more;        // issues beyond the longest list that is kept
    guint64 unused;    // which known attributes were met that a graph does not need
} ImportNcclFile;

void import_nccl_file_init(ImportNcclFile *file, const char *name);
void import_nccl_file_clear(ImportNcclFile *file);

// Remembers what was replaced or left out; the same words count once, with their number.
void import_nccl_file_report(ImportNcclFile *file, guint line, const char *format, ...) G_GNUC_PRINTF(3, 4);

// An error "NAME:LINE: element.key: ..." (key may be NULL). Returns FALSE.
gboolean import_nccl_file_refuse(const ImportNcclFile *file, const ImportXmlElement *element, const char *key,
                                 GError **error, const char *format, ...) G_GNUC_PRINTF(5, 6);

// Reports the attributes of an element that are not of the grammar, and remembers those that a graph does not
// need.
void import_nccl_file_check_attributes(ImportNcclFile *file, const ImportXmlElement *element);

// Reports a child that the grammar does not have where it stands.
void import_nccl_file_ignore(ImportNcclFile *file, const ImportXmlElement *element);

// The whole text as a whole number, as NCCL reads one (strtol with base 0: hex is legal). FALSE: it is none.
gboolean import_nccl_file_parse(const char *text, gint64 *value);

// The same of an attribute, which must lie in low..high. *value keeps its default where it is absent. FALSE
// with an error.
gboolean import_nccl_file_get(const ImportNcclFile *file, const ImportXmlElement *element, const char *key,
                              gint64 low, gint64 high, gint64 *value, GError **error);

// The PCI class in text ("0x030200"): 24 bits; 0 where it is NULL or no class.
guint import_nccl_file_class(const char *text);
// Whether a PCI class is that of a GPU (display or accelerator).
gboolean import_nccl_file_is_gpu(guint class);

// The names of the known attributes that were met and not needed, "cpu.affinity, gpu.gdr". Caller frees.
char *import_nccl_file_unused(const ImportNcclFile *file);
