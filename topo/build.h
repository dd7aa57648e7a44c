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

enum { TOPO_BUILD_GPUS = 65536 }; // the largest machine

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
} TopoBuildPcie;

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
