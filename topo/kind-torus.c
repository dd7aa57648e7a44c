// topo/kind-torus.c: kind = torus: slices of chips in a 2D or 3D torus or mesh, joined by their hosts' NICs.
//
// Chip (x, y, z) of slice s has number s * X*Y*Z + x + X * (y + Y * z). Every chip is joined to its next in
// each direction, and with wrap = yes the last of a row to the first (a row of two has one cable). Chips
// forward. A host is chips_per_host chips of consecutive numbers (in a real machine a block of the torus)
// with one NIC, the NICs of all slices on one switch that never blocks; chip - NIC takes half of
// network_latency, so that the way through a NIC is never shorter than the one through the torus.
#include <string.h>

#include "base/error.h"
#include "topo/build.h"
#include "topo/fabric.h"
#include "topo/join.h"
#include "topo/kind.h"

static const char SECTION[] = TOPO_KIND_SECTION;
static const char *const KEYS[] = {"dims",
                                   "wrap",
                                   "slices",
                                   "link_bandwidth",
                                   "link_latency",
                                   "chips_per_host",
                                   "network_bandwidth",
                                   "network_latency",
                                   NULL};

enum { TORUS_DIMS = 3 };

typedef struct {
    guint32 dims[TORUS_DIMS]; // the third is 1 in two dimensions
    guint32 chips;            // their product
    gboolean wrap;
    guint32 chips_per_host;
    double link, network; // bytes/s one way: of one link, of one host's NIC
    Ps link_latency, network_latency;
} TorusSpec;

// "16x16" or "4x4x4".
static gboolean torus_get_dims(TopoKindFile *file, TorusSpec *spec, GError **error)
{
    g_autofree char *text = NULL;
    if (!ini_get_text(file->ini, SECTION, "dims", INI_REQUIRED, &text, error))
        return FALSE;
    g_auto(GStrv) parts = g_strsplit(text, "x", -1);
    guint n = g_strv_length(parts);
    gboolean fine = n == 2 || n == TORUS_DIMS;
    guint64 chips = 1;
    spec->dims[TORUS_DIMS - 1] = 1;
    for (guint i = 0; fine && i < n; i++) {
        gsize length = strlen(parts[i]);
        fine = length >= 1 && length <= 5 && strspn(parts[i], "0123456789") == length;
        spec->dims[i] = fine ? (guint32)g_ascii_strtoull(parts[i], NULL, 10) : 0;
        chips *= spec->dims[i];
        fine = fine && chips >= 1 && chips <= TOPO_BUILD_GPUS;
    }
    if (!fine) {
        g_autofree char *quoted = base_error_quote(text);
        return ini_refuse(file->ini, SECTION, "dims", error,
                          "found '%s', wanted two or three sizes such as 16x16 or 4x4x4, %d chips at most",
                          quoted, TOPO_BUILD_GPUS);
    }
    spec->chips = (guint32)chips;
    return TRUE;
}

// The most links between two chips of a slice.
static guint32 torus_diameter(const TorusSpec *spec)
{
    guint32 sum = 0;
    for (guint i = 0; i < TORUS_DIMS; i++)
        sum += spec->wrap ? spec->dims[i] / 2 : spec->dims[i] - 1;
    return sum;
}

static TopoGraph *torus_build_slice(const TorusSpec *spec)
{
    TopoGraph *graph = topo_graph_new();
    graph->gpu_forward = TRUE;
    topo_build_nodes(graph, TOPO_NODE_GPU, spec->chips, spec->chips);
    guint32 hosts = spec->chips / spec->chips_per_host;
    guint32 nic = topo_build_nodes(graph, TOPO_NODE_NIC, hosts, hosts);
    guint32 stride = 1;
    for (guint i = 0; i < TORUS_DIMS; stride *= spec->dims[i++]) {
        guint32 size = spec->dims[i];
        for (guint32 chip = 0; chip < spec->chips; chip++) {
            gboolean last = chip / stride % size == size - 1;
            if (!last)
                topo_graph_add_cable(graph, chip, chip + stride, TOPO_LINK_NVLINK, spec->link,
                                     spec->link_latency);
            else if (spec->wrap && size > 2)
                topo_graph_add_cable(graph, chip, chip - (size - 1) * stride, TOPO_LINK_NVLINK, spec->link,
                                     spec->link_latency);
        }
    }
    for (guint32 chip = 0; chip < spec->chips; chip++)
        topo_build_spoke(graph, chip, nic + chip / spec->chips_per_host, TOPO_LINK_PCIE, spec->network,
                         spec->network_latency, 0, 2);
    return graph;
}

// Whole slices: the file's number, or what was asked for.
static gboolean torus_get_slices(TopoKindFile *file, const TorusSpec *spec, guint32 *slices, GError **error)
{
    *slices = 1;
    if (!topo_kind_get_count(file, "slices", INI_OPTIONAL, TOPO_BUILD_GPUS / spec->chips, slices, error))
        return FALSE;
    if (file->asked == 0)
        return TRUE;
    *slices = file->asked / spec->chips;
    if (file->asked % spec->chips == 0)
        return TRUE;
    g_autofree char *wanted = g_strdup_printf("a multiple of %u", spec->chips);
    return topo_kind_refuse_gpus(file, wanted, "grows by slices; another slice is another 'dims'", error);
}

static TopoGraph *torus_read(TopoKindFile *file, GError **error)
{
    TorusSpec spec = {0};
    guint32 slices = 1;
    if (!torus_get_dims(file, &spec, error) ||
        !ini_get_flag(file->ini, SECTION, "wrap", INI_REQUIRED, &spec.wrap, error) ||
        !torus_get_slices(file, &spec, &slices, error) ||
        !topo_kind_get_rate(file, "link_bandwidth", INI_REQUIRED, &spec.link, error) ||
        !topo_kind_get_latency(file, "link_latency", INI_REQUIRED, &spec.link_latency, error) ||
        !topo_kind_get_count(file, "chips_per_host", INI_REQUIRED, spec.chips, &spec.chips_per_host, error) ||
        !topo_kind_get_rate(file, "network_bandwidth", INI_REQUIRED, &spec.network, error) ||
        !topo_kind_get_latency(file, "network_latency", INI_REQUIRED, &spec.network_latency, error))
        return NULL;
    if (spec.chips % spec.chips_per_host != 0) {
        ini_refuse(file->ini, SECTION, "chips_per_host", error,
                   "found %u, wanted a number that divides %u chips", spec.chips_per_host, spec.chips);
        return NULL;
    }
    guint32 diameter = torus_diameter(&spec);
    if (diameter > 0 && spec.network_latency / diameter <= spec.link_latency) {
        ini_refuse(
            file->ini, SECTION, "network_latency", error,
            "found too little, wanted more than %u x link_latency (the longest way in a slice): else routes "
            "leave the torus",
            diameter + 1);
        return NULL;
    }
    g_autoptr(TopoGraph) slice = torus_build_slice(&spec);
    TopoFabric single = {0};
    return topo_join_nodes(slice, slices, spec.network, 0, 0, &single);
}

const TopoKind TOPO_KIND_TORUS = {
    .name = "torus",
    .title = "slices of chips in a 2D or 3D torus, joined by their hosts' NICs",
    .keys = KEYS,
    .read = torus_read,
};
