// imports/parts.h: what the parts of a node are worth: rates of PCIe, NVLink, xGMI and socket links by
// generation, and which GPU a PCI device id is.
//
// Sources: NVIDIA/nccl@069a3d4 src/graph/topo.h and topo.cc (PCIe, sockets; read in the source), ROCm/rccl
// src/graph/topo.h (xGMI; read in the source), NVIDIA data sheets (NVLink, nominal), the PCI id database
// (device ids, from memory where no file at hand shows them). All rates are bytes/s one way.
#pragma once

#include <glib.h>

// The rate of one PCIe lane from text such as "16.0 GT/s PCIe" or "16 GT/s", as NCCL counts on (protocol
// overhead taken off): 16 lanes give 3, 6, 12, 24, 48, 96 GB/s for 2.5, 5, 8, 16, 32, 64 GT/s. 0 where the
// text is none of these.
double import_parts_pcie_lane(const char *speed);

// What NCCL takes where a file does not say: a lane of 8 GT/s, 16 lanes.
#define IMPORT_PARTS_PCIE_LANE (0.75e9)
enum { IMPORT_PARTS_PCIE_LANES = 16 };

// One NVLink of a GPU of compute capability sm (80 for 8.0), nominal: 20 GB/s for sm 60..69, 25 from
// 70, 14.0625 on 86 (four links are 112.5 GB/s both ways: RTX A6000), 25 on 90, 50 from 100 to 119. NCCL
// counts on less (20 / 20 / 12 / 20.6 / 40.1). 0 where sm is none of these.
double import_parts_nvlink(gint64 sm);

// One xGMI link of an AMD GPU by the file's gcn ("906", "910", "gfx942"), as RCCL counts on: 24 GB/s, 36 on
// gfx90a (written 910 too), 48 on gfx94 and gfx95.
double import_parts_xgmi(const char *gcn);

// What a link between two CPU sockets (or NUMA nodes) carries, as NCCL counts on, by the file's arch, vendor
// and ids: Intel 6, 10 (Skylake on), 22 (Sapphire Rapids), 40 (Emerald Rapids on); AMD 16 (Zen 1-2), 24 (Zen
// 3-4), 32 (Zen 5); Arm 6; Power9 32; Zhaoxin 6 GB/s. 0 where none of it is known. Texts may be NULL.
double import_parts_socket(const char *arch, const char *vendor, gint64 family, gint64 model);

// What NCCL takes where arch or vendor say nothing is without limit (5,000 GB/s); here the slowest it knows.
#define IMPORT_PARTS_SOCKET (6e9)

// A GPU by its PCI ids.
typedef struct {
    guint vendor, device;
    const char *model; // "NVIDIA H100 SXM5 80 GB"
    const char *chip;  // name in the chip library that is this GPU, whether the library has it or not
    const char *near; // the chip with the same compute and memory rates where the library lacks chip; or NULL
} ImportPartsGpu;

// NULL: not known.
const ImportPartsGpu *import_parts_find_gpu(gint64 vendor, gint64 device);

// The chip that a compute capability suggests where no device id is there ("h100-sxm" for 90); NULL: none.
const char *import_parts_chip_of_sm(gint64 sm, gboolean nvlink);
