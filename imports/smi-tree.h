// imports/smi-tree.h: the tree of PCIe switches and sockets behind the classes of 'nvidia-smi topo -m'.
//
// The classes are distances: devices that are PIX apart share a switch, PXB groups share a switch above
// those, PHB and NODE meet in a socket (both; NCCL makes no difference between them either), SYS is between
// sockets. What NVLink hides (NV# stands where the class would) follows from what two GPUs are to a third
// device, else from their affinity.
#pragma once

#include <glib.h>

#include "imports/smi-table.h"
#include "topo/graph.h"

typedef struct {
    guint devices;
    guint *pix;    // owned: for each device the first device of its PIX group
    guint *pxb;    // owned: the same of what shares a top switch
    guint *socket; // owned: the same of what shares a socket
} ImportSmiTree;

// Groups the devices. What the text says against itself (three devices that no tree can hold) goes to notes,
// what was assumed to assumed. Caller frees.
ImportSmiTree *import_smi_tree_new(const ImportSmiTable *table, GPtrArray *notes, GPtrArray *assumed);
void import_smi_tree_free(ImportSmiTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImportSmiTree, import_smi_tree_free)

// The class of two devices in the tree: PIX, PXB, NODE (which stands for PHB too) or SYS.
ImportSmiClass import_smi_tree_get(const ImportSmiTree *tree, guint a, guint b);

// The numbers of its links. Both latencies are per link and one way.
typedef struct {
    double pcie;   // bytes/s one way of every PCIe link
    double socket; // bytes/s one way between two sockets
    Ps pcie_latency;
    Ps socket_latency;
} ImportSmiRates;

// Adds PCIe switches, sockets, NICs (in order of the table's rows) and the links between them and the GPUs,
// which are nodes 0.. of graph already, in order of the rows. All stand in island 0.
void import_smi_tree_add(const ImportSmiTree *tree, const ImportSmiTable *table, const ImportSmiRates *rates,
                         TopoGraph *graph);

// "cpu0: (GPU0 NIC0) GPU1; cpu1: ...": a pair of parentheses for each switch. Caller frees.
char *import_smi_tree_name(const ImportSmiTree *tree, const ImportSmiTable *table);
