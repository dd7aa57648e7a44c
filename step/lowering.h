// step/lowering.h: one stage's program under construction, shared by the rooms lower-*.c.
#pragma once

#include <glib.h>

#include "sim/task.h"
#include "step/items.h"
#include "step/job.h"
#include "step/lower.h"
#include "plans/memory.h"

// What a block's operation is called after it: a SimKind ("layer 3 forward"), or one of these.
enum {
    LOWER_NAME_PLAIN = SIM_KINDS, // "layer 3"
    LOWER_NAME_WEIGHTS,
    LOWER_NAME_ACTIVATIONS,
    LOWER_NAMES,
};

typedef enum {
    LOWER_COMPUTE,
    LOWER_DP,
    LOWER_REPLICA,
    LOWER_TP,
    LOWER_CP,
    LOWER_SEND_FORWARD,
    LOWER_RECV_FORWARD,
    LOWER_SEND_BACKWARD,
    LOWER_RECV_BACKWARD,
    LOWER_ENDS,
    LOWER_WORLD,
    LOWER_COPY_OUT,
    LOWER_COPY_IN,
    LOWER_LOADER,
    LOWER_HOST,
    LOWER_STREAMS,
} LowerStream;

#define LOWER_NONE G_MAXUINT32 // no operation

// The gradients of one chunk (virtual stage), in the order in which its backward pass makes them ready.
typedef struct {
    guint32 first_block, last_block; // blocks first .. last - 1 of models/tensor.h
    GArray *bytes;                   // of gint64: gradient bytes of every tensor on this rank
    GArray *of;                      // of guint32: the block of every tensor
    GArray *buckets;                 // of PlanBucket
    GArray *gathers; // of guint32: with overlap_gather, the operation that gathers each bucket
    guint32 passes;  // backward passes so far, of plan->micro_batches
    // Units that are fetched (lower-unit.c).
    guint32 base; // how many uses there were before the present pass; G_MAXUINT32: no pass yet
    guint32 used; // units that the present pass has left behind
    guint32
        heads; // forward passes of the head whose backward pass has not run: it is whole while there are any
    gboolean fetching; // the present pass fetches
    gboolean whole;    // what has been fetched has not been freed since (reshard = no)
    guint32 flying;    // forward passes whose backward pass has not run
} LowerChunk;

typedef struct {
    const StepJob *job;
    const Plan *plan;
    const StepItems *items;
    PlanMemoryStage memory;
    SimProgram *program;
    const char **names; // [block * LOWER_NAMES + what]: made when first asked for, of the program; owned
    guint32 stage;
    guint32 streams[LOWER_STREAMS]; // LOWER_NONE: not there yet
    // The compute stream: running totals, and what has been added since the last cut.
    double work;        // done so far
    Ps now;             // time of that
    double flops, slow; // since the last cut: model FLOPs; work x slow-down
    double mark;        // work at the last cut
    double launch;      // seconds of launches since the last cut
    double host;        // seconds of launches whose operations stand in the program
    Ps host_now;        // time of that
    double launch_left; // of the operation before: launched before the next can start
    guint32 launched;   // last operation of the host
    guint32 last;       // last operation of the compute stream
    GArray *waits;      // of guint32: what the next operation waits for
    GArray *effects;    // of SimEffect: what the next operation does to memory
    SimKind kind;       // what is being added
    guint32 block;      //
    gint32 micro_batch; //
    // Data parallelism.
    GPtrArray *chunks; // of LowerChunk *
    guint32 buckets;   // numbered so far
    GArray *unit_ends; // of guint32: the last operation of every use of a layer, in order of use
    GArray *fetched;   // of guint32, by block: the operation that fetches its weights
    GArray *freed;     // of guint32, by block: the operation that freed them last
    GArray *copied;    // of guint32, by micro-batch x blocks: offloaded activations
    guint32 copies[2]; // the last copy of activations to the host, and the one before
    guint32 left[2];   // the last operation of the block that was left last, and of the one before
} Lowering;

// lower-op.c
guint32 lowering_stream(Lowering *lowering, LowerStream stream);
// "layer 3 forward", as long as the program lives; what is a SimKind or a LOWER_NAME.
const char *lowering_name(Lowering *lowering, guint32 block, guint what);
// From now on: a kind of work on a block.
void lowering_begin(Lowering *lowering, SimKind kind, guint32 block);
// Adds work to the present operation.
void lowering_add(Lowering *lowering, double work, double flops, double slow, double launch);
// The present operation ends here; nothing is added for no time, unless something is waited for.
// lowering_begin ends it too, but leaves what is waited for to the next.
void lowering_cut(Lowering *lowering);
void lowering_wait(Lowering *lowering, guint32 id); // by the next operation; LOWER_NONE: nothing
void lowering_effect(Lowering *lowering, PlanMemoryKind kind, gboolean at_end, gint64 bytes);
// A joint operation on a stream that waits for operation after (LOWER_NONE: for nothing but its stream); cut
// before where that is lowering->last. name: as sim_program_add. Returns its id.
guint32 lowering_join(Lowering *lowering, LowerStream stream, SimKind kind, guint32 dimension, gint64 bytes,
                      const char *name, guint32 after);
// A timed operation on another stream that waits for id.
guint32 lowering_timed(Lowering *lowering, LowerStream stream, SimKind kind, double seconds, const char *name,
                       guint32 after);

// lower-pass.c: a chunk forward or backward, for lowering->micro_batch.
void lowering_forward(Lowering *lowering, LowerChunk *chunk);
void lowering_backward(Lowering *lowering, LowerChunk *chunk);

// lower-data.c
LowerChunk *lowering_chunk_new(const Lowering *lowering, guint32 chunk);
void lowering_chunk_free(LowerChunk *chunk);
// Whether this backward pass (counted in chunk->passes, not yet increased) reduces gradients.
gboolean lowering_reduces(const Lowering *lowering, const LowerChunk *chunk);
// Reduces a bucket that is ready after the operation id; last_pass: of the last micro-batch's backward pass.
void lowering_reduce(Lowering *lowering, const LowerChunk *chunk, guint32 bucket, gboolean last_pass,
                     guint32 after);
// A backward pass is over (counted in chunk->passes) and not the last: with overlap = no it reduces what it
// has to now. The next pass waits for all it reduces, but in a pipeline with overlap.
void lowering_reduce_pass(Lowering *lowering, const LowerChunk *chunk);
// With overlap = no: what has not been reduced by the end.
void lowering_reduce_late(Lowering *lowering);
// Gathers of updated weights at the start of a step (overlap_gather).
void lowering_gather_early(Lowering *lowering);
// What the forward pass of a block must wait for in the first micro-batch (overlap_gather).
void lowering_await_weights(Lowering *lowering, const LowerChunk *chunk, guint32 block);
// The gradients' norm, the optimizer, and gathers after it.
void lowering_update(Lowering *lowering);

// lower-unit.c: a pass begins; it enters a block, adds the block's end to its last operation, has cut it and
// leaves.
void lowering_units_begin(Lowering *lowering, LowerChunk *chunk, gboolean backward);
void lowering_unit_enter(Lowering *lowering, guint32 block);
void lowering_unit_end(Lowering *lowering, LowerChunk *chunk, guint32 block, gboolean backward);
void lowering_unit_leave(Lowering *lowering, LowerChunk *chunk, guint32 block, gboolean backward);
