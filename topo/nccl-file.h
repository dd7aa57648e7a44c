// topo/nccl-file.h: the grammar of NCCL topology files: which attributes there are, how numbers and PCI
// classes are written, and the list of what was replaced, ignored or left out while reading one.
#pragma once

#include <glib.h>

#include "topo/xml.h"

typedef struct {
    char *what;        // owned
    guint line, times; // the first line; how often
} TopoNcclIssue;

typedef struct {
    const char *name;  // borrowed: the file's, for errors
    GPtrArray *issues; // of TopoNcclIssue, in the order met; owned
    guint more;        // issues beyond the longest list that is kept
    guint64 unused;    // which known attributes were met that a graph does not need
} TopoNcclFile;

void topo_nccl_file_init(TopoNcclFile *file, const char *name);
void topo_nccl_file_clear(TopoNcclFile *file);

// Remembers what was replaced or left out; the same words count once, with their number.
void topo_nccl_file_report(TopoNcclFile *file, guint line, const char *format, ...) G_GNUC_PRINTF(3, 4);

// An error "NAME:LINE: element.key: ..." (key may be NULL). Returns FALSE.
gboolean topo_nccl_file_refuse(const TopoNcclFile *file, const TopoXmlElement *element, const char *key,
                               GError **error, const char *format, ...) G_GNUC_PRINTF(5, 6);

// Reports the attributes of an element that are not of the grammar, and remembers those that a graph does not
// need.
void topo_nccl_file_check_attributes(TopoNcclFile *file, const TopoXmlElement *element);

// Reports a child that the grammar does not have where it stands.
void topo_nccl_file_ignore(TopoNcclFile *file, const TopoXmlElement *element);

// The whole text as a whole number, as NCCL reads one (strtol with base 0: hex is legal). FALSE: it is none.
gboolean topo_nccl_file_parse(const char *text, gint64 *value);

// The same of an attribute, which must lie in low..high. *value keeps its default where it is absent. FALSE
// with an error.
gboolean topo_nccl_file_get(const TopoNcclFile *file, const TopoXmlElement *element, const char *key,
                            gint64 low, gint64 high, gint64 *value, GError **error);

// The PCI class in text ("0x030200"): 24 bits; 0 where it is NULL or no class.
guint topo_nccl_file_class(const char *text);
// Whether a PCI class is that of a GPU (display or accelerator).
gboolean topo_nccl_file_is_gpu(guint class);

// The names of the known attributes that were met and not needed, "cpu.affinity, gpu.gdr". Caller frees.
char *topo_nccl_file_unused(const TopoNcclFile *file);
