// step/siblings.h: how long each distinct collective of a job takes, with its siblings: measured once by
// messages.
//
// Ranks of a stage reach a collective at the same instant, so its group runs beside those of all other ranks
// of the stage (for a send: beside all sends between the two stages). They are run once on the whole machine,
// message by message, with nothing else under way; what is kept is the time until the last of them has ended,
// and which share of that time the links were busy, by kind of link and whose they are. Stages whose groups
// lie alike (the same routes between neighbours, in a sample of the groups) share the result. Results are
// kept in a file (step/cache.h), so that the next run finds them.
#pragma once

#include <glib.h>

#include "sim/share.h"
#include "step/job.h"
#include "step/lower.h"

// Whose links: of GPUs (and their islands) of the stage, of the other stage of a send, of islands that
// several stages share, or of the fabric (one pool: its links are taken to share evenly).
typedef enum {
    STEP_OWNER_STAGE,
    STEP_OWNER_OTHER,
    STEP_OWNER_MIXED,
    STEP_OWNER_POOL,
    STEP_OWNER_LINK, // one link by itself: class is its id. Small machines are followed link by link.
} StepOwner;

// Machines of up to so many GPUs are followed link by link, and every stage's collectives are measured by
// themselves.
enum { STEP_SIBLINGS_EXACT = 256 };

// A kind of link of an owner, and the share of the collective's time in which the busiest of them (of a pool:
// the mean) was busy, in parts of SIM_SHARE_ONE.
typedef struct {
    guint32 class; // link class and the kinds of its two ends
    guint32 owner; // StepOwner
    guint32 share;
} StepLinkShare;

typedef struct {
    guint32 stage;     // of the sender, for a send
    guint32 other;     // the receiver's, for a send; else the stage itself
    guint32 dimension; // as the sender names it
    SimKind kind;
    gint64 bytes;
    guint32 like; // the collective that was measured for it (itself, or one of another stage that lies alike)
    // Measured:
    gboolean known;
    Ps time;          // until the last of the siblings has ended
    Ps spread;        // by which the first of them was earlier
    guint64 messages; // of all of them
    GArray *shares;   // of StepLinkShare; owned
} StepCollective;

typedef struct {
    const StepJob *job;         // borrowed
    const StepLowered *lowered; // borrowed
    GArray *all;                // of StepCollective; owned
    GHashTable
        *known; // of gint64 *, a hash of stage, dimension, kind and bytes, to index + 1; only looked up
    guint32 measured, found; // by messages in this run, and in the cache
} StepSiblings;

void step_siblings_init(StepSiblings *siblings, const StepJob *job, const StepLowered *lowered);
void step_siblings_clear(StepSiblings *siblings);

// The collective that a joint operation of a stage's program is; added where it is new. Returns its index in
// all.
guint32 step_siblings_add(StepSiblings *siblings, guint32 stage, const SimOp *op);

// Measures what is not known. FALSE with an error, as step_groups_init.
gboolean step_siblings_measure(StepSiblings *siblings, GError **error);

static inline const StepCollective *step_siblings_get(const StepSiblings *siblings, guint32 index)
{
    return &g_array_index(siblings->all, StepCollective, index);
}
