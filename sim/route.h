// sim/route.h: the routes that messages may take, compiled to the places where they queue.
//
// Compiling may fuse hops, an exact shortcut (a switch; tests hold both equal): where every route that enters
// link b comes from link a, and b is not slower than the link where a's messages queued last, nothing ever
// waits at b. Heads reach it in the order and at the spacing at which they left a, at least as far apart as b
// needs; so b costs its latency and no event. (Where the paces differ by less than 2 ps a byte, rounding
// could tell, and b is kept; so it is next to a link of no latency, where what meets at one instant could
// come in another order.)
#pragma once

#include <glib.h>

#include "sim/link.h"

// A place where a route queues, and the latency until the head reaches the next such place or the end.
typedef struct {
    Ps latency;
    guint32 link;
} SimHop;

typedef struct {
    guint32 first_link, n_links; // in links: every link it passes
    guint32 first_hop, n_hops;   // in hops: where it queues
} SimRoute;

typedef struct {
    GArray *routes; // of SimRoute; owned
    GArray *links;  // of guint32; owned
    GArray *hops;   // of SimHop; owned, filled by compile
} SimRoutes;

void sim_routes_init(SimRoutes *routes);
void sim_routes_clear(SimRoutes *routes);

// Adds a route of n >= 1 links; returns its id.
guint32 sim_routes_add(SimRoutes *routes, const guint32 *links, guint32 n);

// Fills hops, once, when all routes are known. links is the table of n_links links that the ids index.
void sim_routes_compile(SimRoutes *routes, const SimLink *links, guint32 n_links, gboolean fuse);

static inline const SimRoute *sim_routes_get(const SimRoutes *routes, guint32 id)
{
    return &((const SimRoute *)(void *)routes->routes->data)[id];
}

// The ids of all links of a route.
static inline const guint32 *sim_routes_links(const SimRoutes *routes, const SimRoute *route)
{
    return &((const guint32 *)(void *)routes->links->data)[route->first_link];
}
