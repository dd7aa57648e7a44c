// models/count.h: parameters and FLOPs of a model, closed forms.
#pragma once

#include <glib.h>

#include "models/spec.h"

typedef enum {
    MODEL_COUNT_6N,           // 6 N per token (the primer)
    MODEL_COUNT_6N_ATTENTION, // 6 N + 12 L H Q T per token, full (not causal) attention (the deck; PaLM, appendix B)
} ModelCounting;

extern const char *const MODEL_COUNTING_NAMES[]; // "6N", "6N+12LHQT", NULL

// Parameters as architecture and norm_parameters give them, or spec->parameters where that is set.
gint64 model_count_parameters(const ModelSpec *spec);
// Parameters of the architecture, norms included, whatever the overrides say.
gint64 model_count_architecture(const ModelSpec *spec);
// Model FLOPs per token, forward and backward, at a sequence length.
double model_count_flops(const ModelSpec *spec, ModelCounting counting, gint64 sequence);
// The attention share of it per layer and token: 12 H Q T (or 0 under 6N).
double model_count_attention(const ModelSpec *spec, ModelCounting counting, gint64 sequence);
