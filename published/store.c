// published/store.c: published runs beside simulated ones, into a timeline file.
#include "published/store.h"

#include "timeline/published.h"

static TimelinePublished *store_row(const PublishedCase *own)
{
    const PublishedRun *run = own->run;
    const char *precision = published_precision(run);
    TimelinePublished *row = timeline_published_new();
    row->name = g_strdup(run->id);
    row->source = g_strdup(run->source_key);
    row->model = g_strdup(run->model);
    row->chip = g_strdup(run->chip);
    row->precision = g_strdup(precision != NULL ? precision : run->precision);
    row->split = g_strdup(run->split);
    row->gpus = run->gpus;
    row->framework = g_strdup(own->recipe->framework);
    row->machine = g_strdup(own->recipe->machine);
    row->reason = g_strdup(own->reason);
    if (own->published > 0)
        row->published = own->published;
    if (own->reason != NULL)
        return row;
    row->simulated = own->step;
    if (own->high > 0) {
        row->low = own->low;
        row->high = own->high;
    }
    row->mfu = own->mfu;
    row->hfu = own->hfu;
    row->compute = own->compute;
    row->exposed = own->exposed;
    row->bubble = own->bubble;
    row->rest = own->rest;
    row->peak_bytes = own->peak_bytes;
    return row;
}

gboolean published_store(const char *path, const GPtrArray *cases, GError **error)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(timeline_published_free);
    for (guint i = 0; i < cases->len; i++)
        g_ptr_array_add(rows, store_row(cases->pdata[i]));
    return timeline_published_write(path, rows, NULL, error);
}
