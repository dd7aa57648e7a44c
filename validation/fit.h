// validation/fit.h: measured times of a collective over its sizes -> latency, bandwidth, and a two-branch
// law.
//
// The law is T(S) = min over branches b of (alpha_b + S c / B_b), c as validation_nccl_log_factor has it, B
// in busbw. Two branches (a protocol of low latency, one of high bandwidth) reproduce NVIDIA's own tables to
// 3 to 8 % (measured: ai-dynamo/aiconfigurator's tables of A100 to B200).
#pragma once

#include <glib.h>

#include "validation/nccl-log.h"

enum { VALIDATION_FIT_BRANCHES = 4, VALIDATION_FIT_RANGES = 3 };

// Where the ranges of sizes end, bytes: NCCL's low-latency protocols end near 64 KiB and near 4 MiB.
#define VALIDATION_FIT_SMALL  8192.0    // up to here a time is latency
#define VALIDATION_FIT_LOW    65536.0   // first range: up to here
#define VALIDATION_FIT_MIDDLE 4194304.0 // second range: up to here; third: above

typedef struct {
    double alpha;     // s
    double bandwidth; // busbw, bytes/s; INFINITY: times do not grow with size
} ValidationFitBranch;

typedef struct {
    guint points;
    double median, most; // of |fitted / measured - 1|; NAN without points
} ValidationFitError;

// A plain value: what a machine's constants are written from.
typedef struct {
    double factor;    // c
    guint points;     // sizes fitted
    double low, high; // least and largest size, bytes
    double latency;   // s: median time of sizes up to VALIDATION_FIT_SMALL; NAN: none measured
    double bandwidth; // busbw of the top two sizes together, bytes/s; of one where there is one
    guint branches;   // 1 to VALIDATION_FIT_BRANCHES
    ValidationFitBranch branch[VALIDATION_FIT_BRANCHES]; // by rising alpha
    ValidationFitError error[VALIDATION_FIT_RANGES], all;
    const char *words; // what the points could not tell, or NULL; static
} ValidationFit;

// "up to 64 KiB", ...: the ranges.
extern const char *const VALIDATION_FIT_RANGE_NAMES[VALIDATION_FIT_RANGES];

// Fits points (of ValidationNcclPoint, by rising size) by the least sum of |relative error|, which a few
// outliers do not move: exact over all lines through two points and all cuts of the sizes, each line then
// fitted again to the sizes where it is the least; so it is deterministic. A further line must be worth its
// constants by Schwarz's criterion (BIC) for errors of Laplace's law. More than 64 points are thinned to 64
// medians of neighbours. factor > 0. FALSE with an error where there is no point. where may be NULL.
gboolean validation_fit_run(const GArray *points, double factor, const char *where, ValidationFit *fit,
                            GError **error);

// The law at a size, s.
double validation_fit_time(const ValidationFit *fit, double bytes);
