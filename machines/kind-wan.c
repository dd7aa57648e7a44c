// machines/kind-wan.c: kind = wan: sites of islands, joined over a long distance.
#include "machines/kind.h"
#include "machines/site.h"
#include "machines/wan.h"
#include "topo/build.h"
#include "topo/links.h"

static const char SECTION[] = MACHINE_KIND_SECTION;
static const char *const KEYS[] = {
    MACHINE_SITE_KEYS, "sites",   "wan_bandwidth", "wan_latency", "rtt", "loss",
    "window",          "streams", "mtu",           NULL};

// With rtt: wan_bandwidth is the line's, and what TCP makes of it is worked out.
static gboolean wan_get_tcp(MachineKindFile *file, TopoBuildWan *spec, GError **error)
{
    MachineWan wan = {.line = spec->wan_bandwidth, .streams = 1, .mtu = 1500};
    gint64 mtu = wan.mtu;
    if (!machine_kind_check_absent(file, "wan_latency", "wan_latency", "rtt, wanted one of them", error) ||
        !machine_kind_get_latency(file, "rtt", INI_REQUIRED, &wan.rtt, error) ||
        !ini_get(file->ini, SECTION, "loss", INI_OPTIONAL, UNITS_FRACTION, &wan.loss, error) ||
        !ini_get_whole(file->ini, SECTION, "window", INI_OPTIONAL, UNITS_BYTES, &wan.window, error) ||
        !machine_kind_get_count(file, "streams", INI_OPTIONAL, 1000000, &wan.streams, error) ||
        !ini_get_whole(file->ini, SECTION, "mtu", INI_OPTIONAL, UNITS_BYTES, &mtu, error))
        return FALSE;
    if (wan.rtt == 0)
        return ini_refuse(file->ini, SECTION, "rtt", error, "found 0, wanted more");
    if (wan.window == 0 && ini_has(file->ini, SECTION, "window"))
        return ini_refuse(file->ini, SECTION, "window", error, "found 0, wanted more");
    if (mtu < MACHINE_WAN_MTU_LEAST || mtu > 65535)
        return ini_refuse(file->ini, SECTION, "mtu", error,
                          "found %" G_GINT64_FORMAT " B, wanted %d to 65535 B", mtu, MACHINE_WAN_MTU_LEAST);
    wan.mtu = (guint32)mtu;
    MachineWanLimit limit = MACHINE_WAN_LINE;
    spec->wan_bandwidth = machine_wan_rate(&wan, &limit);
    spec->wan_latency = wan.rtt / 2;
    if (spec->wan_bandwidth < 1)
        return ini_refuse(file->ini, SECTION, "rtt", error,
                          "found a WAN of %g B/s (limited by %s), wanted at least 1 B/s", spec->wan_bandwidth,
                          MACHINE_WAN_LIMITS[limit]);
    g_autofree char *rate = units_format_rate(spec->wan_bandwidth);
    machine_kind_add_note(file, "the WAN carries %s with %u TCP streams, limited by %s", rate, wan.streams,
                          MACHINE_WAN_LIMITS[limit]);
    if (wan.window == 0)
        machine_kind_add_note(file, "no window is given: assumed large enough");
    if (wan.loss <= 0)
        machine_kind_add_note(file, "no loss is given: assumed to be none");
    return TRUE;
}

static gboolean wan_get_link(MachineKindFile *file, TopoBuildWan *spec, GError **error)
{
    static const char *const tcp[] = {"loss", "window", "streams", "mtu"};
    if (!machine_kind_get_rate(file, "wan_bandwidth", INI_REQUIRED, &spec->wan_bandwidth, error))
        return FALSE;
    if (ini_has(file->ini, SECTION, "rtt"))
        return wan_get_tcp(file, spec, error);
    for (guint i = 0; i < G_N_ELEMENTS(tcp); i++)
        if (!machine_kind_check_absent(file, tcp[i], tcp[i], "no rtt, wanted only beside it", error))
            return FALSE;
    return machine_kind_get_latency(file, "wan_latency", INI_REQUIRED, &spec->wan_latency, error);
}

static TopoGraph *wan_read(MachineKindFile *file, GError **error)
{
    TopoBuildWan spec = {0};
    gint64 sites = 2;
    guint32 gpus = 0;
    if (!ini_get_count(file->ini, SECTION, "sites", INI_REQUIRED, 2, 64, &sites, error) ||
        !machine_site_read(file, &spec.site, error) || !wan_get_link(file, &spec, error) ||
        !machine_kind_get_gpus(file, (guint32)sites * spec.site.gpus_per_node,
                               "one node of gpus_per_node GPUs a site", FALSE, &gpus, error))
        return NULL;
    spec.sites = (guint32)sites;
    spec.site.gpus = gpus / spec.sites;
    return topo_build_wan(&spec);
}

const MachineKind MACHINE_KIND_WAN = {
    .name = "wan",
    .title = "sites of islands joined over a long distance",
    .keys = KEYS,
    .read = wan_read,
};
