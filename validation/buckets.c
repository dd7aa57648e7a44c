// validation/buckets.c: published gradient buckets beside ours.
#include "validation/buckets.h"

#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/library.h"
#include "base/units.h"
#include "models/convnet.h"
#include "plans/bucket.h"

enum { ELEMENT = 4, FIRST_CAP = 1 << 20 }; // bytes: fp32; PyTorch's first bucket

enum { MODEL, CAP, UNIT, SIZES, SOURCE, COLUMNS };
static const char *const COLUMN_NAMES[COLUMNS] = {"model", "cap", "unit", "sizes", "source"};

static void validation_buckets_free_row(gpointer data)
{
    ValidationBuckets *row = data;
    g_free(row->model);
    g_array_unref(row->published);
    g_array_unref(row->ours);
    g_free(row->source);
    g_free(row);
}

static void validation_buckets_form(ValidationBuckets *row, const ModelConvnet *net)
{
    g_autoptr(GArray) tensors = model_convnet_tensors(net);
    g_autofree gint64 *ready = g_new(gint64, tensors->len);
    for (guint i = 0; i < tensors->len; i++) {
        gint64 elements = g_array_index(tensors, gint64, tensors->len - 1 - i);
        row->elements += elements;
        ready[i] = ELEMENT * elements;
    }
    g_autoptr(GArray) formed = plan_buckets_form(ready, tensors->len, FIRST_CAP, row->cap, FALSE);
    row->agrees = formed->len == row->published->len;
    for (guint i = 0; i < formed->len; i++) {
        gint64 bytes = g_array_index(formed, PlanBucket, i).bytes;
        g_array_append_val(row->ours, bytes);
        row->agrees = row->agrees && bytes == g_array_index(row->published, gint64, i);
    }
}

static gboolean validation_buckets_read(ValidationBuckets *row, const Csv *csv, guint at,
                                        const guint *columns, GError **error)
{
    char *const *fields = csv_get(csv, at)->fields;
    g_autofree char *model = csv_where(csv, at, columns[MODEL]);
    g_autofree char *cap = csv_where(csv, at, columns[CAP]);
    g_autofree char *unit = csv_where(csv, at, columns[UNIT]);
    g_autofree char *sizes = csv_where(csv, at, columns[SIZES]);
    const ModelConvnet *net = model_convnet_find(fields[columns[MODEL]], model, error);
    if (net == NULL || !units_parse_whole(UNITS_BYTES, fields[columns[CAP]], cap, &row->cap, error))
        return FALSE;
    if (row->cap < 1)
        return base_error_set(error, BASE_ERROR_FAILED, cap, "found 0 B, wanted a cap such as '25 MiB'");
    gboolean elements = strcmp(fields[columns[UNIT]], "elements") == 0;
    if (!elements && strcmp(fields[columns[UNIT]], "bytes") != 0) {
        g_autofree char *quoted = base_error_quote(fields[columns[UNIT]]);
        return base_error_set(error, BASE_ERROR_FAILED, unit, "found '%s', wanted bytes or elements", quoted);
    }
    g_auto(GStrv) words = g_strsplit(fields[columns[SIZES]], " ", -1);
    for (guint i = 0; words[i] != NULL; i++) {
        gint64 size = 0;
        if (!units_parse_whole(UNITS_COUNT, words[i], sizes, &size, error))
            return FALSE;
        if (size < 1 || size > G_MAXINT32)
            return base_error_set(error, BASE_ERROR_FAILED, sizes, "found %s, wanted 1 to %d", words[i],
                                  G_MAXINT32);
        size *= elements ? ELEMENT : 1;
        g_array_append_val(row->published, size);
    }
    if (row->published->len == 0)
        return base_error_set(error, BASE_ERROR_FAILED, sizes, "found nothing, wanted the sizes of buckets");
    row->model = g_strdup(net->name);
    row->source = g_strdup(fields[columns[SOURCE]]);
    validation_buckets_form(row, net);
    return TRUE;
}

GPtrArray *validation_buckets_run_text(const char *name, const char *text, gsize length, GError **error)
{
    g_autoptr(Csv) csv = csv_read_text(name, text, length, error);
    if (csv == NULL)
        return NULL;
    guint columns[COLUMNS] = {0};
    for (guint i = 0; i < COLUMNS; i++)
        if (!csv_find_column(csv, COLUMN_NAMES[i], &columns[i], error))
            return NULL;
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(validation_buckets_free_row);
    for (guint i = 0; i < csv_rows(csv); i++) {
        ValidationBuckets *row = g_new0(ValidationBuckets, 1);
        row->published = g_array_new(FALSE, FALSE, sizeof(gint64));
        row->ours = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_ptr_array_add(rows, row);
        if (!validation_buckets_read(row, csv, i, columns, error))
            return NULL;
    }
    return g_steal_pointer(&rows);
}

GPtrArray *validation_buckets_run(GError **error)
{
    static const char path[] = "validation/data/buckets.csv";
    g_autoptr(GBytes) bytes = library_find(path);
    g_assert(bytes != NULL);
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    return validation_buckets_run_text(path, text, length, error);
}
