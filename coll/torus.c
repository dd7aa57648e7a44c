// coll/torus.c: collectives through a box of a torus (coll/box.h), along all its axes at once, both ways.
//
// The vector is cut into a lane for every axis whose neighbours share a cable. To reduce-scatter, a lane goes
// through all axes in its own order, so that every axis has a lane at work: along the first every rank ends
// with the sum over its row of what belongs to ranks of its coordinate, along the next with the sum over its
// plane, and so on. To all-gather it comes back the same way; an all-reduce is the one after the other. A
// rank begins with the next axes when all its lanes are over with theirs: else small messages of one would
// wait at every step behind the large ones of another. Over
// k axes that are rings of bandwidth B each way, reduce-scatter and all-gather take M/(2 k B) and the latency
// of half of every ring (jax-ml/scaling-book, "Sharded matrices and how to multiply them": all-gather over
// several mesh axes); along a row that is no ring, what its last link has to carry is all of the lane's.
//
// A ring of m: what belongs to a coordinate comes from both sides, from up to m/2 away; the farthest of an
// even ring sends half its pieces each way. So along a ring of h = floor(m/2) a rank sends h messages each
// way: step s adds for the coordinate h - s further on, or copies what is from s further back, and waits for
// the receipt of step s - 1. A line: what belongs to a coordinate comes from both ends, the farthest first;
// a rank adds to it or passes it on when it comes, and an end sends its next when the last has arrived.
#include "coll/algo.h"

// Words of state of a rank: the phase it is in, and then of every lane: messages sent in this phase each way,
// and of every phase messages received each way (of a line's end that adds: arrived at its neighbour).
enum { TORUS_SENT = 0, TORUS_RECEIVED = 2 };

// A rank in a phase of a lane.
typedef struct {
    const CollBox *box;
    const CollAxis *axis;
    guint32 rank, lane, phase;
    guint32 depth; // of the axis in the lane's order
    guint32 at;    // coordinate along the axis
    gboolean adds;
} TorusPlace;

static gboolean torus_adds(CollOp op)
{
    return op == COLL_OP_ALL_REDUCE || op == COLL_OP_REDUCE_SCATTER;
}

static guint32 torus_phases(const CollShape *shape)
{
    return shape->box == NULL ? 0 : shape->box->axes * (shape->op == COLL_OP_ALL_REDUCE ? 2 : 1);
}

static const char *torus_refuses(const CollShape *shape)
{
    return shape->box != NULL || shape->ranks == 1 ? NULL : "wants ranks that are a box of a torus";
}

static guint32 torus_pieces(const CollShape *shape)
{
    return shape->box == NULL ? shape->ranks : shape->ranks * shape->box->first[shape->box->lanes];
}

// Slot 2 a: the next along axis a; 2 a + 1: the one before.
static guint32 torus_slots(const CollShape *shape)
{
    return shape->box == NULL ? 0 : 2 * shape->box->axes;
}

static guint32 torus_next(const CollAxis *axis, guint32 rank, guint32 back)
{
    guint32 at = rank / axis->stride % axis->size;
    guint32 next = back ? (at == 0 ? axis->size - 1 : at - 1) : (at + 1 == axis->size ? 0 : at + 1);
    return rank - at * axis->stride + next * axis->stride;
}

static guint32 torus_peer(const CollShape *shape, guint32 rank, guint32 slot)
{
    const CollAxis *axis = &shape->box->axis[slot / 2];
    guint32 at = rank / axis->stride % axis->size;
    if (!axis->closed && at == (slot % 2 == 0 ? axis->size - 1 : 0))
        return G_MAXUINT32;
    return torus_next(axis, rank, slot % 2);
}

static guint32 torus_lane_words(const CollShape *shape)
{
    return TORUS_RECEIVED + 2 * torus_phases(shape);
}

static guint64 torus_states(const CollShape *shape)
{
    return shape->box == NULL ? 0 : (guint64)shape->ranks * (1 + shape->box->lanes * torus_lane_words(shape));
}

