// plans/pipe-1f1b.c: one forward, one backward: a stage keeps no more micro-batches than there are stages
// from it on (PipeDream-Flush, Narayanan et al. 2021, section 2.2.1).
#include "plans/pipe.h"

static const char *one_refuses(guint32 p, guint32 m, guint32 v)
{
    if (p < 1 || m < 1)
        return "wants at least one stage and one micro-batch";
    if (m > G_MAXUINT32 / 4)
        return "wants fewer micro-batches";
    return v == 1 ? NULL : "wants one chunk a stage";
}

// Forward passes before the first backward one.
static guint32 one_warm_up(guint32 s, guint32 p, guint32 m)
{
    return MIN(p - s - 1, m);
}

static void one_steps(GArray *steps, guint32 s, guint32 p, guint32 m, guint32 v)
{
    g_assert(s < p && v == 1);
    guint32 ahead = one_warm_up(s, p, m);
    for (guint32 i = 0; i < m + ahead; i++) {
        const PipeStep forward = {.backward = FALSE, .micro_batch = i};
        const PipeStep backward = {.backward = TRUE, .micro_batch = i - ahead};
        if (i < m)
            g_array_append_val(steps, forward);
        if (i >= ahead)
            g_array_append_val(steps, backward);
    }
}

static void one_bubble(guint32 p, guint32 m, guint32 v, guint64 *num, guint64 *den)
{
    g_assert(v == 1);
    *num = p - 1;
    *den = m;
}

static guint32 one_in_flight(guint32 s, guint32 p, guint32 m, guint32 v)
{
    g_assert(s < p && v == 1);
    return MIN(one_warm_up(s, p, m) + 1, m);
}

const PipeKind PIPE_1F1B = {
    .name = "1f1b",
    .title = "one forward, one backward: keeps at most as many micro-batches as stages",
    .refuses = one_refuses,
    .steps = one_steps,
    .bubble = one_bubble,
    .in_flight = one_in_flight,
};
