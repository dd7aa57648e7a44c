// topo/border.h: what it costs at least to leave an island, and to enter one: a bound for the search of
// routes.
//
// Islands are joined through nodes that stand in none (switches). In a machine whose GPUs forward (a torus)
// nearly every node of two islands is nearer to its own end of a route than the other end is, and would be
// looked at for nothing: with these bounds it is passed over.
#pragma once

#include <glib.h>

#include "topo/graph.h"

// Of a path, compared in this order; every link costs something.
typedef struct {
    Ps latency;
    guint32 links;
} TopoCost;

static inline int topo_cost_compare(TopoCost a, TopoCost b)
{
    if (a.latency != b.latency)
        return a.latency < b.latency ? -1 : 1;
    return a.links < b.links ? -1 : a.links > b.links;
}

static inline TopoCost topo_cost_sum(TopoCost a, TopoCost b)
{
    return (TopoCost){.latency = a.latency + b.latency, .links = a.links + b.links};
}

typedef struct {
    const TopoGraph *graph; // borrowed
    TopoCost *leave;        // [node]: from it to a node in no island; owned
    TopoCost *enter;        // [node]: from a node in no island to it; owned
    guint32 *exit, *entry;  // [node]: those nodes, G_MAXUINT32: no way; owned
} TopoBorder;

// NULL where the bounds would not hold or not help: GPUs do not forward, there is one island, a link leads
// from one island straight into another, or a border is dozens of links away. graph must be frozen and
// outlive it.
TopoBorder *topo_border_new(const TopoGraph *graph);
void topo_border_free(TopoBorder *border);

// A cost that a cheapest path from a to b does not exceed; FALSE where none is known.
gboolean topo_border_limit(const TopoBorder *border, guint32 a, guint32 b, TopoCost *limit);

// Whether no path from a to b within a limit that was found for them passes node, if from a (tail: to b) to
// node costs cost.
gboolean topo_border_beyond(const TopoBorder *border, guint32 a, guint32 b, TopoCost limit, gboolean tail,
                            guint32 node, TopoCost cost);
