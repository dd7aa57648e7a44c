// models/count.h: parameters and FLOPs of a model, closed forms.
#pragma once

#include <glib.h>

#include "models/spec.h"

typedef enum {
    MODEL_COUNT_6N,           // 6 N per token (the primer)
    MODEL_COUNT_6N_ATTENTION, // 6 N + 12 L H Q T per token, full (not causal) attention (the deck; PaLM,
                              // appendix B)
} ModelCounting;

// The architecture's parameters by part, whatever the overrides say. A linear layer from a to b has a b
// weights and, with bias, b biases (Vaswani et al. 2017, section 3; SwiGLU's three matrices: Shazeer 2020;
// grouped key/value heads: Ainslie et al. 2023).
typedef struct {
    gint64 embedding;      // V h
    gint64 positions;      // learned positions x h
    gint64 attention;      // matrices of one layer: q, k, v, o
    gint64 attention_bias; // their biases
    gint64 mlp;            // matrices of one layer: up, down, and gate where gated
    gint64 mlp_bias;       // their biases
    gint64 norms; // of one layer: two norms (one in a parallel block), each h (RMS) or 2 h (weight and bias)
    gint64 final_norm; // h or 2 h
    gint64 head;       // V h, or 0 where it shares the embedding
} ModelParts;

void model_count_parts(const ModelSpec *spec, ModelParts *parts);

extern const char *const MODEL_COUNTING_NAMES[]; // "6N", "6N+12LHQT", NULL

// Parameters as architecture and norm_parameters give them, or spec->parameters where that is set.
gint64 model_count_parameters(const ModelSpec *spec);
// Parameters of the architecture, norms included, whatever the overrides say.
gint64 model_count_architecture(const ModelSpec *spec);
// Parameters of all norms of the architecture: what norm_parameters = no leaves out.
gint64 model_count_norms(const ModelSpec *spec);
// Parameters that an override of the total leaves alone: biases, and norms where they are counted.
gint64 model_count_vectors(const ModelSpec *spec);
// Model FLOPs per token, forward and backward, at a sequence length: 6 N (Kaplan et al. 2020, section 2.1,
// but with N the whole count, embedding included, as the documents have it), plus 12 L H Q T (Chowdhery et
// al. 2022, appendix B).
double model_count_flops(const ModelSpec *spec, ModelCounting counting, gint64 sequence);
// The attention share of it per layer and token: 12 H Q T (or 0 under 6N).
double model_count_attention(const ModelSpec *spec, ModelCounting counting, gint64 sequence);
