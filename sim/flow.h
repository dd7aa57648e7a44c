// sim/flow.h: transfers as flows: a known time alone, longer while others need the same resources
// (sim/share.h).
//
// Where no resource is wanted more than once over, every flow takes exactly its time. Work is counted in
// picoseconds at full rate; done work is rounded down and time left up, so that a change of rates costs at
// most 1 ps a flow.
#pragma once

#include <glib.h>

#include "sim/engine.h"
#include "sim/share.h"

// Called when a flow has ended, at that instant.
typedef void (*SimFlowDone)(gpointer user, guint32 owner);

typedef struct {
    const SimUse *uses; // borrowed while it runs
    guint32 n_uses;
    guint32 owner;      // the caller's word
    guint32 rate;       // of SIM_SHARE_ONE
    guint32 generation; // of its pending event
    gboolean active;
    Ps left, since; // work left at since
} SimFlow;

typedef struct {
    SimEngine *engine; // borrowed
    GArray *slots;     // of SimFlow; owned
    GArray *active;    // of guint32: slots in use, in order of start; owned
    GArray *shares;    // of SimShare; owned
    guint64 *load;     // [resource]: what all active flows take at full rate; owned
    guint32 *users;    // [resource]: how many of them use it, be it too little to count; owned
    double *work;      // owned
    guint32 resources;
    guint32 full;   // resources whose load is above the whole
    guint64 slowed; // how often a flow has run at less than its full rate
    guint64 met;    // how often one began that uses what another was using
    SimFlowDone done;
    gpointer user; // borrowed
} SimFlows;

void sim_flows_init(SimFlows *flows, SimEngine *engine, guint32 resources, SimFlowDone done, gpointer user);
void sim_flows_clear(SimFlows *flows);

// Starts a flow that takes time alone (>= 0).
void sim_flows_start(SimFlows *flows, guint32 owner, Ps time, const SimUse *uses, guint32 n_uses);
