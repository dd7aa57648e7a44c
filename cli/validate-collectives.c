// cli/validate-collectives.c: stepline validate collectives: measured collectives beside simulated ones.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/reasons.h"
#include "cli/validate-verb.h"
#include "validation/compare.h"

enum { MESSAGES_MAX = 10000000 }; // a row that takes more is left out unless --all

static void validate_number(JsonObject *object, const char *key, double value)
{
    if (isnan(value))
        json_object_set_null_member(object, key);
    else
        json_object_set_double_member(object, key, value);
}

static void validate_print_json(const GPtrArray *compared, const GPtrArray *families)
{
    JsonArray *rows = json_array_new(), *summary = json_array_new();
    for (guint i = 0; i < compared->len; i++) {
        const ValidationCompared *at = compared->pdata[i];
        JsonObject *row = json_object_new();
        json_object_set_string_member(row, "family", at->row->family);
        json_object_set_string_member(row, "machine", at->row->machine);
        json_object_set_string_member(row, "op", VALIDATION_NCCL_OP_NAMES[at->row->op]);
        json_object_set_int_member(row, "ranks", at->row->ranks);
        json_object_set_int_member(row, "bytes", at->row->bytes);
        json_object_set_double_member(row, "measured_s", at->row->time);
        validate_number(row, "simulated_s", at->simulated);
        validate_number(row, "error", at->error);
        json_object_set_string_member(row, "algorithm", at->algorithm != NULL ? at->algorithm : "");
        json_object_set_string_member(row, "reason", at->reason != NULL ? at->reason : "");
        json_object_set_string_member(row, "source", at->row->source);
        json_array_add_object_element(rows, row);
    }
    for (guint i = 0; i < families->len; i++) {
        const ValidationFamily *family = families->pdata[i];
        JsonObject *object = json_object_new();
        json_object_set_string_member(object, "family", family->family);
        json_object_set_int_member(object, "rows", family->rows);
        json_object_set_int_member(object, "skipped", family->skipped);
        validate_number(object, "busbw_median_error", family->busbw);
        validate_number(object, "latency_median_error", family->latency);
        json_array_add_object_element(summary, object);
    }
    JsonObject *all = json_object_new();
    json_object_set_array_member(all, "rows", rows);
    json_object_set_array_member(all, "summary", summary);
    options_print_json_object(all);
}

static void validate_print_percent(guint rows, double value)
{
    if (rows == 0)
        printf("%6u %9s", 0u, "-");
    else
        printf("%6u %7.1f %%", rows, 100 * value);
}

static void validate_print_rows(const GPtrArray *compared)
{
    printf("%-16s%-18s%-15s%6s%13s%12s%12s%9s  %s\n", "family", "machine", "op", "ranks", "bytes", "measured",
           "simulated", "error", "algorithm");
    for (guint i = 0; i < compared->len; i++) {
        const ValidationCompared *at = compared->pdata[i];
        g_autofree char *measured = units_format_seconds(at->row->time);
        g_autofree char *simulated =
            isnan(at->simulated) ? g_strdup("-") : units_format_seconds(at->simulated);
        g_autofree char *error =
            isnan(at->error) ? g_strdup("-") : g_strdup_printf("%+.1f %%", 100 * at->error);
        printf("%-16s%-18s%-15s%6u%13" G_GINT64_FORMAT "%12s%12s%9s  %s\n", at->row->family, at->row->machine,
               VALIDATION_NCCL_OP_NAMES[at->row->op], at->row->ranks, at->row->bytes, measured, simulated,
               error, at->algorithm != NULL ? at->algorithm : at->reason);
    }
    printf("\n");
}

static void validate_print_families(const GPtrArray *families)
{
    printf("median |error| of busbw from 1 MiB up, of time below\n");
    printf("%-18s%16s%17s%10s\n", "family", "rows  busbw", "rows     time", "left out");
    for (guint i = 0; i < families->len; i++) {
        const ValidationFamily *family = families->pdata[i];
        printf("%-18s", family->family);
        validate_print_percent(family->large, family->busbw);
        validate_print_percent(family->small, family->latency);
        printf("%10u\n", family->skipped);
    }
}

static void validate_print_reasons(const GPtrArray *compared)
{
    g_autoptr(GPtrArray) reasons = g_ptr_array_new();
    for (guint i = 0; i < compared->len; i++)
        g_ptr_array_add(reasons, ((const ValidationCompared *)compared->pdata[i])->reason);
    reasons_print(reasons);
}

static int collectives_run(const ValidateArguments *arguments, GError **error)
{
    const char *only = arguments->family;
    g_autoptr(GPtrArray) table = validation_collectives_read(error);
    if (table == NULL)
        return BASE_ERROR_FAILED;
    g_autoptr(GPtrArray) rows = g_ptr_array_new();
    for (guint i = 0; i < table->len; i++)
        if (only == NULL || strcmp(((const ValidationCollective *)table->pdata[i])->family, only) == 0)
            g_ptr_array_add(rows, table->pdata[i]);
    if (rows->len == 0) {
        g_autofree char *quoted = base_error_quote(only != NULL ? only : "");
        base_error_set(error, BASE_ERROR_USAGE, "--family", "found no row of '%s'", quoted);
        return BASE_ERROR_USAGE;
    }
    g_autoptr(GPtrArray) compared = validation_compare_run(rows, arguments->all ? 0 : MESSAGES_MAX, error);
    if (compared == NULL)
        return BASE_ERROR_FAILED;
    g_autoptr(GPtrArray) families = validation_compare_families(compared);
    if (arguments->json) {
        validate_print_json(compared, families);
        return 0;
    }
    if (arguments->rows)
        validate_print_rows(compared);
    validate_print_families(families);
    validate_print_reasons(compared);
    return 0;
}

static const char *const TAKES[] = {"--family", "--rows", "--all", NULL};

const ValidateVerb VALIDATE_VERB_COLLECTIVES = {
    .name = "collectives",
    .usage = "[--family NAME] [--rows] [--all] [--json]",
    .takes = TAKES,
    .run = collectives_run,
};
