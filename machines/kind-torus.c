// machines/kind-torus.c: kind = torus: slices of chips in a 2D or 3D torus or mesh, joined by their hosts'
// NICs.
//
// Chip (x, y, z) of slice s has number s * X*Y*Z + x + X * (y + Y * z). Every chip is joined to its next in
// each direction, and with wrap = yes the last of a row to the first where the row has at least wrap_from
// chips (a row of two has one cable). Where 'largest' is given, a number of chips asked for that fits in it
// is one slice: of the shapes within 'largest' one whose sides are multiples of 4 if that can be, with the
// shortest longest way; more chips are slices of the largest shape. Where it is not, fewer chips than a slice
// are whole planes of it, or whole rows of a plane. Chips forward.
//
// The longest side comes first: ranks that exchange most (tensor parallel) are consecutive, and frameworks
// give them whole axes (jax/_src/mesh_utils.py, which splits none by itself: 8 or 16 ways on 4 x 8 x 8, 8 x 8
// x 16 and 8 x 16 x 16 are the long ones).
//
// A host is chips_per_host chips of consecutive numbers (in a real machine a block of the torus) with one
// NIC, the NICs of all slices on one switch that never blocks; chip - NIC takes half of network_latency, so
// that the way through a NIC is never shorter than the one through the torus.
#include <string.h>

#include "base/error.h"
#include "machines/fabric.h"
#include "machines/join.h"
#include "machines/kind.h"
#include "topo/build.h"

static const char SECTION[] = MACHINE_KIND_SECTION;
static const char *const KEYS[] = {"dims",
                                   "largest",
                                   "wrap",
                                   "wrap_from",
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
    guint32 wrap_from; // the shortest row that wraps
    guint32 chips_per_host;
    double link, network; // bytes/s one way: of one link, of one host's NIC
    Ps link_latency, network_latency;
} TorusSpec;

// "16x16" or "4x4x4".
static gboolean torus_get_dims(MachineKindFile *file, const char *key, guint32 dims[TORUS_DIMS],
                               GError **error)
{
    g_autofree char *text = NULL;
    if (!ini_get_text(file->ini, SECTION, key, INI_REQUIRED, &text, error))
        return FALSE;
    g_auto(GStrv) parts = g_strsplit(text, "x", -1);
    guint n = g_strv_length(parts);
    gboolean fine = n == 2 || n == TORUS_DIMS;
    guint64 chips = 1;
    dims[TORUS_DIMS - 1] = 1;
    for (guint i = 0; fine && i < n; i++) {
        gsize length = strlen(parts[i]);
        fine = length >= 1 && length <= 5 && strspn(parts[i], "0123456789") == length;
        dims[i] = fine ? (guint32)g_ascii_strtoull(parts[i], NULL, 10) : 0;
        chips *= dims[i];
        fine = fine && chips >= 1 && chips <= TOPO_BUILD_GPUS;
    }
    if (fine)
        return TRUE;
    g_autofree char *quoted = base_error_quote(text);
    return ini_refuse(file->ini, SECTION, key, error,
                      "found '%s', wanted two or three sizes such as 16x16 or 4x4x4, %d chips at most",
                      quoted, TOPO_BUILD_GPUS);
}

static guint32 torus_chips(const guint32 dims[TORUS_DIMS])
{
    return dims[0] * dims[1] * dims[2];
}

static gboolean torus_wraps(const TorusSpec *spec, guint32 size)
{
    return spec->wrap && size > 2 && size >= spec->wrap_from;
}

// The most links between two chips of a slice.
static guint32 torus_diameter(const TorusSpec *spec)
{
    guint32 sum = 0;
    for (guint i = 0; i < TORUS_DIMS; i++)
        sum += torus_wraps(spec, spec->dims[i]) ? spec->dims[i] / 2 : spec->dims[i] - 1;
    return sum;
}

// The best shape of so many chips within largest: one whose sides are all multiples of 4 if there is one,
// then the most like a cube (the least sum of its sides), then the one whose first sides are longest. FALSE
// where there is none.
static gboolean torus_find_shape(const guint32 largest[TORUS_DIMS], guint32 chips, guint32 dims[TORUS_DIMS])
{
    guint32 best = G_MAXUINT32;
    for (guint32 x = largest[0]; x >= 1; x--)
        for (guint32 y = largest[1]; y >= 1 && chips % x == 0; y--) {
            guint32 shape[TORUS_DIMS] = {x, y, chips / x / y};
            if (torus_chips(shape) != chips || shape[2] > largest[2])
                continue;
            gboolean by_four = TRUE;
            for (guint i = 0; i < TORUS_DIMS; i++)
                by_four = by_four && (largest[i] == 1 || shape[i] % 4 == 0);
            guint32 score = (by_four ? 0 : 4 * TOPO_BUILD_GPUS) + x + y + shape[2];
            if (score >= best)
                continue;
            best = score;
            memcpy(dims, shape, sizeof shape);
        }
    return best != G_MAXUINT32;
}

