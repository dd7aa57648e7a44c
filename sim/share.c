// sim/share.c: progressive filling.
#include "sim/share.h"

// The share that a flow takes of its bottleneck; 0: it takes nothing.
static double share_weight(const SimShare *flow)
{
    guint32 most = 0;
    for (guint32 i = 0; i < flow->n_uses; i++)
        most = MAX(most, flow->uses[i].share);
    return (double)most;
}

// How far the level may rise before some resource is full: the level is what a flow takes of its bottleneck.
// room is what frozen flows leave of each resource, growth what the others take of it per level. Of the
// resources only those that flows use are looked at.
static double share_limit(SimShare *flows, guint32 n, const double *room, double *growth)
{
    for (guint32 f = 0; f < n; f++)
        for (guint32 i = 0; i < flows[f].n_uses; i++)
            growth[flows[f].uses[i].resource] = 0;
    for (guint32 f = 0; f < n; f++)
        for (guint32 i = 0; flows[f].rate == 0 && i < flows[f].n_uses; i++)
            growth[flows[f].uses[i].resource] += flows[f].uses[i].share / flows[f].weight;
    double limit = G_MAXDOUBLE;
    for (guint32 f = 0; f < n; f++)
        for (guint32 i = 0; flows[f].rate == 0 && i < flows[f].n_uses; i++) {
            guint32 r = flows[f].uses[i].resource;
            if (growth[r] > 0)
                limit = MIN(limit, MAX(room[r], 0) / growth[r]);
        }
    return limit;
}

static void share_freeze(SimShare *flow, double rate, double *room)
{
    flow->rate = (guint32)CLAMP(rate * SIM_SHARE_ONE, 1, SIM_SHARE_ONE);
    for (guint32 i = 0; i < flow->n_uses; i++)
        room[flow->uses[i].resource] -= rate * flow->uses[i].share;
}

void sim_share(SimShare *flows, guint32 n, double *work, guint32 resources)
{
    double *room = work, *growth = work + resources;
    guint32 left = 0;
    for (guint32 f = 0; f < n; f++) {
        for (guint32 i = 0; i < flows[f].n_uses; i++)
            room[flows[f].uses[i].resource] = SIM_SHARE_ONE;
        flows[f].weight = share_weight(&flows[f]);
        flows[f].rate = flows[f].weight > 0 ? 0 : SIM_SHARE_ONE;
        left += flows[f].rate == 0;
    }
    while (left > 0) {
        double limit = share_limit(flows, n, room, growth);
        guint32 before = left;
        // Those that reach their full rate below the limit have it.
        for (guint32 f = 0; f < n; f++)
            if (flows[f].rate == 0 && flows[f].weight <= limit * (1 + 1e-9)) {
                share_freeze(&flows[f], 1, room);
                left--;
            }
        if (left < before)
            continue;
        // Else those that need a resource which is full at the limit stay at it.
        double lowest = limit * (1 + 1e-9);
        for (guint32 f = 0; f < n; f++) {
            gboolean full = FALSE;
            for (guint32 i = 0; flows[f].rate == 0 && i < flows[f].n_uses; i++) {
                guint32 r = flows[f].uses[i].resource;
                full = full || (growth[r] > 0 && MAX(room[r], 0) <= lowest * growth[r]);
            }
            if (full) {
                flows[f].rate = 1; // marks it; its room is taken below
                left--;
            }
        }
        for (guint32 f = 0; f < n; f++)
            if (flows[f].rate == 1)
                share_freeze(&flows[f], limit / flows[f].weight, room);
    }
}
