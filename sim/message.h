// sim/message.h: transfers along routes of links, hop by hop, cut-through.
//
// Per hop: the head of a chunk enters at max(its arrival, when the link is free); the link is then busy for
// bytes/bandwidth; the head reaches the next hop after the link's latency; the tail leaves at max(head + busy
// time, when the tail left the previous hop + that hop's latency). An empty message waits for nobody. The
// message is delivered when its last tail has arrived. Uncontended this is the sum of the latencies plus
// bytes over the least bandwidth. A message longer than the chunk size is offered to its first hop chunk by
// chunk, each when the one before has left it, so that flows sharing a link share it. Buffers are unlimited.
// (Occupancies are rounded up to a picosecond once per message prefix: through hops of almost equal bandwidth
// a chunked message may take 1 ps a hop longer than the closed form.)
//
// Life: init, sim_network_add_link for every link, sim_routes_add on its routes for every route,
// sim_network_freeze, then sim_network_send while the engine runs, then sim_network_finish before the totals
// of links are read.
#pragma once

#include <glib.h>

#include "sim/engine.h"
#include "sim/link.h"
#include "sim/route.h"

// A chunk on its way, with all that its message needs to know.
typedef struct {
    Ps tail;       // when its tail has left the previous hop and crossed its latency; 0 at the first
    gint64 bytes;  // of the message
    guint64 key;   // of the message: order among what reaches a link at one instant
    guint32 route; //
    guint32 hop;   // which of the route's hops it enters next
    guint32 chunk; // which chunk
    guint32 owner; // the sender's words
    guint32 step;  //
    guint32 from;  //
    guint32 to;    //
    guint32 next;  // free list
} SimFlight;

// Called when a message has arrived; the flight is a copy.
typedef void (*SimDelivered)(gpointer user, const SimFlight *flight);

// Messages of equal size along one route since the last change of size, not yet in the links' totals.
typedef struct {
    gint64 bytes;
    guint64 length;
} SimRun;

typedef struct {
    SimEngine *engine;      // borrowed
    GArray *link_list;      // of SimLink; owned
    SimRoutes routes;       //
    SimLink *links;         // borrowed from link_list, from freeze on
    gint64 *link_bytes;     // totals per link; owned, from freeze on
    Ps *link_busy;          // owned, from freeze on
    SimRun *runs;           // per route; owned, from freeze on
    SimFlight *flights;     // owned
    guint32 room, free;     // free: head of the free list; G_MAXUINT32: none
    gint64 chunk;           // bytes
    guint64 messages;       // sent
    SimDelivered delivered; //
    gpointer user;          // borrowed
} SimNetwork;

// chunk > 0 bytes.
void sim_network_init(SimNetwork *network, SimEngine *engine, gint64 chunk, SimDelivered delivered,
                      gpointer user);
void sim_network_clear(SimNetwork *network);

guint32 sim_network_add_link(SimNetwork *network, double bandwidth, Ps latency);
// Compiles the routes to hops; fuse: take the exact shortcut of sim/route.h.
void sim_network_freeze(SimNetwork *network, gboolean fuse);

// Sends flight->bytes along flight->route, offering it to the first link after delay (>= 0) ps. The caller
// fills bytes, key (below 2^62, unique among messages in flight), route, owner, step, from, to.
void sim_network_send(SimNetwork *network, const SimFlight *flight, Ps delay);

// Brings the totals of links up to date.
void sim_network_finish(SimNetwork *network);
