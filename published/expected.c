// published/expected.c: looking up what to expect of a run, and making the table.
#include "published/expected.h"

#include <math.h>
#include <string.h>

#include "published/score.h"
#include "published/table.h"

enum { CHIP, PRECISION, FRAMEWORK, FAMILIES, ROWS, LOW, HIGH, MEAN, UNSEEN };
static const char *const NAMES[] = {"chip",     "precision", "framework", "families", "rows",
                                    "gpus_low", "gpus_high", "mean",      "unseen",   NULL};

static const char *expected_precision(TopoPrecision precision)
{
    return precision == TOPO_PRECISION_FP16 ? TOPO_PRECISION_NAMES[TOPO_PRECISION_BF16]
                                            : TOPO_PRECISION_NAMES[precision];
}

// The same in words.
static const char *expected_bits(const char *precision)
{
    return strcmp(precision, TOPO_PRECISION_NAMES[TOPO_PRECISION_BF16]) == 0 ? "16 bits" : precision;
}

static double expected_number(char **fields, const guint *at, guint column)
{
    return g_ascii_strtod(fields[at[column]], NULL);
}

static char *expected_words(const StepJob *job, char **fields, const guint *at)
{
    double high = expected_number(fields, at, HIGH);
    g_autofree char *size =
        job->plan.gpus > high
            ? g_strdup_printf("; beyond what was validated: %u GPUs, published runs have up to %.0f",
                              job->plan.gpus, high)
            : g_strdup("");
    return g_strdup_printf("%.0f %% (%s published runs on %s in %s with %s, %s to %s GPUs; %.0f %% for a "
                           "model not among them)%s",
                           MAX(100 * expected_number(fields, at, MEAN), 1), fields[at[ROWS]],
                           fields[at[CHIP]], expected_bits(fields[at[PRECISION]]), fields[at[FRAMEWORK]],
                           fields[at[LOW]], fields[at[HIGH]],
                           MAX(100 * expected_number(fields, at, UNSEEN), 1), size);
}

void published_expected(const StepJob *job, PublishedExpected *expected)
{
    *expected = (PublishedExpected){.mean = (double)NAN, .unseen = (double)NAN};
    if (job->framework == NULL) {
        expected->text = g_strdup_printf(
            "not known: operators run at efficiency %.4g, which is the scenario's word", job->efficiency);
        return;
    }
    guint at[G_N_ELEMENTS(NAMES)];
    Csv *csv = published_table_read("expected", NAMES, at);
    const char *chip = job->machine->device->name, *precision = expected_precision(job->precision);
    gboolean chip_known = FALSE;
    double others = 0, n = 0;
    for (guint i = 0; i < csv_rows(csv) && expected->text == NULL; i++) {
        char **fields = csv_get(csv, i)->fields;
        if (strcmp(fields[at[CHIP]], chip) != 0 || strcmp(fields[at[PRECISION]], precision) != 0)
            continue;
        chip_known = TRUE;
        others += expected_number(fields, at, UNSEEN);
        n++;
        if (strcmp(fields[at[FRAMEWORK]], job->framework->name) != 0)
            continue;
        expected->mean = expected_number(fields, at, MEAN);
        expected->unseen = expected_number(fields, at, UNSEEN);
        expected->text = expected_words(job, fields, at);
    }
    if (expected->text == NULL && chip_known)
        expected->text = g_strdup_printf(
            "beyond what was validated: no published run on %s in %s was made with %s (with others: %.0f %%)",
            chip, expected_bits(precision), job->framework->name, MAX(100 * others / n, 1));
    if (expected->text == NULL)
        expected->text = g_strdup_printf("beyond what was validated: no published run on %s in %s", chip,
                                         expected_bits(precision));
    csv_free(csv);
}

void published_expected_clear(PublishedExpected *expected)
{
    g_free(expected->text);
}

typedef struct {
    double families, mean, unseen;
    guint rows, low, high;
} Group;

char *published_expected_table(const PublishedFit *fit, const double *left_out)
{
    g_autoptr(GHashTable) groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < fit->rows->len; i++) {
        const PublishedCase *own = fit->cases->pdata[g_array_index(fit->rows, guint, i)];
        const StepJob *job = own->jobs->pdata[0];
        char *key = g_strdup_printf("%s,%s,%s", job->machine->device->name,
                                    expected_precision(job->precision), job->framework->name);
        Group *group = g_hash_table_lookup(groups, key);
        if (group == NULL) {
            group = g_new0(Group, 1);
            group->low = G_MAXUINT;
            g_hash_table_insert(groups, g_strdup(key), group);
        }
        group->families += fit->weight[i]; // one a family
        group->mean += fit->weight[i] * fabs(exp(fit->residual[i]) - 1);
        group->unseen += fit->weight[i] * fabs(left_out[i]);
        group->rows++;
        group->low = MIN(group->low, own->run->gpus);
        group->high = MAX(group->high, own->run->gpus);
        g_free(key);
    }
    GString *text = g_string_new("# validation/data/expected.csv: mean |error| of published runs by what "
                                 "they ran on, made by stepline fit published --cross --expected\n"
                                 "chip,precision,framework,families,rows,gpus_low,gpus_high,mean,unseen\n");
    g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(groups), (GCompareFunc)strcmp);
    for (const GList *k = keys; k != NULL; k = k->next) {
        const Group *group = g_hash_table_lookup(groups, k->data);
        g_string_append_printf(text, "%s,%.0f,%u,%u,%u,%.4f,%.4f\n", (const char *)k->data, group->families,
                               group->rows, group->low, group->high, group->mean / group->families,
                               group->unseen / group->families);
    }
    return g_string_free(text, FALSE);
}
