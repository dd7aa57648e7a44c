// sim/stream.h: ranks running a program: on each stream one operation after the other, like CUDA streams.
//
// A rank is its position: how many operations of each stream have ended, and which are running. Memory is by
// the rank and stream, not by the operation.
#pragma once

#include <glib.h>

#include "sim/engine.h"
#include "sim/task.h"
#include "sim/trace.h"

// Called when a rank reaches a SIM_WORK_JOINT operation; whoever carries it out calls sim_streams_end for it
// later.
typedef void (*SimJoin)(gpointer user, guint32 rank, guint32 op);

typedef struct {
    SimEngine *engine;         // borrowed
    const SimProgram *program; // borrowed; every rank runs it
    SimTrace *trace;           // borrowed
    guint32 ranks;             //
    guint32 width;             // streams of a rank
    guint32 *ended;            // [rank * width + stream]: operations that have ended; owned
    Ps *started;               // [rank * width + stream]: when the present one started, -1: none runs; owned
    guint64 left;              // operations of all ranks that have not ended
    SimJoin join;              //
    gpointer user;             // borrowed
} SimStreams;

void sim_streams_init(SimStreams *streams, SimEngine *engine, const SimProgram *program, guint32 ranks,
                      SimTrace *trace, SimJoin join, gpointer user);
void sim_streams_clear(SimStreams *streams);

// Starts on every rank what waits for nothing; before sim_engine_run.
void sim_streams_start(SimStreams *streams);

// The joint operation that rank has reached on a stream has ended, now.
void sim_streams_end(SimStreams *streams, guint32 rank, guint32 stream);

// After the run: NULL when everything has ended, else one line that names the first stuck ranks and
// operations. Caller frees.
char *sim_streams_stuck(const SimStreams *streams);
