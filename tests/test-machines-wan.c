// tests/test-machines-wan.c: the rate of TCP streams over a long distance: each limit, and the kind wan that
// uses it.
#include "tests/machine.h"

#include "machines/wan.h"

enum { MS = 1000000000 };

static void test_rates(void **state)
{
    (void)state;
    static const struct {
        MachineWan wan;
        double rate, within; // bytes/s, relative
        MachineWanLimit limit;
    } cases[] = {
        // The line: 8948 of 9038 bytes are payload; with 1500-byte packets 1448 of 1538.
        {{12.5e9, 50 * (Ps)MS, 0, 0, 1, 9000}, 12.5e9 * 8948 / 9038, 1e-12, MACHINE_WAN_LINE},
        {{12.5e9, 50 * (Ps)MS, 0, 0, 1, 1500}, 12.5e9 * 1448 / 1538, 1e-12, MACHINE_WAN_LINE},
        // 100 Gb/s over 50 ms needs 625 MB under way: half of that gives half the rate.
        {{12.5e9, 50 * (Ps)MS, 0, 312500000, 1, 9000}, 6.25e9, 1e-12, MACHINE_WAN_WINDOW},
        {{12.5e9, 50 * (Ps)MS, 0, 31250000, 10, 9000}, 6.25e9, 1e-12, MACHINE_WAN_WINDOW},
        {{12.5e9, 50 * (Ps)MS, 0, 650000000, 1, 9000}, 12.5e9 * 8948 / 9038, 1e-12, MACHINE_WAN_LINE},
        // The example of Mathis' formula: 0.22 GB/s a stream, about 50 streams for the line.
        {{12.5e9, 50 * (Ps)MS, 1e-6, 0, 1, 9000}, 0.22e9, 0.01, MACHINE_WAN_LOSS},
        {{12.5e9, 50 * (Ps)MS, 1e-6, 0, 50, 9000}, 50 * 0.22e9, 0.01, MACHINE_WAN_LOSS},
        {{12.5e9, 50 * (Ps)MS, 1e-6, 0, 60, 9000}, 12.5e9 * 8948 / 9038, 1e-12, MACHINE_WAN_LINE},
        // Twice the round trip or four times the loss: half the rate.
        {{12.5e9, 100 * (Ps)MS, 1e-6, 0, 1, 9000}, 0.11e9, 0.01, MACHINE_WAN_LOSS},
        {{12.5e9, 50 * (Ps)MS, 4e-6, 0, 1, 9000}, 0.11e9, 0.01, MACHINE_WAN_LOSS},
        {{12.5e9, 50 * (Ps)MS, 1, 1, 1, 576}, 20, 1e-9, MACHINE_WAN_WINDOW},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        MachineWanLimit limit = MACHINE_WAN_LINE;
        double rate = machine_wan_rate(&cases[i].wan, &limit);
        if (rate < cases[i].rate * (1 - cases[i].within) || rate > cases[i].rate * (1 + cases[i].within) ||
            limit != cases[i].limit)
            fail_msg("case %u: %g B/s limited by %s, wanted %g by %s", i, rate, MACHINE_WAN_LIMITS[limit],
                     cases[i].rate, MACHINE_WAN_LIMITS[cases[i].limit]);
    }
}

#define SITES                                                                                                \
    "[machine]\nchip = h100-sxm\nkind = wan\nsites = 2\ngpus = 4\ngpus_per_node = 1\n"                       \
    "network_bandwidth = 50 GB/s\nnetwork_latency = 10 us\n"
#define LINE SITES "wan_bandwidth = 100 Gb/s\n"

static void test_kind(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(TopoMachine) machine =
        machine_read(LINE "rtt = 50 ms\nwindow = 31250 kB\nstreams = 10\nmtu = 9000 B\n", 0, &error);
    check_fine(error);
    g_autoptr(TopoRouter) router = topo_router_new(machine->graph, 0);
    MachineWay way = machine_both_ways(router, machine->graph, 0, 3);
    assert_int_equal(way.latency, 25 * (Ps)MS + 10000000);
    assert_true(machine_near(way.bottleneck, 6.25e9));
    assert_int_equal(machine->notes->len, 2);
    assert_string_equal(machine->notes->pdata[0],
                        "the WAN carries 6.25 GB/s with 10 TCP streams, limited by the window");
    assert_string_equal(machine->notes->pdata[1], "no loss is given: assumed to be none");
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {SITES "rtt = 50 ms\n", "machine.wan_bandwidth: missing"},
        {LINE, "machine.wan_latency: missing"},
        {LINE "wan_latency = 5 ms\nrtt = 10 ms\n", "machine.wan_latency: found with rtt"},
        {LINE "wan_latency = 5 ms\nloss = 0.1\n", "machine.loss: found with no rtt"},
        {LINE "wan_latency = 5 ms\nmtu = 9000 B\n", "machine.mtu: found with no rtt"},
        {LINE "wan_latency = 5 ms\nstreams = 4\n", "machine.streams: found with no rtt"},
        {LINE "wan_latency = 5 ms\nwindow = 4 MiB\n", "machine.window: found with no rtt"},
        {LINE "rtt = 0 ms\n", "machine.rtt: found 0, wanted more"},
        {LINE "rtt = 61 s\n", "machine.rtt: found a latency of 61 s"},
        {LINE "rtt = 50 ms\nloss = 1.5\n", "machine.loss: found '1.5'"},
        {LINE "rtt = 50 ms\nloss = -1\n", "machine.loss"},
        {LINE "rtt = 50 ms\nwindow = 0 B\n", "machine.window: found 0"},
        {LINE "rtt = 50 ms\nstreams = 0\n", "machine.streams: found 0"},
        {LINE "rtt = 50 ms\nmtu = 575 B\n", "machine.mtu: found 575 B, wanted 576 to 65535 B"},
        {LINE "rtt = 50 ms\nmtu = 70 kB\n", "machine.mtu: found 70000 B"},
        {LINE "rtt = 50 ms\nmtu = 9000\n", "machine.mtu: found '9000' (no unit)"},
        {LINE "rtt = 30 s\nwindow = 1 B\n",
         "machine.rtt: found a WAN of 0.0333333 B/s (limited by the window)"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(machine_read(bad[i].text, 0, &error));
        check_says(error, bad[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_kind),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
