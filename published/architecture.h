// published/architecture.h: the models of published runs, a row each.
//
// Tables are those of validation/data/models.csv, or any file of the same columns.
#pragma once

#include <glib.h>

typedef struct {
    char *name;                                                        // owned, all texts
    gint64 layers, hidden, heads, kv_heads, head_dim, ffn, vocabulary; // head_dim, kv_heads 0: unknown
    gboolean gated, tied, parallel_block;
    char *norm_pos;  // its norm and positions in words: "RMSNorm, RoPE"; may be empty
    char *attention; // "mha", "gqa", "mqa", "mla"
    gint64 experts;  // 0: dense
    char *source;
} PublishedModel;

typedef enum {
    PUBLISHED_POSITIONS_ROTARY,
    PUBLISHED_POSITIONS_LEARNED,
    PUBLISHED_POSITIONS_ALIBI
} PublishedPositions;

// Reads a table into one that finds models by name; into may hold others already, which a row of the same
// name replaces. FALSE with an error "file:line: column: ...".
gboolean published_models_read(GHashTable *into, const char *path, GError **error);
// The tables that ship with the program. NULL with an error; caller unrefs: char * to PublishedModel *.
GHashTable *published_models_library(GError **error);

// What norm_pos says; where it says nothing, gated MLPs go with RMS norm and rotary positions.
gboolean published_model_rms(const PublishedModel *model);
PublishedPositions published_model_positions(const PublishedModel *model);
gboolean published_model_bias(const PublishedModel *model);
