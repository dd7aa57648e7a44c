// cli/published-print.c: tables of published runs.
#include "cli/published-print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/reasons.h"

static gboolean print_scored(const PublishedCase *own)
{
    return own->reason == NULL && own->step > 0;
}

static gboolean print_is_headline(const PublishedRun *run)
{
    return strcmp(run->split, "headline") == 0 || strcmp(run->source_key, "narayanan2021") == 0;
}

static void print_percent(double value, const char *after)
{
    if (value > 0)
        printf("%6.1f%s", 100 * value, after);
    else
        printf("%6s%s", "-", after);
}

static void print_headline_row(const PublishedCase *own)
{
    const PublishedRun *run = own->run;
    gboolean fitted = strcmp(run->split, "calib") == 0;
    printf("%-28s%6u", run->id, run->gpus);
    if (!print_scored(own)) {
        printf("  not run: %s\n", own->reason);
        return;
    }
    printf("%9.2f", own->published);
    print_percent(run->mfu, "");
    print_percent(run->hfu, "");
    printf("%9.2f%6.1f%6.1f", own->step, 100 * own->mfu, 100 * own->hfu);
    printf("%+8.1f %s", 100 * published_error(own), fitted ? "*" : " ");
    if (own->high > 0)
        printf(" %+4.0f..%+-4.0f", 100 * (own->low / own->published - 1),
               100 * (own->high / own->published - 1));
    else
        printf("%11s", "");
    printf("%6.0f%6.0f%6.0f\n", 100 * own->compute / own->step, 100 * own->exposed / own->step,
           100 * own->bubble / own->step);
}

void published_print_headline(const GPtrArray *cases)
{
    gboolean any = FALSE;
    for (guint i = 0; i < cases->len; i++)
        any = any || print_is_headline(((const PublishedCase *)cases->pdata[i])->run);
    if (!any)
        return;
    printf("%34s%21s%21s%8s%13s%20s\n", "", "published", "simulated", "error", "not stated",
           "step spent on, %");
    printf("%-28s%6s%9s%6s%6s%9s%6s%6s%8s%13s%6s%6s%6s\n", "run", "GPUs", "step s", "MFU", "HFU", "step s",
           "MFU", "HFU", "%", "%", "comp", "comm", "bubb");
    for (guint i = 0; i < cases->len; i++) {
        const PublishedCase *own = cases->pdata[i];
        if (print_is_headline(own->run))
            print_headline_row(own);
    }
    printf("*: among the rows that constants are fitted to. 'not stated': what the paper leaves open, "
           "varied.\n");
    for (guint i = 0; i < cases->len; i++) {
        const PublishedCase *own = cases->pdata[i];
        if (!print_scored(own) || own->run->counting != PUBLISHED_COUNT_UNKNOWN || own->causal <= 0 ||
            strcmp(own->run->split, "headline") != 0)
            continue;
        printf("%s: the paper does not define its FLOPs; if they count half of the attention, its step is "
               "%.2f s and the error %+.1f %%\n",
               own->run->id, own->causal, 100 * (own->step / own->causal - 1));
    }
    printf("\n");
}

static void print_total(const GPtrArray *cases, const char *split)
{
    g_autoptr(GPtrArray) scores = published_scores(cases, split);
    PublishedTotal total;
    published_total(scores, &total);
    if (total.rows == 0)
        return;
    printf("%-10s%6u%10u%9.1f%9.1f%+9.1f%8.0f%8.0f%12.1f%11.1f\n", split == NULL ? "all" : split, total.rows,
           total.families, 100 * total.mean, 100 * total.median, 100 * total.bias, 100 * total.within5,
           100 * total.within10, 100 * total.constant_mfu, 100 * total.roofline);
}

static int print_worse(gconstpointer a, gconstpointer b)
{
    const PublishedScore *x = *(const PublishedScore *const *)a, *y = *(const PublishedScore *const *)b;
    return (x->mean < y->mean) - (x->mean > y->mean);
}

