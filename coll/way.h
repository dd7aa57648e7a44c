// coll/way.h: what of an algorithm makes its time: the longest way of its messages, and what passes a rank's
// ports.
#pragma once

#include <glib.h>

#include "coll/algo.h"

// What of an algorithm makes its time.
typedef struct {
    double inside, across; // messages that follow each other on the longest way, by kind
    double path;           // bytes that pass the port of one lane (or rank), per byte of vector
    double lanes; // how many lanes a rank sends by, each with a share of the rank's rate; 0: one port for all
    // Of a pipelined algorithm: what of a chunk still has to pass when its first sender is done with it, per
    // byte of chunk: through lanes inside and across, and down from a switch.
    double fill_inside, fill_across, fill_switch;
} CollWay;

// Of an algorithm for a shape. The algorithms of which a measured line speaks (NCCL's own) have a path and
// lanes such that the line comes true; of the others path is what a rank sends.
CollWay coll_way_get(const CollAlgo *algo, const CollShape *shape);
