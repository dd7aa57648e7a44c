// models/ops.c: laying out the operators of a block for one rank.
#include "models/ops.h"

#include "models/count.h"

// What all operators of a block are made of.
typedef struct {
    GArray *ops; // of ModelOp
    const ModelSpec *spec;
    const ModelShard *shard;
    double scale;      // of matrices, where the spec's total is overridden
    gint64 matrices;   // the same as a fraction: sizes are multiplied by wanted over matrices
    gint64 wanted;     //
    double share;      // b s / (tp cp): tokens of a micro-batch, this rank's share of them in model FLOPs
    gint64 tokens;     // of this rank's part of the sequence
    gint64 local;      // of those, what it works on where tp does not divide (all, or 1/tp with sp)
    gint64 sequence;   // of this rank's part: s / cp
    gint64 queries;    // widths on this rank: heads x head_dim
    gint64 keys;       // key/value heads x head_dim
    gint64 inner;      // ffn
    gint64 heads;      //
    gint64 vocabulary; //
} Ops;

static gint64 ops_part(gint64 whole, guint32 ranks)
{
    return (whole + ranks - 1) / ranks;
}

// A count of bytes: exact below 2^53, and never so large that a sum over a block could overflow.
static gint64 ops_bytes(double bytes)
{
    return (gint64)MIN(bytes, 1e17);
}

static void ops_begin(Ops *o, const ModelSpec *spec, const ModelShard *shard)
{
    gint64 vectors = model_count_vectors(spec);
    gint64 norms = spec->norm_parameters ? 0 : model_count_norms(spec);
    *o = (Ops){
        .ops = g_array_new(FALSE, TRUE, sizeof(ModelOp)),
        .spec = spec,
        .shard = shard,
        .matrices = model_count_architecture(spec) - vectors - norms,
        .wanted = model_count_parameters(spec) - vectors,
        .share = (double)shard->sequences * (double)shard->sequence / ((double)shard->tp * (double)shard->cp),
        .sequence = ops_part(shard->sequence, shard->cp),
        .heads = ops_part(spec->heads, shard->tp),
        .inner = ops_part(spec->ffn, shard->tp),
        .vocabulary = ops_part(spec->vocabulary, shard->tp),
    };
    o->scale = (double)o->wanted / (double)o->matrices;
    o->tokens = shard->sequences * o->sequence;
    o->local = shard->sp ? ops_part(o->tokens, shard->tp) : o->tokens;
    o->queries = o->heads * spec->head_dim;
    o->keys = ops_part(spec->kv_heads, shard->tp) * spec->head_dim;
}

static ModelOp *ops_add(Ops *o, const char *name, ModelOpKind kind, ModelMemory memory)
{
    ModelOp op = {.name = name, .kind = kind, .memory = memory, .batch = 1};
    g_array_append_val(o->ops, op);
    return &g_array_index(o->ops, ModelOp, o->ops->len - 1);
}

// A join, where there is anybody to exchange with.
static void ops_join(const Ops *o, ModelOp *op, ModelJoin join, gint64 bytes)
{
    if (o->shard->tp == 1)
        return;
    op->join = join;
    op->exchanged = bytes;
}

// A vector of parameters (norm, bias): part of whole on this rank.
static void ops_hold(const Ops *o, ModelOp *op, gint64 whole, gint64 part)
{
    g_assert(op->n_tensors < MODEL_OP_TENSORS);
    op->tensors[op->n_tensors++] = part;
    op->flops_model += 6.0 * (double)whole * o->share;
}

// A matrix: the same, with its share of an overridden total (rounded down as in models/tensor.c; FLOPs are
// exact).
static void ops_hold_matrix(const Ops *o, ModelOp *op, gint64 whole, gint64 part)
{
    g_assert(op->n_tensors < MODEL_OP_TENSORS);
    op->tensors[op->n_tensors++] =
        o->wanted == o->matrices ? part : (gint64)((__int128)part * o->wanted / o->matrices);
    op->flops_model += 6.0 * (double)whole * o->scale * o->share;
}

// A linear layer's weights, cut by its outputs (part_out) or inputs (part_in). A bias is cut with the
// outputs.
static void ops_hold_linear(const Ops *o, ModelOp *op, gint64 in, gint64 out, gint64 part_in, gint64 part_out)
{
    ops_hold_matrix(o, op, in * out, part_in * part_out);
    if (o->spec->bias)
        ops_hold(o, op, out, part_out);
}

