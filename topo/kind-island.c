// topo/kind-island.c: kind = island: GPUs on one NVSwitch.
#include "topo/build.h"
#include "topo/kind.h"

static const char *const KEYS[] = {"gpus", "bandwidth", "latency", NULL};

static TopoGraph *island_read(TopoKindFile *file, GError **error)
{
    TopoBuildIsland spec = {0};
    guint32 box = 0;
    if (!topo_kind_get_box(file, TOPO_BUILD_GPUS, &box, &spec.gpus, error) ||
        !topo_kind_get_rate(file, "bandwidth", INI_REQUIRED, &spec.bandwidth, error) ||
        !topo_kind_get_latency(file, "latency", INI_REQUIRED, &spec.latency, error))
        return NULL;
    return topo_build_island(&spec);
}

const TopoKind TOPO_KIND_ISLAND = {
    .name = "island",
    .title = "GPUs on one NVSwitch",
    .keys = KEYS,
    .read = island_read,
};