static guint64 torus_messages(const CollShape *shape)
{
    guint64 sum = 0;
    for (guint32 i = 0; shape->box != NULL && i < shape->box->axes; i++) {
        const CollAxis *axis = &shape->box->axis[i];
        sum += axis->closed ? axis->size / 2 * 2 : axis->size - 1;
    }
    return sum == 0 ? 0 : sum * shape->ranks * shape->box->lanes * (torus_phases(shape) / shape->box->axes);
}

static guint32 *torus_phase(const CollRun *run, guint32 rank)
{
    return &run->state[(gsize)rank * (1 + run->shape.box->lanes * torus_lane_words(&run->shape))];
}

static guint32 *torus_lane(const CollRun *run, guint32 rank, guint32 lane)
{
    return torus_phase(run, rank) + 1 + lane * torus_lane_words(&run->shape);
}

static TorusPlace torus_place(const CollShape *shape, guint32 rank, guint32 lane, guint32 phase)
{
    const CollBox *box = shape->box;
    TorusPlace place = {.box = box, .rank = rank, .lane = lane, .phase = phase};
    place.adds = torus_adds(shape->op) && phase < box->axes;
    place.depth = place.adds ? phase : torus_phases(shape) - 1 - phase;
    place.axis = &box->axis[box->order[lane][place.depth]];
    place.at = rank / place.axis->stride % place.axis->size;
    return place;
}

// The coordinate counted from the end of a line at which a way begins.
static guint32 torus_from_end(const TorusPlace *place, guint32 way)
{
    return way == 0 ? place->at : place->axis->size - 1 - place->at;
}

// How many messages the rank sends, gets, and may have sent after so many receipts, each way.
static guint32 torus_total(const TorusPlace *place, guint32 way)
{
    guint32 m = place->axis->size, from = torus_from_end(place, way);
    if (place->axis->closed)
        return m / 2;
    return place->adds ? m - 1 - from : (from + 1) % m;
}

static guint32 torus_expected(const TorusPlace *place, guint32 way)
{
    guint32 m = place->axis->size, from = torus_from_end(place, way);
    if (place->axis->closed)
        return m / 2;
    return place->adds ? (from == 0 ? 0 : m - from) : from;
}

static guint32 torus_allowed(const TorusPlace *place, guint32 way, guint32 receipts)
{
    gboolean starts = place->axis->closed || !place->adds || torus_from_end(place, way) == 0;
    return receipts + (starts ? 1 : 0);
}

// The pieces of coordinate at along the place's axis: of the ranks that agree with this one in the axes
// before it in the lane's order, in all others whatever they are. They are two runs of axes at most.
static void torus_pieces_of(const TorusPlace *place, guint32 at, CollSend *send)
{
    const CollBox *box = place->box;
    guint32 each = box->first[box->lanes], base = at * place->axis->stride, runs = 0;
    guint32 count[COLL_BOX_AXES] = {1, 1}, stride[COLL_BOX_AXES] = {0};
    gboolean fixed[COLL_BOX_AXES] = {FALSE}, running = FALSE;
    for (guint32 i = 0; i < place->depth; i++) {
        const CollAxis *axis = &box->axis[box->order[place->lane][i]];
        fixed[box->order[place->lane][i]] = TRUE;
        base += place->rank / axis->stride % axis->size * axis->stride;
    }
    fixed[box->order[place->lane][place->depth]] = TRUE;
    for (guint32 i = 0; i < box->axes; i++) {
        if (!fixed[i] && !running) {
            count[runs] = 1;
            stride[runs++] = box->axis[i].stride * each;
        }
        running = !fixed[i];
        if (running)
            count[runs - 1] *= box->axis[i].size;
    }
    send->piece = base * each + box->first[place->lane];
    send->width = box->first[place->lane + 1] - box->first[place->lane];
    send->pieces = count[0];
    send->stride = stride[0];
    send->blocks = count[1];
    send->apart = stride[1];
}

