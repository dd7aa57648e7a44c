// sim/task.h: what ranks do: a program of operations on in-order streams, shared by all ranks that run it.
//
// A program is built once (sim_program_add, sim_program_wait) and then only read. A rank that runs it keeps
// nothing but its position: how many operations of each stream have ended (sim/stream.h). So an operation
// waits for others by (stream, count): "the first count operations of that stream have ended", as a CUDA
// stream waits for an event.
#pragma once

#include <glib.h>

#include "base/units.h"

// How an operation is carried out.
typedef enum {
    SIM_WORK_TIMED, // it takes its duration
    SIM_WORK_JOINT, // all members of a group do it together (a collective): the run's joint handler carries
                    // it out
} SimWork;

// What it is, for colours, classes and names.
typedef enum {
    SIM_KIND_FORWARD,
    SIM_KIND_BACKWARD,
    SIM_KIND_OPTIMIZER,
    SIM_KIND_ALL_REDUCE,
    SIM_KIND_REDUCE_SCATTER,
    SIM_KIND_ALL_GATHER,
    SIM_KIND_BROADCAST,
    SIM_KINDS,
} SimKind;

extern const char *const SIM_KIND_NAMES[]; // "forward", ..., "all_reduce", NULL
gboolean sim_kind_is_compute(SimKind kind);

typedef struct {
    guint32 stream;     // index of its stream
    guint32 position;   // its place in that stream, from 0
    SimWork work;       //
    SimKind kind;       //
    Ps duration;        // of SIM_WORK_TIMED
    gint64 bytes;       // of SIM_WORK_JOINT: the collective's vector; else 0
    guint32 dimension;  // of SIM_WORK_JOINT: which of the rank's groups
    gint32 layer;       // block of the model, -1: none
    gint32 micro_batch; // -1: none
    guint32 first_wait; // its waits are waits[first_wait ..]
    guint32 n_waits;    //
    char *name;         // owned: "layer 31 backward"
} SimOp;

typedef struct {
    guint32 stream, count; // until count operations of stream have ended
} SimWait;

typedef struct {
    GPtrArray *streams; // of char *: names, owned ("compute", "dp")
    GArray *ops;        // of SimOp, in the order in which they were added
    GArray *waits;      // of SimWait
    GPtrArray *order;   // of GArray * of guint32: the op ids of each stream, in order
} SimProgram;

SimProgram *sim_program_new(void);
void sim_program_free(SimProgram *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimProgram, sim_program_free)

// Adds a stream; returns its index.
guint32 sim_program_add_stream(SimProgram *program, const char *name);
// Appends op (its name is copied; position and waits are filled in) to its stream; returns its id.
guint32 sim_program_add(SimProgram *program, const SimOp *op);
// The operation added last waits until op id has ended (and with it all before it on its stream).
void sim_program_wait(SimProgram *program, guint32 id);

static inline const SimOp *sim_program_op(const SimProgram *program, guint32 id)
{
    return &((const SimOp *)(void *)program->ops->data)[id];
}

static inline guint32 sim_program_streams(const SimProgram *program)
{
    return program->streams->len;
}
