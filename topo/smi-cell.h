// topo/smi-cell.h: the words in the cells of the matrices that 'nvidia-smi topo' prints.
//
// Their meaning is that of the legend below such a matrix. Old drivers (of 2016 and before) write SOC for
// SYS.
#pragma once

#include <glib.h>

typedef enum {
    TOPO_SMI_UNKNOWN, // not in the text
    TOPO_SMI_SELF,    // X
    TOPO_SMI_NVLINK,  // NV#
    TOPO_SMI_PIX,     // one PCIe switch
    TOPO_SMI_PXB,     // several PCIe switches, no host bridge
    TOPO_SMI_PHB,     // a host bridge
    TOPO_SMI_NODE,    // several host bridges of one NUMA node
    TOPO_SMI_SYS,     // from one NUMA node to another
    TOPO_SMI_PEER,    // OK in the matrices of -p2p
    TOPO_SMI_NO_PEER, // NS, CNS, ... in the matrices of -p2p
} TopoSmiClass;

typedef struct {
    TopoSmiClass class;
    guint links; // of TOPO_SMI_NVLINK: how many, from 1
} TopoSmiCell;

// Appends to cells (of TopoSmiCell) what a word holds: one cell, or several where blanks were lost
// ("NODENODE", "NV12X"). Returns the first byte that belongs to no cell: the end of word when all of it was
// read, word itself when it holds no cell. NV takes two digits at most, so that "NV180-23" is NV18 and what
// follows it.
const char *topo_smi_cell_read(const char *word, GArray *cells);

// The cell as it is written: "NV12", "PIX"; "nothing" for TOPO_SMI_UNKNOWN. Caller frees.
char *topo_smi_cell_name(TopoSmiCell cell);

// Whether two cells say the same of a pair.
static inline gboolean topo_smi_cell_same(TopoSmiCell a, TopoSmiCell b)
{
    return a.class == b.class && a.links == b.links;
}
