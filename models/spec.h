// models/spec.h: the numbers of one dense transformer, from models/data/NAME.ini.
#pragma once

#include <glib.h>

#include "base/ini.h"

// Limits that keep 6 N, byte counts and every product of two widths exact in an int64 (and 6 N in a double).
#define MODEL_LAYERS_MAX     G_GINT64_CONSTANT(100000)
#define MODEL_WIDTH_MAX      G_GINT64_CONSTANT(10000000)
#define MODEL_SEQUENCE_MAX   G_GINT64_CONSTANT(1000000000)
#define MODEL_PARAMETERS_MAX G_GINT64_CONSTANT(1000000000000000)

typedef enum {
    MODEL_NORM_RMS,   // one weight vector
    MODEL_NORM_LAYER, // weight and bias vectors
} ModelNorm;

typedef struct {
    char *name;               // owned: library name or path
    char *title;              // owned: one line for people
    char *source;             // owned: paper or checkpoint
    gint64 layers;            // L
    gint64 hidden;            // h
    gint64 heads;             // H, query heads
    gint64 kv_heads;          // key/value heads (= heads: multi-head; 1: multi-query)
    gint64 head_dim;          // Q
    gint64 ffn;               // width of the MLP
    gboolean gated;           // three MLP matrices (SwiGLU) instead of two
    gint64 vocabulary;        // V, as stored (padded where the source pads)
    gboolean tied;            // the head shares the embedding's weights
    ModelNorm norm;           // kind of normalisation
    gboolean norm_parameters; // whether the weights of norms are counted (the deck leaves them out)
    gboolean bias;            // whether linear layers have bias vectors
    gint64 positions;         // learned position embeddings; 0: none
    gboolean rotary;          // queries and keys are rotated (no: learned positions, ALiBi)
    gint64 sequence;          // default sequence length in tokens
    gint64 parameters;        // total that replaces the sum of the tensors (a scenario's word); 0: none
    gboolean dropout;         // whether embedding, attention and residuals are dropped out in training
    gboolean parallel_block;  // attention and MLP side by side on one norm (PaLM, GPT-J), not in turn
} ModelSpec;

extern const char *const MODEL_NORM_NAMES[]; // "rms", "layer", NULL

// Reads models/data/NAME.ini, or a path. where (may be NULL) starts the error about the name. Keys live in
// section [model] and are called like the fields. kv_heads is heads where it is absent, head_dim is hidden /
// heads, norm_parameters is yes, dropout and parallel_block are no, positions and parameters are 0, rotary is
// yes without positions; the rest must be there. NULL with an error; caller frees.
ModelSpec *model_spec_read(const char *name, const char *where, GError **error);
// The model of section [model] of an ini that holds other things too (a scenario that uses no library model);
// its name is its title. Its other sections, and keys that no model has, are left for ini_finish.
ModelSpec *model_spec_read_section(Ini *ini, GError **error);
// Overrides fields from any keys of the same names that stand in section [model] of a scenario (use and
// sequence excepted, which are the scenario's own), then checks the whole. A total that the model's file sets
// (parameters) stays as it is when sizes change. FALSE with an error; spec is then half changed, and only
// good to be freed.
gboolean model_spec_override(ModelSpec *spec, Ini *scenario, GError **error);
// Whether a model with learned positions has as many as a sequence (tokens) is long; the error names the line
// of ini that set model.sequence or, failing that, model.positions. For whoever reads sequence from a
// scenario.
gboolean model_spec_check_sequence(const ModelSpec *spec, gint64 sequence, const Ini *ini, GError **error);
void model_spec_free(ModelSpec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ModelSpec, model_spec_free)
