// step/assume.h: what a run takes for granted, in sentences.
#pragma once

#include "step/job.h"
#include "step/result.h"

// Fills result->assumptions.
void step_assume(StepResult *result, const StepJob *job);
// The plan in words: "tp 8 sp, pp 16 x 2 interleaved, dp 64 zero 1, 16 micro-batches of 1". Caller frees.
char *step_assume_words(const StepJob *job);
