// coll/rings.c: cycles that share no cable, by backtracking.
#include "coll/rings.h"

#include <string.h>

enum { RANKS_MAX = 16, RINGS_MAX = 8, STEPS_MAX = 2000000 };

typedef struct {
    guint32 n, wanted;                    // GPUs; cycles to find
    guint32 cables[RANKS_MAX][RANKS_MAX]; // NVLinks that are left between two
    guint32 found, best;                  // cycles now, and in the best set so far
    guint32 cycles[RINGS_MAX][RANKS_MAX]; // the present set
    guint32 kept[RINGS_MAX][RANKS_MAX];   // the best
    guint32 steps;                        // taken; the search ends at STEPS_MAX
} Search;

static gboolean rings_extend(Search *search, guint32 length);

// The present cycle is closed: keep the set if it is the best, and look for one more.
static gboolean rings_close(Search *search)
{
    const guint32 *cycle = search->cycles[search->found];
    for (guint32 i = 0; i < search->n; i++) {
        guint32 a = cycle[i], b = cycle[(i + 1) % search->n];
        search->cables[a][b]--;
        search->cables[b][a]--;
    }
    if (++search->found > search->best) {
        search->best = search->found;
        memcpy(search->kept, search->cycles, sizeof search->kept);
    }
    gboolean done = search->best == search->wanted;
    if (!done) {
        search->cycles[search->found][0] = 0;
        done = rings_extend(search, 1);
    }
    search->found--;
    for (guint32 i = 0; i < search->n; i++) {
        guint32 a = cycle[i], b = cycle[(i + 1) % search->n];
        search->cables[a][b]++;
        search->cables[b][a]++;
    }
    return done;
}

// Extends the present cycle, which has length GPUs. TRUE: all that is wanted has been found, or the search is
// at its end.
static gboolean rings_extend(Search *search, guint32 length)
{
    guint32 *cycle = search->cycles[search->found];
    if (++search->steps > STEPS_MAX)
        return TRUE;
    if (length == search->n)
        return search->cables[cycle[length - 1]][cycle[0]] > 0 && rings_close(search);
    for (guint32 next = 1; next < search->n; next++) {
        gboolean used = search->cables[cycle[length - 1]][next] == 0;
        for (guint32 i = 1; i < length && !used; i++)
            used = cycle[i] == next;
        if (used)
            continue;
        cycle[length] = next;
        if (rings_extend(search, length + 1))
            return TRUE;
    }
    return FALSE;
}

// How many NVLinks join each pair, in units of the slowest cable. Returns half the least number that a GPU
// has.
static guint32 rings_count_cables(const TopoGraph *graph, const guint32 *gpus, Search *search)
{
    double unit = 0, rates[RANKS_MAX][RANKS_MAX] = {{0}};
    for (guint32 i = 0; i < search->n; i++) {
        guint32 node = topo_graph_gpu(graph, gpus[i]);
        for (guint32 l = graph->first_out[node]; l < graph->first_out[node + 1]; l++) {
            const TopoLink *link = topo_graph_link(graph, graph->out[l]);
            for (guint32 j = 0; j < search->n && link->class == TOPO_LINK_NVLINK; j++)
                if (topo_graph_gpu(graph, gpus[j]) == link->to)
                    rates[i][j] += link->bandwidth;
        }
    }
    for (guint32 i = 0; i < search->n; i++)
        for (guint32 j = 0; j < search->n; j++)
            if (rates[i][j] > 0 && (unit <= 0 || rates[i][j] < unit))
                unit = rates[i][j];
    guint32 least = G_MAXUINT32;
    for (guint32 i = 0; i < search->n; i++) {
        guint32 own = 0;
        for (guint32 j = 0; j < search->n && unit > 0; j++) {
            search->cables[i][j] = (guint32)MIN(MIN(rates[i][j], rates[j][i]) / unit + 0.5, 64);
            own += search->cables[i][j];
        }
        least = MIN(least, own);
    }
    return least / 2;
}

CollRings *coll_rings_find(const TopoGraph *graph, const guint32 *gpus, guint32 n)
{
    if (!graph->gpu_forward || n < 3 || n > RANKS_MAX)
        return NULL;
    Search search = {.n = n};
    search.wanted = MIN(rings_count_cables(graph, gpus, &search), (guint32)RINGS_MAX);
    if (search.wanted < 2)
        return NULL;
    rings_extend(&search, 1);
    if (search.best < 2)
        return NULL;
    CollRings *rings = g_new0(CollRings, 1);
    rings->count = 2 * search.best;
    rings->order = g_new(guint32, rings->count * n);
    rings->place = g_new(guint32, rings->count * n);
    for (guint32 ring = 0; ring < rings->count; ring++) {
        for (guint32 place = 0; place < n; place++) {
            guint32 rank = search.kept[ring / 2][ring % 2 == 0 ? place : n - 1 - place];
            rings->order[ring * n + place] = rank;
            rings->place[ring * n + rank] = place;
        }
    }
    return rings;
}

void coll_rings_free(CollRings *rings)
{
    if (rings == NULL)
        return;
    g_free(rings->order);
    g_free(rings->place);
    g_free(rings);
}
