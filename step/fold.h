// step/fold.h: the folded fidelity: one rank of every pipeline stage, for all that behave like it.
//
// Ranks of a stage run one program; where nothing tells them apart (no straggler, no jitter, no slow link)
// they are at the same place at every instant, so one of them is simulated. A collective of a stage starts
// when that rank reaches it, a send when both its ends have; each takes the time that step/siblings.h has
// measured for it with its siblings. Collectives that overlap and want the same links share them max-min
// (sim/flow.h). Where nothing overlaps on a link the result is that of fidelity messages, to the picosecond;
// siblings that end apart (spread) are taken to end together, with the last of them.
#pragma once

#include <glib.h>

#include "sim/flow.h"
#include "sim/stream.h"
#include "step/lower.h"
#include "step/siblings.h"

// Whether a job can be folded: NULL, or why not, in words ("ranks are told apart by stragglers"). Static.
const char *step_fold_refuses(const StepJob *job);

// A place where ranks of stages meet, one collective at a time.
typedef struct {
    guint32 need;       // how many stages' ranks
    guint32 arrived;    //
    guint32 collective; // of the present one
    guint32 stages[2];  // who has arrived, where need <= 2
    guint32 streams[2]; //
    guint32 *all;       // [2 * i]: the same for the whole world; owned, or NULL
    gboolean under_way;
} StepMeeting;

typedef struct {
    const StepJob *job;         // borrowed
    const StepLowered *lowered; // borrowed
    StepSiblings siblings;
    SimStreams *streams; // borrowed; a track for every stage
    SimFlows flows;
    guint32 **collectives; // [stage][form]: index in siblings; owned
    GPtrArray *uses;       // [collective]: GArray of SimUse; owned
    StepMeeting *meetings; // owned
    guint32 n_meetings;
    guint64 messages; // that the collectives so far stand for
    guint64 slowed;   //
} StepFold;

// Measures what the programs need. FALSE with an error; the fold is then cleared.
gboolean step_fold_init(StepFold *fold, const StepJob *job, const StepLowered *lowered, SimEngine *engine,
                        SimStreams *streams, GError **error);
void step_fold_clear(StepFold *fold);

// A SimJoin of streams whose ranks are stages; user is a StepFold.
void step_fold_join(gpointer user, guint32 stage, guint32 op);
