// plans/cost.c: the formulas of GEMMs, attention and memory-bound operators.
//
// GEMM: t0 + max(2 m^ n^ (k + k0) / (P e), bytes / (BW h)), where m^ n^ is the output in whole tiles and, by
// theta, in whole waves of the chip's multiprocessors; the better of the two ways to lay the tile. Fitted to
// the bf16 tables of ai-dynamo/aiconfigurator (2.4 to 5 % mean error a chip, training sizes). e is that of a
// long step: power holds clocks below those of single kernels. Attention: causal FLOPs over rate s / (s +
// half). Only + - * / sqrt floor ceil: the results become time.
#include "plans/cost.h"

#include <math.h>

// Of the memory bandwidth that streaming reaches: what kernels of a class reach on the bytes of
// models/ops.h. Fused kernels timed on A100 and GH200 (DebarghaG/estimate-train-time, forward and backward
// together; fit): residual .87 of peak, norm .39 and .69, activation .75, softmax .88 and .74; streaming is
// .85. Embedding, rotary and loss: guessed.
static const double CLASS_SHARE[] = {
    [MODEL_MEMORY_NONE] = 1,     [MODEL_MEMORY_EMBEDDING] = 0.6, [MODEL_MEMORY_NORM] = 0.6,
    [MODEL_MEMORY_ROTARY] = 0.8, [MODEL_MEMORY_SOFTMAX] = 0.95,  [MODEL_MEMORY_ACTIVATION] = 0.88,
    [MODEL_MEMORY_RESIDUAL] = 1, [MODEL_MEMORY_LOSS] = 0.9,
};
G_STATIC_ASSERT(G_N_ELEMENTS(CLASS_SHARE) == MODEL_MEMORY_CLASSES);

// Bytes of one gradient that its norm reads. Guessed: gradients are reduced in 32 bits.
static const double NORM_BYTES = 4;

// Bytes an element of a GEMM's input in these 8- and 4-bit types costs to quantise: read in 16 bits, written
// along rows and along columns. Guessed, after Transformer Engine's kernels.
static const double QUANTISE_BYTES = 4;

// Time of a GEMM's two gradients over what the same formula gives: they were measured to take 1.84 to 1.93
// times the forward pass on A100 and GH200 (estimate-train-time), where FLOPs say 2.
static const double GRADIENTS = 0.95;

// Rate of a GEMM whose rows do not start on 16 bytes, over that of one whose rows do. Guessed, from memory:
// padding GPT-2's vocabulary from 50,257 to 50,304 is told to make a whole step a quarter faster (nanoGPT).
static const double MISALIGNED = 0.5;
static const double ALIGNMENT = 16; // bytes
// The same of attention's many small products: strided rows leave the tensor cores, and CUDA cores, with a
// quarter of the rate, reach half of it. Guessed.
static const double MISALIGNED_BATCH = 0.125;

static const double HEAD_SIZES[TOPO_HEADS] = {64, 128, 256};

static double cost_bandwidth(const PlanCost *cost)
{
    return cost->device->memory_bandwidth * cost->device->compute.memory_efficiency;
}

static gboolean cost_is_narrow(TopoPrecision precision)
{
    return precision == TOPO_PRECISION_FP8 || precision == TOPO_PRECISION_INT8 ||
           precision == TOPO_PRECISION_FP4;
}

// Quantised trainings keep some GEMMs in 16 bits.
static TopoPrecision cost_precision(const PlanCost *cost, const ModelOp *op)
{
    if (!op->wide || !cost_is_narrow(cost->precision))
        return cost->precision;
    const double *peak = cost->device->peak;
    if (peak[TOPO_PRECISION_BF16] > 0)
        return TOPO_PRECISION_BF16;
    return peak[TOPO_PRECISION_FP16] > 0 ? TOPO_PRECISION_FP16 : cost->precision;
}

