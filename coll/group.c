// coll/group.c: collectives on the simulated network.
#include "coll/group.h"

static void coll_group_emit(CollRun *run, const CollSend *send)
{
    CollGroup *group = (CollGroup *)run;
    gint64 bytes = send->pieces == 1
                       ? group->piece + (send->piece < group->longer)
                       : coll_piece_bytes(&run->shape, group->pieces, send->piece, send->pieces);
    SimFlight flight = {.bytes = bytes,
                        .key = (guint64)group->id << 32 | (guint32)(send->step * run->shape.ranks + send->from),
                        .route = group->routes[send->from * group->slots + send->slot],
                        .owner = group->id,
                        .step = send->step,
                        .from = send->from,
                        .to = send->to};
    group->sent[send->from] += flight.bytes;
    sim_network_send(group->network, &flight);
}

CollGroup *coll_group_new(guint32 id, const CollAlgo *algo, CollFabric *fabric, const guint32 *members, guint32 n,
                          CollDone done, gpointer user)
{
    g_assert(n >= 1 && n <= COLL_GROUP_RANKS_MAX && id < G_MAXUINT32 >> 4);
    CollGroup *group = g_new0(CollGroup, 1);
    group->run.shape.ranks = n;
    group->run.emit = coll_group_emit;
    group->run.state = g_new0(guint32, n);
    group->algo = algo;
    group->network = fabric->network;
    group->id = id;
    group->members = g_memdup2(members, n * sizeof *members);
    group->sent = g_new0(gint64, n);
    group->done = done;
    group->user = user;
    group->slots = algo->slots(&group->run.shape);
    group->routes = g_new(guint32, (gsize)n * group->slots + 1);
    for (guint32 rank = 0; rank < n; rank++) {
        for (guint32 slot = 0; slot < group->slots; slot++) {
            guint32 peer = algo->peer(&group->run.shape, rank, slot);
            group->routes[rank * group->slots + slot] =
                peer == G_MAXUINT32 ? G_MAXUINT32 : coll_fabric_route(fabric, members[rank], members[peer]);
        }
    }
    return group;
}

void coll_group_free(CollGroup *group)
{
    if (group == NULL)
        return;
    g_free(group->run.state);
    g_free(group->members);
    g_free(group->routes);
    g_free(group->sent);
    g_free(group);
}

void coll_group_arrive(CollGroup *group, CollOp op, gint64 bytes)
{
    CollShape *shape = &group->run.shape;
    g_assert(group->left == 0 && group->arrived < shape->ranks);
    g_assert(group->arrived == 0 || (shape->op == op && shape->bytes == bytes));
    shape->op = op;
    shape->bytes = bytes;
    if (++group->arrived < shape->ranks)
        return;
    group->arrived = 0;
    group->left = group->algo->messages(shape);
    group->pieces = group->algo->pieces(shape);
    group->piece = coll_piece_bytes(shape, group->pieces, group->pieces - 1, 1);
    group->longer = op == COLL_OP_ALL_GATHER_PAYLOAD ? 0 : bytes % group->pieces;
    if (group->left == 0) {
        group->done(group->user, group);
        return;
    }
    for (guint32 rank = 0; rank < shape->ranks; rank++)
        group->run.state[rank] = 0;
    group->algo->begin(&group->run);
}

void coll_group_received(CollGroup *group, const SimFlight *flight)
{
    g_assert(group->left > 0);
    group->left--;
    group->algo->received(&group->run, flight->step, flight->from, flight->to);
    if (group->left == 0)
        group->done(group->user, group);
}
