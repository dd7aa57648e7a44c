// published/run.h: one published training run, as a row of a table has it.
//
// Tables are those of validation/data/runs.csv, or any file of the same columns; columns that nobody knows
// are left alone. SI units everywhere; an empty field is unknown, never guessed.
#pragma once

#include <glib.h>

// How the run's source counts the FLOPs that it prints.
typedef enum {
    PUBLISHED_COUNT_UNKNOWN,
    PUBLISHED_COUNT_FULL,     // 6 per parameter and token and 12 LHQT: attention in full (PaLM, appendix B)
    PUBLISHED_COUNT_CAUSAL,   // the same with half of the attention
    PUBLISHED_COUNT_HARDWARE, // full attention and the recomputed forward pass: 8 and 16 (Narayanan et al.)
} PublishedCount;

extern const char *const PUBLISHED_COUNT_NAMES[]; // "unknown", "full", "causal", "hardware", NULL

typedef struct {
    char *id, *source_key, *source, *reference; // owned, all texts
    char *model, *variant, *chip, *precision;
    char *dp_kind, *recompute, *recompute_detail, *offload, *net_known, *pp_schedule;
    char *split, *missing;
    char *counting_text; // as the table has it
    PublishedCount counting;
    gint64 layers;                 // of a run with fewer than its model has; 0: the model's
    gint64 sequence;               // tokens
    guint32 gpus;                  //
    double inter;                  // bytes/s one way of one GPU between nodes; 0: unknown
    double peak;                   // FLOP/s that its MFU divides by; 0: unknown
    guint32 tp, pp, cp, ep, dp;    // 0: unknown
    int sp;                        // -1: unknown
    gint64 vp, micro_batch, batch; // 0: unknown
    guint32 shard;                 // of FSDP; 0: unknown
    int tp_overlap, dp_overlap;    // -1: unknown
    double step;                   // s; 0: not printed
    double flops;                  // FLOP/s a GPU as printed; 0: unknown
    double mfu, hfu;               // fractions as printed; 0: unknown
    double tokens_per_s;           // of all GPUs; 0: unknown
} PublishedRun;

// Reads a table. NULL with an error "file:line: column: ...": a column missing, a figure that is no number,
// a run twice. Caller unrefs: of PublishedRun *, in the order of rows.
GPtrArray *published_runs_read(const char *path, GError **error);
// The table that ships with the program.
GPtrArray *published_runs_library(GError **error);
GPtrArray *published_runs_read_text(const char *name, const char *text, gsize length, GError **error);
