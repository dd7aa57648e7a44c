// sim/pace.h: an operation whose rate changes while it runs: work done and time left, in whole picoseconds.
//
// While a collective runs on the same rank, its kernels hold multiprocessors and memory bandwidth, and
// compute takes (1000 + slow) / 1000 of its time. Work is measured in picoseconds at full speed; what is done
// is rounded down and what is left takes a time that is rounded up, so that a change of rate costs at most 1
// ps.
#pragma once

#include "base/units.h"

// Work done in a time at full speed (slow 0) or slowed by slow per mille.
static inline Ps sim_pace_done(Ps elapsed, guint32 slow)
{
    return (Ps)((__int128)elapsed * 1000 / (1000 + (gint64)slow));
}

// Time that work takes.
static inline Ps sim_pace_time(Ps work, guint32 slow)
{
    return (Ps)(((__int128)work * (1000 + (gint64)slow) + 999) / 1000);
}
