// imports/nccl-nvlink.h: the GPUs of an NCCL topology file in order, and what joins them besides PCIe: NVLink
// to a switch, to each other or to their CPU, xGMI, C2C.
#pragma once

#include <glib.h>

#include "imports/nccl.h"

typedef struct {
    GArray *gpus;      // of guint: the part of each GPU, by its number in the graph; owned
    gboolean by_dev;   // numbers go by host, then the file's dev; else by host, then the file's order
    double *to_switch; // bytes/s one way, by GPU: to all NVSwitches together; owned
    double *to_cpu;    // bytes/s one way, by GPU: C2C, or NVLink to a Power9; owned
    double *peers;     // bytes/s one way, [a * gpus + b]: the same as [b * gpus + a]; owned
    gint64 *links;     // NVLinks or xGMI links of each GPU; owned
    double rate;       // bytes/s one way of the last link seen; 0: there is none
} ImportNcclNvlink;

// Reads the links of all GPUs that are kept; rates are nominal for NVLink, what RCCL counts on for xGMI.
// Issues go to nccl's list. FALSE with an error (too many GPUs, a bus id twice, a count that is none); nvlink
// is then only good to be cleared.
gboolean import_nccl_nvlink_read(ImportNccl *nccl, ImportNcclNvlink *nvlink, GError **error);
void import_nccl_nvlink_clear(ImportNcclNvlink *nvlink);

// Whether any GPU is joined to an NVSwitch; how many pairs of GPUs are joined directly.
gboolean import_nccl_nvlink_has_switch(const ImportNcclNvlink *nvlink);
guint import_nccl_nvlink_pairs(const ImportNcclNvlink *nvlink);

// The part of GPU number rank.
static inline ImportNcclPart *import_nccl_nvlink_gpu(const ImportNccl *nccl, const ImportNcclNvlink *nvlink,
                                                     guint rank)
{
    return import_nccl_part(nccl, ((const guint *)(void *)nvlink->gpus->data)[rank]);
}
