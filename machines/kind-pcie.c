// machines/kind-pcie.c: kind = pcie: a box without NVLink, with or without peer-to-peer.
#include "machines/kind.h"
#include "topo/build.h"

static const char SECTION[] = MACHINE_KIND_SECTION;
static const char *const KEYS[] = {
    "gpus", "gpus_per_switch", "sockets", "bandwidth", "latency", "socket_bandwidth", "socket_latency",
    "p2p",  "host_bandwidth",  NULL};

// p2p = no: the GPUs do not see each other, and host_bandwidth is what one socket copies for them.
static gboolean pcie_get_host(MachineKindFile *file, TopoBuildPcie *spec, GError **error)
{
    gboolean p2p = TRUE;
    if (!ini_get_flag(file->ini, SECTION, "p2p", INI_OPTIONAL, &p2p, error))
        return FALSE;
    if (!p2p)
        return machine_kind_get_rate(file, "host_bandwidth", INI_REQUIRED, &spec->host_bandwidth, error);
    return machine_kind_check_absent(file, "host_bandwidth", "host_bandwidth",
                                     "peer-to-peer, wanted only with p2p = no", error);
}

static TopoGraph *pcie_read(MachineKindFile *file, GError **error)
{
    TopoBuildPcie spec = {0};
    guint32 box = 0;
    if (!machine_kind_get_box(file, TOPO_BUILD_GPUS, &box, &spec.gpus, error) ||
        !machine_kind_get_count(file, "gpus_per_switch", INI_REQUIRED, box, &spec.gpus_per_switch, error) ||
        !machine_kind_get_count(file, "sockets", INI_REQUIRED, 64, &spec.sockets, error) ||
        !machine_kind_get_rate(file, "bandwidth", INI_REQUIRED, &spec.bandwidth, error) ||
        !machine_kind_get_latency(file, "latency", INI_REQUIRED, &spec.latency, error))
        return NULL;
    gboolean fine =
        spec.sockets == 1
            ? machine_kind_check_absent(file, "socket_bandwidth", "socket_latency",
                                        "sockets = 1, wanted only where there are sockets to join", error)
            : machine_kind_get_rate(file, "socket_bandwidth", INI_REQUIRED, &spec.socket_bandwidth, error) &&
                  machine_kind_get_latency(file, "socket_latency", INI_REQUIRED, &spec.socket_latency, error);
    if (!fine || !pcie_get_host(file, &spec, error))
        return NULL;
    spec.switches = box / spec.gpus_per_switch;
    if (box % spec.gpus_per_switch != 0 || spec.switches % spec.sockets != 0) {
        ini_refuse(file->ini, SECTION, "gpus", error,
                   "found %u, wanted a multiple of gpus_per_switch x sockets = %" G_GUINT64_FORMAT, box,
                   (guint64)spec.gpus_per_switch * spec.sockets);
        return NULL;
    }
    return topo_build_pcie(&spec);
}

const MachineKind MACHINE_KIND_PCIE = {
    .name = "pcie",
    .title = "a box without NVLink: PCIe switches below CPU sockets",
    .keys = KEYS,
    .read = pcie_read,
};
