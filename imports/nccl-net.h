// imports/nccl-net.h: the nets of an NCCL topology file: which are cards, and how fast.
#pragma once

#include <glib.h>

#include "imports/nccl-file.h"

typedef struct {
    GHashTable *seen; // set of "host name guid" so far; owned, with its strings; never iterated
} ImportNcclNets;

void import_nccl_net_init(ImportNcclNets *nets);
void import_nccl_net_clear(ImportNcclNets *nets);

// The rate of a <net> in bytes/s (its speed is Mb/s; 10 Gb/s where it says none or one that cannot be, as
// NCCL has it, and that is reported). 0: it is left out, and that is reported: it is virtual by its name,
// fused into another, or was listed before on the same host.
double import_nccl_net_read(ImportNcclNets *nets, ImportNcclFile *file, const ImportXmlElement *net,
                            guint host);