static ModelOp *ops_add_gemm(Ops *o, const char *name, gint64 batch, gint64 m, gint64 n, gint64 k)
{
    ModelOp *op = ops_add(o, name, MODEL_OP_GEMM, MODEL_MEMORY_NONE);
    op->batch = batch;
    op->m = m;
    op->n = n;
    op->k = k;
    double a = (double)m * (double)k, b = (double)k * (double)n, c = (double)m * (double)n;
    op->flops_forward = 2 * a * (double)n * (double)batch;
    op->flops_backward = 2 * op->flops_forward;
    op->bytes_forward = 2 * (a + b + c) * (double)batch;
    op->bytes_backward = 2 * op->bytes_forward;
    op->kernels_forward = 1;
    op->kernels_backward = 2;
    return op;
}

// A linear layer; where it has a bias, its gradient is a kernel of its own.
static ModelOp *ops_add_linear(Ops *o, const char *name, gint64 n, gint64 k)
{
    ModelOp *op = ops_add_gemm(o, name, 1, o->tokens, n, k);
    op->kernels_backward += o->spec->bias ? 1 : 0;
    return op;
}

static ModelOp *ops_add_memory(Ops *o, const char *name, ModelMemory memory, double forward, double backward)
{
    ModelOp *op = ops_add(o, name, MODEL_OP_MEMORY, memory);
    op->bytes_forward = forward;
    op->bytes_backward = backward;
    op->kernels_forward = 1;
    op->kernels_backward = 1;
    return op;
}

// Reads and writes its input; backward reads it and the gradient, writes one and the partial sums of its
// weights' (physics: 4 and 8 bytes an element). Its input is kept.
static void ops_add_norm(Ops *o)
{
    double elements = (double)o->local * (double)o->spec->hidden;
    ModelOp *op = ops_add_memory(o, "norm", MODEL_MEMORY_NORM, 4 * elements, 8 * elements);
    op->kernels_backward = 2;
    op->saved = ops_bytes(2.0 * (double)o->local * (double)o->spec->hidden);
    if (!o->spec->norm_parameters)
        return;
    ops_hold(o, op, o->spec->hidden, o->spec->hidden);
    if (o->spec->norm == MODEL_NORM_LAYER)
        ops_hold(o, op, o->spec->hidden, o->spec->hidden);
}

// x + dropout(y + bias): two read, one written, a mask; backward the two gradients of x are added, and the
// mask is applied to y's. others: further vectors that are added.
static void ops_add_residual(Ops *o, int others)
{
    double elements = (double)o->local * (double)o->spec->hidden;
    double forward = 6 + 2 * others, backward = 6;
    if (o->spec->dropout) {
        forward += 1;
        backward += 5;
    }
    ModelOp *op =
        ops_add_memory(o, "residual", MODEL_MEMORY_RESIDUAL, forward * elements, backward * elements);
    op->kernels_backward += o->spec->dropout ? 1 : 0;
    op->saved = o->spec->dropout ? ops_bytes(elements) : 0;
}

static gint64 ops_hidden_bytes(const Ops *o)
{
    return ops_bytes(2.0 * (double)o->tokens * (double)o->spec->hidden);
}

static void ops_add_qkv(Ops *o)
{
    const ModelSpec *spec = o->spec;
    gint64 hidden = spec->hidden;
    gint64 queries = spec->heads * spec->head_dim, keys = spec->kv_heads * spec->head_dim;
    ModelOp *op = ops_add_linear(o, "qkv", o->queries + 2 * o->keys, hidden);
    ops_hold_linear(o, op, hidden, queries, hidden, o->queries);
    ops_hold_linear(o, op, hidden, keys, hidden, o->keys);
    ops_hold_linear(o, op, hidden, keys, hidden, o->keys);
    // Its input, and what it makes: the attention core needs that backward, recomputed or not.
    op->saved = ops_bytes(2.0 * (double)o->local * (double)hidden +
                          2.0 * (double)o->tokens * (double)(o->queries + 2 * o->keys));
    ops_join(o, op, MODEL_JOIN_COLUMN, ops_hidden_bytes(o));
}

// Keys and values come from all ranks of a context group.
static void ops_join_context(const Ops *o, ModelOp *op)
{
    if (o->shard->cp == 1)
        return;
    op->join = MODEL_JOIN_CONTEXT;
    op->exchanged =
        ops_bytes(2.0 * 2.0 * (double)o->shard->sequences * (double)o->shard->sequence * (double)o->keys);
}

