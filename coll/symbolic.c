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
    guint16 *held;  // [(rank * pieces + piece) * ranks + contributor]
    GArray *pending; // of CollParcel
    GArray *sent;    // of gint64, per rank
    gboolean stray;  // somebody sent to no peer of its own
} CollSymbols;

static guint16 *coll_symbols_at(CollSymbols *symbols, guint32 rank, guint32 piece)
{
    return &symbols->held[((gsize)rank * symbols->pieces + piece % symbols->pieces) * symbols->run.shape.ranks];
}

static void coll_symbols_emit(CollRun *run, const CollSend *send)
{
    CollSymbols *symbols = (CollSymbols *)run;
    guint32 ranks = run->shape.ranks;
    if (symbols->algo->peer(&run->shape, send->from, send->slot) != send->to)
        symbols->stray = TRUE;
    CollParcel parcel = {.send = *send, .carried = g_new(guint16, (gsize)send->pieces * ranks)};
    for (guint32 i = 0; i < send->pieces; i++)
        memcpy(&parcel.carried[(gsize)i * ranks], coll_symbols_at(symbols, send->from, send->piece + i),
               ranks * sizeof(guint16));
    g_array_append_val(symbols->pending, parcel);
    g_array_index(symbols->sent, gint64, send->from) +=
        coll_piece_bytes(&run->shape, symbols->pieces, send->piece, send->pieces);
}

static void coll_symbols_receive(CollSymbols *symbols, const CollParcel *parcel)
{
    guint32 ranks = symbols->run.shape.ranks;
    for (guint32 i = 0; i < parcel->send.pieces; i++) {
        guint16 *own = coll_symbols_at(symbols, parcel->send.to, parcel->send.piece + i);
        const guint16 *carried = &parcel->carried[(gsize)i * ranks];
        for (guint32 c = 0; c < ranks; c++)
            own[c] = parcel->send.reduce ? (guint16)(own[c] + carried[c]) : carried[c];
    }
}

static gboolean coll_symbols_gathers(CollOp op)
{
    return op == COLL_OP_ALL_GATHER || op == COLL_OP_ALL_GATHER_PAYLOAD;
}

// How many of contributor's a complete piece holds: in a gather only its owner's.
static guint16 coll_symbols_wanted(const CollSymbols *symbols, guint32 piece, guint32 contributor)
{
    return !coll_symbols_gathers(symbols->run.shape.op) || piece == contributor;
}

static gboolean coll_symbols_complete(CollSymbols *symbols, guint32 rank, guint32 piece, guint32 *culprit)
{
    const guint16 *held = coll_symbols_at(symbols, rank, piece);
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
            if (shape->op == COLL_OP_REDUCE_SCATTER && piece != rank)
                continue;
            if (!coll_symbols_complete(symbols, rank, piece, &culprit))
                return base_error_set(error, BASE_ERROR_FAILED, symbols->algo->name,
                                      "rank %u ends with piece %u holding rank %u's contribution %u times, wanted %u",
                                      rank, piece, culprit, coll_symbols_at(symbols, rank, piece)[culprit],
                                      coll_symbols_wanted(symbols, piece, culprit));
        }
    }
    return TRUE;
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
    symbols.run.state = g_new0(guint32, ranks);
    symbols.held = g_new0(guint16, (gsize)ranks * symbols.pieces * ranks);
    symbols.pending = g_array_new(FALSE, FALSE, sizeof(CollParcel));
    symbols.sent = g_array_sized_new(FALSE, TRUE, sizeof(gint64), ranks);
    g_array_set_size(symbols.sent, ranks);
    for (guint32 rank = 0; rank < ranks; rank++)
        for (guint32 piece = 0; piece < symbols.pieces; piece++)
            coll_symbols_at(&symbols, rank, piece)[rank] = !coll_symbols_gathers(shape->op) || piece == rank;
    *out = (CollSymbolic){0};
    guint64 wanted = algo->messages(shape);
    if (wanted > 0)
        algo->begin(&symbols.run);
    while (symbols.pending->len > 0 && out->messages <= wanted && !symbols.stray) {
        guint pick = in_order ? 0 : (guint)(hash_random(seed, out->messages) % symbols.pending->len);
        CollParcel parcel = g_array_index(symbols.pending, CollParcel, pick);
        g_array_remove_index(symbols.pending, pick);
        coll_symbols_receive(&symbols, &parcel);
        out->messages++;
        if (step != NULL) {
            guint32 done = 0, culprit = 0;
            for (guint32 piece = 0; piece < symbols.pieces; piece++)
                done += coll_symbols_complete(&symbols, parcel.send.to, piece, &culprit) ? 1 : 0;
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
        fine = base_error_set(error, BASE_ERROR_FAILED, algo->name, "a message goes to a rank that is no peer");
    else if (out->messages != wanted)
        fine = base_error_set(error, BASE_ERROR_FAILED, algo->name,
                              "sent %" G_GUINT64_FORMAT " messages, wanted %" G_GUINT64_FORMAT, out->messages, wanted);
    else
        fine = coll_symbols_check(&symbols, error);
    coll_symbols_clear(&symbols);
    return fine;
}
