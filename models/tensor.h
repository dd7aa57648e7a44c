// models/tensor.h: the parameter tensors of a model, in the order in which a framework registers them.
//
// Blocks: 0 is the embedding (token, then learned positions), 1..L the transformer layers, L + 1 the head (final
// norm, output projection). Within a layer, in Hugging Face's order: q, k, v, o, gate, up, down (or up, down), then
// the norms; biases follow their weight. The backward pass produces gradients in the reverse order.
//
// Where spec->parameters replaces the total, the difference is spread over the matrices (not norms or biases) in
// proportion to their sizes, in whole parameters, the remainder going to the last matrix: totals are exact.
#pragma once

#include <glib.h>

#include "models/spec.h"

typedef struct {
    const char *name;      // "q_proj.weight"; static
    guint32 block;         // 0..L+1
    gint64 parameters;     // stored here (a tied head: 0)
    gint64 multiplied;     // parameters that enter the matmul FLOPs under "6N": equal to parameters, except that a
                           // tied embedding has 0 and the tied head vocabulary x hidden
    gboolean attention;    // the attention core (scores and values) runs just before this tensor's matmul
} ModelTensor;

// All tensors (GArray of ModelTensor). Caller unrefs.
GArray *model_tensors(const ModelSpec *spec);
