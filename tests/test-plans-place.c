// tests/test-plans-place.c: ranks and groups of small plans in every order, against brute force.
#include "tests/check.h"

#include "plans/place.h"
#include "topo/build.h"

enum { RANKS_MAX = 64 };

static Plan plan_make(guint32 tp, guint32 cp, guint32 dp, guint32 pp, guint32 shard)
{
    Plan plan;
    plan_init(&plan);
    plan.gpus = tp * cp * dp * pp;
    plan.tp = tp;
    plan.cp = cp;
    plan.dp = dp;
    plan.pp = pp;
    plan.zero = 3;
    plan.shard = shard;
    return plan;
}

// Permutation number i of 24.
static void plan_order(Plan *plan, guint i)
{
    PlanDimension left[PLAN_DIMENSIONS] = {PLAN_DIMENSION_TP, PLAN_DIMENSION_CP, PLAN_DIMENSION_DP,
                                           PLAN_DIMENSION_PP};
    for (guint n = PLAN_DIMENSIONS; n > 0; n--) {
        guint taken = i % n;
        i /= n;
        plan->order[PLAN_DIMENSIONS - n] = left[taken];
        memmove(left + taken, left + taken + 1, (n - 1 - taken) * sizeof *left);
    }
}

static gboolean same(const PlanPlace *a, const PlanPlace *b, PlanDimension dimension)
{
    return a->at[dimension] == b->at[dimension];
}

// How many ranks below rank are in its data group.
static guint32 data_number(const Plan *plan, const PlanPlace *places, guint32 rank)
{
    guint32 number = 0;
    for (guint32 r = 0; r < rank; r++)
        number += same(&places[r], &places[rank], PLAN_DIMENSION_TP) &&
                  same(&places[r], &places[rank], PLAN_DIMENSION_PP);
    g_assert(number < plan_data(plan));
    return number;
}

// Whether two ranks are in one group, by the words of the header.
static gboolean together(const Plan *plan, const PlanPlace *places, PlanGroup group, guint32 a, guint32 b)
{
    gboolean tp = same(&places[a], &places[b], PLAN_DIMENSION_TP);
    gboolean cp = same(&places[a], &places[b], PLAN_DIMENSION_CP);
    gboolean dp = same(&places[a], &places[b], PLAN_DIMENSION_DP);
    gboolean pp = same(&places[a], &places[b], PLAN_DIMENSION_PP);
    guint32 last = plan->pp - 1, x = places[a].at[PLAN_DIMENSION_PP], y = places[b].at[PLAN_DIMENSION_PP];
    guint32 shard = plan->shard == 0 ? plan_data(plan) : plan->shard;
    guint32 i = data_number(plan, places, a), j = data_number(plan, places, b);
    switch (group) {
    case PLAN_GROUP_TP:
        return cp && dp && pp;
    case PLAN_GROUP_CP:
        return tp && dp && pp;
    case PLAN_GROUP_DATA:
        return tp && pp;
    case PLAN_GROUP_SHARD:
        return tp && pp && i / shard == j / shard;
    case PLAN_GROUP_REPLICA:
        return tp && pp && i % shard == j % shard;
    case PLAN_GROUP_PP:
        return tp && cp && dp;
    case PLAN_GROUP_ENDS:
        return a == b || (tp && cp && dp && (x == 0 || x == last) && (y == 0 || y == last));
    case PLAN_GROUP_WORLD:
        return TRUE;
    case PLAN_GROUPS:
        break;
    }
    return FALSE;
}

static void check_plan(const Plan *plan)
{
    PlanPlace places[RANKS_MAX];
    g_assert(plan->gpus <= RANKS_MAX);
    for (guint32 rank = 0; rank < plan->gpus; rank++) {
        places[rank] = plan_place_of(plan, rank);
        assert_int_equal(plan_place_rank(plan, &places[rank]), rank);
        for (guint32 other = 0; other < rank; other++)
            assert_memory_not_equal(&places[rank], &places[other], sizeof *places);
    }
    for (guint group = 0; group < PLAN_GROUPS; group++) {
        for (guint32 rank = 0; rank < plan->gpus; rank++) {
            guint32 count = 0, at = 0;
            g_autofree guint32 *members = plan_place_members(plan, (PlanGroup)group, rank, &count);
            for (guint32 other = 0; other < plan->gpus; other++) {
                if (!together(plan, places, (PlanGroup)group, rank, other))
                    continue;
                assert_true(at < count);
                assert_int_equal(members[at++], other);
            }
            assert_int_equal(at, count);
            if (group == PLAN_GROUP_PP)
                for (guint32 s = 0; s < count; s++)
                    assert_int_equal(places[members[s]].at[PLAN_DIMENSION_PP], s);
        }
    }
}

