// plans/pipe.h: what a pipeline schedule is: in which order a stage runs forward and backward passes.
//
// A schedule is a list per pipeline rank; the simulation adds what each must wait for. Stage s of p holds v
// chunks of the model (virtual stages c x p + s).
#pragma once

#include <glib.h>

typedef struct {
    gboolean backward;
    guint32 micro_batch; // 0..m-1
    guint32 chunk;       // 0..v-1
} PipeStep;

typedef struct {
    const char *name;  // "1f1b"
    const char *title; // one line for people
    // NULL, or why it does not do p stages, m micro-batches, v chunks ("wants micro-batches that divide by
    // the stages"). Static text.
    const char *(*refuses)(guint32 p, guint32 m, guint32 v);
    // Appends the 2 m v steps of stage s (GArray of PipeStep) in order.
    void (*steps)(GArray *steps, guint32 s, guint32 p, guint32 m, guint32 v);
    // Idle time of a stage over the time of its own work, stages equal and sends free, as a fraction num/den:
    // GPipe and 1F1B (p-1)/m, interleaved (p-1)/(v m) (Narayanan et al. 2021, section 2.2).
    void (*bubble)(guint32 p, guint32 m, guint32 v, guint64 *num, guint64 *den);
    // Micro-batches (of one chunk) whose activations stage s keeps at most.
    guint32 (*in_flight)(guint32 s, guint32 p, guint32 m, guint32 v);
} PipeKind;

extern const PipeKind PIPE_GPIPE, PIPE_1F1B, PIPE_INTERLEAVED;
extern const PipeKind *const PIPE_KINDS[]; // NULL-terminated

// By name. NULL with an error that names the known ones; where (may be NULL) starts it.
const PipeKind *pipe_find(const char *name, const char *where, GError **error);

// The schedule as a table of stage x time, forward one unit of time and backward two, sends free: a row a
// stage, "F0 F1 . B0" in fixed columns (chunks as letters after the number: "F0a"). Caller frees. Runs no
// simulation: each step starts when its stage is free and what it needs is done.
char *pipe_table(const PipeKind *kind, guint32 p, guint32 m, guint32 v);
