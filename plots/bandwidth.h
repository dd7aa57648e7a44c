// plots/bandwidth.h: time and bus bandwidth of a collective against its size, as nccl-tests' tables are
// drawn.
#pragma once

#include <glib.h>

typedef struct {
    double bytes, time_s, busbw; // bytes, s, bytes/s
    const char *label;           // borrowed: the algorithm that was chosen ("nvls/simple")
} PlotBandwidth;

// Draws points (n, by rising size) under a title. FALSE with an error, as plot_write.
gboolean plot_bandwidth_write(const char *path, const char *title, const PlotBandwidth *points, guint n,
                              GError **error);
