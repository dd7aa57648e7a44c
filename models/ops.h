// models/ops.h: a block of a transformer as the operators that one rank runs for one micro-batch: shapes,
// FLOPs, bytes, weights, and what is kept for the backward pass.
//
// Blocks are those of models/tensor.h: the embedding, a layer, the head (final norm, output projection,
// loss). Splits after Megatron-LM (Shoeybi et al. 2019; Korthikanti et al. 2022, "Reducing Activation
// Recomputation in Large Transformer Models", sections 4 and 5): matrices from the hidden width are cut by
// columns, matrices to it by rows, heads and vocabulary are divided, norms are whole on every rank and work
// on its part of the tokens with sequence parallelism. Key/value heads fewer than ranks are repeated. Context
// parallelism cuts the sequence.
#pragma once

#include <glib.h>

#include "models/spec.h"

// How a rank's part of the model is cut.
typedef struct {
    gint64 sequences; // b, of one micro-batch
    gint64 sequence;  // s, tokens of a whole one
    guint32 tp, cp;   // >= 1
    gboolean sp;      // sequence parallelism: what is not divided by tp works on 1/tp of the tokens
} ModelShard;

typedef enum {
    MODEL_BLOCK_EMBEDDING,
    MODEL_BLOCK_LAYER,
    MODEL_BLOCK_HEAD,
} ModelBlock;

// What limits an operator, and so which formula costs it (plans/cost.h).
typedef enum {
    MODEL_OP_GEMM,
    MODEL_OP_ATTENTION,
    MODEL_OP_MEMORY, // bytes read and written
} ModelOpKind;

// Which memory-bound operator: they reach different fractions of the memory's bandwidth, and fuse
// differently.
typedef enum {
    MODEL_MEMORY_NONE, // not memory-bound
    MODEL_MEMORY_EMBEDDING,
    MODEL_MEMORY_NORM,
    MODEL_MEMORY_ROTARY,
    MODEL_MEMORY_SOFTMAX, // scale, mask, softmax (and dropout) of unfused attention
    MODEL_MEMORY_ACTIVATION,
    MODEL_MEMORY_RESIDUAL, // bias, dropout, add
    MODEL_MEMORY_LOSS,     // cross-entropy of the logits
    MODEL_MEMORY_CLASSES,
} ModelMemory;

// What tensor or context parallelism exchanges around an operator, forward; backward is the mirror image.
typedef enum {
    MODEL_JOIN_NONE,
    MODEL_JOIN_COLUMN, // its input is gathered before it (sp), its input's gradient summed after its backward
    MODEL_JOIN_ROW,    // its output is summed after it (all-reduce, or reduce-scatter with sp); backward:
                       // gathered
    MODEL_JOIN_CONTEXT, // keys and values are gathered over cp before it; their gradients scattered after
    MODEL_JOIN_LOSS,    // maxima and sums of the vocabulary-parallel loss: a few bytes a token
} ModelJoin;

enum { MODEL_OP_TENSORS = 8 };

typedef struct {
    const char *name; // "qkv", "attention", "out", "up", "down", "norm", ...; static
    ModelOpKind kind;
    ModelMemory memory;
    // MODEL_OP_GEMM, forward: batch times (m x k) (k x n). m: tokens. MODEL_OP_ATTENTION: see below.
    gint64 m, n, k, batch;
    // MODEL_OP_ATTENTION: batch = sequences; query tokens on this rank, keys that they see (whole sequence),
    // heads on this rank, size of a head. Causal: half of the products count.
    gint64 queries, keys, heads, head_dim;
    // Hardware FLOPs of the rank (2 per multiply-add; causal attention counts half); backward is both
    // gradients.
    double flops_forward, flops_backward;
    // Model FLOPs (forward + backward) under 6N + 12LHQT, for MFU: full attention. Sums over ranks to the
    // model's.
    double flops_model;
    // Bytes of device memory that it must touch, each tensor once, as if fused (for GEMMs too: A, B and C).
    double bytes_forward, bytes_backward;
    double kernels_forward, kernels_backward; // launches when fused as bytes_* has it
    gint64 tensors[MODEL_OP_TENSORS]; // parameters of its weights on this rank, in order of registration
    guint32 n_tensors;
    gint64 saved; // bytes kept for the backward pass, of one micro-batch on this rank (16-bit activations)
    ModelJoin join;
    gint64 exchanged;   // bytes of the vector that join exchanges: the whole gathered or summed vector
    gboolean selective; // recomputed under selective recomputation (the attention core; nothing else)
    gboolean wide; // a GEMM that stays in 16 bits where others are quantised (products of attention, logits)
} ModelOp;

// The operators of a block in forward order. flash: attention is one kernel that keeps no scores (else
// batched products and a softmax). Caller unrefs (GArray of ModelOp).
GArray *model_ops(const ModelSpec *spec, const ModelShard *shard, ModelBlock block, gboolean flash);
