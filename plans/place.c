// plans/place.c: ranks to coordinates and back, and the members of groups.
#include "plans/place.h"

const char *const PLAN_GROUP_NAMES[] = {"tp", "cp", "data", "shard", "replica", "pp", "ends", "world", NULL};

static guint32 place_size(const Plan *plan, PlanDimension dimension)
{
    const guint32 sizes[PLAN_DIMENSIONS] = {plan->tp, plan->cp, plan->dp, plan->pp};
    return sizes[dimension];
}

PlanPlace plan_place_of(const Plan *plan, guint32 rank)
{
    PlanPlace place = {{0}};
    for (guint i = 0; i < PLAN_DIMENSIONS; i++) {
        guint32 size = place_size(plan, plan->order[i]);
        place.at[plan->order[i]] = rank % size;
        rank /= size;
    }
    g_assert(rank == 0);
    return place;
}

guint32 plan_place_rank(const Plan *plan, const PlanPlace *place)
{
    guint32 rank = 0;
    for (guint i = PLAN_DIMENSIONS; i-- > 0;) {
        PlanDimension dimension = plan->order[i];
        g_assert(place->at[dimension] < place_size(plan, dimension));
        rank = rank * place_size(plan, dimension) + place->at[dimension];
    }
    return rank;
}

// Some of the ranks that differ from base in the varying dimensions only: counted in order of rank number,
// those numbered first, first + step, ...
typedef struct {
    PlanPlace base;
    gboolean varies[PLAN_DIMENSIONS];
    guint32 first, step, count;
} PlaceGroup;

static guint32 place_member(const Plan *plan, const PlaceGroup *group, guint32 k)
{
    PlanPlace place = group->base;
    guint32 number = group->first + k * group->step;
    for (guint i = 0; i < PLAN_DIMENSIONS; i++) {
        PlanDimension dimension = plan->order[i];
        if (!group->varies[dimension])
            continue;
        place.at[dimension] = number % place_size(plan, dimension);
        number /= place_size(plan, dimension);
    }
    return plan_place_rank(plan, &place);
}

// The rank's number among those that differ from it in the varying dimensions only, and how many these are.
static guint32 place_number(const Plan *plan, const PlaceGroup *group, guint32 *of)
{
    guint32 number = 0, size = 1;
    for (guint i = 0; i < PLAN_DIMENSIONS; i++) {
        PlanDimension dimension = plan->order[i];
        if (!group->varies[dimension])
            continue;
        number += group->base.at[dimension] * size;
        size *= place_size(plan, dimension);
    }
    *of = size;
    return number;
}

// Which dimensions vary within a kind's groups, and in all of them together (shards, ends).
static void place_vary(PlanGroup kind, gboolean *varies)
{
    gboolean data = kind == PLAN_GROUP_DATA || kind == PLAN_GROUP_SHARD || kind == PLAN_GROUP_REPLICA;
    gboolean world = kind == PLAN_GROUP_WORLD;
    varies[PLAN_DIMENSION_TP] = kind == PLAN_GROUP_TP || world;
    varies[PLAN_DIMENSION_CP] = kind == PLAN_GROUP_CP || data || world;
    varies[PLAN_DIMENSION_DP] = data || world;
    varies[PLAN_DIMENSION_PP] = kind == PLAN_GROUP_PP || kind == PLAN_GROUP_ENDS || world;
}

// The group of the rank that has a number among the size that vary.
static void place_narrow(const Plan *plan, PlanGroup kind, guint32 number, guint32 size, PlaceGroup *group)
{
    guint32 shard = plan->shard == 0 ? size : plan->shard;
    group->first = 0;
    group->step = 1;
    group->count = size;
    if (kind == PLAN_GROUP_SHARD) {
        group->first = number / shard * shard;
        group->count = shard;
    } else if (kind == PLAN_GROUP_REPLICA) {
        group->first = number % shard;
        group->step = shard;
        group->count = size / shard;
    } else if (kind == PLAN_GROUP_ENDS && number > 0 && number < size - 1) {
        group->first = number;
        group->count = 1;
    } else if (kind == PLAN_GROUP_ENDS && size > 1) {
        group->step = size - 1;
        group->count = 2;
    }
}

static PlaceGroup place_group(const Plan *plan, PlanGroup kind, guint32 rank)
{
    PlaceGroup group = {.base = plan_place_of(plan, rank)};
    place_vary(kind, group.varies);
    guint32 size = 1, number = place_number(plan, &group, &size);
    place_narrow(plan, kind, number, size, &group);
    return group;
}

guint32 *plan_place_members(const Plan *plan, PlanGroup group, guint32 rank, guint32 *count)
{
    PlaceGroup found = place_group(plan, group, rank);
    guint32 *members = g_new(guint32, found.count);
    for (guint32 k = 0; k < found.count; k++)
        members[k] = place_member(plan, &found, k);
    *count = found.count;
    return members;
}

// The island of every GPU, numbered from 0 as they come, and how many GPUs of the machine each has. A GPU
// that stands in none is one by itself.
typedef struct {
    guint32 *island; // [GPU]; owned
    guint32 *gpus;   // [island]; owned
    guint32 *seen;   // [island]: GPUs of the group at hand; owned
} PlaceIslands;

