// sim/flow.c: flows and their changing rates.
#include "sim/flow.h"

#include <string.h>

static SimFlow *flows_slot(const SimFlows *flows, guint32 id)
{
    return &((SimFlow *)(void *)flows->slots->data)[id];
}

static void flows_push(SimFlows *flows, guint32 id)
{
    SimFlow *flow = flows_slot(flows, id);
    flow->generation++;
    Ps time = flow->rate == SIM_SHARE_ONE
                  ? flow->left
                  : (Ps)(((__int128)flow->left * SIM_SHARE_ONE + flow->rate - 1) / flow->rate);
    SimEvent end = {.time = flows->engine->now + time,
                    .key = (guint64)1 << 61 | id,
                    .order = flow->generation,
                    .handler = SIM_HANDLER_FLOW,
                    .a = id};
    sim_engine_push(flows->engine, &end);
}

// Brings a flow's work up to date.
static void flows_settle(SimFlows *flows, SimFlow *flow)
{
    Ps elapsed = flows->engine->now - flow->since;
    Ps done = flow->rate == SIM_SHARE_ONE ? elapsed : (Ps)((__int128)elapsed * flow->rate / SIM_SHARE_ONE);
    flow->left -= MIN(flow->left, done);
    flow->since = flows->engine->now;
}

// Whether a flow needs a resource that is wanted more than once over; else it has its full rate.
static gboolean flows_crowded(const SimFlows *flows, const SimFlow *flow)
{
    for (guint32 i = 0; i < flow->n_uses; i++)
        if (flows->load[flow->uses[i].resource] > SIM_SHARE_ONE)
            return TRUE;
    return FALSE;
}

// New rates for all, after the set of flows has changed.
static void flows_share(SimFlows *flows)
{
    guint32 n = flows->active->len, crowded = 0;
    g_array_set_size(flows->shares, n);
    SimShare *shares = (SimShare *)(void *)flows->shares->data;
    for (guint32 i = 0; i < n; i++) {
        const SimFlow *flow = flows_slot(flows, g_array_index(flows->active, guint32, i));
        if (flows_crowded(flows, flow))
            shares[crowded++] = (SimShare){.uses = flow->uses, .n_uses = flow->n_uses};
    }
    sim_share(shares, crowded, flows->work, flows->resources);
    crowded = 0;
    for (guint32 i = 0; i < n; i++) {
        guint32 id = g_array_index(flows->active, guint32, i);
        SimFlow *flow = flows_slot(flows, id);
        guint32 rate = flows_crowded(flows, flow) ? shares[crowded++].rate : SIM_SHARE_ONE;
        if (flow->rate == rate)
            continue;
        flows_settle(flows, flow);
        flow->rate = rate;
        flows->slowed += flow->rate < SIM_SHARE_ONE ? 1 : 0;
        flows_push(flows, id);
    }
}

// Whether others use what a flow is about to use.
static gboolean flows_meet(const SimFlows *flows, const SimFlow *flow)
{
    for (guint32 i = 0; i < flow->n_uses; i++)
        if (flows->users[flow->uses[i].resource] > 0)
            return TRUE;
    return FALSE;
}

// Adds (sign 1) or takes away (-1) a flow's load; whether a resource is or was wanted more than once over.
static gboolean flows_load(SimFlows *flows, const SimFlow *flow, gint64 sign)
{
    guint32 before = flows->full;
    for (guint32 i = 0; i < flow->n_uses; i++) {
        guint64 *load = &flows->load[flow->uses[i].resource];
        gboolean was = *load > SIM_SHARE_ONE;
        flows->users[flow->uses[i].resource] += (guint32)sign; // modulo 2^32
        *load = (guint64)((gint64)*load + sign * (gint64)flow->uses[i].share);
        flows->full += (*load > SIM_SHARE_ONE ? 1u : 0u) - (was ? 1u : 0u);
    }
    return before > 0 || flows->full > 0;
}

static void flows_ended(gpointer owner, const SimEvent *event)
{
    SimFlows *flows = owner;
    SimFlow *flow = flows_slot(flows, event->a);
    if (!flow->active || flow->generation != event->order)
        return;
    flow->active = FALSE;
    guint32 word = flow->owner, at = 0;
    while (g_array_index(flows->active, guint32, at) != event->a)
        at++;
    g_array_remove_index(flows->active, at);
    if (flows_load(flows, flow, -1))
        flows_share(flows);
    flows->done(flows->user, word);
}

void sim_flows_init(SimFlows *flows, SimEngine *engine, guint32 resources, SimFlowDone done, gpointer user)
{
    *flows = (SimFlows){.engine = engine, .resources = resources, .done = done, .user = user};
    flows->slots = g_array_new(FALSE, TRUE, sizeof(SimFlow));
    flows->active = g_array_new(FALSE, FALSE, sizeof(guint32));
    flows->shares = g_array_new(FALSE, FALSE, sizeof(SimShare));
    flows->load = g_new0(guint64, resources + 1);
    flows->users = g_new0(guint32, resources + 1);
    flows->work = g_new0(double, 2 * (gsize)resources + 2);
    sim_engine_handle(engine, SIM_HANDLER_FLOW, flows_ended, flows);
}

void sim_flows_clear(SimFlows *flows)
{
    g_array_unref(flows->slots);
    g_array_unref(flows->active);
    g_array_unref(flows->shares);
    g_free(flows->load);
    g_free(flows->users);
    g_free(flows->work);
    memset(flows, 0, sizeof *flows);
}

void sim_flows_start(SimFlows *flows, guint32 owner, Ps time, const SimUse *uses, guint32 n_uses)
{
    guint32 id = 0;
    while (id < flows->slots->len && flows_slot(flows, id)->active)
        id++;
    if (id == flows->slots->len)
        g_array_set_size(flows->slots, id + 1);
    SimFlow *flow = flows_slot(flows, id);
    flow->uses = uses;
    flow->n_uses = n_uses;
    flow->owner = owner;
    flow->rate = SIM_SHARE_ONE;
    flow->active = TRUE;
    flow->left = time;
    flow->since = flows->engine->now;
    g_array_append_val(flows->active, id);
    flows_push(flows, id);
    flows->met += flows_meet(flows, flow) ? 1 : 0;
    if (flows_load(flows, flow, 1))
        flows_share(flows);
}
