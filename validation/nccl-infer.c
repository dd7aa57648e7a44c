// validation/nccl-infer.c: operations and ranks out of the figures of a table.
#include "validation/nccl-infer.h"

#include <math.h>
#include <string.h>

#include "validation/nccl-line.h"

// size / (count x bytes of the type): ranks that a vector is spread over, 1 where it is not; 0 where the rows
// say different things, or nothing.
static guint32 validation_nccl_share(const GArray *rows)
{
    gint64 share = 0;
    for (guint i = 0; i < rows->len; i++) {
        const ValidationNcclRow *row = &g_array_index(rows, ValidationNcclRow, i);
        gint64 each = 0;
        if (row->count == 0 || row->bytes == 0)
            continue;
        if (__builtin_mul_overflow(row->count, (gint64)validation_nccl_line_type_bytes(row->type), &each) ||
            row->bytes % each != 0 || (share != 0 && row->bytes / each != share))
            return 0;
        share = row->bytes / each;
    }
    return share > G_MAXUINT32 ? 0 : (guint32)share;
}

// What busbw / algbw can be, given the digits that are printed. Empty (low > high) where rows contradict each
// other.
typedef struct {
    double low, high;
} Ratio;

static void validation_nccl_narrow(Ratio *ratio, const ValidationNcclRow *row, const ValidationNcclSide *side)
{
    if (!(side->time > side->time_half) || !(side->busbw > 2 * side->busbw_half) || row->bytes == 0)
        return;
    // algbw is printed, and is size / time: the sharper of both, each end by itself.
    double algbw_low = (double)row->bytes / (side->time + side->time_half);
    double algbw_high = (double)row->bytes / (side->time - side->time_half);
    algbw_low = MAX(algbw_low, side->algbw - side->algbw_half);
    algbw_high = MIN(algbw_high, side->algbw + side->algbw_half);
    if (algbw_low > algbw_high || algbw_low <= 0) { // rounded twice: the printed one
        algbw_low = side->algbw - side->algbw_half;
        algbw_high = side->algbw + side->algbw_half;
        if (algbw_low <= 0)
            return;
    }
    // A hair wider: the tool's own arithmetic rounds too.
    ratio->low = MAX(ratio->low, (side->busbw - side->busbw_half) / algbw_high * (1 - 1e-9));
    ratio->high = MIN(ratio->high, (side->busbw + side->busbw_half) / algbw_low * (1 + 1e-9));
}

static gboolean validation_nccl_ratio(const GArray *rows, Ratio *ratio)
{
    *ratio = (Ratio){0, HUGE_VAL};
    for (guint i = 0; i < rows->len; i++) {
        const ValidationNcclRow *row = &g_array_index(rows, ValidationNcclRow, i);
        for (guint side = 0; side < VALIDATION_NCCL_SIDES; side++)
            validation_nccl_narrow(ratio, row, &row->side[side]);
    }
    return isfinite(ratio->high) && ratio->low <= ratio->high;
}

// Whether busbw / algbw depends on the ranks.
static gboolean validation_nccl_tells_ranks(ValidationNcclOp op)
{
    return validation_nccl_log_factor(op, 2) < validation_nccl_log_factor(op, 4);
}

