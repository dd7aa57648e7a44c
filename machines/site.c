// machines/site.c: reading the numbers of a site.
#include "machines/site.h"

static const char SECTION[] = MACHINE_KIND_SECTION;

gboolean machine_site_read(MachineKindFile *file, TopoBuildIslands *spec, GError **error)
{
    if (!machine_kind_get_count(file, "gpus_per_node", INI_REQUIRED, TOPO_BUILD_GPUS, &spec->gpus_per_node,
                                error) ||
        !machine_kind_get_rate(file, "network_bandwidth", INI_REQUIRED, &spec->network_bandwidth, error) ||
        !machine_kind_get_latency(file, "network_latency", INI_REQUIRED, &spec->network_latency, error))
        return FALSE;
    spec->pcie_bandwidth = spec->network_bandwidth;
    if (!machine_kind_get_rate(file, "pcie_bandwidth", INI_OPTIONAL, &spec->pcie_bandwidth, error))
        return FALSE;
    if (spec->pcie_bandwidth < spec->network_bandwidth)
        return ini_refuse(
            file->ini, SECTION, "pcie_bandwidth", error,
            "found less than network_bandwidth, wanted at least as much: the NIC's rate is what it can use");
    if (spec->gpus_per_node == 1)
        return machine_kind_check_absent(file, "nvlink_bandwidth", "nvlink_latency",
                                         "gpus_per_node = 1, wanted only where a node has GPUs to join",
                                         error);
    if (!machine_kind_get_rate(file, "nvlink_bandwidth", INI_REQUIRED, &spec->inside.bandwidth, error) ||
        !machine_kind_get_latency(file, "nvlink_latency", INI_REQUIRED, &spec->inside.latency, error))
        return FALSE;
    if (spec->inside.latency > spec->network_latency)
        return ini_refuse(
            file->ini, SECTION, "nvlink_latency", error,
            "found more than network_latency, wanted at most as much: else routes inside a node leave it");
    return TRUE;
}
