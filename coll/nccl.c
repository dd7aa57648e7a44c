// coll/nccl.c: NCCL's choice.
#include "coll/nccl.h"

#include <string.h>

#include "topo/route.h"

const char *const COLL_NCCL_PROTOCOLS[] = {"ll", "ll128", "simple", NULL};

enum { LL, LL128, SIMPLE };

// NCCL's latencies of a hop, ps (tuning.cc, release 2.30): by protocol; NVLink, PCIe, network, network in
// trees.
static const Ps HOPS[][4] = {
    [LL] = {600000, 1000000, 2700000, 5000000},
    [LL128] = {1900000, 2500000, 4000000, 8500000},
    [SIMPLE] = {3400000, 5700000, 14000000, 14000000},
};
// And of starting, by protocol, for rings and trees: 6.6, 14, 8.4 us.
static const Ps BASES[] = {[LL] = 6600000, [LL128] = 14000000, [SIMPLE] = 8400000};
// Bytes on the wire for bytes of payload: LL's lines of 8 carry 4, LL128's of 128 carry 120.
static const guint32 WIRE[][2] = {[LL] = {8, 4}, [LL128] = {128, 120}, [SIMPLE] = {1, 1}};

// Messages that follow each other on the longest way, by kind, and how often the vector passes a rank's port.
typedef struct {
    double inside, across;
    double sent; // bytes that a rank sends, per byte of vector
} Way;

// ceil(log2 n).
static double coll_nccl_rounds(guint32 n)
{
    guint32 rounds = 0;
    while (rounds < 31 && (1u << rounds) < n)
        rounds++;
    return rounds;
}

// log2 n between powers of two by a straight line: no libm, so that it is the same everywhere.
static double coll_nccl_doublings(guint32 n)
{
    guint32 whole = 0;
    while ((n >> whole) > 1)
        whole++;
    return whole + ((double)n / (double)(1u << whole) - 1);
}

static Way coll_nccl_way(const CollAlgo *algo, const CollShape *shape)
{
    double n = shape->ranks, g = coll_island(shape), islands = coll_islands(shape), passes = 1;
    double factor = (n - 1) / n;
    if (shape->op == COLL_OP_ALL_REDUCE)
        passes = 2;
    if (algo == &COLL_RING || algo == &COLL_RAILS) {
        // A piece passes the end of an island every g steps, the first time at once for some.
        double steps = passes * (n - 1),
               crossing = islands > 1 ? passes * (g > 1 ? islands : islands - 1) : 0;
        return (Way){steps - crossing, crossing, passes * factor};
    }
    if (algo == &COLL_NVLS)
        return (Way){2 * passes, 0,
                     shape->op == COLL_OP_ALL_REDUCE       ? 1
                     : shape->op == COLL_OP_REDUCE_SCATTER ? factor
                                                           : 1 / g};
    if (algo == &COLL_NVLS_TREE)
        return (Way){4, 2 * coll_nccl_rounds((guint32)islands), 1 + 2 / g};
    if (algo == &COLL_SHARP)
        return (Way){4, 2, 1 + 1 / g};
    if (algo == &COLL_DOUBLE_TREE) {
        double hops = 2 * (g - 1) + 2 * coll_nccl_rounds((guint32)islands);
        // Two vectors leave a rank, and the first of 16 chunks (coll_choice_chunks) takes as many turns as
        // there are hops.
        return (Way){2 * (g - 1), 2 * coll_nccl_rounds((guint32)islands), (2 + hops / 16) * (1 + 1 / g)};
    }
    if (algo == &COLL_BINOMIAL_TREE)
        return (Way){2 * coll_nccl_rounds((guint32)g), 2 * coll_nccl_rounds((guint32)islands), 2};
    if (algo == &COLL_HALVING)
        return (Way){2 * coll_nccl_rounds((guint32)g), 2 * coll_nccl_rounds((guint32)islands), 2 * factor};
    if (algo == &COLL_TWO_LEVEL)
        return (Way){2, 2 * (islands - 1), 2 * factor};
    if (algo == &COLL_CHAIN)
        return (Way){n - islands, islands - 1, 1};
    if (algo == &COLL_PAIRS_TWO_LEVEL)
        return (Way){1, islands > 1, 2 * factor};
    return (Way){islands > 1 ? 0 : 1, islands > 1 ? 1 : 0, shape->op == COLL_OP_SEND_RECV ? 1 : factor};
}

