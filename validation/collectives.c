// validation/collectives.c: reads the table of measured collectives.
#include "validation/collectives.h"

#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/library.h"
#include "base/suggest.h"
#include "base/units.h"
#include "validation/nccl-line.h"

enum { FAMILY, MACHINE, OP, RANKS, NODES, BYTES, TIME, BUSBW, SOURCE, BY, NOTE, COLUMNS };
static const char *const COLUMN_NAMES[COLUMNS] = {
    "family", "machine", "op", "ranks", "nodes", "bytes", "time_us", "busbw_GBps", "source", "by", "note"};

static void validation_collectives_free_row(gpointer data)
{
    ValidationCollective *row = data;
    g_free(row->family);
    g_free(row->machine);
    g_free(row->source);
    g_free(row->by);
    g_free(row->note);
    g_free(row);
}

// A table being read.
typedef struct {
    const Csv *csv;
    guint columns[COLUMNS];
    guint row;
} Reading;

static const char *validation_collectives_field(const Reading *at, guint column)
{
    return csv_get(at->csv, at->row)->fields[at->columns[column]];
}

static gboolean validation_collectives_refuse(const Reading *at, guint column, const char *wanted,
                                              GError **error)
{
    g_autofree char *where = csv_where(at->csv, at->row, at->columns[column]);
    g_autofree char *quoted = base_error_quote(validation_collectives_field(at, column));
    return base_error_set(error, BASE_ERROR_FAILED, where, "found '%s', wanted %s", quoted, wanted);
}

static gboolean validation_collectives_whole(const Reading *at, guint column, gint64 low, gint64 high,
                                             gint64 *value, GError **error)
{
    g_autofree char *where = csv_where(at->csv, at->row, at->columns[column]);
    if (!units_parse_whole(UNITS_COUNT, validation_collectives_field(at, column), where, value, error))
        return FALSE;
    if (*value >= low && *value <= high)
        return TRUE;
    g_autofree char *wanted = g_strdup_printf("%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, low, high);
    return validation_collectives_refuse(at, column, wanted, error);
}

static gboolean validation_collectives_read_op(const Reading *at, ValidationNcclOp *op, GError **error)
{
    const char *name = validation_collectives_field(at, OP);
    for (guint i = 0; VALIDATION_NCCL_OP_NAMES[i] != NULL; i++) {
        if (strcmp(VALIDATION_NCCL_OP_NAMES[i], name) == 0) {
            *op = (ValidationNcclOp)i;
            return TRUE;
        }
    }
    g_autofree char *hint = suggest_hint(name, VALIDATION_NCCL_OP_NAMES);
    g_autofree char *wanted = g_strconcat("an operation like all-reduce", hint, NULL);
    return validation_collectives_refuse(at, OP, wanted, error);
}

// time_us or busbw_GBps, and the other out of it.
static gboolean validation_collectives_read_figure(const Reading *at, ValidationCollective *row,
                                                   GError **error)
{
    const char *time = validation_collectives_field(at, TIME),
               *busbw = validation_collectives_field(at, BUSBW);
    row->has_time = time[0] != '\0';
    if (row->has_time == (busbw[0] != '\0'))
        return validation_collectives_refuse(at, TIME, "either time_us or busbw_GBps", error);
    double value = 0, half = 0;
    if (!validation_nccl_line_read_number(row->has_time ? time : busbw, &value, &half) || value <= 0)
        return validation_collectives_refuse(at, row->has_time ? TIME : BUSBW, "a number above 0", error);
    double moved = (double)row->bytes * validation_nccl_log_factor(row->op, row->ranks);
    row->time = row->has_time ? value * 1e-6 : moved / (value * 1e9);
    row->busbw = row->has_time ? moved / row->time : value * 1e9;
    return TRUE;
}

static gboolean validation_collectives_read_row(const Reading *at, ValidationCollective *row, GError **error)
{
    static const guint words[] = {FAMILY, MACHINE, SOURCE, BY};
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (*validation_collectives_field(at, words[i]) == '\0')
            return validation_collectives_refuse(at, words[i], "a name", error);
    gint64 ranks = 0, nodes = 0;
    if (!validation_collectives_read_op(at, &row->op, error) ||
        !validation_collectives_whole(at, RANKS, 2, 1 << 24, &ranks, error) ||
        !validation_collectives_whole(at, NODES, 1, ranks, &nodes, error) ||
        !validation_collectives_whole(at, BYTES, 1, G_GINT64_CONSTANT(1) << 50, &row->bytes, error))
        return FALSE;
    row->line = csv_get(at->csv, at->row)->line;
    row->ranks = (guint32)ranks;
    row->nodes = (guint32)nodes;
    row->family = g_strdup(validation_collectives_field(at, FAMILY));
    row->machine = g_strdup(validation_collectives_field(at, MACHINE));
    row->source = g_strdup(validation_collectives_field(at, SOURCE));
    row->by = g_strdup(validation_collectives_field(at, BY));
    row->note = g_strdup(validation_collectives_field(at, NOTE));
    return validation_collectives_read_figure(at, row, error);
}

GPtrArray *validation_collectives_read_text(const char *name, const char *text, gsize length, GError **error)
{
    g_autoptr(Csv) csv = csv_read_text(name, text, length, error);
    if (csv == NULL)
        return NULL;
    Reading at = {.csv = csv};
    for (guint i = 0; i < COLUMNS; i++)
        if (!csv_find_column(csv, COLUMN_NAMES[i], &at.columns[i], error))
            return NULL;
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(validation_collectives_free_row);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (at.row = 0; at.row < csv_rows(csv); at.row++) {
        ValidationCollective *row = g_new0(ValidationCollective, 1);
        g_ptr_array_add(rows, row);
        if (!validation_collectives_read_row(&at, row, error))
            return NULL;
        if (!g_hash_table_add(seen, g_strjoinv("\n", csv_get(csv, at.row)->fields))) {
            validation_collectives_refuse(&at, FAMILY, "each row once", error);
            return NULL;
        }
    }
    return g_steal_pointer(&rows);
}

GPtrArray *validation_collectives_read(GError **error)
{
    static const char path[] = "validation/data/collectives.csv";
    g_autoptr(GBytes) bytes = library_find(path);
    g_assert(bytes != NULL);
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    return validation_collectives_read_text(path, text, length, error);
}