static void ops_add_flash(Ops *o)
{
    const ModelSpec *spec = o->spec;
    ModelOp *op = ops_add(o, "attention", MODEL_OP_ATTENTION, MODEL_MEMORY_NONE);
    op->batch = o->shard->sequences;
    op->queries = o->sequence;
    op->keys = o->shard->sequence;
    op->heads = o->heads;
    op->head_dim = spec->head_dim;
    double products = (double)o->tokens * (double)o->queries * (double)op->keys; // of one of the two
    op->flops_forward = 4 * products / 2;                                        // causal: half
    op->flops_backward = 2.5 * op->flops_forward; // five products where forward has two
    op->flops_model = model_count_attention(spec, MODEL_COUNT_6N_ATTENTION, o->shard->sequence) * o->share;
    double query = (double)o->tokens * (double)o->queries;
    double key = (double)o->shard->sequences * (double)o->shard->sequence * (double)o->keys;
    op->bytes_forward = 2 * (2 * query + 2 * key);
    op->bytes_backward = 2 * (4 * query + 4 * key);
    op->kernels_forward = 1;
    op->kernels_backward = 3; // the row sums, the products, the conversion of the queries' gradient
    op->saved = ops_bytes(4.0 * (double)o->tokens *
                          (double)o->heads); // a row's logarithm of its sum; the output is kept by "out"
    op->selective = TRUE;
    ops_join_context(o, op);
}

// Scores, softmax, context: full squares, kept: the softmax's output, its dropped-out copy and the mask (5 a
// s / h).
static void ops_add_scores(Ops *o)
{
    const ModelSpec *spec = o->spec;
    gint64 batch = o->shard->sequences * o->heads;
    double square = (double)batch * (double)o->sequence * (double)o->shard->sequence;
    double model = model_count_attention(spec, MODEL_COUNT_6N_ATTENTION, o->shard->sequence) * o->share;
    ModelOp *op = ops_add_gemm(o, "scores", batch, o->sequence, o->shard->sequence, spec->head_dim);
    op->flops_model = model / 2;
    op->wide = op->selective = TRUE;
    ops_join_context(o, op);
    double forward = 4, backward = 6;
    if (spec->dropout) {
        forward += 5;
        backward += 5;
    }
    op = ops_add_memory(o, "softmax", MODEL_MEMORY_SOFTMAX, forward * square, backward * square);
    op->kernels_forward = op->kernels_backward = spec->dropout ? 2 : 1;
    op->saved = ops_bytes(spec->dropout ? 3 * square : 2 * square);
    op->selective = TRUE;
    op = ops_add_gemm(o, "context", batch, o->sequence, spec->head_dim, o->shard->sequence);
    op->flops_model = model / 2;
    op->saved = spec->dropout ? ops_bytes(2 * square) : 0; // else its input is the softmax's output
    op->wide = op->selective = TRUE;
}

static ModelOp *ops_add_out(Ops *o)
{
    ModelOp *op = ops_add_linear(o, "out", o->spec->hidden, o->queries);
    ops_hold_linear(o, op, o->spec->heads * o->spec->head_dim, o->spec->hidden, o->queries, o->spec->hidden);
    op->saved = ops_bytes(2.0 * (double)o->tokens * (double)o->queries);
    return op;
}

static ModelOp *ops_add_up(Ops *o)
{
    gint64 matrices = o->spec->gated ? 2 : 1;
    ModelOp *op = ops_add_linear(o, "up", matrices * o->inner, o->spec->hidden);
    for (gint64 i = 0; i < matrices; i++)
        ops_hold_linear(o, op, o->spec->hidden, o->spec->ffn, o->spec->hidden, o->inner);
    return op;
}

static void ops_add_activation(Ops *o)
{
    gint64 matrices = o->spec->gated ? 2 : 1;
    double elements = (double)o->tokens * (double)o->inner;
    ModelOp *op =
        ops_add_memory(o, "activation", MODEL_MEMORY_ACTIVATION, (double)(2 * matrices + 2) * elements,
                       (double)(4 * matrices + 2) * elements);
    op->saved = ops_bytes((double)(2 * matrices) * elements);
}

