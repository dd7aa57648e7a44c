// topo/links.h: a machine's graph spelt out link by link: the [links] section of a machine's file.
//
//   gpu0 nvswitch0 = 450 GB/s, 2.5 us, nvlink      a cable: both directions
//   gpu0 > nic0 = 50 GB/s, 1 us, pcie              one direction
//
// Nodes come into being by being named: a kind (TOPO_NODE_NAMES) and a number; the numbers of each kind run
// from 0 without a hole. Node ids go by kind, then number, whatever the order of the lines; link ids go by
// line.
#pragma once

#include <glib.h>

#include "base/ini.h"
#include "topo/graph.h"

// Reads [links]; GPU n stands in island n / gpus_per_node, other nodes in none. Not frozen yet. NULL with an
// error that names file, line and key; caller frees.
TopoGraph *topo_links_read(Ini *ini, guint32 gpus_per_node, gboolean gpu_forward, GError **error);

// What a link's numbers must be, in every kind of machine. FALSE with an error at section.key of ini: a
// bandwidth of at least 1 B/s and below 1e18 B/s (UnitsPace), a latency of at most a minute (so that no sum
// leaves the range of Ps).
gboolean topo_links_check_bandwidth(const Ini *ini, const char *section, const char *key, double bandwidth,
                                    GError **error);
gboolean topo_links_check_latency(const Ini *ini, const char *section, const char *key, Ps latency,
                                  GError **error);
