// coll/box.c: rows, planes and boxes.
#include "coll/box.h"

#include <string.h>

// The direct cable from GPU a to GPU b. NULL: none.
static const TopoLink *box_cable(const TopoGraph *graph, guint32 a, guint32 b)
{
    guint32 from = topo_graph_gpu(graph, a), to = topo_graph_gpu(graph, b);
    for (guint32 i = graph->first_out[from]; i < graph->first_out[from + 1]; i++) {
        const TopoLink *link = topo_graph_link(graph, graph->out[i]);
        if (link->to == to && link->class == TOPO_LINK_NVLINK)
            return link;
    }
    return NULL;
}

static guint32 box_island(const TopoGraph *graph, guint32 gpu)
{
    return topo_graph_node(graph, topo_graph_gpu(graph, gpu))->island;
}

// Whether a GPU has the cables of its place in the grid, all like one, and no others.
static gboolean box_fits(const TopoGraph *graph, const CollGrid *grid, guint32 gpu, const TopoLink *like)
{
    guint32 wanted = 0, found = 0, node = topo_graph_gpu(graph, gpu), stride = 1;
    for (guint32 d = 0; d < COLL_GRID_AXES; stride *= grid->sides[d++]) {
        guint32 side = grid->sides[d], at = gpu % grid->gpus / stride % side;
        for (guint way = 0; way < 2; way++) {
            gboolean end = at == (way == 0 ? side - 1 : 0);
            if (end && !grid->wraps[d])
                continue;
            guint32 next = (at + (way == 0 ? 1 : side - 1)) % side;
            const TopoLink *cable = box_cable(graph, gpu, gpu - at * stride + next * stride);
            if (cable == NULL || cable->latency != like->latency || cable->bandwidth < like->bandwidth ||
                cable->bandwidth > like->bandwidth)
                return FALSE;
            wanted++;
        }
    }
    for (guint32 i = graph->first_out[node]; i < graph->first_out[node + 1]; i++) {
        const TopoLink *link = topo_graph_link(graph, graph->out[i]);
        found += link->class == TOPO_LINK_NVLINK;
    }
    return found == wanted && box_island(graph, gpu) == box_island(graph, gpu / grid->gpus * grid->gpus);
}

void coll_box_find_grid(const TopoGraph *graph, CollGrid *grid)
{
    memset(grid, 0, sizeof *grid);
    guint32 all = graph->gpus->len, n = 1, stride = 1;
    if (!graph->gpu_forward || all < 2 || box_island(graph, 0) == G_MAXUINT32)
        return;
    while (n < all && box_island(graph, n) == box_island(graph, 0))
        n++;
    const TopoLink *like = n < 2 ? NULL : box_cable(graph, 0, 1);
    if (like == NULL || all % n != 0)
        return;
    CollGrid found = {.gpus = n};
    for (guint32 d = 0; d < COLL_GRID_AXES; stride *= found.sides[d++]) {
        guint32 side = 1;
        while ((side + 1) * stride <= n && box_cable(graph, (side - 1) * stride, side * stride) != NULL)
            side++;
        found.sides[d] = side;
        found.wraps[d] = side > 2 && box_cable(graph, (side - 1) * stride, 0) != NULL;
    }
    if (stride != n)
        return;
    for (guint32 gpu = 0; gpu < all; gpu++)
        if (!box_fits(graph, &found, gpu, like) ||
            (gpu % n == 0 && gpu > 0 && box_island(graph, gpu) == box_island(graph, gpu - 1)))
            return;
    *grid = found;
}

// Coordinates of a GPU: in its island, and the island's number.
static void box_place(const CollGrid *grid, guint32 gpu, guint32 at[COLL_BOX_AXES])
{
    guint32 rest = gpu % grid->gpus;
    for (guint32 d = 0; d < COLL_GRID_AXES; rest /= grid->sides[d++])
        at[d] = rest % grid->sides[d];
    at[COLL_GRID_AXES] = gpu / grid->gpus;
}

guint32 coll_box_longest(const CollBox *box)
{
    guint32 longest = 0;
    for (guint32 i = 0; i < box->axes; i++)
        longest = MAX(longest, box->axis[i].size);
    return longest;
}

void coll_box_set_lanes(CollBox *box)
{
    guint32 near[COLL_BOX_AXES], n_near = 0, stride = 1;
    gboolean lines = FALSE;
    for (guint32 i = 0; i < box->axes; stride *= box->axis[i++].size) {
        box->axis[i].stride = stride;
        if (!box->axis[i].near)
            continue;
        near[n_near++] = i;
        lines = lines || !box->axis[i].closed;
    }
    box->lanes = MAX(n_near, 1);
    box->first[0] = 0;
    for (guint32 lane = 0; lane < box->lanes; lane++) {
        guint32 n = 0;
        for (guint32 i = 0; i < n_near; i++)
            box->order[lane][n++] = near[(lane + i) % n_near];
        for (guint32 i = 0; i < box->axes; i++)
            if (!box->axis[i].near)
                box->order[lane][n++] = i;
        gboolean twice = lines && box->axis[box->order[lane][0]].closed;
        box->first[lane + 1] = box->first[lane] + (twice ? 4 : 2);
    }
}

CollBox *coll_box_find(const CollGrid *grid, const guint32 *gpus, guint32 n)
{
    if (grid->gpus == 0 || n < 2)
        return NULL;
    CollBox box = {0};
    guint32 base[COLL_BOX_AXES], at[COLL_BOX_AXES], dimension[COLL_BOX_AXES], step[COLL_BOX_AXES], stride = 1;
    box_place(grid, gpus[0], base);
    for (guint32 d = 0; d < COLL_BOX_AXES && stride < n; d++) {
        // How many follow each other along this axis alone.
        guint32 size = 1, far = 0;
        for (; size * stride < n; size++) {
            box_place(grid, gpus[size * stride], at);
            gboolean same = at[d] > base[d];
            for (guint32 other = 0; other < COLL_BOX_AXES; other++)
                same = same && (other == d || at[other] == base[other]);
            if (!same)
                break;
            far = size == 1 ? at[d] - base[d] : far;
        }
        if (size == 1)
            continue;
        gboolean islands = d == COLL_GRID_AXES;
        box.axis[box.axes] =
            (CollAxis){.size = size,
                       .closed = size > 2 && (islands || (grid->wraps[d] && size * far == grid->sides[d])),
                       .near = far == 1 && !islands};
        dimension[box.axes] = d;
        step[box.axes++] = far;
        stride *= size;
    }
    if (stride != n)
        return NULL;
    coll_box_set_lanes(&box);
    for (guint32 rank = 0; rank < n; rank++) {
        guint32 wanted[COLL_BOX_AXES];
        memcpy(wanted, base, sizeof wanted);
        for (guint32 i = 0; i < box.axes; i++)
            wanted[dimension[i]] += rank / box.axis[i].stride % box.axis[i].size * step[i];
        box_place(grid, gpus[rank], at);
        if (memcmp(wanted, at, sizeof at) != 0)
            return NULL;
    }
    double numbers = 4.0 * box.axes * box.lanes * coll_box_longest(&box) * n;
    return numbers < (double)G_MAXUINT32 ? g_memdup2(&box, sizeof box) : NULL;
}
