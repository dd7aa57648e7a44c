// plans/bucket.h: gradient buckets as PyTorch's DistributedDataParallel forms them.
//
// Gradients are taken in the order in which the backward pass makes them ready. A bucket closes as soon as it
// reaches its cap, with the parameter that took it there: a parameter is never split, so a bucket may be far
// larger than the cap. The first bucket has a cap of its own (1 MiB), so that communication starts early.
// (PyTorch documentation of DistributedDataParallel, bucket_cap_mb; the exact sizes in
// tests/test-plans-bucket.c are of pytorch/pytorch#48880.)
#pragma once

#include <glib.h>

typedef struct {
    gint64 bytes;
    guint32 first, last; // positions of its first and last gradient in the order of readiness
    double share;        // it is ready when this share of gradient last is: 1, unless gradients are split
} PlanBucket;

// bytes[0 .. n-1] are the gradients in order of readiness. With split, a bucket ends exactly at its cap, in
// the middle of a gradient if need be. Caps must be positive. Returns a GArray of PlanBucket (empty gradients
// at the end join the last bucket); caller unrefs.
GArray *plan_buckets_form(const gint64 *bytes, guint32 n, gint64 first_cap, gint64 cap, gboolean split);
