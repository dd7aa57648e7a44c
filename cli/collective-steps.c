// cli/collective-steps.c: a collective stepped through: who sends which piece to whom, and what is finished.
#include "cli/collective-steps.h"

#include <stdio.h>

#include "coll/symbolic.h"

// What each rank did in the step at hand, and which pieces it has finished.
typedef struct {
    CollShape shape;
    guint32 pieces;
    guint32 step;
    gboolean any;
    CollSend sent[COLLECTIVE_STEPS_RANKS], got[COLLECTIVE_STEPS_RANKS];
    gboolean sends[COLLECTIVE_STEPS_RANKS], gets[COLLECTIVE_STEPS_RANKS], adds;
    GString *finished[COLLECTIVE_STEPS_RANKS];
    guint32 number; // of the step printed last
} StepsPrint;

// "piece 3", "pieces 4 to 7", "pieces 0, 4, 8".
static char *steps_pieces(const CollSend *send, guint32 pieces)
{
    guint32 count = coll_send_count(send);
    if (count == 1)
        return g_strdup_printf("piece %u", send->piece);
    if (MAX(send->stride, 1) == MAX(send->width, 1) && send->blocks <= 1 && send->piece + count <= pieces)
        return g_strdup_printf("pieces %u to %u", send->piece, send->piece + count - 1);
    GString *out = g_string_new("pieces");
    for (guint32 i = 0; i < count; i++)
        g_string_append_printf(out, "%s %u", i == 0 ? "" : ",", coll_send_piece(send, pieces, i));
    return g_string_free(out, FALSE);
}

static void steps_flush(StepsPrint *print)
{
    if (!print->any)
        return;
    printf("step %u, %s:\n", ++print->number, print->adds ? "the receiver adds" : "the receiver copies");
    for (guint32 rank = 0; rank < print->shape.ranks; rank++) {
        if (!print->sends[rank] && !print->gets[rank])
            continue;
        g_autofree char *out = steps_pieces(&print->sent[rank], print->pieces);
        g_autofree char *in = steps_pieces(&print->got[rank], print->pieces);
        g_autofree char *sends = print->sends[rank]
                                     ? g_strdup_printf("sends %s to rank %u", out, print->sent[rank].to)
                                     : g_strdup("sends nothing");
        g_autofree char *gets = print->gets[rank]
                                    ? g_strdup_printf("receives %s from rank %u", in, print->got[rank].from)
                                    : g_strdup("receives nothing");
        printf("  rank %-3u%-28s%-34sfinished:%s\n", rank, sends, gets,
               print->finished[rank]->len == 0 ? " none yet" : print->finished[rank]->str);
        print->sends[rank] = print->gets[rank] = FALSE;
    }
    print->any = FALSE;
}

static void steps_add(gpointer user, const CollSend *send, const GArray *done)
{
    StepsPrint *print = user;
    if (print->any && (send->step != print->step || print->sends[send->from] || print->gets[send->to]))
        steps_flush(print);
    print->any = TRUE;
    print->step = send->step;
    print->adds = send->reduce;
    print->sent[send->from] = *send;
    print->sends[send->from] = TRUE;
    print->got[send->to] = *send;
    print->gets[send->to] = TRUE;
    g_string_truncate(print->finished[send->to], 0);
    for (guint i = 0; i < done->len; i++)
        g_string_append_printf(print->finished[send->to], " %u", g_array_index(done, guint32, i));
}

gboolean collective_steps_print(const CollAlgo *algo, const CollShape *shape, GError **error)
{
    guint32 pieces = algo->pieces(shape);
    StepsPrint print = {.shape = *shape, .pieces = pieces};
    for (guint32 rank = 0; rank < shape->ranks; rank++)
        print.finished[rank] = g_string_new(NULL);
    g_assert(shape->ranks <= COLLECTIVE_STEPS_RANKS && algo->switches(shape) == 0);
    printf("%s %s on %u ranks, %u piece%s\n", algo->name, COLL_OP_NAMES[shape->op], shape->ranks, pieces,
           pieces == 1 ? "" : "s");
    CollSymbolic out;
    gboolean fine = coll_symbolic_run(algo, shape, 0, TRUE, steps_add, &print, &out, error);
    steps_flush(&print);
    for (guint32 rank = 0; rank < shape->ranks; rank++)
        g_string_free(print.finished[rank], TRUE);
    if (fine)
        printf("checked: %s holds every contribution once, after %" G_GUINT64_FORMAT " messages\n\n",
               shape->op == COLL_OP_REDUCE ? "rank 0" : "every rank", out.messages);
    return fine;
}
