// coll/measure.h: one collective alone on a machine, over all its GPUs, message by message.
#pragma once

#include <glib.h>

#include "coll/choice.h"
#include "coll/nccl.h"
#include "machines/machine.h"
#include "sim/queue.h"

typedef struct {
    SimQueueKind queue;   //
    CollChooser chooser;  // NULL: coll_choice_plain with choose as the algorithm
    gconstpointer choose; // borrowed: the chooser's own
    gboolean no_fuse;     // without the shortcut of sim/route.h
    gint64 chunk;         // bytes; 0: the default
} CollMeasureOptions;

typedef struct {
    Ps time;              // from the common start to the last receipt
    guint64 messages;     // sent
    guint64 events;       // run by the engine
    double sent_mean;     // bytes sent per rank
    double sent_max;      //
    const CollAlgo *algo; // that was chosen; static
    const char *protocol; // static, NULL: none
    guint64 fingerprint;  // of the time and every link's bytes and busy time
    double wall_s;        // real time of the event loop
} CollMeasure;

#define COLL_CHUNK_DEFAULT                                                                                   \
    (G_GINT64_CONSTANT(32) << 20) // bytes: how long a message occupies a link at a stretch

// Runs op over all GPUs of the machine's graph. options may be NULL. FALSE with an error where it could pass
// the range of time, the machine has more GPUs than message by message allows, or the algorithm does not do
// this shape.
gboolean coll_measure_run(const TopoGraph *graph, CollOp op, gint64 bytes, const CollMeasureOptions *options,
                          CollMeasure *out, GError **error);

// The same on a machine, chosen and costed as NCCL does where the machine has [nccl] (and plain does not say
// otherwise). algo and protocol (NCCL's) NULL: whatever is chosen. options' chooser is not used; options may
// be NULL.
gboolean coll_measure_machine(const TopoMachine *machine, CollOp op, gint64 bytes, const CollAlgo *algo,
                              const char *protocol, gboolean plain, const CollMeasureOptions *options,
                              CollMeasure *out, GError **error);

// How many messages coll_measure_machine would simulate with what is chosen: nearly all of its cost.
// (Machines whose cables carry several rings send more; these are small.)
guint64 coll_measure_count(const TopoMachine *machine, CollOp op, gint64 bytes);
