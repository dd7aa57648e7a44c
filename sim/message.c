// sim/message.c: chunks hop by hop.
#include "sim/message.h"

#include <string.h>

#define KEY_MESSAGE (G_GUINT64_CONSTANT(1) << 62) // after tasks, at one instant

static void sim_network_arrive(gpointer owner, const SimEvent *event);
static void sim_network_deliver(gpointer owner, const SimEvent *event);

void sim_network_init(SimNetwork *network, SimEngine *engine, gint64 chunk, SimDelivered delivered,
                      gpointer user)
{
    g_assert(chunk > 0);
    memset(network, 0, sizeof *network);
    network->engine = engine;
    network->chunk = chunk;
    network->delivered = delivered;
    network->user = user;
    network->free = G_MAXUINT32;
    network->link_list = g_array_new(FALSE, FALSE, sizeof(SimLink));
    sim_routes_init(&network->routes);
    sim_engine_handle(engine, SIM_HANDLER_ARRIVE, sim_network_arrive, network);
    sim_engine_handle(engine, SIM_HANDLER_DELIVER, sim_network_deliver, network);
}

void sim_network_clear(SimNetwork *network)
{
    g_array_unref(network->link_list);
    sim_routes_clear(&network->routes);
    g_free(network->runs);
    g_free(network->link_bytes);
    g_free(network->link_busy);
    g_free(network->flights);
    memset(network, 0, sizeof *network);
}

guint32 sim_network_add_link(SimNetwork *network, double bandwidth, Ps latency)
{
    SimLink link = {.pace = units_pace(bandwidth), .latency = latency};
    g_array_append_val(network->link_list, link);
    return network->link_list->len - 1;
}

void sim_network_freeze(SimNetwork *network, gboolean fuse)
{
    network->links = (SimLink *)(void *)network->link_list->data;
    sim_routes_compile(&network->routes, network->links, network->link_list->len, fuse);
    network->link_bytes = g_new0(gint64, network->link_list->len + 1);
    network->link_busy = g_new0(Ps, network->link_list->len + 1);
    network->runs = g_new0(SimRun, network->routes.routes->len + 1);
}

// Moves a route's run of equal messages into the totals of its links.
static void sim_network_settle(SimNetwork *network, guint32 id)
{
    SimRun *run = &network->runs[id];
    if (run->length == 0)
        return;
    const SimRoute *route = sim_routes_get(&network->routes, id);
    const guint32 *links = sim_routes_links(&network->routes, route);
    for (guint32 i = 0; i < route->n_links; i++) {
        network->link_bytes[links[i]] += run->bytes * (gint64)run->length;
        network->link_busy[links[i]] +=
            units_pace_time(network->links[links[i]].pace, run->bytes) * (Ps)run->length;
    }
    run->length = 0;
}

void sim_network_finish(SimNetwork *network)
{
    for (guint32 i = 0; i < network->routes.routes->len; i++)
        sim_network_settle(network, i);
}

static guint32 sim_network_take_flight(SimNetwork *network)
{
    if (G_UNLIKELY(network->free == G_MAXUINT32)) {
        guint32 old = network->room;
        network->room = MAX(256, old * 2);
        network->flights = g_renew(SimFlight, network->flights, network->room);
        for (guint32 i = old; i < network->room; i++)
            network->flights[i].next = i + 1 < network->room ? i + 1 : G_MAXUINT32;
        network->free = old;
    }
    guint32 id = network->free;
    network->free = network->flights[id].next;
    return id;
}

static inline void sim_network_drop_flight(SimNetwork *network, guint32 id)
{
    network->flights[id].next = network->free;
    network->free = id;
}

static inline void sim_network_offer(SimNetwork *network, guint32 id, Ps time)
{
    const SimFlight *flight = &network->flights[id];
    SimEvent event = {.time = time,
                      .key = flight->key | KEY_MESSAGE | SIM_EVENT_START,
                      .order = flight->chunk,
                      .handler = SIM_HANDLER_ARRIVE,
                      .a = id};
    sim_engine_push(network->engine, &event);
}

void sim_network_send(SimNetwork *network, const SimFlight *flight, Ps delay)
{
    SimRun *run = &network->runs[flight->route];
    if (run->bytes != flight->bytes) {
        sim_network_settle(network, flight->route);
        run->bytes = flight->bytes;
    }
    run->length++;
    network->messages++;
    guint32 id = sim_network_take_flight(network);
    SimFlight *own = &network->flights[id];
    *own = *flight;
    own->tail = 0;
    own->hop = 0;
    own->chunk = 0;
    sim_network_offer(network, id, network->engine->now + delay);
}

static void sim_network_arrive(gpointer owner, const SimEvent *event)
{
    SimNetwork *network = owner;
    guint32 id = event->a;
    SimFlight *flight = &network->flights[id];
    const SimRoute *route = sim_routes_get(&network->routes, flight->route);
    const SimHop *hop = &((const SimHop *)(void *)network->routes.hops->data)[route->first_hop + flight->hop];
    SimLink *link = &network->links[hop->link];
    gint64 from = (gint64)flight->chunk * network->chunk;
    gint64 to = flight->bytes - from > network->chunk ? from + network->chunk : flight->bytes;
    Ps head = event->time, out = head;
    if (to != from) { // an empty message waits for nobody
        head = MAX(head, link->free);
        out = link->free = head + sim_link_part(link, from, to);
    }
    Ps tail = MAX(out, flight->tail);
    gboolean last = to == flight->bytes;
    if (flight->hop == 0 && !last) {
        guint32 following = sim_network_take_flight(network);
        flight = &network->flights[id]; // the array may have moved
        network->flights[following] = *flight;
        network->flights[following].chunk++;
        sim_network_offer(network, following, out);
    }
    if (flight->hop + 1 < route->n_hops) {
        flight->hop++;
        flight->tail = tail + hop->latency;
        sim_network_offer(network, id, head + hop->latency);
    } else if (last) {
        SimEvent arrival = {.time = tail + hop->latency,
                            .key = flight->key | KEY_MESSAGE,
                            .handler = SIM_HANDLER_DELIVER,
                            .a = id};
        sim_engine_push(network->engine, &arrival);
    } else {
        sim_network_drop_flight(network, id);
    }
}

static void sim_network_deliver(gpointer owner, const SimEvent *event)
{
    SimNetwork *network = owner;
    SimFlight flight = network->flights[event->a];
    sim_network_drop_flight(network, event->a);
    network->delivered(network->user, &flight);
}
