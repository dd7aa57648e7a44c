// topo/nccl.h: the parts that an NCCL topology file names: CPUs, PCI bridges, GPUs and NICs, each with the
// part above it and the rate of the link between.
//
// The grammar is NCCL's (NVIDIA/nccl src/graph/xml.cc, topo.cc): system > cpu > nested pci > gpu > nvlink |
// xgmi | c2c, and nic > net. A rate that the file does not say, or that cannot be meant, is replaced by what
// NCCL takes, and that is reported.
#pragma once

#include <glib.h>

#include "topo/nccl-file.h"
#include "topo/xml.h"

enum { TOPO_NCCL_GPUS = 576, TOPO_NCCL_CPUS = 64 }; // NCCL's own limit of GPUs; a guess that leaves room

typedef enum {
    TOPO_NCCL_CPU, // a NUMA node
    TOPO_NCCL_BRIDGE,
    TOPO_NCCL_GPU,
    TOPO_NCCL_NIC,
} TopoNcclKind;

typedef struct {
    TopoNcclKind kind;
    guint parent;                  // position of the part above, which is smaller; G_MAXUINT: none (a CPU)
    guint cpu;                     // position of the CPU above; a CPU's own
    guint host;                    // from 0, in the file's order
    const TopoXmlElement *element; // borrowed: <cpu>, <pci>, or the <net> of a NIC without <pci>
    const TopoXmlElement *gpu;     // borrowed: <gpu>; NULL where only the PCI class says GPU
    const char *busid;             // borrowed; NULL: a CPU, or a NIC without <pci>
    double
        bandwidth;  // bytes/s one way: of its link upward; of a CPU: of its links to other CPUs; more than 0
    double network; // NIC: bytes/s of its nets together; 0: the file does not say
    gboolean kept;  // FALSE: left out of the graph, and reported
} TopoNcclPart;

typedef struct {
    TopoNcclFile file; // owned: its name and what was replaced or left out
    GArray *parts;     // of TopoNcclPart; owned
    guint hosts;       // how many
} TopoNccl;

// Reads the parts below root, which must outlive them. FALSE with an error "NAME:LINE: element.key: found
// ..., wanted ..."; nccl is then only good to be cleared.
gboolean topo_nccl_read(const char *name, const TopoXmlElement *root, TopoNccl *nccl, GError **error);
void topo_nccl_clear(TopoNccl *nccl);

static inline TopoNcclPart *topo_nccl_part(const TopoNccl *nccl, guint at)
{
    return &((TopoNcclPart *)(void *)nccl->parts->data)[at];
}
