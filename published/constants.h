// published/constants.h: the constants that published runs can tell something about: what was known of them
// before, and where in a job they stand.
#pragma once

#include <glib.h>

#include "step/job.h"

typedef enum {
    PUBLISHED_EFFICIENCY,
    PUBLISHED_ATTENTION, // TFLOP/s
    PUBLISHED_MEMORY,
    PUBLISHED_FW_MEMORY,
    PUBLISHED_FW_PRODUCTS,
    PUBLISHED_FW_ACCUMULATE,
    PUBLISHED_FW_GEMM,
    PUBLISHED_SPREAD,
    PUBLISHED_KINDS,
} PublishedKind;

typedef struct {
    PublishedKind kind;
    char *name;          // owned: chip or framework; empty: all
    char *detail;        // owned: precision or kernel
    double prior, sigma; // sigma: of the logarithm
    double low, high;    // physically possible
    char *source;        // owned: of the prior
    char *where;         // owned: file, section and key it stands at
} PublishedConstant;

// validation/data/constants.csv. Caller unrefs: of PublishedConstant *.
GPtrArray *published_constants(void);

// Whether a job's step depends on it.
gboolean published_constant_touches(const PublishedConstant *constant, const StepJob *job);
// Its value in a job that it touches, and another one.
double published_constant_get(const PublishedConstant *constant, const StepJob *job);
void published_constant_set(const PublishedConstant *constant, StepJob *job, double value);
