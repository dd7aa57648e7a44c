// sim/share.h: max-min fair rates of flows that share resources. A pure function.
//
// Every flow would take a share of some resources at its full rate (a collective alone keeps a link busy for
// that share of its time). Rates grow together, in proportion to the share that a flow takes of its own
// bottleneck, until a flow has its full rate or a resource that it needs is full (progressive filling:
// Bertsekas and Gallager, "Data Networks", section 6.5.2).
#pragma once

#include <glib.h>

#define SIM_SHARE_ONE (1u << 20) // a whole resource, and a full rate

typedef struct {
    guint32 resource;
    guint32 share; // of SIM_SHARE_ONE, at full rate; at most the whole
} SimUse;

typedef struct {
    const SimUse *uses; // borrowed; each resource at most once
    guint32 n_uses;
    double weight; // work: the largest of its shares
    guint32 rate;  // out: of SIM_SHARE_ONE, at least 1
} SimShare;

// Fills every flow's rate. work is scratch space for 2 * resources doubles.
void sim_share(SimShare *flows, guint32 n, double *work, guint32 resources);
