// tests/bench.c: figures for HACKING.md: queues by the hold model, rings message by message. Prints, asserts
// nothing.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <glib.h>

#include "base/hash.h"
#include "coll/measure.h"
#include "sim/queue.h"

enum { ROUNDS = 5 };

static int bench_compare(gconstpointer a, gconstpointer b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double bench_median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, bench_compare);
    return values[ROUNDS / 2];
}

// The hold model: pop the earliest, push one at an exponential distance, with a number of events pending.
// Returns M events/s of cpu.
static double bench_hold(SimQueueKind kind, guint pending, guint holds)
{
    enum { DRAWS = 1 << 16 };
    static Ps draws[DRAWS];
    for (guint i = 0; i < DRAWS; i++) {
        double u = ((double)(hash_random(1, i) >> 11) + 1) * 0x1p-53;
        draws[i] = (Ps)(-log(u) * 1e9);
    }
    SimQueue queue;
    sim_queue_init(&queue, kind);
    guint64 key = 0;
    for (guint i = 0; i < pending; i++) {
        SimEvent event = {.time = draws[i % DRAWS], .key = key++};
        sim_queue_push(&queue, &event);
    }
    guint done = 0;
    clock_t start = clock();
    while (done < holds) {
        guint32 n = 0;
        const SimEvent *batch = sim_queue_pop(&queue, &n);
        Ps now = batch[0].time;
        for (guint32 i = 0; i < n; i++, done++) {
            SimEvent event = {.time = now + draws[(key * 7919) % DRAWS], .key = key};
            key++;
            sim_queue_push(&queue, &event);
        }
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    sim_queue_clear(&queue);
    return done / seconds * 1e-6;
}

// GPUs around a switch, each over hops/2 links of 50 GB/s up and down; 10 us a path, off by up to spread of
// it.
static TopoGraph *bench_star(guint gpus, guint hops, double spread)
{
    TopoGraph *graph = topo_graph_new();
    guint32 hub = topo_graph_add_node(graph, TOPO_NODE_SWITCH, G_MAXUINT32);
    for (guint i = 0; i < gpus; i++) {
        guint32 at = topo_graph_add_node(graph, TOPO_NODE_GPU, i);
        double off = spread * (double)(hash_random(7, i) >> 11) * 0x1p-53;
        Ps latency = (Ps)(10e6 / hops * (1 + off));
        for (guint h = 0; h + 1 < hops / 2; h++) {
            guint32 nic = topo_graph_add_node(graph, TOPO_NODE_NIC, i);
            topo_graph_add_cable(graph, at, nic, TOPO_LINK_PCIE, 50e9, latency);
            at = nic;
        }
        topo_graph_add_cable(graph, at, hub, TOPO_LINK_NETWORK, 50e9, latency);
    }
    g_autoptr(GError) error = NULL;
    if (!topo_graph_check(graph, NULL, &error))
        g_error("%s", error->message);
    return graph;
}

static void bench_ring(const char *title, guint gpus, guint hops, double spread, gboolean no_fuse)
{
    g_autoptr(TopoGraph) graph = bench_star(gpus, hops, spread);
    printf("%-44s", title);
    for (guint kind = 0; kind < SIM_QUEUE_KINDS; kind++) {
        double rates[ROUNDS];
        CollMeasure measure = {0};
        for (guint round = 0; round < ROUNDS; round++) {
            CollMeasureOptions options = {.queue = (SimQueueKind)kind,
                                          .no_fuse = no_fuse,
                                          .chunk = (gint64)1 << 40,
                                          .choose = &COLL_RING};
            clock_t start = clock();
            coll_measure_run(graph, COLL_OP_ALL_REDUCE, 13476298752, &options, &measure, NULL);
            rates[round] = (double)measure.messages / ((double)(clock() - start) / CLOCKS_PER_SEC) * 1e-6;
        }
        printf("  %s %5.1f M messages/s", SIM_QUEUE_NAMES[kind], bench_median(rates));
    }
    printf("\n");
}

int main(void)
{
    printf("hold model, exponential, M events/s of cpu, medians of %d interleaved rounds\n", ROUNDS);
    static const guint pending[] = {1000, 100000, 1000000};
    for (guint p = 0; p < G_N_ELEMENTS(pending); p++) {
        double rates[SIM_QUEUE_KINDS][ROUNDS];
        for (guint round = 0; round < ROUNDS; round++)
            for (guint kind = 0; kind < SIM_QUEUE_KINDS; kind++)
                rates[kind][round] = bench_hold((SimQueueKind)kind, pending[p], 2000000);
        printf("%8u pending", pending[p]);
        for (guint kind = 0; kind < SIM_QUEUE_KINDS; kind++)
            printf("  %s %5.1f", SIM_QUEUE_NAMES[kind], bench_median(rates[kind]));
        printf("\n");
    }
    printf("ring all-reduce of 13,476,298,752 bytes, set-up included\n");
    bench_ring("   64 ranks, hops fused", 64, 2, 0, FALSE);
    bench_ring("  256 ranks, hops fused", 256, 2, 0, FALSE);
    bench_ring("1,024 ranks, hops fused", 1024, 2, 0, FALSE);
    bench_ring("1,024 ranks, latencies 0-5 % apart (no ties)", 1024, 2, 0.05, FALSE);
    bench_ring("1,024 ranks, 2 hops, an event a hop", 1024, 2, 0, TRUE);
    bench_ring("1,024 ranks, 4 hops, an event a hop", 1024, 4, 0, TRUE);
    bench_ring("1,024 ranks, 4 hops, fused", 1024, 4, 0, FALSE);
    return 0;
}
