// plans/pipe-gpipe.c: GPipe: every forward pass, then every backward pass (Huang et al. 2019, figure 2).
#include "plans/pipe.h"

static const char *gpipe_refuses(guint32 p, guint32 m, guint32 v)
{
    if (p < 1 || m < 1)
        return "wants at least one stage and one micro-batch";
    if (m > G_MAXUINT32 / 4)
        return "wants fewer micro-batches";
    return v == 1 ? NULL : "wants one chunk a stage";
}

// The last micro-batch is the first whose gradient is there, and the memory of the newest goes first.
static void gpipe_steps(GArray *steps, guint32 s, guint32 p, guint32 m, guint32 v)
{
    g_assert(s < p && v == 1);
    for (guint32 i = 0; i < m; i++) {
        const PipeStep step = {.backward = FALSE, .micro_batch = i};
        g_array_append_val(steps, step);
    }
    for (guint32 i = 0; i < m; i++) {
        const PipeStep step = {.backward = TRUE, .micro_batch = m - 1 - i};
        g_array_append_val(steps, step);
    }
}

static void gpipe_bubble(guint32 p, guint32 m, guint32 v, guint64 *num, guint64 *den)
{
    g_assert(v == 1);
    *num = p - 1;
    *den = m;
}

static guint32 gpipe_in_flight(guint32 s, guint32 p, guint32 m, guint32 v)
{
    g_assert(s < p && v == 1);
    return m;
}

const PipeKind PIPE_GPIPE = {
    .name = "gpipe",
    .title = "all forward passes, then all backward passes: simple, keeps every micro-batch",
    .refuses = gpipe_refuses,
    .steps = gpipe_steps,
    .bubble = gpipe_bubble,
    .in_flight = gpipe_in_flight,
};