void published_print_scores(const GPtrArray *cases, guint most)
{
    g_autoptr(GPtrArray) scores = published_scores(cases, NULL);
    if (scores->len == 0)
        return;
    printf("step time, |simulated/published - 1| in %%, families (source, model, chip and precision) "
           "weighted equally\n");
    printf("%-10s%6s%10s%9s%9s%9s%8s%8s%12s%11s\n", "split", "rows", "families", "mean", "median", "bias",
           "<= 5 %", "<= 10 %", "const. MFU", "roofline");
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < cases->len; i++) {
        const char *split = ((const PublishedCase *)cases->pdata[i])->run->split;
        if (g_hash_table_add(seen, (gpointer)split))
            print_total(cases, split);
    }
    if (g_hash_table_size(seen) > 1)
        print_total(cases, NULL);
    printf("const. MFU: every row of a chip and precision at one MFU, their mean (in sample); roofline: all "
           "FLOPs at peak\n\n");
    g_ptr_array_sort(scores, print_worse);
    guint shown = most == 0 ? scores->len : MIN(most, scores->len);
    printf("%s%-18s%-26s%-22s%6s%8s%8s%8s%8s\n",
           shown < scores->len ? "largest errors (all: --families)\n" : "", "source", "model",
           "chip, precision", "rows", "mean", "median", "bias", "worst");
    for (guint i = 0; i < shown; i++) {
        const PublishedScore *score = scores->pdata[i];
        printf("%-18s%-26s%-22s%6u%8.1f%8.1f%+8.1f%8.1f\n", score->source, score->model, score->chip,
               score->rows, 100 * score->mean, 100 * score->median, 100 * score->bias, 100 * score->worst);
    }
}

void published_print_rows(const GPtrArray *cases)
{
    printf("%-62s%6s%11s%11s%8s\n", "run", "GPUs", "published", "simulated", "error");
    for (guint i = 0; i < cases->len; i++) {
        const PublishedCase *own = cases->pdata[i];
        printf("%-62s%6u", own->run->id, own->run->gpus);
        if (!print_scored(own)) {
            printf("  left out: %s\n", own->reason);
            continue;
        }
        g_autofree char *published = units_format_seconds(own->published),
                        *step = units_format_seconds(own->step);
        printf("%11s%11s%+7.1f%%%s\n", published, step, 100 * published_error(own),
               own->peak_bytes > own->memory ? "  does not fit by our memory model" : "");
    }
    printf("\n");
}

static void print_csv_text(const char *text)
{
    if (strpbrk(text, ",\"\n") == NULL) {
        printf("%s", text);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++)
        printf(*text == '"' ? "\"%c" : "%c", *text);
    putchar('"');
}

void published_print_csv(const GPtrArray *cases)
{
    printf("run,source,model,chip,precision,gpus,split,framework,machine,published_s,simulated_s,error,low_s,"
           "high_s,mfu,hfu,"
           "compute_s,exposed_s,bubble_s,peak_bytes,reason\n");
    for (guint i = 0; i < cases->len; i++) {
        const PublishedCase *own = cases->pdata[i];
        const PublishedRun *run = own->run;
        const char *const texts[] = {run->id, run->source_key, run->model, run->chip, run->precision};
        for (guint t = 0; t < G_N_ELEMENTS(texts); t++) {
            print_csv_text(texts[t]);
            putchar(',');
        }
        printf("%u,", run->gpus);
        print_csv_text(run->split);
        printf(",%s,%s,", own->recipe->framework != NULL ? own->recipe->framework : "",
               own->recipe->machine != NULL ? own->recipe->machine : "");
        if (print_scored(own))
            printf("%.6g,%.6g,%.5f,%.6g,%.6g,%.5f,%.5f,%.6g,%.6g,%.6g,%.0f,", own->published, own->step,
                   published_error(own), own->low, own->high, own->mfu, own->hfu, own->compute, own->exposed,
                   own->bubble, own->peak_bytes);
        else
            printf(",,,,,,,,,,,");
        print_csv_text(own->reason != NULL ? own->reason : "");
        putchar('\n');
    }
}

