// machines/join.h: one node's graph made many, with NICs, joined by a fabric.
#pragma once

#include <glib.h>

#include "machines/fabric.h"
#include "topo/graph.h"

// The same graph, not frozen. Caller frees.
TopoGraph *machine_join_copy(const TopoGraph *node);

// A copy of node (one host) with nics NICs added behind its GPUs: NIC i serves the i-th group of GPUs, of
// ceil(gpus / nics). It hangs beside the group's first GPU, below the same PCIe switch (or CPU); where that
// GPU has neither, on every GPU of the group itself. Links of bandwidth (bytes/s) and latency, PCIe class. At
// least one NIC is added, and never one without GPUs. Not frozen; caller frees.
TopoGraph *machine_join_add_nics(const TopoGraph *node, guint32 nics, double bandwidth, Ps latency);

// A frozen copy of node in which a GPU also reaches every NIC over the NVSwitch and the NIC's own GPU, as
// NCCL does to keep traffic on its rail (PXN): one link from each NVSwitch to each NIC, with the rate of the
// way from the NIC's nearest GPU and the latency of NVSwitch - GPU - NIC. Receiving has no such way. The
// links do not load that GPU's NVLink port nor its PCIe link: the NIC's port is what they share. node must be
// sound (topo_graph_check).
TopoGraph *machine_join_add_pxn(const TopoGraph *node);

// Whether the way from one GPU of node to another leaves it, or passes a NIC, once its NICs are on a switch,
// which no machine does: the latencies do not fit then. up, down: NIC to switch and back. Their numbers go to
// *a and *b. Of each GPU the ways to gpu0 and to its neighbour are looked at. node must be sound.
gboolean machine_join_find_shortcut(const TopoGraph *node, Ps up, Ps down, guint32 *a, guint32 *b);

// copies of node, their NICs (in order of number) on the fabric. Node ids go by kind, then copy, then number,
// so that GPU g of copy c is GPU c * gpus + g; node must have a NIC. bandwidth: of a NIC, bytes/s one way;
// up, down: NIC to leaf, leaf to NIC. Not frozen; caller frees.
TopoGraph *machine_join_nodes(const TopoGraph *node, guint32 copies, double bandwidth, Ps up, Ps down,
                              const MachineFabric *fabric);
