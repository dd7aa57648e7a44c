// published/score.h: how far simulated runs are from published ones, by family.
//
// A family is a source, model, chip and precision; all families weigh the same, whatever their number of
// rows. Baselines beside: the same MFU for all rows of a chip and precision (the mean over its families'
// means of model FLOPs over peak, in sample), and the bare roofline (model FLOPs at the chip's peak).
#pragma once

#include <glib.h>

#include "published/simulate.h"

typedef struct {
    char *source, *model, *chip; // owned; chip with precision: "H100-SXM fp8"
    guint rows;
    double mean, median, bias, worst; // of |error|, |error|, error, |error|
    double constant_mfu, roofline;    // mean |error| of the baselines
    guint gpus_low, gpus_high;
} PublishedScore;

// Of the cases without a reason whose split is given (NULL: all). Caller unrefs: of PublishedScore *, by
// source, chip, model.
GPtrArray *published_scores(const GPtrArray *cases, const char *split);

typedef struct {
    guint rows, families, left_out;
    double mean, median, bias; // over families: mean of means, median of means, mean of biases
    double within5, within10;  // share of families
    double constant_mfu, roofline;
} PublishedTotal;

void published_total(const GPtrArray *scores, PublishedTotal *total);
// The family's key of a case; caller frees.
char *published_family_key(const PublishedCase *own);
