// published/recipe.h: a published run as a scenario of ours, and what had to be assumed for it.
#pragma once

#include <glib.h>

#include "published/architecture.h"
#include "published/run.h"

typedef struct {
    char *scenario;            // owned: the text of a scenario file; NULL: the run cannot be run
    char *machine, *framework; // owned; NULL likewise
    char *reason;              // owned: why it cannot
    GPtrArray *assumptions;    // of char *: what the run does not say, a line each
    gboolean layer; // the row is one layer's time: the difference of two layers and one, no optimizer
    gboolean open;  // micro-batch, virtual stages or recomputation are not published
} PublishedRecipe;

// What of a run that does not say is varied, to show its range.
typedef struct {
    gint64 micro_batch, chunks; // 0: the default (1; a virtual stage a layer)
    gboolean recompute;         // instead of none
} PublishedVary;

// vary may be NULL: defaults. models: char * to PublishedModel *.
PublishedRecipe *published_recipe(const PublishedRun *run, GHashTable *models, const PublishedVary *vary);
void published_recipe_free(PublishedRecipe *recipe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PublishedRecipe, published_recipe_free)

// The run's chip and precision as one word for families: "H100-SXM fp8".
char *published_chip_precision(const PublishedRun *run);
// The precision as scenarios call it ("mxfp8" and "fp8-cs" are fp8, "nvfp4" is fp4, "16bit" is fp16), or
// NULL.
const char *published_precision(const PublishedRun *run);
