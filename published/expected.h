// published/expected.h: how far a run like this one was from published ones.
//
// By validation/data/expected.csv, which 'stepline fit published --cross --expected FILE' writes: for every
// chip, precision and framework that published runs were made with, the mean |error| of their families with
// the constants fitted to them, and with their models left out of the fit.
#pragma once

#include <glib.h>

#include "published/fit.h"
#include "step/job.h"

typedef struct {
    double mean, unseen; // |error|; NAN: nothing like it was validated
    char *text;          // owned: in words
} PublishedExpected;

void published_expected(const StepJob *job, PublishedExpected *expected);
void published_expected_clear(PublishedExpected *expected);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PublishedExpected, published_expected_clear)

// The table as text, from a fit and the errors of its leave-one-model-out. Caller frees.
char *published_expected_table(const PublishedFit *fit, const double *left_out);
