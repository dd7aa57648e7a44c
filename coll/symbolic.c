// coll/symbolic.c: contributions instead of time.
#include "coll/symbolic.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"

typedef struct {
    CollSend send;
    guint16 *carried; // [pieces sent * ranks]; owned
} CollParcel;

typedef struct {
    CollRun run; // first
    const CollAlgo *algo;
    guint32 pieces;
    guint32 members; // ranks and switches
    guint16 *held;   // [(member * pieces + piece) * ranks + contributor]
    GArray *pending; // of CollParcel
    GArray *sent;    // of gint64, per member
    gboolean stray;  // somebody sent to no peer of its own
} CollSymbols;

static guint16 *coll_symbols_at(CollSymbols *symbols, guint32 member, guint64 piece)
{
    return &symbols->held[((gsize)member * symbols->pieces + piece % symbols->pieces) *
                          symbols->run.shape.ranks];
}

static void coll_symbols_emit(CollRun *run, const CollSend *send)
{
    CollSymbols *symbols = (CollSymbols *)run;
    guint32 ranks = run->shape.ranks;
    if (symbols->algo->peer(&run->shape, send->from, send->slot) != send->to)
        symbols->stray = TRUE;
    CollParcel parcel = {.send = *send, .carried = g_new(guint16, (gsize)coll_send_count(send) * ranks)};
    for (guint32 i = 0; i < coll_send_count(send); i++)
        memcpy(&parcel.carried[(gsize)i * ranks],
               coll_symbols_at(symbols, send->from, coll_send_piece(send, symbols->pieces, i)),
               ranks * sizeof(guint16));
    g_array_append_val(symbols->pending, parcel);
    g_array_index(symbols->sent, gint64, send->from) +=
        coll_send_bytes(coll_vector_bytes(&run->shape), symbols->pieces, send);
}

static void coll_symbols_receive(CollSymbols *symbols, const CollParcel *parcel)
{
    guint32 ranks = symbols->run.shape.ranks;
    for (guint32 i = 0; i < coll_send_count(&parcel->send); i++) {
        guint16 *own =
            coll_symbols_at(symbols, parcel->send.to, coll_send_piece(&parcel->send, symbols->pieces, i));
        const guint16 *carried = &parcel->carried[(gsize)i * ranks];
        for (guint32 c = 0; c < ranks; c++)
            own[c] = parcel->send.reduce ? (guint16)(own[c] + carried[c]) : carried[c];
    }
}

// Whose contribution alone a piece is made of, G_MAXUINT32: everybody's. Pieces lie by rank.
static guint32 coll_symbols_source(const CollSymbols *symbols, guint32 piece)
{
    switch (symbols->run.shape.op) {
    case COLL_OP_ALL_GATHER:
    case COLL_OP_ALL_GATHER_PAYLOAD:
    case COLL_OP_ALL_TO_ALL:
    case COLL_OP_SEND_RECV:
        return piece / (symbols->pieces / symbols->run.shape.ranks);
    case COLL_OP_BROADCAST:
        return 0;
    case COLL_OP_ALL_REDUCE:
    case COLL_OP_REDUCE_SCATTER:
    case COLL_OP_REDUCE:
    case COLL_OPS:
        break;
    }
    return G_MAXUINT32;
}

// How many of contributor's a complete piece holds.
static guint16 coll_symbols_wanted(const CollSymbols *symbols, guint32 piece, guint32 contributor)
{
    guint32 source = coll_symbols_source(symbols, piece);
    return source == G_MAXUINT32 || source == contributor;
}

// Whether a rank must end with a piece.
static gboolean coll_symbols_promised(const CollSymbols *symbols, guint32 rank, guint32 piece)
{
    guint32 p = symbols->run.shape.ranks;
    switch (symbols->run.shape.op) {
    case COLL_OP_REDUCE_SCATTER:
        return piece / (symbols->pieces / p) == rank;
    case COLL_OP_ALL_TO_ALL:
        return piece % p == rank;
    case COLL_OP_SEND_RECV:
        return piece == (rank + p - 1) % p;
    case COLL_OP_REDUCE:
        return rank == 0;
    case COLL_OP_ALL_REDUCE:
    case COLL_OP_ALL_GATHER:
    case COLL_OP_ALL_GATHER_PAYLOAD:
    case COLL_OP_BROADCAST:
    case COLL_OPS:
        break;
    }
    return TRUE;
}

