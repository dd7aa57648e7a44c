// validation/ask.h: a question to the program in the words that a person would type, answered as numbers.
//
// The words are those of stepline's command line, without "stepline" and without --json, and the answers have
// the keys of --json:
//   run SCENARIO | --model NAME --machine NAME [--gpus N] [--set section.key=value]...   timeline/metrics.h
//   run SCENARIO --schedule        warm_up_0, warm_up_1, ...: of every stage, see below (in no JSON)
//   memory SCENARIO [--set ...]    parameters, model_states_bytes, activations_bytes, peak_bytes
//   collective --machine NAME [--ranks N] [--op NAME] [--algorithm NAME] [--protocol NAME] [--plain] --size
//   SIZE
//                                  time_s, algbw_Bps, busbw_Bps
//   calc --model NAME --gpus N [--sequence LEN] [--peak RATE] --measured-per-gpu TOKENS_PER_S   measured_mfu
//   validate buckets               resnet-18_25_1, ...: bytes of our bucket 1 at a cap of 25 MiB (in no JSON)
// Warm-up is Megatron-LM's word: forward passes of a stage before it takes turns, one forward, one backward;
// where there are too few micro-batches for a turn, all of them.
// A scenario is a file of the library by its path in the source tree ("validation/reports/059-states.ini"),
// so that the same words work in a shell there; else as for stepline run.
#pragma once

#include <glib.h>

#include "base/units.h"

typedef struct {
    char *key;      // owned: "step_s"
    UnitsKind kind; // UNITS_NUMBER where it is a plain number
    double value;   // in the kind's base unit
} ValidationAnswer;

// The answers (GArray of ValidationAnswer, which owns them). NULL with an error: words that are not those
// above, or what the command itself would say. Caller unrefs.
GArray *validation_ask(const char *words, GError **error);
