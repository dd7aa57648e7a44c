// topo/build.h: graphs of the usual machines from a few numbers.
//
// Bandwidths are bytes/s one way. A path latency belongs to the whole way between two GPUs and is split over
// its links: each gets latency / links, the last one also the rest of that division, so that the sum is exact
// and a message of n bytes takes latency + n / bandwidth. GPU number r has node id r. Each function returns a
// new graph that has not been frozen (topo_graph_check does it); the caller frees it. Values that cannot be
// built are asserted: readers check first.
#pragma once

#include <glib.h>

#include "topo/graph.h"

enum {
    TOPO_BUILD_GPUS = 65536,    // the largest machine
    TOPO_BUILD_CABLES = 1 << 20 // the most cables between its switches, and the most nodes of its copies
};

// The part of a path's latency that link number index of links takes: the last one takes the rest.
Ps topo_build_share(Ps latency, guint32 index, guint32 links);

// Adds count nodes of a kind, per_island to an island (0: they stand in none); returns the first one's id.
guint32 topo_build_nodes(TopoGraph *graph, TopoNodeKind kind, guint32 count, guint32 per_island);

// Adds both directions between an outer node and the next one inward, as link number out (and, on the way
// back, links - 1 - out) of a path of so many links that takes latency in all.
void topo_build_spoke(TopoGraph *graph, guint32 outer, guint32 inner, TopoLinkClass class, double bandwidth,
                      Ps latency, guint32 out, guint32 links);

// GPUs on one NVSwitch: gpu - nvswitch - gpu.
typedef struct {
    guint32 gpus;
    double bandwidth; // of one GPU into the switch, and out of it
    Ps latency;       // GPU to GPU
} TopoBuildIsland;

TopoGraph *topo_build_island(const TopoBuildIsland *spec);

// Islands of gpus_per_node GPUs, each GPU with a NIC of its own, all NICs on one network switch that never
// blocks: gpu - nvswitch - gpu inside, gpu - nic - switch - nic - gpu across. With one GPU per node there is
// no NVSwitch.
typedef struct {
    guint32 gpus;           // a multiple of gpus_per_node
    guint32 gpus_per_node;  // from 1
    TopoBuildIsland inside; // bandwidth and latency; gpus is not read; unused with one GPU per node
    double network_bandwidth;
    Ps network_latency;    // GPU to GPU across islands; at least that of inside, or routes would leave their
                           // island
    double pcie_bandwidth; // between GPU and NIC; at least network_bandwidth
} TopoBuildIslands;

TopoGraph *topo_build_islands(const TopoBuildIslands *spec);

// A box without NVLink: GPUs below PCIe switches, these shared out evenly among the CPU sockets, and every
// two sockets joined. Each hop by one PCIe level costs half of latency: 1 x latency below one switch, 2 x
// below one socket, 2 x plus socket_latency across sockets.
typedef struct {
    guint32 gpus;            // GPUs in use, the first ones of the box
    guint32 switches;        // PCIe switches of the box; a multiple of sockets
    guint32 gpus_per_switch; // gpus <= switches * gpus_per_switch
    guint32 sockets;         // from 1
    double bandwidth;        // of every PCIe link
    Ps latency;              // between two GPUs below one switch
    double socket_bandwidth;
    Ps socket_latency;
    double host_bandwidth; // 0: GPUs reach each other directly. Else they do not (no peer-to-peer), see below
} TopoBuildPcie;

// With host_bandwidth every transfer is staged in host memory. Each PCIe switch and each CPU is then two
// nodes: its way up (PCIe switches 0 .. switches - 1, CPUs 0 .. sockets - 1) and its way down (the numbers
// above), and the only links from the ways up to the ways down are those of the CPUs, of host_bandwidth: what
// one socket copies in all. gpu - switch up - cpu up - cpu down - switch down - gpu below one socket takes 2
// x latency, also below one switch; across sockets the copy is read over the link of the two ways down.

TopoGraph *topo_build_pcie(const TopoBuildPcie *spec);

// Sites, each like topo_build_islands with site.gpus GPUs and a gateway on its switch; every two gateways
// joined by a WAN cable. Between GPUs of two sites: gpu - nic - switch - gateway - gateway - switch - nic -
// gpu, in network_latency + wan_latency. The link of switch and gateway is never what holds a message up.
typedef struct {
    guint32 sites; // from 2
    TopoBuildIslands site;
    double wan_bandwidth;
    Ps wan_latency; // one way, gateway to gateway
} TopoBuildWan;

TopoGraph *topo_build_wan(const TopoBuildWan *spec);
