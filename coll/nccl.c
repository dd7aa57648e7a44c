// coll/nccl.c: NCCL's choice.
#include "coll/nccl.h"

#include <math.h>
#include <string.h>

#include "coll/way.h"

const char *const COLL_NCCL_PROTOCOLS[] = {"ll", "ll128", "simple", NULL};

enum { LL, LL128, SIMPLE };
enum { LOCAL_MAX = 4 }; // ranks of an island up to which its switch does not add

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

enum {
    BUDGET = 4,   // a pipeline's filling and the hops share alpha: a quarter at least is left to the filling
    EXCESS = 300, // the filling may pass that by this part of the time, so that chunks stay few
    CHUNKS_MAX = 4096,    // of a vector
    PIECES_MAX = 1 << 21, // of all ranks together, so that a collective stays a matter of seconds
};
// A piece longer than the network's own chunk (coll/measure.h) would take turns with those behind it.
static const double PIECE_MAX = 32 << 20;

double coll_nccl_steps(CollOp op, guint32 islands)
{
    if (op != COLL_OP_ALL_REDUCE)
        return islands - 1;
    // log2 between powers of two by a straight line: no libm, so that it is the same everywhere.
    guint32 whole = 0;
    while ((islands >> whole) > 1)
        whole++;
    return whole + ((double)islands / (double)(1u << whole) - 1);
}

static MachineTuningOp coll_nccl_op(CollOp op)
{
    switch (op) {
    case COLL_OP_ALL_REDUCE:
        return MACHINE_TUNING_ALL_REDUCE;
    case COLL_OP_REDUCE_SCATTER:
        return MACHINE_TUNING_REDUCE_SCATTER;
    case COLL_OP_ALL_GATHER:
    case COLL_OP_ALL_GATHER_PAYLOAD:
        return MACHINE_TUNING_ALL_GATHER;
    case COLL_OP_BROADCAST:
        return MACHINE_TUNING_BROADCAST;
    case COLL_OP_REDUCE:
        return MACHINE_TUNING_REDUCE;
    case COLL_OP_ALL_TO_ALL:
    case COLL_OP_SEND_RECV:
    case COLL_OPS:
        break;
    }
    return MACHINE_TUNING_ALL_TO_ALL;
}

