// topo/device.c: reading a chip's file.
#include "topo/device.h"

#include "base/error.h"
#include "base/library.h"
#include "topo/compute.h"

const char *const TOPO_PRECISION_NAMES[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4", NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(TOPO_PRECISION_NAMES) == TOPO_PRECISIONS + 1);

void topo_device_free(TopoDevice *device)
{
    if (device == NULL)
        return;
    g_free(device->name);
    g_free(device->title);
    g_free(device->source);
    g_free(device->assumed);
    g_free(device);
}

static gboolean device_read_peaks(Ini *ini, TopoDevice *device, GError **error)
{
    guint known = 0;
    for (guint i = 0; i < TOPO_PRECISIONS; i++) {
        const char *key = TOPO_PRECISION_NAMES[i];
        if (!ini_get(ini, "peak", key, INI_OPTIONAL, UNITS_FLOPS, &device->peak[i], error))
            return FALSE;
        if (!ini_has(ini, "peak", key))
            continue;
        if (device->peak[i] < 1e6 || device->peak[i] > 1e21)
            return ini_refuse(
                ini, "peak", key, error,
                "found %g FLOP/s, wanted 1 MFLOP/s to 1000 EFLOP/s (leave out what the chip does "
                "not have)",
                device->peak[i]);
        known++;
    }
    if (known == 0 && ini_finish(ini, error)) {
        g_autofree char *names = g_strjoinv(", ", (char **)TOPO_PRECISION_NAMES);
        return base_error_set(error, BASE_ERROR_FAILED, ini_name(ini),
                              "peak: found none, wanted at least one of: %s", names);
    }
    return known > 0;
}

TopoDevice *topo_device_read(const char *name, const char *where, GError **error)
{
    g_autoptr(Ini) ini = library_read_ini("topo/data/chips", "chip", name, where, error);
    if (ini == NULL)
        return NULL;
    g_autoptr(TopoDevice) device = g_new0(TopoDevice, 1);
    device->name = g_strdup(name);
    device->title = g_strdup(name);
    device->source = g_strdup("not stated");
    if (!ini_get_text(ini, "chip", "title", INI_OPTIONAL, &device->title, error) ||
        !ini_get_text(ini, "chip", "source", INI_OPTIONAL, &device->source, error) ||
        !ini_get_whole(ini, "chip", "memory", INI_REQUIRED, UNITS_BYTES, &device->memory, error) ||
        !ini_get(ini, "chip", "memory_bandwidth", INI_REQUIRED, UNITS_RATE, &device->memory_bandwidth,
                 error) ||
        !device_read_peaks(ini, device, error) || !topo_compute_read(ini, device, error) ||
        !ini_finish(ini, error))
        return NULL;
    if (device->memory == 0) {
        ini_refuse(ini, "chip", "memory", error, "found 0, wanted more");
        return NULL;
    }
    if (device->memory_bandwidth < 1 || device->memory_bandwidth >= 1e18) {
        ini_refuse(ini, "chip", "memory_bandwidth", error,
                   "found %g B/s, wanted at least 1 B/s and less than 1e18 B/s", device->memory_bandwidth);
        return NULL;
    }
    return g_steal_pointer(&device);
}
