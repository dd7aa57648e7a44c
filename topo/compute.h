// topo/compute.h: how near kernels come to a chip's peaks: the optional sections of its file.
#pragma once

#include "topo/device.h"

// Reads [compute], [efficiency], [burst] and the curves of attention into device->compute; device's peaks are
// known. What is absent gets a guess, and device->assumed says so. FALSE with an error.
gboolean topo_compute_read(Ini *ini, TopoDevice *device, GError **error);