void published_print_reasons(const GPtrArray *cases)
{
    g_autoptr(GPtrArray) reasons = g_ptr_array_new();
    for (guint i = 0; i < cases->len; i++)
        g_ptr_array_add(reasons, ((const PublishedCase *)cases->pdata[i])->reason);
    reasons_print(reasons);
}

static void print_json_number(JsonBuilder *b, const char *name, double value)
{
    json_builder_set_member_name(b, name);
    if (isfinite(value))
        json_builder_add_double_value(b, value);
    else
        json_builder_add_null_value(b);
}

static void print_json_text(JsonBuilder *b, const char *name, const char *text)
{
    json_builder_set_member_name(b, name);
    json_builder_add_string_value(b, text != NULL ? text : "");
}

static void print_json_case(JsonBuilder *b, const PublishedCase *own)
{
    const PublishedRun *run = own->run;
    json_builder_begin_object(b);
    print_json_text(b, "run", run->id);
    print_json_text(b, "source", run->source_key);
    print_json_text(b, "model", run->model);
    print_json_text(b, "chip", run->chip);
    print_json_text(b, "precision", run->precision);
    print_json_text(b, "split", run->split);
    json_builder_set_member_name(b, "gpus");
    json_builder_add_int_value(b, run->gpus);
    print_json_text(b, "framework", own->recipe->framework);
    print_json_text(b, "machine", own->recipe->machine);
    print_json_text(b, "reason", own->reason);
    double none = print_scored(own) ? 1 : (double)NAN;
    print_json_number(b, "published_s", own->published * none);
    print_json_number(b, "simulated_s", own->step * none);
    print_json_number(b, "error", print_scored(own) ? published_error(own) : (double)NAN);
    print_json_number(b, "low_s", own->high > 0 ? own->low : (double)NAN);
    print_json_number(b, "high_s", own->high > 0 ? own->high : (double)NAN);
    print_json_number(b, "mfu", own->mfu * none);
    print_json_number(b, "hfu", own->hfu * none);
    print_json_number(b, "compute_s", own->compute * none);
    print_json_number(b, "exposed_comm_s", own->exposed * none);
    print_json_number(b, "bubble_s", own->bubble * none);
    json_builder_set_member_name(b, "assumptions");
    json_builder_begin_array(b);
    for (guint i = 0; i < own->recipe->assumptions->len; i++)
        json_builder_add_string_value(b, own->recipe->assumptions->pdata[i]);
    json_builder_end_array(b);
    json_builder_end_object(b);
}

JsonNode *published_print_json(const GPtrArray *cases)
{
    g_autoptr(GPtrArray) scores = published_scores(cases, NULL);
    g_autoptr(JsonBuilder) b = json_builder_new();
    json_builder_begin_object(b);
    json_builder_set_member_name(b, "runs");
    json_builder_begin_array(b);
    for (guint i = 0; i < cases->len; i++)
        print_json_case(b, cases->pdata[i]);
    json_builder_end_array(b);
    json_builder_set_member_name(b, "families");
    json_builder_begin_array(b);
    for (guint i = 0; i < scores->len; i++) {
        const PublishedScore *score = scores->pdata[i];
        json_builder_begin_object(b);
        print_json_text(b, "source", score->source);
        print_json_text(b, "model", score->model);
        print_json_text(b, "chip", score->chip);
        json_builder_set_member_name(b, "rows");
        json_builder_add_int_value(b, score->rows);
        print_json_number(b, "mean", score->mean);
        print_json_number(b, "median", score->median);
        print_json_number(b, "bias", score->bias);
        print_json_number(b, "constant_mfu", score->constant_mfu);
        print_json_number(b, "roofline", score->roofline);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    PublishedTotal total;
    published_total(scores, &total);
    print_json_number(b, "mean", total.mean);
    print_json_number(b, "median", total.median);
    print_json_number(b, "bias", total.bias);
    print_json_number(b, "within_5_percent", total.within5);
    print_json_number(b, "within_10_percent", total.within10);
    print_json_number(b, "constant_mfu", total.constant_mfu);
    print_json_number(b, "roofline", total.roofline);
    json_builder_end_object(b);
    return json_builder_get_root(b);
}
