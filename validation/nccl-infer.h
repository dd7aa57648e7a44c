// validation/nccl-infer.h: which operation a table measured, and on how many ranks: out of its own figures.
//
// Captions, file names and device lists are wrong more often than the columns: busbw / algbw is 2(n-1)/n for
// all-reduce and (n-1)/n where the vector is spread, and there size / (count x bytes of the type) is n
// itself.
#pragma once

#include <glib.h>

#include "validation/nccl-log.h"

// The operation of rows (of ValidationNcclRow, not empty). named is what the log calls it
// (VALIDATION_NCCL_OPS: nothing); where the columns contradict it they win and *contradicts is TRUE. listed:
// ranks in the device list, 0 without; redop_column: the header has one. *assumed: the columns fit more than
// one operation, and the likelier was taken.
ValidationNcclOp validation_nccl_infer_op(const GArray *rows, ValidationNcclOp named, guint32 listed,
                                          gboolean redop_column, gboolean *contradicts, gboolean *assumed);

typedef struct {
    guint32 ranks;       // 0: not known
    guint32 low, high;   // what the figures allow; 0: they say nothing
    gboolean from_ratio; // chosen among several
} ValidationNcclRanks;

// The ranks of a run: size / count, else the bandwidths' ratio, else the device list. Among several that the
// ratio allows: the device list's, else the one with most factors of two (machines come in eights), else the
// smallest. Where it allows twice as many as its least, it says nothing.
ValidationNcclRanks validation_nccl_infer_ranks(const ValidationNcclRun *run);