void coll_nccl_init(CollNccl *nccl, const TopoTuning *constants, const TopoGraph *graph, const CollAlgo *algo,
                    const char *protocol)
{
    *nccl =
        (CollNccl){.nccl = constants, .algo = algo, .protocol = protocol, .inside_class = TOPO_LINK_NVLINK};
    guint32 gpus = graph->gpus->len;
    g_autoptr(TopoRouter) router = topo_router_new(graph, 1);
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; gpus > 1 && i < 2; i++) {
        g_array_set_size(links, 0);
        guint32 to = i == 0 ? 1 : gpus - 1;
        if (!topo_router_find(router, topo_graph_gpu(graph, 0), topo_graph_gpu(graph, to), links))
            continue;
        Ps *latency = i == 0 ? &nccl->inside : &nccl->across;
        for (guint l = 0; l < links->len; l++) {
            const TopoLink *link = topo_graph_link(graph, g_array_index(links, guint32, l));
            *latency += link->latency;
            if (i == 0 && link->class != TOPO_LINK_NVLINK)
                nccl->inside_class = link->class == TOPO_LINK_CPU ? TOPO_LINK_PCIE : link->class;
        }
    }
}

static TopoTuningOp coll_nccl_op(CollOp op)
{
    switch (op) {
    case COLL_OP_ALL_REDUCE:
        return TOPO_TUNING_ALL_REDUCE;
    case COLL_OP_REDUCE_SCATTER:
        return TOPO_TUNING_REDUCE_SCATTER;
    case COLL_OP_ALL_GATHER:
    case COLL_OP_ALL_GATHER_PAYLOAD:
    case COLL_OP_BROADCAST:
        return TOPO_TUNING_ALL_GATHER;
    case COLL_OP_ALL_TO_ALL:
    case COLL_OP_SEND_RECV:
    case COLL_OPS:
        break;
    }
    return TOPO_TUNING_ALL_TO_ALL;
}

// The algorithm that goes with a protocol.
static const CollAlgo *coll_nccl_algo(const CollNccl *nccl, const CollShape *shape, guint protocol)
{
    gboolean across = coll_islands(shape) > 1;
    switch (shape->op) {
    case COLL_OP_ALL_REDUCE:
        if (shape->rings != NULL)
            return &COLL_RAILS;
        if (protocol != SIMPLE)
            return across ? &COLL_DOUBLE_TREE : &COLL_RING;
        if (across && nccl->nccl->network_reduces && nccl->nccl->switch_reduces &&
            COLL_SHARP.refuses(shape) == NULL)
            return &COLL_SHARP;
        if (nccl->nccl->switch_reduces)
            return across ? &COLL_NVLS_TREE : shape->ranks > 4 ? &COLL_NVLS : &COLL_RING;
        return across ? &COLL_RAILS : &COLL_RING;
    case COLL_OP_BROADCAST:
        return &COLL_CHAIN;
    case COLL_OP_ALL_TO_ALL:
    case COLL_OP_SEND_RECV:
        return &COLL_PAIRS;
    case COLL_OP_REDUCE_SCATTER:
    case COLL_OP_ALL_GATHER:
    case COLL_OP_ALL_GATHER_PAYLOAD:
    case COLL_OPS:
        break;
    }
    return across || shape->rings != NULL ? &COLL_RAILS : &COLL_RING;
}

// Latency and bus bandwidth of one way to do it, and the messages that make it up.
typedef struct {
    const CollAlgo *algo;
    guint protocol;
    Way way;
    double alpha, bandwidth; // ps; bytes/s, 0: what the links carry
    double factor;           // c
    gboolean unmeasured;     // the machine has lines, and none for this protocol
    Ps hop[TOPO_LINK_CLASSES];
} Candidate;

static void coll_nccl_hops(Candidate *candidate)
{
    gboolean tree = candidate->algo == &COLL_DOUBLE_TREE || candidate->algo == &COLL_NVLS_TREE;
    const Ps *hops = HOPS[candidate->protocol];
    candidate->hop[TOPO_LINK_NVLINK] = hops[0];
    candidate->hop[TOPO_LINK_PCIE] = candidate->hop[TOPO_LINK_CPU] = hops[1];
    candidate->hop[TOPO_LINK_NETWORK] = candidate->hop[TOPO_LINK_WAN] = hops[tree ? 3 : 2];
}

// The measured line of a protocol: the last is Simple's, the first LL's, one in between LL128's. NULL: none.
static const TopoTuningLine *coll_nccl_line(const TopoTuningFit *fit, guint protocol)
{
    if (protocol == SIMPLE)
        return &fit->line[fit->lines - 1];
    if (protocol == LL)
        return fit->lines > 1 ? &fit->line[0] : NULL;
    return fit->lines > 2 ? &fit->line[1] : NULL;
}