// A part of a slice in whole planes, or in whole rows of one plane.
static gboolean torus_find_part(const guint32 whole[TORUS_DIMS], guint32 chips, guint32 dims[TORUS_DIMS])
{
    guint32 plane = whole[0] * whole[1];
    dims[0] = whole[0];
    dims[1] = chips % plane == 0 ? whole[1] : chips / whole[0];
    dims[2] = chips % plane == 0 ? chips / plane : 1;
    return chips % plane == 0 || (chips % whole[0] == 0 && dims[1] < whole[1]);
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
            else if (torus_wraps(spec, size))
                topo_graph_add_cable(graph, chip, chip - (size - 1) * stride, TOPO_LINK_NVLINK, spec->link,
                                     spec->link_latency);
        }
    }
    for (guint32 chip = 0; chip < spec->chips; chip++)
        topo_build_spoke(graph, chip, nic + chip / spec->chips_per_host, TOPO_LINK_PCIE, spec->network,
                         spec->network_latency, 0, 2);
    return graph;
}

// The shape and number of slices: the file's, or those that what was asked for makes.
static gboolean torus_get_slices(MachineKindFile *file, TorusSpec *spec, guint32 *slices, GError **error)
{
    guint32 largest[TORUS_DIMS] = {0};
    if (!torus_get_dims(file, "dims", spec->dims, error))
        return FALSE;
    memcpy(largest, spec->dims, sizeof largest);
    gboolean shapes = ini_has(file->ini, SECTION, "largest");
    if (shapes && !torus_get_dims(file, "largest", largest, error))
        return FALSE;
    *slices = 1;
    if (!machine_kind_get_count(file, "slices", INI_OPTIONAL, TOPO_BUILD_GPUS / torus_chips(spec->dims),
                                slices, error))
        return FALSE;
    for (guint i = 0; i < TORUS_DIMS; i++)
        if (spec->dims[i] > largest[i])
            return ini_refuse(file->ini, SECTION, "dims", error,
                              "found more than 'largest', wanted at most that");
    spec->chips = torus_chips(spec->dims);
    if (file->asked == 0 || file->asked == spec->chips * *slices)
        return TRUE;
    guint32 most = torus_chips(largest);
    gboolean fine = file->asked % most == 0;
    if (fine)
        memcpy(spec->dims, largest, sizeof largest);
    else if (shapes && file->asked < most)
        fine = torus_find_shape(largest, file->asked, spec->dims);
    else if (file->asked < most)
        fine = torus_find_part(largest, file->asked, spec->dims);
    spec->chips = torus_chips(spec->dims);
    *slices = file->asked / spec->chips;
    if (fine)
        return TRUE;
    g_autofree char *wanted = g_strdup_printf("a multiple of %u%s", most,
                                              shapes ? ", or a number of chips that fits in one slice"
                                                     : ", or fewer in whole planes or rows of a slice");
    return machine_kind_refuse_gpus(file, wanted, "grows by slices", error);
}

static TopoGraph *torus_read(MachineKindFile *file, GError **error)
{
    TorusSpec spec = {0};
    guint32 slices = 1;
    if (!ini_get_flag(file->ini, SECTION, "wrap", INI_REQUIRED, &spec.wrap, error) ||
        !machine_kind_get_count(file, "wrap_from", INI_OPTIONAL, TOPO_BUILD_GPUS, &spec.wrap_from, error) ||
        !torus_get_slices(file, &spec, &slices, error) ||
        !machine_kind_get_rate(file, "link_bandwidth", INI_REQUIRED, &spec.link, error) ||
        !machine_kind_get_latency(file, "link_latency", INI_REQUIRED, &spec.link_latency, error) ||
        !machine_kind_get_count(file, "chips_per_host", INI_REQUIRED, TOPO_BUILD_GPUS, &spec.chips_per_host,
                                error) ||
        !machine_kind_get_rate(file, "network_bandwidth", INI_REQUIRED, &spec.network, error) ||
        !machine_kind_get_latency(file, "network_latency", INI_REQUIRED, &spec.network_latency, error))
        return NULL;
    spec.chips_per_host = MIN(spec.chips_per_host, spec.chips); // a slice smaller than a host
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
    MachineFabric single = {0};
    return machine_join_nodes(slice, slices, spec.network, 0, 0, &single);
}

const MachineKind MACHINE_KIND_TORUS = {
    .name = "torus",
    .title = "slices of chips in a 2D or 3D torus, joined by their hosts' NICs",
    .keys = KEYS,
    .read = torus_read,
};
