// tests/test-coll-rings.c: rings over a machine's cables go through every GPU and share no cable.
#include "tests/check.h"

#include "coll/rings.h"
#include "coll/symbolic.h"
#include "machines/machine.h"

// DGX-1's cube mesh: six NVLinks a GPU, so six rings, three cycles in both directions; each of its 24 NVLinks
// is used once each way.
static void test_cube(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(TopoMachine) machine = topo_machine_read("dgx1-v100-box", 0, NULL, &error);
    check_fine(error);
    guint32 gpus[8];
    for (guint32 i = 0; i < 8; i++)
        gpus[i] = i;
    g_autoptr(CollRings) rings = coll_rings_find(machine->graph, gpus, 8);
    assert_non_null(rings);
    assert_int_equal(rings->count, 6);
    double used[8][8] = {{0}}, there[8][8] = {{0}}, unit = 0;
    for (guint32 l = 0; l < machine->graph->links->len; l++) {
        const TopoLink *link = topo_graph_link(machine->graph, l);
        const TopoNode *from = topo_graph_node(machine->graph, link->from),
                       *to = topo_graph_node(machine->graph, link->to);
        if (link->class != TOPO_LINK_NVLINK)
            continue;
        there[from->number][to->number] = link->bandwidth;
        unit = unit > 0 ? MIN(unit, link->bandwidth) : link->bandwidth;
    }
    for (guint32 ring = 0; ring < rings->count; ring++) {
        guint32 seen = 0;
        for (guint32 place = 0; place < 8; place++) {
            guint32 a = rings->order[ring * 8 + place], b = rings->order[ring * 8 + (place + 1) % 8];
            seen |= 1u << a;
            assert_int_equal(rings->place[ring * 8 + a], place);
            used[a][b] += unit;
        }
        assert_int_equal(seen, 255);
    }
    double all = 0;
    for (guint32 a = 0; a < 8; a++) {
        for (guint32 b = 0; b < 8; b++) {
            assert_true(used[a][b] <= there[a][b] + 1);
            all += used[a][b] / unit;
        }
    }
    assert_int_equal((int)(all + 0.5), 48);
    static const CollOp ops[] = {COLL_OP_ALL_REDUCE, COLL_OP_REDUCE_SCATTER, COLL_OP_ALL_GATHER};
    for (guint i = 0; i < G_N_ELEMENTS(ops); i++) {
        CollShape shape = {.op = ops[i], .ranks = 8, .bytes = 1001, .rings = rings};
        CollSymbolic out;
        assert_true(coll_symbolic_run(&COLL_RAILS, &shape, 5, FALSE, NULL, NULL, &out, &error));
        check_fine(error);
    }
}

static void test_none(void **state)
{
    (void)state;
    guint32 gpus[8];
    for (guint32 i = 0; i < 8; i++)
        gpus[i] = i;
    static const char *const machines[] = {"deck-nvlink-8", "pcie4-8", "tpu-v4"};
    for (guint i = 0; i < G_N_ELEMENTS(machines); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(TopoMachine) machine = topo_machine_read(machines[i], 0, NULL, &error);
        check_fine(error);
        assert_null(
            coll_rings_find(machine->graph, gpus, 8)); // a switch, PCIe, another kind of link or no cycle
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(TopoMachine) machine = topo_machine_read("dgx1-v100-box", 2, NULL, &error);
    check_fine(error);
    assert_null(coll_rings_find(machine->graph, gpus, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cube), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
