// topo/device.h: one kind of accelerator ("chip"): its peaks, its memory and how near kernels come to both,
// from topo/data/chips/NAME.ini.
#pragma once

#include <glib.h>

#include "base/ini.h"

typedef enum {
    TOPO_PRECISION_FP32,
    TOPO_PRECISION_TF32,
    TOPO_PRECISION_FP16,
    TOPO_PRECISION_BF16,
    TOPO_PRECISION_FP8, // also mxfp8
    TOPO_PRECISION_INT8,
    TOPO_PRECISION_FP4, // also nvfp4, mxfp4
    TOPO_PRECISIONS,
} TopoPrecision;

// The names as they stand in files ("bf16"), indexed by TopoPrecision, NULL-terminated.
extern const char *const TOPO_PRECISION_NAMES[];

// Kernels of attention whose speed a chip's file can tell apart; TOPO_ATTENTION_BEST is the library's best
// (what cuDNN and Transformer Engine choose), and stands in for those that the file leaves out.
typedef enum {
    TOPO_ATTENTION_BEST,   // section [attention]
    TOPO_ATTENTION_FLASH2, // [attention-flash2]: FlashAttention 2 as PyTorch has it
    TOPO_ATTENTION_FLASH3, // [attention-flash3]
    TOPO_ATTENTION_TRITON, // [attention-triton]: FlashAttention 1 in Triton
    TOPO_ATTENTIONS,
} TopoAttentionKernel;

extern const char *const TOPO_ATTENTION_NAMES[]; // "best", "flash2", ..., NULL

enum { TOPO_HEADS = 3 }; // sizes of a head that have curves: 64, 128, 256

// Causal attention forward: FLOP/s at s tokens are rate x s / (s + half), by the size of a head. rate 0: no
// curve for this size (the neighbours serve).
typedef struct {
    double rate[TOPO_HEADS]; // FLOP/s
    double half[TOPO_HEADS]; // tokens
    double backward;         // FLOP/s backward over those forward
} TopoAttention;

// What plans/cost.c needs of a chip. Files may leave all of it out: then these are the defaults of
// topo/compute.c, and TopoDevice.assumed says which sections they stand for.
typedef struct {
    double multiprocessors;     // 0: not such a chip (TPU), or unknown: no waves, no theft by collectives
    double tile_m, tile_n;      // of a GEMM's output
    double waves;               // theta: share of the last, partly filled wave that costs time
    double depth;               // k0: a GEMM's fixed cost as columns of k
    double kernel_time;         // t0: seconds of the shortest kernel
    double memory_efficiency;   // h: of memory_bandwidth, in streaming
    double update_efficiency;   // the same, of the optimizer's many small tensors
    double collective_blocks;   // C: multiprocessors that a collective holds
    double collective_slowdown; // lambda: GEMMs take 1 + lambda C / (S - C) beside one
    double collective_memory;   // share of the memory's bandwidth that one takes
    double host_bandwidth;      // bytes/s to host memory, one way
    double power;               // W of the board; 0: unknown
    double efficiency[TOPO_PRECISIONS]; // e: GEMMs of a long step over the peak: sustained clocks, real data
    double burst[TOPO_PRECISIONS];      // the same in a benchmark of single GEMMs; 0: unknown
    TopoAttention attention[TOPO_ATTENTIONS];
} TopoCompute;

typedef struct {
    char *name;                   // owned: "h100-sxm"
    char *title;                  // owned: "NVIDIA H100 SXM5 80 GB"
    char *source;                 // owned: where the figures come from
    double peak[TOPO_PRECISIONS]; // dense FLOP/s; 0: the chip does not have it
    gint64 memory;           // bytes of device memory, as the driver reports it or nominal: the file says
    double memory_bandwidth; // bytes/s
    TopoCompute compute;
    char *assumed; // owned: what compute has from defaults, in words ("compute, attention: guessed"); NULL:
                   // nothing
} TopoDevice;

// Reads topo/data/chips/NAME.ini, or a path. where (may be NULL) starts the error. NULL with an error; caller
// frees.
TopoDevice *topo_device_read(const char *name, const char *where, GError **error);
void topo_device_free(TopoDevice *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopoDevice, topo_device_free)
