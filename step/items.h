// step/items.h: the blocks of a model as the pieces of work of one rank and one micro-batch, in forward
// order: what lowering turns into operations. Two makers: by efficiency (a fraction of peak of the model's
// FLOPs, tensor by tensor: the documents' way), and by operator (models/ops.h costed by plans/cost.h).
//
// Work is in units of which rate make a second: model FLOPs in the first, seconds (rate 1) in the second.
#pragma once

#include <glib.h>

#include "models/ops.h"
#include "step/job.h"

typedef struct {
    const char *name;                       // static
    double forward, backward;               // work
    double again;                           // work that recomputation repeats before its backward (selective)
    double slow_forward, slow_backward;     // fraction by which it slows under a collective
    double launch_forward, launch_backward; // seconds of the host
    double model_flops;                     // forward and backward, of this rank, as the job counts them
    gint64 tensors[MODEL_OP_TENSORS]; // parameters of its weights on this rank, in order of registration
    guint32 n_tensors;
    ModelJoin join;
    gint64 exchanged; // bytes that join exchanges
} StepItem;

typedef struct {
    double rate;       // work of a second
    GPtrArray *blocks; // of GArray * of StepItem: embedding, layers, head; layers may share one
} StepItems;

// Layers 0..L-1 are blocks 1..L; block 0 is the embedding, L + 1 the head.
void step_items_init(StepItems *items, const StepJob *job);
void step_items_clear(StepItems *items);

static inline const GArray *step_items_block(const StepItems *items, guint32 block)
{
    return items->blocks->pdata[block];
}

// Parameters of a block on this rank. With a pipeline a tied head has a copy of the embedding's table.
gint64 step_items_parameters(const StepItems *items, guint32 block);
// Of the embedding's table, without learned positions.
gint64 step_items_table(const StepItems *items);

// Seconds of one rank's compute in a step if one rank ran all layers: forward, backward, what is recomputed,
// launches and the optimizer; an upper bound of every stage's.
double step_items_seconds(const StepJob *job);