static double cost_element(TopoPrecision precision)
{
    switch (precision) {
    case TOPO_PRECISION_FP32:
    case TOPO_PRECISION_TF32:
        return 4;
    case TOPO_PRECISION_FP16:
    case TOPO_PRECISION_BF16:
        return 2;
    case TOPO_PRECISION_FP8:
    case TOPO_PRECISION_INT8:
        return 1;
    case TOPO_PRECISION_FP4:
        return 0.5;
    case TOPO_PRECISIONS:
        break;
    }
    g_assert_not_reached();
}

// Elements of the output that take time when it is cut into tiles of a x b. A side shorter than a tile gets a
// smaller one, in steps of 64.
static double cost_tiles(const TopoCompute *chip, double m, double n, double batch, double a, double b)
{
    a = MIN(a, 64 * ceil(m / 64));
    b = MIN(b, 64 * ceil(n / 64));
    double tiles = ceil(m / a) * ceil(n / b) * batch;
    double waved = tiles;
    if (chip->multiprocessors > 0)
        waved = ceil(tiles / chip->multiprocessors) * chip->multiprocessors;
    return a * b * (chip->waves * waved + (1 - chip->waves) * tiles);
}

static gboolean cost_is_aligned(double size, double element)
{
    double rows = size * element / ALIGNMENT;
    return floor(rows) >= rows;
}

static double cost_gemm(const PlanCost *cost, TopoPrecision precision, double batch, double m, double n,
                        double k)
{
    const TopoCompute *chip = &cost->device->compute;
    double output = MIN(cost_tiles(chip, m, n, batch, chip->tile_m, chip->tile_n),
                        cost_tiles(chip, m, n, batch, chip->tile_n, chip->tile_m));
    double rate = cost->device->peak[precision] * chip->efficiency[precision] * cost->framework->gemm;
    double element = cost_element(precision);
    if (!cost_is_aligned(n, element) || !cost_is_aligned(k, element))
        rate *= batch > 1 ? MISALIGNED_BATCH : MISALIGNED;
    double products = 2 * output * (k + chip->depth) / rate;
    double bytes = batch * (element * (m * k + k * n) + MAX(element, 2) * m * n);
    return chip->kernel_time + MAX(products, bytes / cost_bandwidth(cost));
}

// The backward pass: the input's gradient (m x n) (n x k), and the weight's (k x m) (m x n).
static double cost_gemm_op(const PlanCost *cost, const ModelOp *op, PlanPass pass)
{
    TopoPrecision precision = cost_precision(cost, op);
    double products = op->selective ? cost->framework->products : 1;
    double batch = (double)op->batch, m = (double)op->m, n = (double)op->n, k = (double)op->k;
    double quantised = cost_is_narrow(precision) ? QUANTISE_BYTES / cost_bandwidth(cost) : 0;
    if (pass == PLAN_PASS_FORWARD)
        return cost_gemm(cost, precision, batch, m, n, k) / products + quantised * batch * m * k;
    double gradients =
        cost_gemm(cost, precision, batch, m, k, n) + cost_gemm(cost, precision, batch, k, n, m);
    return gradients * GRADIENTS / products + quantised * batch * m * n;
}

// FLOP/s of a curve at a size of a head: between two known sizes in proportion, below the smallest less by
// its share (a kernel's tile is then part empty), above the largest as it.
static double cost_attention_rate(const TopoAttention *attention, double size, double tokens)
{
    double low_size = 0, low = 0;
    for (guint i = 0; i < TOPO_HEADS; i++) {
        if (attention->rate[i] == 0)
            continue;
        double rate = attention->rate[i] * tokens / (tokens + attention->half[i]);
        if (size <= HEAD_SIZES[i])
            return low + (rate - low) * (size - low_size) / (HEAD_SIZES[i] - low_size);
        low_size = HEAD_SIZES[i];
        low = rate;
    }
    return low;
}

