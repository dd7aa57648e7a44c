// cli/fit-print.c: prints one fitted run.
#include "cli/fit-print.h"

#include <math.h>
#include <stdio.h>

#include "base/units.h"

static void fit_print_add_text(JsonBuilder *builder, const char *key, const char *text)
{
    json_builder_set_member_name(builder, key);
    if (text == NULL)
        json_builder_add_null_value(builder);
    else
        json_builder_add_string_value(builder, text);
}

// What is not finite is null.
static void fit_print_add_number(JsonBuilder *builder, const char *key, double value)
{
    json_builder_set_member_name(builder, key);
    if (isfinite(value))
        json_builder_add_double_value(builder, value);
    else
        json_builder_add_null_value(builder);
}

static void fit_print_add_whole(JsonBuilder *builder, const char *key, gint64 value)
{
    json_builder_set_member_name(builder, key);
    json_builder_add_int_value(builder, value);
}

static void fit_print_add_error(JsonBuilder *builder, const char *key, const ValidationFitError *error)
{
    json_builder_set_member_name(builder, key);
    json_builder_begin_object(builder);
    fit_print_add_whole(builder, "points", error->points);
    fit_print_add_number(builder, "median", error->median);
    fit_print_add_number(builder, "max", error->most);
    json_builder_end_object(builder);
}

static void fit_print_add_points(JsonBuilder *builder, const FitPrint *at)
{
    json_builder_set_member_name(builder, "points");
    json_builder_begin_array(builder);
    for (guint i = 0; i < at->points->len; i++) {
        const ValidationNcclPoint *point = &g_array_index(at->points, ValidationNcclPoint, i);
        json_builder_begin_object(builder);
        fit_print_add_whole(builder, "bytes", (gint64)point->bytes);
        fit_print_add_number(builder, "measured_s", point->time);
        fit_print_add_number(builder, "busbw_Bps", point->bytes * at->law.factor / point->time);
        fit_print_add_number(builder, "fitted_s", validation_fit_time(&at->law, point->bytes));
        if (at->simulated != NULL) {
            fit_print_add_number(builder, "simulated_s", at->simulated[i]);
            fit_print_add_number(builder, "error", at->simulated[i] / point->time - 1);
        }
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
}

void fit_print_json(JsonBuilder *builder, const FitPrint *at)
{
    static const char *const ranges[VALIDATION_FIT_RANGES] = {"error_to_64KiB", "error_to_4MiB",
                                                              "error_above"};
    json_builder_begin_object(builder);
    fit_print_add_text(builder, "file", at->file);
    fit_print_add_text(builder, "op", VALIDATION_NCCL_OP_NAMES[at->op]);
    json_builder_set_member_name(builder, "ranks");
    if (at->ranks == 0)
        json_builder_add_null_value(builder);
    else
        json_builder_add_int_value(builder, at->ranks);
    fit_print_add_text(builder, "device", at->run->device);
    fit_print_add_text(builder, "version", at->run->version);
    fit_print_add_whole(builder, "rows", at->run->rows->len);
    fit_print_add_number(builder, "factor", at->law.factor);
    fit_print_add_number(builder, "latency_s", at->law.latency);
    fit_print_add_number(builder, "bandwidth_Bps", at->law.bandwidth);
    json_builder_set_member_name(builder, "branches");
    json_builder_begin_array(builder);
    for (guint i = 0; i < at->law.branches; i++) {
        json_builder_begin_object(builder);
        fit_print_add_number(builder, "alpha_s", at->law.branch[i].alpha);
        fit_print_add_number(builder, "bandwidth_Bps", at->law.branch[i].bandwidth);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
    for (guint i = 0; i < VALIDATION_FIT_RANGES; i++)
        fit_print_add_error(builder, ranges[i], &at->law.error[i]);
    fit_print_add_error(builder, "error_all", &at->law.all);
    json_builder_set_member_name(builder, "notes");
    json_builder_begin_array(builder);
    for (guint i = 0; i < at->notes->len; i++)
        json_builder_add_string_value(builder, at->notes->pdata[i]);
    json_builder_end_array(builder);
    fit_print_add_points(builder, at);
    json_builder_end_object(builder);
}

static void fit_print_law(const FitPrint *at)
{
    const ValidationFit *law = &at->law;
    g_autofree char *low = units_format_binary(law->low), *high = units_format_binary(law->high);
    g_autofree char *ranks =
        at->ranks == 0 ? g_strdup("an unknown number of ranks") : g_strdup_printf("%u ranks", at->ranks);
    g_autofree char *sizes = law->points == 1 ? g_strdup_printf("one size, %s", low)
                                              : g_strdup_printf("%u sizes, %s to %s", law->points, low, high);
    printf("%s\n%s on %s%s%s: %s\n", at->file, VALIDATION_NCCL_OP_NAMES[at->op], ranks,
           at->run->device == NULL ? "" : " of ", at->run->device == NULL ? "" : at->run->device, sizes);
    g_autofree char *latency =
        isnan(law->latency) ? g_strdup("not measured") : units_format_seconds(law->latency);
    g_autofree char *bandwidth = units_format_rate(law->bandwidth);
    printf("latency    %s (median up to 8 KiB)\n", latency);
    printf("bandwidth  %s (busbw of the top %s)\n", bandwidth, law->points == 1 ? "size" : "two sizes");
    printf("law        T = ");
    for (guint i = 0; i < law->branches; i++) {
        g_autofree char *alpha = units_format_seconds(law->branch[i].alpha);
        g_autofree char *rate = isinf(law->branch[i].bandwidth) ? g_strdup("any rate")
                                                                : units_format_rate(law->branch[i].bandwidth);
        printf("%s%s + %.4g S / %s", i == 0 ? (law->branches > 1 ? "min(" : "") : ", ", alpha, law->factor,
               rate);
    }
    printf("%s\nerror      ", law->branches > 1 ? ")" : "");
    const char *comma = "";
    for (guint i = 0; i < VALIDATION_FIT_RANGES; i++) {
        if (law->error[i].points == 0)
            continue;
        printf("%s%s median %.1f %%, max %.1f %%", comma, VALIDATION_FIT_RANGE_NAMES[i],
               law->error[i].median * 100, law->error[i].most * 100);
        comma = "; ";
    }
    printf("\n");
    for (guint i = 0; i < at->notes->len; i++)
        printf("note       %s\n", (const char *)at->notes->pdata[i]);
}

static void fit_print_simulated(const FitPrint *at)
{
    printf("%14s  %12s  %12s  %8s\n", "bytes", "measured", "simulated", "error");
    for (guint i = 0; i < at->points->len; i++) {
        const ValidationNcclPoint *point = &g_array_index(at->points, ValidationNcclPoint, i);
        g_autofree char *measured = units_format_seconds(point->time);
        if (isnan(at->simulated[i])) {
            printf("%14.0f  %12s  %12s  %8s\n", point->bytes, measured, "-", "-");
            continue;
        }
        g_autofree char *simulated = units_format_seconds(at->simulated[i]);
        printf("%14.0f  %12s  %12s  %+7.1f%%\n", point->bytes, measured, simulated,
               (at->simulated[i] / point->time - 1) * 100);
    }
}

void fit_print_text(const FitPrint *at)
{
    fit_print_law(at);
    if (at->simulated != NULL)
        fit_print_simulated(at);
}
