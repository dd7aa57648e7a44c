// sim/stream.h: ranks running programs: on each stream one operation after the other, like CUDA streams.
//
// A rank is its position: how many operations of each stream have ended, and which are running. Memory is by
// the rank and stream, not by the operation. Ranks that do the same share a program. A joint operation is
// reached (join), begins to move when all its members have reached it (sim_streams_move, which is the start
// that the trace records), and ends (sim_streams_end). While one moves on a rank, its timed operations run at
// their slowed rate.
#pragma once

#include <glib.h>

#include "sim/engine.h"
#include "sim/task.h"
#include "sim/trace.h"

// Called when a rank reaches a SIM_WORK_JOINT operation; whoever carries it out calls sim_streams_move and
// sim_streams_end for it later.
typedef void (*SimJoin)(gpointer user, guint32 rank, guint32 op);

// How many millionths of its duration a timed operation of a rank takes (1,000,000: as long as the program
// says).
typedef guint32 (*SimScale)(gconstpointer user, guint32 rank, guint32 op);

enum { SIM_STREAMS_WIDTH = 64 };

// What a rank's stream is doing.
typedef struct {
    Ps started;         // when the present operation started, -1: none runs
    Ps left;            // timed: work left at since (sim/pace.h)
    Ps since;           //
    guint32 ended;      // operations that have ended
    guint32 generation; // of its pending event; older ones are void
    guint32 at;         // id of the operation that runs or comes next, G_MAXUINT32: none
    SimWait waits;      // the next operation cannot start before this, as far as is known
    gboolean moving;    // a joint operation that has begun to move
} SimLane;

typedef struct {
    SimEngine *engine;                 // borrowed
    const SimProgram *const *programs; // borrowed
    const guint32 *runs;               // [rank]: which program it runs; borrowed
    SimTrace *trace;                   // borrowed
    guint32 ranks;                     //
    guint32 width;                     // streams of a rank, at most
    SimLane *lanes;                    // [rank * width + stream]; owned
    guint64 *behind;          // [rank * width + stream]: which streams wait for it, a bit each; owned
    guint64 *paced;           // [rank]: streams whose operation slows beside joint ones, a bit each; owned
    guint32 *moving;          // [rank]: joint operations that move; owned
    guint64 left;             // operations of all ranks that have not ended
    SimJoin join;             //
    gpointer user;            // borrowed
    SimScale scale;           // NULL: none
    gconstpointer scale_user; // borrowed
} SimStreams;

// programs[runs[rank]] is what a rank runs: up to SIM_STREAMS_WIDTH streams.
void sim_streams_init(SimStreams *streams, SimEngine *engine, const SimProgram *const *programs,
                      const guint32 *runs, guint32 ranks, SimTrace *trace, SimJoin join, gpointer user);
void sim_streams_clear(SimStreams *streams);

static inline const SimProgram *sim_streams_program(const SimStreams *streams, guint32 rank)
{
    return streams->programs[streams->runs[rank]];
}

// Starts on every rank what waits for nothing; before sim_engine_run.
void sim_streams_start(SimStreams *streams);

// The joint operation that rank has reached on a stream begins to move, now.
void sim_streams_move(SimStreams *streams, guint32 rank, guint32 stream);
// It has ended, now.
void sim_streams_end(SimStreams *streams, guint32 rank, guint32 stream);

// After the run: NULL when everything has ended, else one line that names the first stuck ranks and
// operations. Caller frees.
char *sim_streams_stuck(const SimStreams *streams);
