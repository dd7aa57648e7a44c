// published/score.c: errors by family.
#include "published/score.h"

#include <math.h>
#include <string.h>

#include "base/median.h"

static void score_free(gpointer data)
{
    PublishedScore *score = data;
    g_free(score->source);
    g_free(score->model);
    g_free(score->chip);
    g_free(score);
}

char *published_family_key(const PublishedCase *own)
{
    g_autofree char *chip = published_chip_precision(own->run);
    return g_strjoin("\t", own->run->source_key, chip, own->run->model, NULL);
}

static gboolean score_counts(const PublishedCase *own, const char *split)
{
    return own->reason == NULL && own->step > 0 && (split == NULL || strcmp(own->run->split, split) == 0);
}

// Model FLOPs over peak of a case's published step.
static double score_mfu(const PublishedCase *own)
{
    const StepJob *job = own->jobs->pdata[0];
    return own->flops / (own->published * step_job_peak(job) * job->plan.gpus);
}

static void score_family(PublishedScore *score, const GPtrArray *members, double mfu)
{
    g_autoptr(GArray) errors = g_array_new(FALSE, FALSE, sizeof(double));
    score->rows = members->len;
    score->gpus_low = G_MAXUINT;
    for (guint i = 0; i < members->len; i++) {
        const PublishedCase *own = members->pdata[i];
        double error = published_error(own), size = fabs(error);
        g_array_append_val(errors, size);
        score->mean += size / members->len;
        score->bias += error / members->len;
        score->worst = MAX(score->worst, size);
        double ours = score_mfu(own);
        score->constant_mfu += fabs(ours / mfu - 1) / members->len;
        score->roofline += fabs(ours - 1) / members->len;
        score->gpus_low = MIN(score->gpus_low, own->run->gpus);
        score->gpus_high = MAX(score->gpus_high, own->run->gpus);
    }
    score->median = base_median(errors);
}

GPtrArray *published_scores(const GPtrArray *cases, const char *split)
{
    g_autoptr(GHashTable) families =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    for (guint i = 0; i < cases->len; i++) {
        PublishedCase *own = cases->pdata[i];
        if (!score_counts(own, split))
            continue;
        g_autofree char *key = published_family_key(own);
        GPtrArray *members = g_hash_table_lookup(families, key);
        if (members == NULL) {
            members = g_ptr_array_new();
            g_hash_table_insert(families, g_strdup(key), members);
        }
        g_ptr_array_add(members, own);
    }
    g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(families), (GCompareFunc)strcmp);
    // The constant MFU of a chip and precision: the mean of its families' means.
    g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (const GList *k = keys; k != NULL; k = k->next) {
        const GPtrArray *members = g_hash_table_lookup(families, k->data);
        double mean = 0;
        for (guint i = 0; i < members->len; i++)
            mean += score_mfu(members->pdata[i]) / members->len;
        g_autofree char *chip = published_chip_precision(((const PublishedCase *)members->pdata[0])->run);
        double *sum = g_hash_table_lookup(sums, chip);
        if (sum == NULL) {
            sum = g_new0(double, 2);
            g_hash_table_insert(sums, g_strdup(chip), sum);
        }
        sum[0] += mean;
        sum[1]++;
    }
    GPtrArray *scores = g_ptr_array_new_with_free_func(score_free);
    for (const GList *k = keys; k != NULL; k = k->next) {
        const GPtrArray *members = g_hash_table_lookup(families, k->data);
        const PublishedRun *run = ((const PublishedCase *)members->pdata[0])->run;
        PublishedScore *score = g_new0(PublishedScore, 1);
        score->source = g_strdup(run->source_key);
        score->model = g_strdup(run->model);
        score->chip = published_chip_precision(run);
        const double *sum = g_hash_table_lookup(sums, score->chip);
        score_family(score, members, sum[0] / sum[1]);
        g_ptr_array_add(scores, score);
    }
    return scores;
}

void published_total(const GPtrArray *scores, PublishedTotal *total)
{
    *total = (PublishedTotal){.families = scores->len};
    g_autoptr(GArray) means = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < scores->len; i++) {
        const PublishedScore *score = scores->pdata[i];
        total->rows += score->rows;
        total->mean += score->mean / scores->len;
        total->bias += score->bias / scores->len;
        total->within5 += score->mean <= 0.05 ? 1.0 / scores->len : 0;
        total->within10 += score->mean <= 0.1 ? 1.0 / scores->len : 0;
        total->constant_mfu += score->constant_mfu / scores->len;
        total->roofline += score->roofline / scores->len;
        g_array_append_val(means, score->mean);
    }
    total->median = base_median(means);
}
