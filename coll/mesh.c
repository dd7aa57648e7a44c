// coll/mesh.c: rings over the NVLinks of GPUs that no switch joins, by search.
#include "coll/mesh.h"

#include <string.h>

enum { TRIES_MAX = 1000000 }; // what is not found by then is taken as not there

typedef struct {
    guint32 n, rings, best;
    guint32 left[COLL_MESH_MAX][COLL_MESH_MAX]; // NVLinks between two GPUs that no ring has yet
    guint32 order[COLL_MESH_MAX][COLL_MESH_MAX], found[COLL_MESH_MAX][COLL_MESH_MAX];
    guint32 wanted;
    guint64 tries;
} Search;

static void coll_mesh_links(Search *search, const TopoGraph *graph, const guint32 *gpus)
{
    double rate[COLL_MESH_MAX][COLL_MESH_MAX] = {{0}}, least = G_MAXDOUBLE;
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        for (guint32 a = 0; link->class == TOPO_LINK_NVLINK && a < search->n; a++)
            for (guint32 b = 0; topo_graph_gpu(graph, gpus[a]) == link->from && b < search->n; b++)
                if (topo_graph_gpu(graph, gpus[b]) == link->to) {
                    rate[a][b] += link->bandwidth;
                    least = MIN(least, link->bandwidth);
                }
    }
    search->wanted = G_MAXUINT32;
    for (guint32 a = 0; a < search->n; a++) {
        guint32 degree = 0;
        for (guint32 b = 0; b < search->n; b++) {
            search->left[a][b] = (guint32)MIN(MIN(rate[a][b], rate[b][a]) / least + 0.5, COLL_MESH_MAX);
            degree += search->left[a][b];
        }
        search->wanted = MIN(search->wanted, degree / 2);
    }
    search->wanted = MIN(search->wanted, COLL_MESH_MAX);
}

static void coll_mesh_keep(Search *search)
{
    if (search->rings <= search->best)
        return;
    search->best = search->rings;
    memcpy(search->found, search->order, sizeof search->found);
}

// Goes on with the ring under way at a place; TRUE: all rings that can be are there.
static gboolean coll_mesh_go(Search *search, guint32 place, guint32 used)
{
    guint32 *order = search->order[search->rings];
    if (++search->tries > TRIES_MAX)
        return TRUE;
    if (place == search->n) {
        guint32 *close = &search->left[order[place - 1]][0], *open = &search->left[0][order[place - 1]];
        if (*close == 0)
            return FALSE;
        (*close)--;
        (*open)--;
        search->rings++;
        coll_mesh_keep(search);
        gboolean done = search->rings == search->wanted || coll_mesh_go(search, 1, 1);
        search->rings--;
        (*close)++;
        (*open)++;
        return done;
    }
    for (guint32 next = 1; next < search->n; next++) {
        guint32 at = order[place - 1];
        if ((used >> next & 1) != 0 || search->left[at][next] == 0)
            continue;
        search->left[at][next]--;
        search->left[next][at]--;
        order[place] = next;
        gboolean done = coll_mesh_go(search, place + 1, used | 1u << next);
        search->left[at][next]++;
        search->left[next][at]++;
        if (done)
            return TRUE;
    }
    return FALSE;
}

// Two GPUs: every NVLink is a ring.
static void coll_mesh_pair(Search *search)
{
    search->best = search->left[0][1];
    for (guint32 i = 0; i < search->best; i++)
        search->found[i][1] = 1;
}

CollRings *coll_mesh_find(const TopoGraph *graph, const guint32 *gpus, guint32 n)
{
    Search search = {.n = n};
    if (n < 2 || n > COLL_MESH_MAX)
        return NULL;
    coll_mesh_links(&search, graph, gpus);
    if (n == 2)
        coll_mesh_pair(&search);
    else if (search.wanted > 0)
        coll_mesh_go(&search, 1, 1);
    if (search.best == 0)
        return NULL;
    guint32 ways = n == 2 ? 1 : 2;
    CollRings *rings = g_new0(CollRings, 1);
    rings->count = search.best * ways;
    rings->ranks = n;
    rings->order = g_new(guint32, (gsize)rings->count * n);
    rings->place = g_new(guint32, (gsize)rings->count * n);
    for (guint32 ring = 0; ring < rings->count; ring++) {
        for (guint32 place = 0; place < n; place++) {
            gboolean back = ring >= search.best;
            guint32 rank = search.found[ring % search.best][back ? (n - place) % n : place];
            rings->order[ring * n + place] = rank;
            rings->place[ring * n + rank] = place;
        }
    }
    return rings;
}

void coll_mesh_free(CollRings *rings)
{
    if (rings == NULL)
        return;
    g_free(rings->order);
    g_free(rings->place);
    g_free(rings);
}
