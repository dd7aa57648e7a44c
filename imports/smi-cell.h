// imports/smi-cell.h: the words in the cells of the matrices that 'nvidia-smi topo' prints.
//
// Their meaning is that of the legend below such a matrix. Old drivers (of 2016 and before) write SOC for
// SYS.
#pragma once

#include <glib.h>

typedef enum {
    IMPORT_SMI_UNKNOWN, // not in the text
    IMPORT_SMI_SELF,    // X
    IMPORT_SMI_NVLINK,  // NV#
    IMPORT_SMI_PIX,     // one PCIe switch
    IMPORT_SMI_PXB,     // several PCIe switches, no host bridge
    IMPORT_SMI_PHB,     // a host bridge
    IMPORT_SMI_NODE,    // several host bridges of one NUMA node
    IMPORT_SMI_SYS,     // from one NUMA node to another
    IMPORT_SMI_PEER,    // OK in the matrices of -p2p
    IMPORT_SMI_NO_PEER, // NS, CNS, ... in the matrices of -p2p
} ImportSmiClass;

typedef struct {
    ImportSmiClass class;
    guint links; // of IMPORT_SMI_NVLINK: how many, from 1
} ImportSmiCell;

// Appends to cells (of ImportSmiCell) what a word holds: one cell, or several where blanks were lost
// ("NODENODE", "NV12X"). Returns the first byte that belongs to no cell: the end of word when all of it was
// read, word itself when it holds no cell. NV takes two digits at most, so that "NV180-23" is NV18 and what
// follows it.
const char *import_smi_cell_read(const char *word, GArray *cells);

// The cell as it is written: "NV12", "PIX"; "nothing" for IMPORT_SMI_UNKNOWN. Caller frees.
char *import_smi_cell_name(ImportSmiCell cell);

// Whether two cells say the same of a pair.
static inline gboolean import_smi_cell_same(ImportSmiCell a, ImportSmiCell b)
{
    return a.class == b.class && a.links == b.links;
}
