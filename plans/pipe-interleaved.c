// plans/pipe-interleaved.c: 1F1B over v chunks a stage, in Megatron-LM's order (Narayanan et al. 2021,
// section 2.2.2; forward_backward_pipelining_with_interleaving of
// megatron/core/pipeline_parallel/schedules.py).
//
// Passes of a stage are numbered 0 .. m v - 1, forward and backward alike: p micro-batches through chunk 0,
// the same through chunk 1, and so on, then the next p. Backward the chunks go down.
#include "plans/pipe.h"

static const char *interleaved_refuses(guint32 p, guint32 m, guint32 v)
{
    if (p < 2)
        return "wants at least 2 stages";
    if (v < 2)
        return "wants at least 2 chunks a stage";
    if (v > G_MAXUINT32 / 4 / p || m > G_MAXUINT32 / 4 / v)
        return "wants fewer micro-batches and chunks";
    return m >= 1 && m % p == 0 ? NULL : "wants micro-batches that divide by the stages";
}

static PipeStep interleaved_pass(gboolean backward, guint32 k, guint32 p, guint32 v)
{
    guint32 in_round = k % (p * v), chunk = in_round / p;
    return (PipeStep){
        .backward = backward,
        .micro_batch = k / (p * v) * p + in_round % p,
        .chunk = backward ? v - 1 - chunk : chunk,
    };
}

// Forward passes before the first backward one. (With one round, m = p, Megatron-LM long ran all of them
// first, for the same time and more memory; Megatron Core has dropped that rule.)
static guint32 interleaved_warm_up(guint32 s, guint32 p, guint32 m, guint32 v)
{
    return MIN((p - s - 1) * 2 + (v - 1) * p, m * v);
}

static void interleaved_steps(GArray *steps, guint32 s, guint32 p, guint32 m, guint32 v)
{
    g_assert(s < p && interleaved_refuses(p, m, v) == NULL);
    guint32 passes = m * v, ahead = interleaved_warm_up(s, p, m, v);
    for (guint32 k = 0; k < passes + ahead; k++) {
        if (k < passes) {
            const PipeStep forward = interleaved_pass(FALSE, k, p, v);
            g_array_append_val(steps, forward);
        }
        if (k >= ahead) {
            const PipeStep backward = interleaved_pass(TRUE, k - ahead, p, v);
            g_array_append_val(steps, backward);
        }
    }
}

static void interleaved_bubble(guint32 p, guint32 m, guint32 v, guint64 *num, guint64 *den)
{
    *num = p - 1;
    *den = (guint64)m * v;
}

static guint32 interleaved_in_flight(guint32 s, guint32 p, guint32 m, guint32 v)
{
    g_assert(s < p);
    return MIN(interleaved_warm_up(s, p, m, v) + 1, m * v);
}

const PipeKind PIPE_INTERLEAVED = {
    .name = "interleaved",
    .title = "1F1B over several chunks a stage: a smaller bubble for more sends and more memory",
    .refuses = interleaved_refuses,
    .steps = interleaved_steps,
    .bubble = interleaved_bubble,
    .in_flight = interleaved_in_flight,
};