static void place_islands_init(PlaceIslands *islands, const TopoGraph *graph)
{
    guint32 n = graph->gpus->len, found = 0;
    *islands = (PlaceIslands){g_new(guint32, n), g_new0(guint32, n), g_new0(guint32, n)};
    g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL); // island: its number + 1
    guint32 last = G_MAXUINT32, number = 0;
    for (guint32 i = 0; i < n; i++) {
        guint32 id = topo_graph_node(graph, topo_graph_gpu(graph, i))->island;
        if (id == G_MAXUINT32)
            number = 0;
        else if (id != last)
            number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, GUINT_TO_POINTER(id)));
        last = id;
        if (number == 0) {
            number = ++found;
            if (id != G_MAXUINT32)
                g_hash_table_insert(numbers, GUINT_TO_POINTER(id), GUINT_TO_POINTER(number));
        }
        islands->island[i] = number - 1;
        islands->gpus[number - 1]++;
    }
}

static void place_islands_clear(PlaceIslands *islands)
{
    g_free(islands->island);
    g_free(islands->gpus);
    g_free(islands->seen);
}

// Least and most over the groups looked at.
typedef struct {
    guint32 least, most;
} PlaceRange;

static void place_range_add(PlaceRange *range, guint32 value)
{
    range->least = MIN(range->least, value);
    range->most = MAX(range->most, value);
}

static char *place_range_text(const PlaceRange *range)
{
    return range->least == range->most ? g_strdup_printf("%u", range->most)
                                       : g_strdup_printf("%u to %u", range->least, range->most);
}

// What a kind's groups look like: the islands that each touches, its GPUs in an island, the GPUs that such an
// island has.
typedef struct {
    PlaceRange islands, inside, whole;
} PlaceSpread;

// Whether a rank is the first of those that vary.
static gboolean place_is_base(const Plan *plan, const PlaceGroup *all, guint32 rank)
{
    for (guint i = 0; i < PLAN_DIMENSIONS; i++) {
        guint32 size = place_size(plan, plan->order[i]);
        if (size == 1)
            continue;
        if (all->varies[plan->order[i]] && rank % size != 0)
            return FALSE;
        rank /= size;
    }
    return TRUE;
}

// From one such rank to the next, at least: what varies fastest is passed at once.
static guint32 place_stride(const Plan *plan, const PlaceGroup *all)
{
    guint32 stride = 1;
    for (guint i = 0; i < PLAN_DIMENSIONS; i++) {
        guint32 size = place_size(plan, plan->order[i]);
        if (size > 1 && !all->varies[plan->order[i]])
            break;
        stride *= size;
    }
    return stride;
}

// offsets: from base to the ranks that vary.
static void place_spread_add(PlaceSpread *spread, PlaceIslands *islands, const PlaceGroup *group,
                             const guint32 *offsets, guint32 base)
{
    const guint32 *island = islands->island + base;
    guint32 touched = 0;
    for (guint32 k = 0; k < group->count; k++)
        touched += islands->seen[island[offsets[group->first + k * group->step]]]++ == 0;
    for (guint32 k = 0; k < group->count; k++) {
        guint32 own = island[offsets[group->first + k * group->step]];
        if (islands->seen[own] == 0)
            continue;
        place_range_add(&spread->inside, islands->seen[own]);
        place_range_add(&spread->whole, islands->gpus[own]);
        islands->seen[own] = 0;
    }
    place_range_add(&spread->islands, touched);
}

char *plan_place_words(const Plan *plan, PlanGroup group, const TopoGraph *graph)
{
    g_assert(plan->gpus <= graph->gpus->len);
    PlaceIslands islands;
    place_islands_init(&islands, graph);
    const PlaceRange none = {.least = G_MAXUINT32};
    PlaceSpread spread = {none, none, none};
    PlaceGroup all = {.step = 1};
    place_vary(group, all.varies);
    place_number(plan, &all, &all.count);
    g_autofree guint32 *offsets = g_new(guint32, all.count);
    for (guint32 k = 0; k < all.count; k++)
        offsets[k] = place_member(plan, &all, k);
    gboolean alone = TRUE;
    for (guint32 base = 0; base < plan->gpus; base += place_stride(plan, &all)) {
        guint32 count = place_is_base(plan, &all, base) ? all.count : 0;
        for (guint32 k = 0; k < count; k++) {
            PlaceGroup found;
            place_narrow(plan, group, k, count, &found);
            if (found.count == 1 || found.first != k)
                continue;
            place_spread_add(&spread, &islands, &found, offsets, base);
            alone = FALSE;
        }
    }
    place_islands_clear(&islands);
    if (alone)
        return g_strdup("each rank alone");
    g_autofree char *across = place_range_text(&spread.islands);
    g_autofree char *inside = place_range_text(&spread.inside);
    g_autofree char *whole = place_range_text(&spread.whole);
    if (spread.islands.most == 1)
        return g_strdup_printf("inside an island (%s of %s GPUs)", inside, whole);
    return g_strdup_printf("across %s islands (%s of %s GPUs of each)", across, inside, whole);
}