static Candidate coll_nccl_candidate(const CollNccl *nccl, const CollShape *shape, const CollAlgo *algo,
                                     guint protocol)
{
    double n = shape->ranks, islands = coll_islands(shape);
    gboolean across = islands > 1;
    Candidate c = {.algo = algo, .protocol = protocol, .way = coll_nccl_way(algo, shape)};
    c.factor = shape->op == COLL_OP_ALL_REDUCE                                    ? 2 * (n - 1) / n
               : shape->op == COLL_OP_BROADCAST || shape->op == COLL_OP_SEND_RECV ? 1
                                                                                  : (n - 1) / n;
    coll_nccl_hops(&c);
    double inside = (double)(c.hop[nccl->inside_class] + nccl->inside);
    double network = (double)(c.hop[TOPO_LINK_NETWORK] + nccl->across);
    c.alpha = (double)BASES[protocol] + c.way.inside * inside + c.way.across * network;
    const TopoTuningFit *fit =
        topo_tuning_find(nccl->nccl, coll_nccl_op(shape->op), across ? 0 : shape->ranks);
    if (fit == NULL)
        return c;
    const TopoTuningLine *measured = coll_nccl_line(fit, protocol);
    if (measured ==
        NULL) { // told to take what was not measured: NCCL's latencies, and what bandwidth is left
        c.bandwidth = fit->line[fit->lines - 1].bandwidth * WIRE[protocol][1] / WIRE[protocol][0];
        c.unmeasured = TRUE;
        return c;
    }
    c.bandwidth = measured->bandwidth;
    double alpha = (double)measured->latency;
    if (across) {
        alpha += (double)measured->step *
                 (shape->op == COLL_OP_ALL_REDUCE ? coll_nccl_doublings((guint32)islands) : islands - 1);
    } else if (fit->ranks != shape->ranks) {
        // Of another number of ranks: scaled as the algorithm's own steps are.
        CollShape other = *shape;
        other.ranks = other.island = fit->ranks;
        Way way = coll_nccl_way(algo, &other);
        double base = (double)BASES[protocol];
        alpha *= (base + c.way.inside * inside) / (base + way.inside * inside);
    }
    c.alpha = alpha;
    return c;
}

static double coll_nccl_time(const Candidate *candidate, const CollShape *shape)
{
    double bytes = (double)shape->bytes * candidate->factor;
    return candidate->alpha + (candidate->bandwidth > 0 ? bytes / candidate->bandwidth * 1e12 : 0);
}

// The quicker of the lines, or what was told.
static Candidate coll_nccl_best(const CollNccl *nccl, const CollShape *shape)
{
    gboolean told = nccl->algo != NULL && nccl->algo->ops[shape->op];
    Candidate best = {0};
    for (guint protocol = LL; protocol <= SIMPLE; protocol++) {
        if (nccl->protocol != NULL && strcmp(COLL_NCCL_PROTOCOLS[protocol], nccl->protocol) != 0)
            continue;
        const CollAlgo *algo = told ? nccl->algo : coll_nccl_algo(nccl, shape, protocol);
        Candidate candidate = coll_nccl_candidate(nccl, shape, algo, protocol);
        if (candidate.unmeasured && nccl->protocol == NULL)
            continue;
        if (best.algo == NULL || coll_nccl_time(&candidate, shape) < coll_nccl_time(&best, shape))
            best = candidate;
    }
    return best;
}

void coll_nccl_choose(gconstpointer user, const CollShape *shape, CollChoice *choice)
{
    const CollNccl *nccl = user;
    if (shape->ranks == 1) {
        coll_choice_plain(nccl->algo, shape, choice);
        return;
    }
    Candidate best = coll_nccl_best(nccl, shape);
    *choice = (CollChoice){.algo = best.algo,
                           .protocol = COLL_NCCL_PROTOCOLS[best.protocol],
                           .chunks = coll_choice_chunks(shape->bytes)};
    // What the links' own latencies take on the longest way comes off; hops shrink where they alone would
    // pass alpha.
    double links = best.way.inside * (double)nccl->inside + best.way.across * (double)nccl->across;
    double hops = best.way.inside * (double)best.hop[nccl->inside_class] +
                  best.way.across * (double)best.hop[TOPO_LINK_NETWORK];
    double left = MAX(best.alpha - links, 0), scale = hops > left ? left / hops : 1;
    for (guint i = 0; i < TOPO_LINK_CLASSES; i++)
        choice->hop[i] = (Ps)((double)best.hop[i] * scale);
    choice->base = (Ps)(left - hops * scale);
    if (best.bandwidth > 0)
        choice->cap = best.bandwidth * best.way.sent / best.factor;
    if (best.bandwidth <= 0) { // nothing measured, which would have it in
        choice->wire_num = WIRE[best.protocol][0];
        choice->wire_den = WIRE[best.protocol][1];
    }
}

double coll_nccl_predict(gconstpointer user, const CollShape *shape)
{
    const CollNccl *nccl = user;
    if (shape->ranks == 1)
        return 0;
    Candidate best = coll_nccl_best(nccl, shape);
    return coll_nccl_time(&best, shape) * 1e-12;
}
