// published/platform.c: looking up a run's machine and framework.
#include "published/platform.h"

#include <math.h>
#include <string.h>

#include "published/table.h"

enum { CHIP, SOURCE, MOST, MACHINE, NIC };

static double platform_distance(const PublishedRun *run, const char *nic)
{
    if (run->inter <= 0)
        return 0;
    return fabs(log(run->inter / g_ascii_strtod(nic, NULL)));
}

gboolean published_platform(const PublishedRun *run, PublishedPlatform *platform)
{
    static const char *const names[] = {"chip", "source", "most", "machine", "nic", NULL};
    guint at[G_N_ELEMENTS(names)];
    Csv *csv = published_table_read("platforms", names, at);
    char **best = NULL;
    for (int own = 1; own >= 0 && best == NULL; own--) {
        double nearest = 0;
        for (guint i = 0; i < csv_rows(csv); i++) {
            char **fields = csv_get(csv, i)->fields;
            guint64 most = g_ascii_strtoull(fields[at[MOST]], NULL, 10);
            const char *source = own ? run->source_key : "";
            if (strcmp(fields[at[CHIP]], run->chip) != 0 || strcmp(fields[at[SOURCE]], source) != 0 ||
                (most > 0 && run->gpus > most))
                continue;
            double distance = platform_distance(run, fields[at[NIC]]);
            if (best == NULL || distance < nearest) {
                best = fields;
                nearest = distance;
            }
        }
    }
    *platform = (PublishedPlatform){0};
    if (best != NULL) {
        platform->machine = g_strdup(best[at[MACHINE]]);
        platform->nic = g_ascii_strtod(best[at[NIC]], NULL);
        platform->far = fabs(platform_distance(run, best[at[NIC]])) > 0.1;
        platform->assumed = run->inter <= 0 && strcmp(run->net_known, "no") == 0;
    }
    csv_free(csv);
    return platform->machine != NULL;
}

void published_platform_clear(PublishedPlatform *platform)
{
    g_free(platform->machine);
}

enum {
    F_SOURCE,
    F_CONTAINS,
    F_CHIPS,
    F_FRAMEWORK,
    F_DTYPE,
    F_BUCKETS,
    F_OVERLAP,
    F_GATHER,
    F_TP,
    F_PARTS,
    F_ACCUMULATES,
    F_ORDER,
    F_WHY
};

void published_family(const PublishedRun *run, PublishedFamily *family)
{
    static const char *const names[] = {"source",      "contains", "chips",  "framework",  "gradient_dtype",
                                        "buckets",     "overlap",  "gather", "tp_overlap", "scatter_gather",
                                        "accumulates", "order",    "why",    NULL};
    guint at[G_N_ELEMENTS(names)];
    Csv *csv = published_table_read("families", names, at);
    for (guint i = 0; i < csv_rows(csv); i++) {
        char **fields = csv_get(csv, i)->fields;
        const char *source = fields[at[F_SOURCE]];
        if ((source[0] != '\0' && !g_str_has_prefix(run->source_key, source)) ||
            (strstr(run->id, fields[at[F_CONTAINS]]) == NULL &&
             strstr(run->precision, fields[at[F_CONTAINS]]) == NULL) ||
            !g_str_has_prefix(run->chip, fields[at[F_CHIPS]]))
            continue;
        *family = (PublishedFamily){
            .framework = g_strdup(fields[at[F_FRAMEWORK]]),
            .gradient_dtype = g_strdup(fields[at[F_DTYPE]]),
            .buckets = g_strdup(fields[at[F_BUCKETS]]),
            .order = g_strdup(fields[at[F_ORDER]]),
            .why = g_strdup(fields[at[F_WHY]]),
            .overlap = strcmp(fields[at[F_OVERLAP]], "yes") == 0,
            .gather = strcmp(fields[at[F_GATHER]], "yes") == 0,
            .scatter_gather = strcmp(fields[at[F_PARTS]], "yes") == 0,
            .accumulates = strcmp(fields[at[F_ACCUMULATES]], "yes") == 0,
            .tp_overlap = (guint32)g_ascii_strtoull(fields[at[F_TP]], NULL, 10),
            .tp_overlap_too = strchr(fields[at[F_TP]], '+') != NULL,
        };
        csv_free(csv);
        return;
    }
    g_assert_not_reached();
}

void published_family_clear(PublishedFamily *family)
{
    g_free(family->framework);
    g_free(family->gradient_dtype);
    g_free(family->buckets);
    g_free(family->order);
    g_free(family->why);
}
