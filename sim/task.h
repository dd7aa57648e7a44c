// sim/task.h: what ranks do: a program of operations on in-order streams, shared by all ranks that run it.
//
// A program is built once (sim_program_add, sim_program_wait, sim_program_effect) and then only read. A rank
// that runs it keeps nothing but its position: how many operations of each stream have ended (sim/stream.h).
// So an operation waits for others by (stream, count): "the first count operations of that stream have
// ended", as a CUDA stream waits for an event.
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
    SIM_KIND_RECOMPUTE, // forward again, during the backward pass
    SIM_KIND_OPTIMIZER,
    SIM_KIND_ALL_REDUCE,
    SIM_KIND_REDUCE_SCATTER,
    SIM_KIND_ALL_GATHER,
    SIM_KIND_BROADCAST,
    SIM_KIND_SEND,   // from one pipeline stage to the next, for both ends
    SIM_KIND_COPY,   // between device and host
    SIM_KIND_LOAD,   // the data loader
    SIM_KIND_LAUNCH, // the host, launching kernels
    SIM_KINDS,
} SimKind;

extern const char *const SIM_KIND_NAMES[]; // "forward", ..., "all_reduce", NULL

// Classes of time (step/explain.h).
typedef enum {
    SIM_CLASS_COMPUTE,
    SIM_CLASS_COMMUNICATION,
    SIM_CLASS_LOADER,
    SIM_CLASS_LAUNCH,
} SimClass;

SimClass sim_kind_class(SimKind kind);
static inline gboolean sim_kind_is_compute(SimKind kind)
{
    return sim_kind_class(kind) == SIM_CLASS_COMPUTE;
}

// What an operation is. A step repeats itself with every micro-batch, so operations of a program that are
// alike share one: programs of millions of operations are then read from a cache, not from memory.
typedef struct {
    guint32 stream;    // index of its stream
    SimWork work;      //
    SimKind kind;      //
    Ps duration;       // of SIM_WORK_TIMED
    gint64 bytes;      // of SIM_WORK_JOINT: the collective's vector; else 0
    guint32 dimension; // of SIM_WORK_JOINT: which of the rank's groups
    guint32 slow; // of SIM_WORK_TIMED: per mille by which it slows while a joint operation runs (sim/pace.h)
    double flops; // that it computes (for checks and rates)
    gint32 layer; // block of the model, -1: none
    guint32 n_waits;      // see sim_program_waits
    guint32 first_effect; // on memory: effects[first_effect ..]
    guint32 n_effects;    //
    const char *name;     // lives as long as the program: "layer 31 backward"; see sim_program_title
    gboolean shared;      // the program's: it is known, and must not change
} SimOp;

// An operation's place in its program.
typedef struct {
    guint32 op;         // what it is: index in forms
    guint32 position;   // its place in its stream, from 0
    gint32 micro_batch; // -1: none
    guint32 first_wait; // its waits are waits[first_wait ..]
} SimTurn;

typedef struct {
    guint32 stream, count; // until count operations of stream have ended
} SimWait;

// Memory that an operation takes or gives back, when it starts or when it ends.
typedef struct {
    guint32 kind;    // the caller's own numbering
    gboolean at_end; //
    gint64 bytes;    // > 0: taken
} SimEffect;

typedef struct {
    GPtrArray *streams;         // of char *: names, owned ("compute", "dp")
    GArray *ops;                // of SimTurn, in the order in which they were added: what has an id
    GArray *forms;              // of SimOp: what they are
    GArray *after;              // of guint32, by form: the one that followed it last
    GArray *waits;              // of SimWait
    GArray *effects;            // of SimEffect
    GStringChunk *names;        // of operations; owned
    GPtrArray *order;           // of GArray * of guint32: the op ids of each stream, in order
    GArray *order_room;         // of guint: the room of each of them (base/append.h)
    guint ops_room, waits_room; // of ops and waits
    guint32 *slots;             // known forms by hash: form + 1, 0: none; owned
    guint32 n_slots;            // a power of two
    guint32 n_known;            // slots in use
} SimProgram;

// like (may be NULL): a program of about the same length, for which room is taken at once.
SimProgram *sim_program_new(const SimProgram *like);
void sim_program_free(SimProgram *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimProgram, sim_program_free)

// Adds a stream; returns its index.
guint32 sim_program_add_stream(SimProgram *program, const char *name);
// A text that lives as long as the program.
const char *sim_program_name(SimProgram *program, const char *text);
// Appends op (what is said of waits and effects is filled in) to its stream; returns its id. Its name is a
// literal or from sim_program_name. micro_batch: -1: none.
guint32 sim_program_add(SimProgram *program, const SimOp *op, gint32 micro_batch);
// The operation added last waits until op id has ended (and with it all before it on its stream).
void sim_program_wait(SimProgram *program, guint32 id);

// The operation added last has an effect on memory.
void sim_program_effect(SimProgram *program, guint32 kind, gboolean at_end, gint64 bytes);
// The same of operation id.
void sim_program_effect_of(SimProgram *program, guint32 id, guint32 kind, gboolean at_end, gint64 bytes);

static inline const SimTurn *sim_program_turn(const SimProgram *program, guint32 id)
{
    return &((const SimTurn *)(const void *)program->ops->data)[id];
}

// While a program is built, until the next operation is added.
static inline const SimOp *sim_program_op(const SimProgram *program, guint32 id)
{
    return &((const SimOp *)(const void *)program->forms->data)[sim_program_turn(program, id)->op];
}

// [form]: how many operations are it. Caller frees.
guint32 *sim_program_count(const SimProgram *program);

// What operation id waits for: as many as its SimOp says.
static inline const SimWait *sim_program_waits(const SimProgram *program, guint32 id)
{
    return (const SimWait *)(const void *)program->waits->data + sim_program_turn(program, id)->first_wait;
}

// The name, with its micro-batch for a '#': "micro-batch 3 input". Caller frees.
char *sim_program_title(const SimProgram *program, guint32 id);

static inline guint32 sim_program_streams(const SimProgram *program)
{
    return program->streams->len;
}