static gboolean coll_symbols_complete(CollSymbols *symbols, guint32 member, guint32 piece, guint32 *culprit)
{
    const guint16 *held = coll_symbols_at(symbols, member, piece);
    for (guint32 c = 0; c < symbols->run.shape.ranks; c++) {
        if (held[c] != coll_symbols_wanted(symbols, piece, c)) {
            *culprit = c;
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean coll_symbols_check(CollSymbols *symbols, GError **error)
{
    const CollShape *shape = &symbols->run.shape;
    for (guint32 rank = 0; rank < shape->ranks; rank++) {
        for (guint32 piece = 0; piece < symbols->pieces; piece++) {
            guint32 culprit = 0;
            if (coll_symbols_promised(symbols, rank, piece) &&
                !coll_symbols_complete(symbols, rank, piece, &culprit))
                return base_error_set(
                    error, BASE_ERROR_FAILED, symbols->algo->name,
                    "rank %u ends with piece %u holding rank %u's contribution %u times, wanted %u", rank,
                    piece, culprit, coll_symbols_at(symbols, rank, piece)[culprit],
                    coll_symbols_wanted(symbols, piece, culprit));
        }
    }
    return TRUE;
}

// The first message on its way between the members that message pick joins: one does not overtake the other.
static guint coll_symbols_first(const CollSymbols *symbols, guint pick)
{
    const CollSend *send = &g_array_index(symbols->pending, CollParcel, pick).send;
    guint first = 0;
    for (;; first++) {
        const CollSend *other = &g_array_index(symbols->pending, CollParcel, first).send;
        if (other->from == send->from && other->to == send->to)
            return first;
    }
}

static void coll_symbols_clear(CollSymbols *symbols)
{
    for (guint i = 0; i < symbols->pending->len; i++)
        g_free(g_array_index(symbols->pending, CollParcel, i).carried);
    g_array_unref(symbols->pending);
    g_array_unref(symbols->sent);
    g_free(symbols->held);
    g_free(symbols->run.state);
}

gboolean coll_symbolic_run(const CollAlgo *algo, const CollShape *shape, guint64 seed, gboolean in_order,
                           CollSymbolicStep step, gpointer user, CollSymbolic *out, GError **error)
{
    CollSymbols symbols = {.run = {.shape = *shape, .emit = coll_symbols_emit}, .algo = algo};
    guint32 ranks = shape->ranks;
    symbols.pieces = algo->pieces(shape);
    symbols.members = ranks + algo->switches(shape);
    symbols.run.state = g_new0(guint32, algo->states(shape) + 1);
    symbols.held = g_new0(guint16, (gsize)symbols.members * symbols.pieces * ranks);
    symbols.pending = g_array_new(FALSE, FALSE, sizeof(CollParcel));
    symbols.sent = g_array_sized_new(FALSE, TRUE, sizeof(gint64), symbols.members);
    g_array_set_size(symbols.sent, symbols.members);
    for (guint32 rank = 0; rank < ranks; rank++)
        for (guint32 piece = 0; piece < symbols.pieces; piece++)
            coll_symbols_at(&symbols, rank, piece)[rank] =
                coll_symbols_source(&symbols, piece) == G_MAXUINT32 ||
                coll_symbols_source(&symbols, piece) == rank ||
                shape->op == COLL_OP_BROADCAST; // the others' vectors are to be overwritten
    *out = (CollSymbolic){0};
    guint64 wanted = algo->messages(shape);
    if (wanted > 0)
        algo->begin(&symbols.run);
    while (symbols.pending->len > 0 && out->messages <= wanted && !symbols.stray) {
        guint pick = in_order ? 0 : (guint)(hash_random(seed, out->messages) % symbols.pending->len);
        pick = coll_symbols_first(&symbols, pick);
        CollParcel parcel = g_array_index(symbols.pending, CollParcel, pick);
        g_array_remove_index(symbols.pending, pick);
        coll_symbols_receive(&symbols, &parcel);
        out->messages++;
        if (step != NULL) {
            g_autoptr(GArray) done = g_array_new(FALSE, FALSE, sizeof(guint32));
            guint32 culprit = 0;
            for (guint32 piece = 0; piece < symbols.pieces; piece++)
                if (coll_symbols_complete(&symbols, parcel.send.to, piece, &culprit))
                    g_array_append_val(done, piece);
            step(user, &parcel.send, done);
        }
        g_free(parcel.carried);
        algo->received(&symbols.run, parcel.send.step, parcel.send.from, parcel.send.to);
    }
    for (guint32 rank = 0; rank < ranks; rank++) {
        gint64 bytes = g_array_index(symbols.sent, gint64, rank);
        out->bytes += bytes;
        out->bytes_max = MAX(out->bytes_max, bytes);
    }
    gboolean fine = TRUE;
    if (symbols.stray)
        fine =
            base_error_set(error, BASE_ERROR_FAILED, algo->name, "a message goes to a rank that is no peer");
    else if (out->messages != wanted)
        fine = base_error_set(error, BASE_ERROR_FAILED, algo->name,
                              "sent %" G_GUINT64_FORMAT " messages, wanted %" G_GUINT64_FORMAT, out->messages,
                              wanted);
    else
        fine = coll_symbols_check(&symbols, error);
    coll_symbols_clear(&symbols);
    return fine;
}
