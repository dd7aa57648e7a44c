// base/record.c: reading the fields of a row.
#include "base/record.h"

#include "base/error.h"

enum { RECORD_COLUMNS_MAX = 256 }; // as base/csv.h

// kind: what is wanted in words, and the largest number.
static const struct {
    const char *wanted;
    double most;
} RECORD_KINDS[] = {
    [RECORD_TEXT] = {"a name", 0},
    [RECORD_WHOLE] = {"a whole number", 1e12},
    [RECORD_SMALL] = {"a whole number up to a million", 1e6},
    [RECORD_YES] = {"0 or 1", 1},
    [RECORD_MAYBE] = {"0 or 1", 1},
    [RECORD_NUMBER] = {"a number from 0 up", 1e30},
};

static gboolean record_number(const char *text, RecordKind kind, double *value)
{
    char *end = NULL;
    *value = g_ascii_strtod(text, &end);
    if (end == text || *end != '\0' || !(*value >= 0 && *value <= RECORD_KINDS[kind].most))
        return FALSE;
    return kind == RECORD_NUMBER || (double)(gint64)*value >= *value;
}

static gboolean record_read_field(gpointer field, RecordKind kind, const char *text)
{
    if (kind == RECORD_TEXT) {
        char *own = g_strdup(text);
        *(char **)field = g_strdelimit(own, "\r\n\t", ' ');
        return TRUE;
    }
    double value = 0;
    gboolean empty = text[0] == '\0';
    if (!empty && !record_number(text, kind, &value))
        return FALSE;
    switch (kind) {
    case RECORD_WHOLE:
        *(gint64 *)field = (gint64)value;
        break;
    case RECORD_SMALL:
        *(guint32 *)field = (guint32)value;
        break;
    case RECORD_YES:
        *(gboolean *)field = (gint64)value == 1;
        break;
    case RECORD_MAYBE:
        *(int *)field = empty ? -1 : (int)value;
        break;
    case RECORD_NUMBER:
        *(double *)field = value;
        break;
    case RECORD_TEXT:
        break;
    }
    return TRUE;
}

static gboolean record_read_row(const Csv *csv, guint row, const RecordColumn *columns, const guint *at,
                                gpointer record, GError **error)
{
    for (guint i = 0; columns[i].column != NULL; i++) {
        const char *text = csv_get(csv, row)->fields[at[i]];
        gboolean empty = columns[i].needed && text[0] == '\0';
        if (!empty && record_read_field((char *)record + columns[i].at, columns[i].kind, text))
            continue;
        g_autofree char *where = csv_where(csv, row, at[i]), *quoted = base_error_quote(text);
        return base_error_set(error, BASE_ERROR_FAILED, where, "found '%s', wanted %s", quoted,
                              RECORD_KINDS[columns[i].kind].wanted);
    }
    return TRUE;
}

gboolean record_read(const Csv *csv, const RecordColumn *columns, gsize size, RecordTake take, gpointer user,
                     GError **error)
{
    guint at[RECORD_COLUMNS_MAX];
    for (guint i = 0; columns[i].column != NULL; i++)
        if (!csv_find_column(csv, columns[i].column, &at[i], error))
            return FALSE;
    for (guint row = 0; row < csv_rows(csv); row++) {
        gpointer record = g_malloc0(size);
        if (!record_read_row(csv, row, columns, at, record, error)) {
            record_free(columns, record);
            return FALSE;
        }
        if (!take(user, record, csv, row, error))
            return FALSE;
    }
    return TRUE;
}

void record_free(const RecordColumn *columns, gpointer record)
{
    for (guint i = 0; columns[i].column != NULL; i++)
        if (columns[i].kind == RECORD_TEXT)
            g_free(*(char **)(void *)((char *)record + columns[i].at));
    g_free(record);
}
