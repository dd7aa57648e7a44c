// coll/box.h: groups of GPUs that stand as a box in a torus or mesh of direct links.
//
// Nobody names a torus: it is read off the links. GPUs that forward, the same number in every island, whose
// cables are just those of rows, columns and piles of consecutive numbers, are a grid; a group whose members
// are every product of some coordinates (evenly spaced, in order of number: a row, a part of one, every
// eighth of a row, a plane, ...) is a box of it. Several islands are one axis more, behind the others.
//
// What travels through a box is cut into lanes (coll/torus.c). Lane l goes through the axes whose neighbours
// share a cable (near), beginning with the l-th of them and round; the others come behind, since there a
// message takes links that others need, and once through the near axes there is least left to send. A row
// that is no ring carries half of what a ring does: its lane has half the pieces.
#pragma once

#include <glib.h>

#include "topo/graph.h"

enum { COLL_GRID_AXES = 3, COLL_BOX_AXES = COLL_GRID_AXES + 1 };

// The grid that the GPUs of every island form. gpus = 0: none.
typedef struct {
    guint32 gpus; // of one island
    guint32 sides[COLL_GRID_AXES];
    gboolean wraps[COLL_GRID_AXES]; // the last of a row is joined to the first
} CollGrid;

// One axis of a box.
typedef struct {
    guint32 size;    // ranks along it, 2 or more
    guint32 stride;  // between the ranks of two neighbours
    gboolean closed; // a ring: the last is as near to the first as neighbours are
    gboolean near;   // neighbours share a cable that no other row of the box's kind needs
} CollAxis;

typedef struct {
    guint32 axes;
    CollAxis axis[COLL_BOX_AXES]; // ranks run along the first of them first
    guint32 lanes;
    guint32 order[COLL_BOX_AXES][COLL_BOX_AXES]; // [lane][i]: the i-th axis that it reduces along
    guint32 first[COLL_BOX_AXES + 1]; // of a rank's pieces the first of each lane, and how many in all
} CollBox;

// The grid of a graph that has been checked. All zero where there is none.
void coll_box_find_grid(const TopoGraph *graph, CollGrid *grid);

// The box that a group of n GPUs (numbers, in rank order) is. NULL where it is none, or where its rows are so
// long that a message's number would not fit 32 bits. Caller frees with g_free.
CollBox *coll_box_find(const CollGrid *grid, const guint32 *gpus, guint32 n);

// Fills strides, lanes, order and first, when axes and the rest of each axis are there.
void coll_box_set_lanes(CollBox *box);

// Ranks along the longest axis.
guint32 coll_box_longest(const CollBox *box);
