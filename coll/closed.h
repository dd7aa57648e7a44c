// coll/closed.h: what a collective costs where nothing contends, in closed form.
//
// A message of n bytes costs alpha + n/B: alpha the latency of the path (s or Ps), B its bandwidth one way
// (bytes/s). p ranks, M bytes of vector. Ring: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms
// for clusters of workstations", JPDC 69 (2009). Trees: Thakur, Rabenseifner and Gropp, "Optimization of
// collective communication operations in MPICH", IJHPCA 19 (2005).
#pragma once

#include <glib.h>

#include "base/units.h"

typedef enum {
    COLL_CLOSED_ALL_REDUCE,      // ring: 2(p-1) messages of M/p in a row
    COLL_CLOSED_REDUCE_SCATTER,  // ring: (p-1) messages of M/p in a row
    COLL_CLOSED_ALL_GATHER,      // ring: the same
    COLL_CLOSED_TREE_ALL_REDUCE, // binomial tree up and down, not pipelined: 2 ceil(log2 p) messages of M in
                                 // a row
    COLL_CLOSED_GATHER_PIECES,   // ring all-gather of one piece of M bytes a rank, which cannot be summed
} CollClosed;

// The time in exact integers, whole pieces (ceil(M/p) bytes), each message rounded up once:
//   ring all-reduce       2(p-1) (alpha + ceil(ceil(M/p)/B))
//   reduce-scatter, all-gather  (p-1) (alpha + ceil(ceil(M/p)/B))
//   tree all-reduce       2 ceil(log2 p) (alpha + ceil(M/B))
//   gather of pieces      (p-1) (alpha + ceil(M/B))
// ranks >= 1, bytes >= 0, latency >= 0 (asserted); one rank, or no bytes, takes what the form says (0 bytes
// still pay the latency). FALSE (and *time untouched) where it is past the range of Ps.
gboolean coll_closed_time(CollClosed form, gint64 ranks, gint64 bytes, Ps latency, UnitsPace pace, Ps *time);

// A reduce-scatter through a torus of axes (1 to 3) sides, as coll/torus.c goes; an all-gather takes the
// same, an all-reduce twice that. (jax-ml/scaling-book, "Sharded matrices and how to multiply them", has it
// as M/(2 axes B) where latency is nothing.) A lane of M/axes for every axis goes along that one first, then
// the next, round; all begin the next when the longest is over. A lane's messages along an axis of m hold
// n = M/axes/(the sides so far, this one too) bytes, made of whole pieces of ceil(M/(2 axes ranks)):
//   ring, h = floor(m/2):  h (alpha + ceil(n/B)), one of them half as large where m is even
//   line (closed FALSE):   (m-1) (alpha + ceil(n/B)); where there are several, an all-gather is over sooner
// sides >= 2, of rings >= 3 (asserted). FALSE (and *time untouched) where it is past the range of Ps.
gboolean coll_closed_torus_time(guint axes, const gint64 *sides, gboolean closed, gint64 bytes, Ps latency,
                                UnitsPace pace, Ps *time);

// The same as real numbers, without rounding to pieces: 2(p-1) alpha + 2 (p-1)/p M/B and so on. In seconds;
// bandwidth in bytes/s, more than 0.
double coll_closed_seconds(CollClosed form, gint64 ranks, double bytes, double latency, double bandwidth);

// Bytes that one rank sends: 2(p-1)/p M, (p-1)/p M, and (p-1) M for pieces. For the tree the documents'
// figure: 2M, one whole vector up and one down (the mean over the ranks is 2(p-1)/p M, the root's share is
// larger). 0 on one rank.
double coll_closed_sent(CollClosed form, gint64 ranks, double bytes);