static void torus_emit(CollRun *run, const TorusPlace *place, guint32 way, guint32 step)
{
    const CollBox *box = place->box;
    guint32 m = place->axis->size, h = m / 2, of = 0;
    guint32 slot = 2 * box->order[place->lane][place->depth] + way;
    gboolean half = FALSE;
    CollSend send = {.step =
                         ((place->phase * coll_box_longest(box) + step) * box->lanes + place->lane) * 2 + way,
                     .from = place->rank,
                     .to = torus_next(place->axis, place->rank, way),
                     .slot = slot,
                     .reduce = place->adds};
    if (place->axis->closed) {
        guint32 far = place->adds ? h - step : m - step; // the way that this one looks, round
        of = (place->at + (way == 0 ? far : 2 * m - far)) % m;
        half = m % 2 == 0 && step == (place->adds ? 0 : h - 1);
    } else {
        of = place->adds ? m - 1 - step : torus_from_end(place, way) - step;
        of = way == 0 ? of : m - 1 - of;
    }
    torus_pieces_of(place, of, &send);
    if (half) {
        send.width /= 2;
        send.piece += way * send.width;
    }
    run->emit(run, &send);
}

// Sends what a lane of a rank may send now. Whether it is over with the phase.
static gboolean torus_send(CollRun *run, guint32 rank, guint32 lane)
{
    guint32 *state = torus_lane(run, rank, lane);
    TorusPlace place = torus_place(&run->shape, rank, lane, *torus_phase(run, rank));
    const guint32 *received = &state[TORUS_RECEIVED + 2 * place.phase];
    gboolean over = TRUE;
    for (guint32 way = 0; way < 2; way++) {
        guint32 total = torus_total(&place, way), *sent = &state[TORUS_SENT + way];
        guint32 now = MIN(total, torus_allowed(&place, way, received[way]));
        for (; *sent < now; ++*sent)
            torus_emit(run, &place, way, *sent);
        over = over && *sent == total && received[way] >= torus_expected(&place, way);
    }
    return over;
}

// Goes to the next phase when all lanes of a rank are over with this one.
static void torus_advance(CollRun *run, guint32 rank)
{
    guint32 *phase = torus_phase(run, rank), lanes = run->shape.box->lanes;
    while (*phase < torus_phases(&run->shape)) {
        gboolean over = TRUE;
        for (guint32 lane = 0; lane < lanes; lane++)
            over = torus_send(run, rank, lane) && over;
        if (!over)
            return;
        ++*phase;
        for (guint32 lane = 0; lane < lanes; lane++)
            torus_lane(run, rank, lane)[TORUS_SENT] = torus_lane(run, rank, lane)[TORUS_SENT + 1] = 0;
    }
}

static void torus_begin(CollRun *run)
{
    for (guint32 rank = 0; rank < run->shape.ranks; rank++)
        torus_advance(run, rank);
}

// One more receipt of a rank, in a phase that it may have left, be in or not have reached.
static void torus_count(CollRun *run, guint32 rank, guint32 lane, guint32 phase, guint32 way)
{
    torus_lane(run, rank, lane)[TORUS_RECEIVED + 2 * phase + way]++;
    if (phase == *torus_phase(run, rank) && torus_send(run, rank, lane))
        torus_advance(run, rank);
}

static void torus_received(CollRun *run, guint32 step, guint32 from, guint32 to)
{
    const CollBox *box = run->shape.box;
    guint32 way = step % 2, lane = step / 2 % box->lanes,
            phase = step / 2 / box->lanes / coll_box_longest(box);
    torus_count(run, to, lane, phase, way);
    TorusPlace sender = torus_place(&run->shape, from, lane, phase);
    if (!sender.axis->closed && sender.adds && torus_from_end(&sender, way) == 0)
        torus_count(run, from, lane, phase, way);
}

const CollAlgo COLL_TORUS = {
    .name = "torus",
    .title = "through a box of a torus along all axes at once, both ways round",
    .ops = {[COLL_OP_ALL_REDUCE] = TRUE,
            [COLL_OP_REDUCE_SCATTER] = TRUE,
            [COLL_OP_ALL_GATHER] = TRUE,
            [COLL_OP_ALL_GATHER_PAYLOAD] = TRUE},
    .refuses = torus_refuses,
    .pieces = torus_pieces,
    .switches = coll_algo_no_switches,
    .slots = torus_slots,
    .peer = torus_peer,
    .states = torus_states,
    .messages = torus_messages,
    .begin = torus_begin,
    .received = torus_received,
};
