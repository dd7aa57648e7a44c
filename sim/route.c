// sim/route.c: compiling routes to hops.
#include "sim/route.h"

void sim_routes_init(SimRoutes *routes)
{
    routes->routes = g_array_new(FALSE, FALSE, sizeof(SimRoute));
    routes->links = g_array_new(FALSE, FALSE, sizeof(guint32));
    routes->hops = g_array_new(FALSE, FALSE, sizeof(SimHop));
}

void sim_routes_clear(SimRoutes *routes)
{
    g_array_unref(routes->routes);
    g_array_unref(routes->links);
    g_array_unref(routes->hops);
}

guint32 sim_routes_add(SimRoutes *routes, const guint32 *links, guint32 n)
{
    g_assert(n >= 1);
    SimRoute route = {.first_link = routes->links->len, .n_links = n};
    g_array_append_vals(routes->links, links, n);
    g_array_append_val(routes->routes, route);
    return routes->routes->len - 1;
}

#define FEEDER_NONE G_MAXUINT32       // no route has entered it yet
#define FEEDER_MANY (G_MAXUINT32 - 1) // it is entered from several links, or from outside

// Which single link feeds each link, over all routes.
static guint32 *sim_routes_feeders(const SimRoutes *routes, guint32 n_links)
{
    guint32 *feeders = g_new(guint32, n_links + 1);
    for (guint32 i = 0; i < n_links; i++)
        feeders[i] = FEEDER_NONE;
    for (guint32 r = 0; r < routes->routes->len; r++) {
        const SimRoute *route = sim_routes_get(routes, r);
        const guint32 *ids = sim_routes_links(routes, route);
        for (guint32 i = 0; i < route->n_links; i++) {
            guint32 feeder = i == 0 ? FEEDER_MANY : ids[i - 1];
            if (feeders[ids[i]] == FEEDER_NONE)
                feeders[ids[i]] = feeder;
            else if (feeders[ids[i]] != feeder)
                feeders[ids[i]] = FEEDER_MANY;
        }
    }
    return feeders;
}

// Whether link b, fed at the spacing of link a, never makes anything wait (see sim/route.h).
static gboolean sim_routes_keeps_up(const SimLink *a, const SimLink *b)
{
    if (a->pace.num == b->pace.num && a->pace.den == b->pace.den)
        return TRUE;
    // a's ps a byte >= b's + 2
    unsigned __int128 slow = (unsigned __int128)a->pace.num * b->pace.den;
    unsigned __int128 fast = (unsigned __int128)b->pace.num * a->pace.den;
    return slow >= fast + 2 * (unsigned __int128)a->pace.den * b->pace.den;
}

void sim_routes_compile(SimRoutes *routes, const SimLink *links, guint32 n_links, gboolean fuse)
{
    g_assert(routes->hops->len == 0);
    g_autofree guint32 *feeders = sim_routes_feeders(routes, n_links);
    for (guint32 r = 0; r < routes->routes->len; r++) {
        SimRoute *route = &((SimRoute *)(void *)routes->routes->data)[r];
        const guint32 *ids = sim_routes_links(routes, route);
        route->first_hop = routes->hops->len;
        guint32 queued = ids[0]; // the link where it queued last
        for (guint32 i = 0; i < route->n_links; i++) {
            gboolean later = i > 0 && links[ids[i - 1]].latency > 0 && links[ids[i]].latency > 0;
            if (fuse && later && feeders[ids[i]] == ids[i - 1] &&
                sim_routes_keeps_up(&links[queued], &links[ids[i]])) {
                SimHop *before = &((SimHop *)(void *)routes->hops->data)[routes->hops->len - 1];
                before->latency += links[ids[i]].latency;
                continue;
            }
            SimHop hop = {.latency = links[ids[i]].latency, .link = ids[i]};
            g_array_append_val(routes->hops, hop);
            queued = ids[i];
        }
        route->n_hops = routes->hops->len - route->first_hop;
    }
}