static void test_all_orders(void **state)
{
    (void)state;
    static const guint32 sizes[][4] = {{2, 2, 2, 2}, {2, 3, 2, 3}, {1, 1, 6, 1}, {4, 1, 2, 3},
                                       {1, 2, 3, 4}, {1, 1, 1, 1}, {3, 1, 1, 5}, {2, 2, 3, 1}};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (guint order = 0; order < 24; order++)
            for (guint32 shard = 0; shard <= sizes[i][1] * sizes[i][2]; shard++) {
                if (shard > 0 && sizes[i][1] * sizes[i][2] % shard != 0)
                    continue;
                Plan plan = plan_make(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], shard);
                plan_order(&plan, order);
                check_plan(&plan);
            }
}

// Megatron-LM's example (parallel_state.py): 16 GPUs, tp 2, pp 4, so dp 2.
static void test_megatron(void **state)
{
    (void)state;
    Plan plan = plan_make(2, 1, 2, 4, 0);
    static const struct {
        PlanGroup group;
        guint32 rank, count, members[4];
    } cases[] = {
        {PLAN_GROUP_TP, 5, 2, {4, 5}},      {PLAN_GROUP_DATA, 0, 2, {0, 2}},
        {PLAN_GROUP_DATA, 15, 2, {13, 15}}, {PLAN_GROUP_PP, 4, 4, {0, 4, 8, 12}},
        {PLAN_GROUP_ENDS, 13, 2, {1, 13}},  {PLAN_GROUP_ENDS, 6, 1, {6}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint32 count = 0;
        g_autofree guint32 *members = plan_place_members(&plan, cases[i].group, cases[i].rank, &count);
        assert_int_equal(count, cases[i].count);
        assert_memory_equal(members, cases[i].members, count * sizeof *members);
    }
}

static void check_words(const Plan *plan, PlanGroup group, const TopoGraph *graph, const char *wanted)
{
    g_autofree char *words = plan_place_words(plan, group, graph);
    assert_string_equal(words, wanted);
}

static void test_words(void **state)
{
    (void)state;
    const TopoBuildIslands spec = {.gpus = 32,
                                   .gpus_per_node = 8,
                                   .inside = {.bandwidth = 450e9, .latency = 1000000},
                                   .network_bandwidth = 50e9,
                                   .network_latency = 5000000,
                                   .pcie_bandwidth = 64e9};
    g_autoptr(TopoGraph) graph = topo_build_islands(&spec);
    Plan plan = plan_make(8, 1, 2, 2, 0);
    check_words(&plan, PLAN_GROUP_TP, graph, "inside an island (8 of 8 GPUs)");
    check_words(&plan, PLAN_GROUP_CP, graph, "each rank alone");
    check_words(&plan, PLAN_GROUP_DATA, graph, "across 2 islands (1 of 8 GPUs of each)");
    check_words(&plan, PLAN_GROUP_PP, graph, "across 2 islands (1 of 8 GPUs of each)");
    check_words(&plan, PLAN_GROUP_WORLD, graph, "across 4 islands (8 of 8 GPUs of each)");
    plan = plan_make(2, 1, 16, 1, 4);
    check_words(&plan, PLAN_GROUP_TP, graph, "inside an island (2 of 8 GPUs)");
    check_words(&plan, PLAN_GROUP_SHARD, graph, "inside an island (4 of 8 GPUs)");
    check_words(&plan, PLAN_GROUP_REPLICA, graph, "across 4 islands (1 of 8 GPUs of each)");
    plan = plan_make(1, 1, 10, 3, 0); // ranks 0-9: 8 + 2, 10-19: 6 + 4, 20-29: 4 + 6
    check_words(&plan, PLAN_GROUP_DATA, graph, "across 2 islands (2 to 8 of 8 GPUs of each)");
    plan = plan_make(6, 1, 1, 5, 0); // 0-5, 6-11, 12-17, 18-23, 24-29
    check_words(&plan, PLAN_GROUP_TP, graph, "across 1 to 2 islands (2 to 6 of 8 GPUs of each)");
    plan = plan_make(1, 1, 1, 30, 0);
    check_words(&plan, PLAN_GROUP_ENDS, graph, "across 2 islands (1 of 8 GPUs of each)");
    // A node of 6 GPUs at the end of a machine; and GPUs that stand nowhere.
    g_autoptr(TopoGraph) odd = topo_graph_new();
    topo_build_nodes(odd, TOPO_NODE_GPU, 14, 8);
    plan = plan_make(2, 1, 7, 1, 0);
    check_words(&plan, PLAN_GROUP_TP, odd, "inside an island (2 of 6 to 8 GPUs)");
    g_autoptr(TopoGraph) loose = topo_graph_new();
    topo_build_nodes(loose, TOPO_NODE_GPU, 4, 0);
    plan = plan_make(1, 1, 4, 1, 0);
    check_words(&plan, PLAN_GROUP_DATA, loose, "across 4 islands (1 of 1 GPUs of each)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_orders),
        cmocka_unit_test(test_megatron),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
