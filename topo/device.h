// topo/device.h: one kind of accelerator ("chip"): its peaks and its memory, from topo/data/chips/NAME.ini.
#pragma once

#include <glib.h>

#include "base/ini.h"

typedef enum {
    TOPO_PRECISION_FP32,
    TOPO_PRECISION_TF32,
    TOPO_PRECISION_FP16,
    TOPO_PRECISION_BF16,
    TOPO_PRECISION_FP8, // also mxfp8
    TOPO_PRECISION_INT8,
    TOPO_PRECISION_FP4, // also nvfp4, mxfp4
    TOPO_PRECISIONS,
} TopoPrecision;

// The names as they stand in files ("bf16"), indexed by TopoPrecision, NULL-terminated.
extern const char *const TOPO_PRECISION_NAMES[];

typedef struct {
    char *name;                   // owned: "h100-sxm"
    char *title;                  // owned: "NVIDIA H100 SXM5 80 GB"
    char *source;                 // owned: where the figures come from
    double peak[TOPO_PRECISIONS]; // dense FLOP/s; 0: the chip does not have it
    gint64 memory;           // bytes of device memory, as the driver reports it or nominal: the file says
    double memory_bandwidth; // bytes/s
} TopoDevice;

// Reads topo/data/chips/NAME.ini, or a path. where (may be NULL) starts the error. NULL with an error; caller
// frees.
TopoDevice *topo_device_read(const char *name, const char *where, GError **error);
void topo_device_free(TopoDevice *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopoDevice, topo_device_free)