static double cost_attention(const PlanCost *cost, const ModelOp *op, PlanPass pass)
{
    const TopoCompute *chip = &cost->device->compute;
    const TopoAttention *attention = &chip->attention[cost->framework->kernel];
    double rate = cost_attention_rate(attention, (double)op->head_dim, (double)op->keys);
    rate *= cost->framework->attention;
    double flops = op->flops_forward, bytes = op->bytes_forward;
    if (pass == PLAN_PASS_BACKWARD) {
        flops = op->flops_backward;
        bytes = op->bytes_backward;
        rate *= attention->backward;
    }
    return chip->kernel_time + MAX(flops / rate, bytes / cost_bandwidth(cost));
}

static double cost_memory(const PlanCost *cost, const ModelOp *op, PlanPass pass)
{
    double bytes = pass == PLAN_PASS_FORWARD ? op->bytes_forward : op->bytes_backward;
    bytes *= cost->framework->bytes[op->memory];
    return cost->device->compute.kernel_time * plan_cost_kernels(cost, op, pass) +
           bytes / (cost_bandwidth(cost) * CLASS_SHARE[op->memory] * cost->framework->memory);
}

double plan_cost_op(const PlanCost *cost, const ModelOp *op, PlanPass pass)
{
    switch (op->kind) {
    case MODEL_OP_GEMM:
        return cost_gemm_op(cost, op, pass);
    case MODEL_OP_ATTENTION:
        return cost_attention(cost, op, pass);
    case MODEL_OP_MEMORY:
        return cost_memory(cost, op, pass);
    }
    g_assert_not_reached();
}

double plan_cost_kernels(const PlanCost *cost, const ModelOp *op, PlanPass pass)
{
    double kernels = pass == PLAN_PASS_FORWARD ? op->kernels_forward : op->kernels_backward;
    return kernels * cost->framework->kernels[op->memory];
}

double plan_cost_launch(const PlanCost *cost, const ModelOp *op, PlanPass pass)
{
    return cost->framework->launch * plan_cost_kernels(cost, op, pass);
}

// GEMMs lose multiprocessors, memory-bound operators bandwidth.
double plan_cost_slowdown(const PlanCost *cost, const ModelOp *op, PlanPass pass)
{
    (void)pass;
    const TopoCompute *chip = &cost->device->compute;
    if (op->kind == MODEL_OP_MEMORY)
        return chip->collective_memory / (1 - chip->collective_memory);
    if (chip->collective_blocks == 0)
        return 0;
    return chip->collective_slowdown * chip->collective_blocks /
           (chip->multiprocessors - chip->collective_blocks);
}

double plan_cost_accumulate(const PlanCost *cost, double parameters)
{
    return parameters * cost->framework->accumulate / (cost_bandwidth(cost) * cost->framework->memory);
}

// The natural logarithm of 1 to 2^32 from + - * / alone, so that it is the same everywhere: of the power of
// two, and of the rest by the series of 2 artanh((x - 1) / (x + 1)), x in 1 .. 2, to 1e-13.
static double cost_logarithm(double x)
{
    double powers = 0;
    while (x >= 2) {
        x /= 2;
        powers++;
    }
    double ratio = (x - 1) / (x + 1), term = ratio, sum = 0;
    for (int i = 1; i <= 27; i += 2) {
        sum += term / i;
        term *= ratio * ratio;
    }
    return powers * 0.69314718055994530942 + 2 * sum;
}

double plan_cost_slowest(double spread, guint32 gpus)
{
    double nodes = (double)gpus / 8;
    return nodes <= 1 ? 1 : 1 + spread * sqrt(2 * cost_logarithm(nodes));
}

double plan_cost_update(const PlanCost *cost, double parameters, double bytes_per_parameter)
{
    const TopoCompute *chip = &cost->device->compute;
    double bytes = parameters * (bytes_per_parameter * cost->framework->update + NORM_BYTES);
    return chip->kernel_time + bytes / (cost->device->memory_bandwidth * chip->update_efficiency);
}
