// machines/kind-island.c: kind = island: GPUs on one NVSwitch.
#include "machines/kind.h"
#include "topo/build.h"

static const char *const KEYS[] = {"gpus", "bandwidth", "latency", NULL};

static TopoGraph *island_read(MachineKindFile *file, GError **error)
{
    TopoBuildIsland spec = {0};
    guint32 box = 0;
    if (!machine_kind_get_box(file, TOPO_BUILD_GPUS, &box, &spec.gpus, error) ||
        !machine_kind_get_rate(file, "bandwidth", INI_REQUIRED, &spec.bandwidth, error) ||
        !machine_kind_get_latency(file, "latency", INI_REQUIRED, &spec.latency, error))
        return NULL;
    return topo_build_island(&spec);
}

const MachineKind MACHINE_KIND_ISLAND = {
    .name = "island",
    .title = "GPUs on one NVSwitch",
    .keys = KEYS,
    .read = island_read,
};
