// sim/link.h: one directed link: a FIFO that is described by the time at which it is free again.
#pragma once

#include <glib.h>

#include "base/units.h"

typedef struct {
    Ps free;        // when the last chunk that entered will have left
    UnitsPace pace; // of its bandwidth
    Ps latency;     // of the head, to the next node
    // The occupancy computed last, for runs of equal messages.
    gint64 bytes;
    Ps time;
} SimLink;

// ceil(bytes / bandwidth): how long a link is busy with a whole message.
static inline Ps sim_link_time(SimLink *link, gint64 bytes)
{
    if (link->bytes != bytes) {
        link->bytes = bytes;
        link->time = units_pace_time(link->pace, bytes);
    }
    return link->time;
}

// How long it is busy with the bytes from..to of a message: a difference of rounded running totals, so that
// cutting a message into chunks does not change the sum.
static inline Ps sim_link_part(SimLink *link, gint64 from, gint64 to)
{
    return from == 0 ? sim_link_time(link, to)
                     : units_pace_time(link->pace, to) - units_pace_time(link->pace, from);
}
