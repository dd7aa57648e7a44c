// models/tensor.h: the parameter tensors of a model, in the order in which a framework registers them.
//
// Blocks: 0 is the embedding (token, then learned positions), 1..L the transformer layers, L + 1 the head
// (final norm, output projection). Within a layer, in Hugging Face's order: q, k, v, o, gate, up, down (or
// up, down), then the norms; biases follow their weight. The backward pass produces gradients in the reverse
// order. Norms that are not counted (norm_parameters = no) are not in the list, so that the tensors' sum is
// model_count_parameters.
//
// The sum of multiplied is that same N, tied or not: 6 x sum = 6N. A tied embedding's weights are multiplied
// once, in the head; learned positions count in block 0, as the formula has them.
//
// Where spec->parameters replaces the total, the difference is spread over the matrices (not norms or biases)
// in proportion to their sizes, in whole parameters, the remainder going to the last matrix: totals are
// exact.
#pragma once

#include <glib.h>

#include "models/spec.h"

typedef struct {
    const char *name;   // "q_proj.weight"; static
    guint32 block;      // 0..L+1
    gint64 parameters;  // stored here (a tied head: 0)
    gint64 multiplied;  // parameters that enter the matmul FLOPs under "6N": equal to parameters, except that
                        // a tied embedding has 0 and the tied head vocabulary x hidden
    gboolean attention; // the attention core (scores and values) runs just before this tensor's matmul
} ModelTensor;

// All tensors (GArray of ModelTensor). Caller unrefs.
GArray *model_tensors(const ModelSpec *spec);