ValidationNcclOp validation_nccl_infer_op(const GArray *rows, ValidationNcclOp named, guint32 listed,
                                          gboolean redop_column, gboolean *contradicts, gboolean *assumed)
{
    const ValidationNcclRow *row = &g_array_index(rows, ValidationNcclRow, rows->len - 1);
    gboolean reduces = row->redop[0] != '\0' && strcmp(row->redop, "none") != 0;
    gboolean rooted = row->root >= 0;
    guint32 share = validation_nccl_share(rows);
    Ratio ratio;
    gboolean has_ratio = validation_nccl_ratio(rows, &ratio);
    gboolean passes =
        has_ratio && ratio.low <= 1 && ratio.high >= 1 && ratio.high < 1.2; // as broadcast, send-recv
    *contradicts = *assumed = FALSE;
    ValidationNcclOp op;
    if (reduces)
        op = rooted      ? VALIDATION_NCCL_REDUCE
             : share > 1 ? VALIDATION_NCCL_REDUCE_SCATTER
             : passes && listed > 2
                 ? VALIDATION_NCCL_SEND_RECV // it prints a redop, too; two ranks all-reduce alike
                 : VALIDATION_NCCL_ALL_REDUCE;
    else if (rooted)
        op = share > 1 ? VALIDATION_NCCL_SCATTER : VALIDATION_NCCL_BROADCAST;
    else if (share > 1 || (has_ratio && ratio.high < 1) || redop_column || !passes)
        // Versions that leave the cell empty below a heading "redop" do so for all-to-all; all-gather has no
        // such heading there (superbench's logs of 2.10 and before).
        op = redop_column && row->redop[0] == '\0' ? VALIDATION_NCCL_ALL_TO_ALL : VALIDATION_NCCL_ALL_GATHER;
    else
        op = VALIDATION_NCCL_BROADCAST;
    if (named == VALIDATION_NCCL_OPS || named == op) {
        *assumed = named != op && !reduces && !(op == VALIDATION_NCCL_BROADCAST && rooted);
        return op;
    }
    // A name decides between operations whose rows look alike.
    gboolean alike = FALSE;
    switch (named) {
    case VALIDATION_NCCL_SEND_RECV:
        alike = share <= 1 && !rooted && (!has_ratio || passes);
        break;
    case VALIDATION_NCCL_ALL_GATHER:
    case VALIDATION_NCCL_ALL_TO_ALL:
        alike = !reduces && !rooted && !passes;
        break;
    case VALIDATION_NCCL_GATHER:
    case VALIDATION_NCCL_SCATTER:
        alike = !reduces && rooted && !passes;
        break;
    case VALIDATION_NCCL_BROADCAST:
        alike = !reduces && share <= 1 && (!has_ratio || passes);
        break;
    case VALIDATION_NCCL_ALL_REDUCE:
    case VALIDATION_NCCL_REDUCE_SCATTER:
    case VALIDATION_NCCL_REDUCE:
    case VALIDATION_NCCL_OPS:
        break;
    }
    if (alike)
        return named;
    *contradicts = TRUE;
    return op;
}

static guint validation_nccl_twos(guint32 n)
{
    return n == 0 ? 0 : (guint)__builtin_ctz(n);
}

// The ranks that a ratio allows: 2(n-1)/n or (n-1)/n turned round.
static void validation_nccl_invert(ValidationNcclOp op, const Ratio *ratio, ValidationNcclRanks *out)
{
    const double most = 1 << 24, top = op == VALIDATION_NCCL_ALL_REDUCE ? 2 : 1;
    double low = ratio->low >= top ? most : top / (top - ratio->low);
    double high = ratio->high >= top ? most : top / (top - ratio->high);
    low = ceil(MAX(low, 2));
    high = floor(MIN(high, most));
    if (low > high || high >= 2 * low)
        return;
    out->low = (guint32)low;
    out->high = (guint32)high;
}

ValidationNcclRanks validation_nccl_infer_ranks(const ValidationNcclRun *run)
{
    ValidationNcclRanks out = {0};
    guint32 share = validation_nccl_tells_ranks(run->op) && run->op != VALIDATION_NCCL_ALL_REDUCE
                        ? validation_nccl_share(run->rows)
                        : 0;
    if (share > 1) {
        out.ranks = out.low = out.high = share;
        return out;
    }
    Ratio ratio;
    if (validation_nccl_tells_ranks(run->op) && validation_nccl_ratio(run->rows, &ratio))
        validation_nccl_invert(run->op, &ratio, &out);
    if (out.low == 0 || (run->ranks_listed >= out.low && run->ranks_listed <= out.high)) {
        out.ranks = run->ranks_listed;
        return out;
    }
    out.ranks = out.low;
    out.from_ratio = out.high > out.low;
    for (guint32 n = out.low; n <= out.high; n++)
        if (validation_nccl_twos(n) > validation_nccl_twos(out.ranks))
            out.ranks = n;
    return out;
}
