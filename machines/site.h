// machines/site.h: the keys that the kinds islands and wan share: nodes of GPUs on an NVSwitch, and their
// network.
#pragma once

#include "machines/kind.h"
#include "topo/build.h"

#define MACHINE_SITE_KEYS                                                                                    \
    "gpus", "gpus_per_node", "nvlink_bandwidth", "nvlink_latency", "network_bandwidth", "network_latency",   \
        "pcie_bandwidth"

// All of an `islands` machine but the number of GPUs. FALSE with an error.
gboolean machine_site_read(MachineKindFile *file, TopoBuildIslands *spec, GError **error);
