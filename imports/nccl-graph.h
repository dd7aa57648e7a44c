// imports/nccl-graph.h: the graph of the parts and links of an NCCL topology file.
//
// Several NVSwitches are one node, as in NCCL. NVLink, xGMI and C2C are class nvlink. A NIC's link is the
// slower of PCIe and its nets. Latencies are guesses; they stand in nccl-graph.c.
#pragma once

#include "imports/nccl-nvlink.h"
#include "imports/nccl.h"
#include "topo/graph.h"

// Nodes stand by kind and number, GPUs in nvlink's order. GPUs forward where there is no NVSwitch and some,
// but not all, pairs of GPUs are joined. Issues go to nccl's list. Not frozen; caller frees.
TopoGraph *import_nccl_graph_new(ImportNccl *nccl, const ImportNcclNvlink *nvlink);
