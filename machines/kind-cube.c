// machines/kind-cube.c: kind = cube: the hybrid cube mesh of 8 GPUs (DGX-1 with V100), with its PCIe
// switches.
//
// Two quads of GPUs, every two of a quad joined, and every GPU joined to its like in the other quad; some of
// these cables are of two NVLinks, so that each GPU has six. There is no NVSwitch: GPUs forward
// (gpu_forward), and two GPUs that no cable joins meet over a third one. Two GPUs a PCIe switch, two of these
// a socket, which is how NICs are reached. The cables: NVIDIA DGX-1 with Tesla V100 System Architecture
// (WP-08437), as nvidia-smi topo -m of such machines prints them.
#include "machines/kind.h"
#include "topo/build.h"

enum { CUBE_GPUS = 8, CUBE_SWITCHES = 4, CUBE_SOCKETS = 2 };

static const char *const KEYS[] = {"gpus",         "nvlink_bandwidth", "nvlink_latency", "pcie_bandwidth",
                                   "pcie_latency", "socket_bandwidth", "socket_latency", NULL};

typedef struct {
    guint8 a, b, links;
} CubeCable;

static const CubeCable CABLES[] = {
    {0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
    {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2},
};

typedef struct {
    guint32 gpus;
    double nvlink, pcie, socket; // of one NVLink, of every PCIe link, between the sockets; bytes/s one way
    Ps nvlink_latency;           // of one NVLink
    Ps pcie_latency;             // between two GPUs below one switch
    Ps socket_latency;
} CubeSpec;

static TopoGraph *cube_build(const CubeSpec *spec)
{
    TopoGraph *graph = topo_graph_new();
    graph->gpu_forward = TRUE;
    topo_build_nodes(graph, TOPO_NODE_GPU, spec->gpus, spec->gpus);
    guint32 pcie = topo_build_nodes(graph, TOPO_NODE_PCIE_SWITCH, CUBE_SWITCHES, CUBE_SWITCHES);
    guint32 cpu = topo_build_nodes(graph, TOPO_NODE_CPU, CUBE_SOCKETS, CUBE_SOCKETS);
    for (guint i = 0; i < G_N_ELEMENTS(CABLES); i++)
        if (MAX(CABLES[i].a, CABLES[i].b) < spec->gpus)
            topo_graph_add_cable(graph, CABLES[i].a, CABLES[i].b, TOPO_LINK_NVLINK,
                                 CABLES[i].links * spec->nvlink, spec->nvlink_latency);
    for (guint32 gpu = 0; gpu < spec->gpus; gpu++)
        topo_build_spoke(graph, gpu, pcie + gpu / (CUBE_GPUS / CUBE_SWITCHES), TOPO_LINK_PCIE, spec->pcie,
                         spec->pcie_latency, 0, 2);
    for (guint32 i = 0; i < CUBE_SWITCHES; i++)
        topo_build_spoke(graph, pcie + i, cpu + i / (CUBE_SWITCHES / CUBE_SOCKETS), TOPO_LINK_PCIE,
                         spec->pcie, spec->pcie_latency, 0, 2);
    topo_graph_add_cable(graph, cpu, cpu + 1, TOPO_LINK_CPU, spec->socket, spec->socket_latency);
    return graph;
}

static TopoGraph *cube_read(MachineKindFile *file, GError **error)
{
    CubeSpec spec = {0};
    guint32 box = 0;
    if (!machine_kind_get_box(file, CUBE_GPUS, &box, &spec.gpus, error) ||
        !machine_kind_get_rate(file, "nvlink_bandwidth", INI_REQUIRED, &spec.nvlink, error) ||
        !machine_kind_get_latency(file, "nvlink_latency", INI_REQUIRED, &spec.nvlink_latency, error) ||
        !machine_kind_get_rate(file, "pcie_bandwidth", INI_REQUIRED, &spec.pcie, error) ||
        !machine_kind_get_latency(file, "pcie_latency", INI_REQUIRED, &spec.pcie_latency, error) ||
        !machine_kind_get_rate(file, "socket_bandwidth", INI_REQUIRED, &spec.socket, error) ||
        !machine_kind_get_latency(file, "socket_latency", INI_REQUIRED, &spec.socket_latency, error))
        return NULL;
    return cube_build(&spec);
}

const MachineKind MACHINE_KIND_CUBE = {
    .name = "cube",
    .title = "the hybrid cube mesh of 8 GPUs (DGX-1)",
    .keys = KEYS,
    .read = cube_read,
};
