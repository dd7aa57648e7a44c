// imports/nccl.h: the parts that an NCCL topology file names: CPUs, PCI bridges, GPUs and NICs, each with the
// part above it and the rate of the link between.
//
// The grammar is NCCL's (NVIDIA/nccl src/graph/xml.cc, topo.cc): system > cpu > nested pci > gpu > nvlink |
// xgmi | c2c, and nic > net. A rate that the file does not say, or that cannot be meant, is replaced by what
// NCCL takes, and that is reported.
#pragma once

#include <glib.h>

#include "imports/nccl-file.h"
#include "imports/xml.h"

enum { IMPORT_NCCL_GPUS = 576, IMPORT_NCCL_CPUS = 64 }; // NCCL's own limit of GPUs; a guess that leaves room

typedef enum {
    IMPORT_NCCL_CPU, // a NUMA node
    IMPORT_NCCL_BRIDGE,
    IMPORT_NCCL_GPU,
    IMPORT_NCCL_NIC,
} ImportNcclKind;

typedef struct {
    ImportNcclKind kind;
    guint parent;                    // position of the part above, which is smaller; G_MAXUINT: none (a CPU)
    guint cpu;                       // position of the CPU above; a CPU's own
    guint host;                      // from 0, in the file's order
    const ImportXmlElement *element; // borrowed: <cpu>, <pci>, or the <net> of a NIC without <pci>
    const ImportXmlElement *gpu;     // borrowed: <gpu>; NULL where only the PCI class says GPU
    const char *busid;               // borrowed; NULL: a CPU, or a NIC without <pci>
    double
        bandwidth;  // bytes/s one way: of its link upward; of a CPU: of its links to other CPUs; more than 0
    double network; // NIC: bytes/s of its nets together; 0: the file does not say
    gboolean kept;  // FALSE: left out of the graph, and reported
} ImportNcclPart;

typedef struct {
    ImportNcclFile file; // owned: its name and what was replaced or left out
    GArray *parts;       // of ImportNcclPart; owned
    guint hosts;         // how many
} ImportNccl;

// Reads the parts below root, which must outlive them. FALSE with an error "NAME:LINE: element.key: found
// ..., wanted ..."; nccl is then only good to be cleared.
gboolean import_nccl_read(const char *name, const ImportXmlElement *root, ImportNccl *nccl, GError **error);
void import_nccl_clear(ImportNccl *nccl);

static inline ImportNcclPart *import_nccl_part(const ImportNccl *nccl, guint at)
{
    return &((ImportNcclPart *)(void *)nccl->parts->data)[at];
}
