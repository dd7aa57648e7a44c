// cli/validate-buckets.c: stepline validate buckets: gradient buckets as PyTorch formed them, beside ours.
#include <stdio.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/validate-verb.h"
#include "validation/buckets.h"

static JsonArray *buckets_json_sizes(const GArray *sizes)
{
    JsonArray *array = json_array_new();
    for (guint i = 0; i < sizes->len; i++)
        json_array_add_int_element(array, g_array_index(sizes, gint64, i));
    return array;
}

static void buckets_print_json(const GPtrArray *rows)
{
    JsonArray *array = json_array_new();
    for (guint i = 0; i < rows->len; i++) {
        const ValidationBuckets *row = rows->pdata[i];
        JsonObject *object = json_object_new();
        json_object_set_string_member(object, "model", row->model);
        json_object_set_int_member(object, "parameters", row->elements);
        json_object_set_int_member(object, "cap_bytes", row->cap);
        json_object_set_array_member(object, "published_bytes", buckets_json_sizes(row->published));
        json_object_set_array_member(object, "simulated_bytes", buckets_json_sizes(row->ours));
        json_object_set_boolean_member(object, "agrees", row->agrees);
        json_object_set_string_member(object, "source", row->source);
        json_array_add_object_element(array, object);
    }
    JsonObject *all = json_object_new();
    json_object_set_array_member(all, "rows", array);
    options_print_json_object(all);
}

static void buckets_print_size(const GArray *sizes, guint at)
{
    if (at < sizes->len)
        printf("%12" G_GINT64_FORMAT, g_array_index(sizes, gint64, at));
    else
        printf("%12s", "-");
}

static void buckets_print(const GPtrArray *rows)
{
    printf("%-12s%10s%8s%12s%12s  %s\n", "model", "cap", "bucket", "published", "ours", "agrees");
    for (guint i = 0; i < rows->len; i++) {
        const ValidationBuckets *row = rows->pdata[i];
        g_autofree char *cap = units_format_binary((double)row->cap);
        for (guint at = 0; at < MAX(row->published->len, row->ours->len); at++) {
            printf("%-12s%10s%8u", row->model, cap, at + 1);
            buckets_print_size(row->published, at);
            buckets_print_size(row->ours, at);
            gboolean same = at < row->published->len && at < row->ours->len &&
                            g_array_index(row->published, gint64, at) == g_array_index(row->ours, gint64, at);
            printf("  %s\n", same ? "yes" : "NO");
        }
    }
    printf("bytes; ");
    for (guint i = 0; i < rows->len; i++) {
        const ValidationBuckets *row = rows->pdata[i];
        g_autofree char *cap = units_format_binary((double)row->cap);
        printf("%s%s %s: %s", i == 0 ? "" : "; ", row->model, cap, row->source);
    }
    printf("\n");
}

static int buckets_run(const ValidateArguments *arguments, GError **error)
{
    g_autoptr(GPtrArray) rows = validation_buckets_run(error);
    if (rows == NULL)
        return BASE_ERROR_FAILED;
    if (arguments->json)
        buckets_print_json(rows);
    else
        buckets_print(rows);
    gboolean agree = TRUE;
    for (guint i = 0; i < rows->len; i++)
        agree = agree && ((const ValidationBuckets *)rows->pdata[i])->agrees;
    return agree ? 0 : BASE_ERROR_INFEASIBLE;
}

static const char *const TAKES[] = {NULL};

const ValidateVerb VALIDATE_VERB_BUCKETS = {
    .name = "buckets",
    .usage = "[--json]",
    .takes = TAKES,
    .run = buckets_run,
};