// The algorithm that goes with a protocol. Switches take part where an island has more than LOCAL_MAX ranks:
// with four a ring is what NCCL measures (stas00/ml-engineering: 363 GB/s on four H200, 414 on five).
static const CollAlgo *coll_nccl_algo(const CollNccl *nccl, const CollShape *shape, guint protocol)
{
    gboolean across = coll_islands(shape) > 1,
             switches = nccl->nccl->switch_reduces && coll_island(shape) > LOCAL_MAX;
    const CollAlgo *ring = shape->rings != NULL ? &COLL_RAILS : &COLL_RING;
    switch (shape->op) {
    case COLL_OP_ALL_REDUCE:
        if (protocol != SIMPLE)
            return across ? &COLL_DOUBLE_TREE : ring;
        if (across && nccl->nccl->network_reduces && switches && COLL_SHARP.refuses(shape) == NULL)
            return &COLL_SHARP;
        if (switches)
            return across ? &COLL_NVLS_TREE : &COLL_NVLS;
        // Between two islands a tree sends every byte across once each way, a ring nearly twice. Where whole
        // islands would let their switches add, parts of them have trees too: rings would be longer.
        if (coll_islands(shape) == 2 || (nccl->nccl->switch_reduces && across))
            return &COLL_DOUBLE_TREE;
        return across ? &COLL_RAILS : ring;
    case COLL_OP_BROADCAST:
    case COLL_OP_REDUCE:
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
    return across ? &COLL_RAILS : ring;
}

// Latency and bus bandwidth of one way to do it, and the messages that make it up.
typedef struct {
    const CollAlgo *algo;
    guint protocol;
    CollWay way;
    double alpha, bandwidth; // ps; bytes/s, 0: what the links carry
    double factor;           // c
    double estimate;         // bytes/s, where bandwidth is 0: by the links
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

// The vector of nccl-tests: over all ranks, also where the shape counts one rank's part.
static double coll_nccl_bytes(const CollShape *shape)
{
    return (double)shape->bytes * (shape->op == COLL_OP_ALL_GATHER_PAYLOAD ? shape->ranks : 1);
}

// The latency of a measured line for a shape, ps.
static double coll_nccl_alpha(const MachineTuningLine *line, const CollShape *shape)
{
    return (double)line->latency + (double)line->step * coll_nccl_steps(shape->op, coll_islands(shape));
}

// The measured line of a protocol: the last is Simple's, the first LL's; LL128's is the quickest in between.
// NULL: none.
static const MachineTuningLine *coll_nccl_line(const MachineTuningFit *fit, const CollShape *shape,
                                               double bytes, guint protocol)
{
    if (protocol == SIMPLE)
        return &fit->line[fit->lines - 1];
    if (protocol == LL)
        return fit->lines > 1 ? &fit->line[0] : NULL;
    const MachineTuningLine *best = NULL;
    double least = G_MAXDOUBLE;
    for (guint i = 1; i + 1 < fit->lines; i++) {
        double time = coll_nccl_alpha(&fit->line[i], shape) + bytes / fit->line[i].bandwidth * 1e12;
        if (time < least) {
            least = time;
            best = &fit->line[i];
        }
    }
    return best;
}

// Trees go from a rank to the one of the same number, rings from an island's last rank to the next one's
// first.
static gboolean coll_nccl_keeps_rail(const CollAlgo *algo)
{
    return algo == &COLL_DOUBLE_TREE || algo == &COLL_NVLS_TREE || algo == &COLL_SHARP ||
           algo == &COLL_BINOMIAL_TREE || algo == &COLL_TWO_LEVEL || algo == &COLL_PAIRS_TWO_LEVEL;
}

// What the links themselves take of one crossing.
static double coll_nccl_crossing(const CollNccl *nccl, const CollAlgo *algo)
{
    return (double)(coll_nccl_keeps_rail(algo) ? nccl->rail : nccl->across);
}

// Base and hops by NCCL's own latencies, ps.
static double coll_nccl_latency(const CollNccl *nccl, const Candidate *c, const CollWay *way)
{
    return (double)BASES[c->protocol] + way->inside * (double)(c->hop[nccl->inside_class] + nccl->inside) +
           way->across * ((double)c->hop[TOPO_LINK_NETWORK] + coll_nccl_crossing(nccl, c->algo));
}

// What NCCL's own latencies make of the shape in which a line was measured: whole islands across, fit->ranks
// inside.
static double coll_nccl_measured(const CollNccl *nccl, const CollShape *shape, const MachineTuningFit *fit,
                                 guint protocol)
{
    CollShape other = *shape;
    gboolean across = coll_islands(shape) > 1;
    other.island = across ? MAX(nccl->island, coll_island(shape)) : fit->ranks;
    other.ranks = across ? other.island * coll_islands(shape) : fit->ranks;
    Candidate c = {.algo = coll_nccl_algo(nccl, &other, protocol), .protocol = protocol};
    coll_nccl_hops(&c);
    CollWay way = coll_way_get(c.algo, &other);
    return coll_nccl_latency(nccl, &c, &way);
}

// What was measured of an operation, or of the one that stands for it. NULL: nothing.
static const MachineTuningFit *coll_nccl_fit(const CollNccl *nccl, const CollShape *shape)
{
    guint32 ranks = shape->ranks, islands = coll_islands(shape);
    const MachineTuningFit *fit = machine_tuning_find(nccl->nccl, coll_nccl_op(shape->op), ranks, islands);
    if (fit == NULL && shape->op == COLL_OP_REDUCE)
        fit = machine_tuning_find(nccl->nccl, MACHINE_TUNING_BROADCAST, ranks, islands);
    if (fit == NULL && (shape->op == COLL_OP_REDUCE || shape->op == COLL_OP_BROADCAST))
        fit = machine_tuning_find(nccl->nccl, MACHINE_TUNING_ALL_GATHER, ranks, islands);
    return fit;
}

// busbw / algbw of nccl-tests: what its bandwidths count.
static double coll_nccl_factor(const CollShape *shape)
{
    double n = shape->ranks;
    gboolean whole =
        shape->op == COLL_OP_BROADCAST || shape->op == COLL_OP_REDUCE || shape->op == COLL_OP_SEND_RECV;
    return shape->op == COLL_OP_ALL_REDUCE ? 2 * (n - 1) / n : whole ? 1 : (n - 1) / n;
}

static Candidate coll_nccl_candidate(const CollNccl *nccl, const CollShape *shape, const CollAlgo *algo,
                                     guint protocol)
{
    gboolean across = coll_islands(shape) > 1;
    Candidate c = {.algo = algo, .protocol = protocol, .way = coll_way_get(algo, shape)};
    c.factor = coll_nccl_factor(shape);
    coll_nccl_hops(&c);
    c.alpha = coll_nccl_latency(nccl, &c, &c.way);
    const MachineTuningFit *fit = coll_nccl_fit(nccl, shape);
    if (fit == NULL) { // what the links carry, to compare the protocols by
        c.estimate = across ? nccl->across_rate * coll_island(shape) : nccl->inside_rate;
        c.estimate *= (double)WIRE[protocol][1] / WIRE[protocol][0];
        return c;
    }
    const MachineTuningLine *measured =
        coll_nccl_line(fit, shape, coll_nccl_bytes(shape) * c.factor, protocol);
    if (measured ==
        NULL) { // told to take what was not measured: NCCL's latencies, and what bandwidth is left
        c.bandwidth = fit->line[fit->lines - 1].bandwidth * WIRE[protocol][1] / WIRE[protocol][0];
        c.unmeasured = TRUE;
        return c;
    }
    c.bandwidth = measured->bandwidth;
    // Of another shape or algorithm: as NCCL's own latencies differ.
    c.alpha *= coll_nccl_alpha(measured, shape) / coll_nccl_measured(nccl, shape, fit, protocol);
    return c;
}

static double coll_nccl_time(const Candidate *candidate, const CollShape *shape)
{
    double bytes = coll_nccl_bytes(shape) * candidate->factor;
    double rate = candidate->bandwidth > 0 ? candidate->bandwidth : candidate->estimate;
    return candidate->alpha + (rate > 0 ? bytes / rate * 1e12 : 0);
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

// How long a pipelined algorithm goes on after the first sender's last byte, for a chunk of one byte; ps.
// Measured lines have that in alpha.
static double coll_nccl_filling(const CollNccl *nccl, const Candidate *best, double cap)
{
    double lane = cap > 0 ? cap : G_MAXDOUBLE;
    return 1e12 *
           (best->way.fill_inside / MIN(lane, nccl->inside_rate) +
            best->way.fill_across / MIN(lane, nccl->across_rate) + best->way.fill_switch / nccl->inside_rate);
}

// As few chunks as keep the filling (ps, of one chunk that is everything) within its budget, or a small part
// of the time where that is more.
static guint32 coll_nccl_chunks(const Candidate *best, const CollShape *shape, double filling, double budget)
{
    if (filling <= 0)
        return 1;
    double allowed = MAX(budget, coll_nccl_time(best, shape) / EXCESS);
    double wanted = allowed > 0 ? ceil(filling / allowed) : CHUNKS_MAX;
    double most = MIN(CHUNKS_MAX, PIECES_MAX / ((double)shape->ranks * best->way.lanes));
    double largest = best->way.fill_switch > 0 ? 1 : best->way.path; // message, of a byte of chunk
    double least = ceil(coll_nccl_bytes(shape) * largest / PIECE_MAX);
    return (guint32)MAX(CLAMP(wanted, 1, MAX(most, 4)), MIN(least, G_MAXUINT16));
}

void coll_nccl_choose(gconstpointer user, const CollShape *shape, CollChoice *choice)
{
    const CollNccl *nccl = user;
    if (shape->ranks == 1) {
        coll_choice_plain(nccl->algo, shape, choice);
        return;
    }
    Candidate best = coll_nccl_best(nccl, shape);
    *choice = (CollChoice){.algo = best.algo, .protocol = COLL_NCCL_PROTOCOLS[best.protocol]};
    // What the links' own latencies take on the longest way comes off; hops shrink where they would take too
    // much.
    gboolean switches = best.algo->switches(shape) > 0; // half a way at a time
    gboolean starts = best.algo == &COLL_PAIRS;         // sends of one group start together
    double ways = switches ? best.way.inside / 2 : best.way.inside;
    double wires = best.algo == &COLL_SHARP ? best.way.across / 2 : best.way.across;
    double links = ways * (double)nccl->inside + wires * coll_nccl_crossing(nccl, best.algo);
    double hops = best.way.inside * (double)best.hop[nccl->inside_class] +
                  best.way.across * (double)best.hop[TOPO_LINK_NETWORK];
    double left = MAX(best.alpha - links, 0), most = left - left / BUDGET;
    double scale = starts ? 0 : hops > most ? most / hops : 1;
    for (guint i = 0; i < TOPO_LINK_CLASSES; i++)
        choice->hop[i] = (Ps)((double)best.hop[i] * scale);
    if (best.bandwidth > 0) {
        choice->cap = best.bandwidth * best.way.path / best.factor;
        choice->lanes = best.way.lanes > 0;
    } else { // nothing measured, which would have it in
        choice->wire_num = WIRE[best.protocol][0];
        choice->wire_den = WIRE[best.protocol][1];
    }
    double filling = coll_nccl_filling(nccl, &best, choice->cap) * coll_nccl_bytes(shape);
    choice->chunks = coll_nccl_chunks(&best, shape, filling, left / BUDGET);
    choice->window = choice->chunks; // lanes pace themselves
    choice->base = (Ps)MAX(left - hops * scale - filling / choice->chunks, 0);
}

double coll_nccl_predict(gconstpointer user, const CollShape *shape)
{
    const CollNccl *nccl = user;
    if (shape->ranks == 1)
        return 0;
    Candidate best = coll_nccl_best(nccl, shape);
    return coll_nccl_time(&best, shape) * 1e-12;
}

void coll_nccl_split(const CollNccl *nccl, const CollShape *shape, guint line, guint lines, Ps alpha,
                     Ps *base, Ps *step)
{
    guint32 islands = coll_islands(shape);
    guint protocol = line + 1 == lines ? SIMPLE : line == 0 ? LL : LL128;
    CollShape twice = *shape;
    twice.ranks *= 2;
    twice.island = coll_island(shape);
    Candidate c = {.algo = coll_nccl_algo(nccl, shape, protocol), .protocol = protocol};
    coll_nccl_hops(&c);
    CollWay once_way = coll_way_get(c.algo, shape), twice_way = coll_way_get(c.algo, &twice);
    double once = coll_nccl_latency(nccl, &c, &once_way);
    double more = coll_nccl_latency(nccl, &c, &twice_way) - once;
    double steps = coll_nccl_steps(shape->op, islands);
    double each = islands > 1 ? more / (coll_nccl_steps(shape->op, 2 * islands) - steps) : 0;
    *step = (Ps)((double)alpha * CLAMP(each / once, 0, islands > 1 ? 1 / steps : 0));
    *base = alpha - (Ps)((double)*step * steps);
}