static ModelOp *ops_add_down(Ops *o)
{
    ModelOp *op = ops_add_linear(o, "down", o->spec->hidden, o->inner);
    ops_hold_linear(o, op, o->spec->ffn, o->spec->hidden, o->inner, o->spec->hidden);
    op->saved = ops_bytes(2.0 * (double)o->tokens * (double)o->inner);
    ops_join(o, op, MODEL_JOIN_ROW, ops_hidden_bytes(o));
    return op;
}

static void ops_add_layer(Ops *o, gboolean flash)
{
    ops_add_norm(o);
    ops_add_qkv(o);
    if (o->spec->rotary) {
        double elements = (double)o->tokens * (double)(o->queries + o->keys);
        ops_add_memory(o, "rotary", MODEL_MEMORY_ROTARY, 4 * elements, 4 * elements);
    }
    if (flash)
        ops_add_flash(o);
    else
        ops_add_scores(o);
    ModelOp *out = ops_add_out(o);
    // In a parallel block both halves share the norm's output and one sum: the first GEMM gathers (backward
    // it runs last), the last one sums.
    if (!o->spec->parallel_block) {
        ops_join(o, out, MODEL_JOIN_ROW, ops_hidden_bytes(o));
        ops_add_residual(o, 0);
        ops_add_norm(o);
    }
    ModelOp *up = ops_add_up(o);
    if (!o->spec->parallel_block) {
        up->saved = ops_bytes(2.0 * (double)o->local * (double)o->spec->hidden);
        ops_join(o, up, MODEL_JOIN_COLUMN, ops_hidden_bytes(o));
    }
    ops_add_activation(o);
    ops_add_down(o);
    ops_add_residual(o, o->spec->parallel_block ? 1 : 0);
}

// Rows of the table are read and written; backward they are added to the gradient. Ranks look up what they
// hold of the vocabulary and sum.
static void ops_add_embedding(Ops *o)
{
    const ModelSpec *spec = o->spec;
    double elements = (double)o->tokens * (double)spec->hidden;
    double forward = spec->positions > 0 ? 6 : 4;
    ModelOp *op = ops_add_memory(o, "embedding", MODEL_MEMORY_EMBEDDING, forward * elements, 6 * elements);
    if (spec->dropout) {
        double local = (double)o->local * (double)spec->hidden;
        op->bytes_forward += 5 * local;
        op->bytes_backward += 5 * local;
        op->kernels_forward++;
        op->kernels_backward++;
        op->saved = ops_bytes(local);
    }
    ops_hold_matrix(o, op, spec->vocabulary * spec->hidden, o->vocabulary * spec->hidden);
    if (spec->tied) // its weights are multiplied in the head
        op->flops_model = 0;
    if (spec->positions > 0)
        ops_hold_matrix(o, op, spec->positions * spec->hidden, spec->positions * spec->hidden);
    ops_join(o, op, MODEL_JOIN_ROW, ops_hidden_bytes(o));
}

static void ops_add_head(Ops *o)
{
    const ModelSpec *spec = o->spec;
    ops_add_norm(o);
    ModelOp *op = ops_add_gemm(o, "logits", 1, o->tokens, o->vocabulary, spec->hidden);
    ops_hold_matrix(o, op, spec->vocabulary * spec->hidden, o->vocabulary * spec->hidden);
    if (spec->tied) { // stored in the embedding
        op->n_tensors = 0;
        op->tensors[0] = 0;
    }
    op->saved = ops_bytes(2.0 * (double)o->local * (double)spec->hidden);
    op->wide = TRUE;
    ops_join(o, op, MODEL_JOIN_COLUMN, ops_hidden_bytes(o));
    // The logits are kept in 32 bits: read in 16, written in 32, and summed in a second pass over them that a
    // fused kernel saves half of; backward read and written in 16.
    double logits = (double)o->tokens * (double)o->vocabulary;
    op = ops_add_memory(o, "loss", MODEL_MEMORY_LOSS, 8 * logits, 4 * logits);
    op->saved = ops_bytes(4 * logits);
    ops_join(o, op, MODEL_JOIN_LOSS, 3 * 4 * o->tokens);
}

GArray *model_ops(const ModelSpec *spec, const ModelShard *shard, ModelBlock block, gboolean flash)
{
    Ops o;
    ops_begin(&o, spec, shard);
    switch (block) {
    case MODEL_BLOCK_EMBEDDING:
        ops_add_embedding(&o);
        break;
    case MODEL_BLOCK_LAYER:
        ops_add_layer(&o, flash);
        break;
    case MODEL_BLOCK_HEAD:
        ops_add_head(&o);
        break;
    }
    return o.ops;
}
