// published/simulate.c: running published runs.
#include "published/simulate.h"

#include <string.h>

#include "models/count.h"
#include "scenarios/scenario.h"
#include "step/run.h"

static void case_free(gpointer data)
{
    PublishedCase *own = data;
    published_recipe_free(own->recipe);
    g_free(own->reason);
    g_ptr_array_unref(own->jobs);
    g_ptr_array_unref(own->light);
    g_free(own);
}

static StepJob *case_job(const char *name, const char *text, const char *const *sets, GError **error)
{
    g_autoptr(Ini) ini = ini_read_text(name, text, strlen(text), error);
    return ini == NULL ? NULL : scenario_read(ini, sets, error);
}

// FLOPs of a step, all GPUs together, as the run's source counts them.
static double case_flops(PublishedCount counting, const StepJob *job)
{
    double sequence = (double)job->plan.sequence, tokens = step_job_tokens(job);
    double whole = model_count_flops(job->model, MODEL_COUNT_6N_ATTENTION, job->plan.sequence);
    double attention = whole - model_count_flops(job->model, MODEL_COUNT_6N, job->plan.sequence);
    const ModelSpec *model = job->model;
    double h = (double)model->hidden, layers = (double)model->layers;
    switch (counting) {
    case PUBLISHED_COUNT_CAUSAL:
        return tokens * (whole - attention / 2);
    case PUBLISHED_COUNT_HARDWARE: // 96 B s l h^2 (1 + s / 6h + V / 16 l h)
        return tokens * 96 * layers * h * h *
               (1 + sequence / (6 * h) + (double)model->vocabulary / (16 * layers * h));
    case PUBLISHED_COUNT_FULL:
    case PUBLISHED_COUNT_UNKNOWN:
        break;
    }
    return tokens * whole;
}

// The published step time: printed, or worked out from tokens a second, FLOP/s or MFU.
static gboolean case_published(PublishedCase *own, const StepJob *job)
{
    const PublishedRun *run = own->run;
    double flops = run->flops;
    if (flops <= 0 && run->peak > 0)
        flops = run->peak * (run->counting == PUBLISHED_COUNT_HARDWARE ? run->hfu : run->mfu);
    if (run->step > 0)
        own->published = run->step;
    else if (run->tokens_per_s > 0)
        own->published = step_job_tokens(job) / run->tokens_per_s;
    else if (flops > 0) {
        if (run->counting == PUBLISHED_COUNT_UNKNOWN)
            g_ptr_array_add(own->recipe->assumptions,
                            g_strdup("how its FLOPs are counted is not published: attention in full"));
        own->published = case_flops(run->counting, job) / (flops * run->gpus);
        own->causal = case_flops(PUBLISHED_COUNT_CAUSAL, job) / (flops * run->gpus);
    }
    return own->published > 0;
}

// Reads the scenario; less: with as few micro-batches as still show a pipeline's fill and steady state.
static gboolean case_add_jobs(PublishedCase *own, GPtrArray *jobs, gboolean less)
{
    static const char *const one = "model.layers=1", *const two = "model.layers=2";
    const StepJob *whole = less ? own->jobs->pdata[0] : NULL;
    g_autofree char *batch = NULL;
    if (less) {
        const Plan *plan = &whole->plan;
        gint64 few = MIN(plan->micro_batches, plan->pp > 1 ? 2 * (gint64)plan->pp : 2);
        batch = g_strdup_printf("job.batch=%" G_GINT64_FORMAT, few * plan->dp * plan->micro_batch);
    }
    for (guint i = 0; i < (own->recipe->layer ? 2u : 1u); i++) {
        const char *sets[3] = {0};
        guint n = 0;
        if (own->recipe->layer)
            sets[n++] = i == 0 ? two : one;
        if (less)
            sets[n++] = batch;
        g_autoptr(GError) error = NULL;
        StepJob *job = case_job(own->run->id, own->recipe->scenario, sets, &error);
        if (job == NULL) {
            own->reason = g_strdup(error->message);
            g_ptr_array_set_size(own->jobs, 0);
            return FALSE;
        }
        job->one_thread = TRUE;
        g_ptr_array_add(jobs, job);
    }
    return TRUE;
}

static void case_read(PublishedCase *own)
{
    if (own->recipe->scenario == NULL) {
        own->reason = g_strdup(own->recipe->reason);
        return;
    }
    if (!case_add_jobs(own, own->jobs, FALSE))
        return;
    if (!case_published(own, own->jobs->pdata[0]))
        own->reason = g_strdup("no step time, and nothing to work one out from");
}

// The scenario without its head, where the run is named.
static const char *case_body(const PublishedCase *own)
{
    const char *body = own->reason != NULL ? NULL : strstr(own->recipe->scenario, "\n[model]");
    return body == NULL ? NULL : strstr(body, "\nlayers");
}

GPtrArray *published_cases(const GPtrArray *runs, GHashTable *models)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal); // of bodies, to index + 1
    GPtrArray *cases = g_ptr_array_new_with_free_func(case_free);
    for (guint i = 0; i < runs->len; i++) {
        PublishedCase *own = g_new0(PublishedCase, 1);
        g_ptr_array_add(cases, own);
        own->run = runs->pdata[i];
        own->recipe = published_recipe(own->run, models, NULL);
        own->jobs = g_ptr_array_new_with_free_func((GDestroyNotify)step_job_free);
        own->light = g_ptr_array_new_with_free_func((GDestroyNotify)step_job_free);
        case_read(own);
        own->like = i;
        const char *body = case_body(own);
        if (body == NULL)
            continue;
        guint first = GPOINTER_TO_UINT(g_hash_table_lookup(seen, body));
        if (first == 0)
            g_hash_table_insert(seen, (gpointer)body, GUINT_TO_POINTER(i + 1));
        else if (own->recipe->layer == ((PublishedCase *)cases->pdata[first - 1])->recipe->layer)
            own->like = first - 1;
    }
    return cases;
}

static double case_step(const StepResult *result)
{
    return units_seconds(result->step);
}

void published_lighten(PublishedCase *own)
{
    if (own->reason == NULL && own->light->len == 0)
        case_add_jobs(own, own->light, TRUE);
}

static void case_run_light(PublishedCase *own)
{
    own->light_step = 0;
    for (guint i = 0; i < own->light->len; i++) {
        g_autoptr(StepResult) result = step_run(own->light->pdata[i], NULL, NULL, NULL);
        if (result == NULL) {
            own->light_step = 0;
            return;
        }
        own->light_step += (i == 0 ? 1 : -1) * case_step(result);
    }
}

static void case_run(PublishedCase *own)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(StepResult) result = step_run(own->jobs->pdata[0], NULL, NULL, &error);
    g_autoptr(StepResult) less = NULL;
    if (result != NULL && own->jobs->len > 1)
        less = step_run(own->jobs->pdata[1], NULL, NULL, &error);
    if (error != NULL) {
        own->reason = g_strdup(error->message);
        return;
    }
    own->step = case_step(result) - (less == NULL ? 0 : case_step(less));
    own->compute = units_seconds(result->compute);
    own->exposed = units_seconds(result->exposed_comm);
    own->bubble = units_seconds(result->bubble);
    own->rest = units_seconds(result->idle) - own->bubble;
    own->mfu = result->mfu;
    own->hfu = result->hfu;
    own->flops = result->model_flops;
    own->peak_bytes = (double)result->peak_bytes;
    own->memory = (double)result->memory_bytes;
}

// Threads that take one case after the other.
typedef struct {
    GPtrArray *cases;
    const guint *which; // every case once
    guint n;
    PublishedWeight weight;
    PublishedProgress progress;
    gpointer user;
    GMutex mutex; // of all that follows
    guint next, done;
} Pool;

static gpointer pool_work(gpointer data)
{
    Pool *pool = data;
    g_mutex_lock(&pool->mutex);
    while (pool->next < pool->n) {
        guint at = pool->next++;
        g_mutex_unlock(&pool->mutex);
        PublishedCase *own = pool->cases->pdata[pool->which[at]];
        if (own->reason == NULL)
            pool->weight == PUBLISHED_LIGHT ? case_run_light(own) : case_run(own);
        g_mutex_lock(&pool->mutex);
        pool->done++;
        if (pool->progress != NULL)
            pool->progress(pool->user, pool->done, pool->n);
    }
    g_mutex_unlock(&pool->mutex);
    return NULL;
}

// What was simulated of from is that of own as well.
static void case_copy(PublishedCase *own, const PublishedCase *from)
{
    if (own == from || own->reason != NULL)
        return;
    own->reason = g_strdup(from->reason);
    own->step = from->step;
    own->light_step = from->light_step;
    own->compute = from->compute;
    own->exposed = from->exposed;
    own->bubble = from->bubble;
    own->rest = from->rest;
    own->mfu = from->mfu;
    own->hfu = from->hfu;
    own->flops = from->flops;
    own->peak_bytes = from->peak_bytes;
    own->memory = from->memory;
}

void published_simulate(GPtrArray *cases, const guint *which, guint n, PublishedWeight weight, guint threads,
                        PublishedProgress progress, gpointer user)
{
    g_autoptr(GArray) once = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree gboolean *listed = g_new0(gboolean, MAX(cases->len, 1));
    guint asked = which == NULL ? cases->len : n;
    for (guint i = 0; i < asked; i++) {
        guint like = ((const PublishedCase *)cases->pdata[which == NULL ? i : which[i]])->like;
        if (!listed[like])
            g_array_append_val(once, like);
        listed[like] = TRUE;
    }
    Pool pool = {.cases = cases,
                 .which = (const guint *)(const void *)once->data,
                 .n = once->len,
                 .weight = weight,
                 .progress = progress,
                 .user = user};
    g_mutex_init(&pool.mutex);
    g_autoptr(GPtrArray) others = g_ptr_array_new();
    for (guint i = 1; i < MIN(threads, pool.n); i++)
        g_ptr_array_add(others, g_thread_new("published", pool_work, &pool));
    pool_work(&pool);
    for (guint i = 0; i < others->len; i++)
        g_thread_join(others->pdata[i]);
    g_mutex_clear(&pool.mutex);
    for (guint i = 0; i < asked; i++) {
        PublishedCase *own = cases->pdata[which == NULL ? i : which[i]];
        case_copy(own, cases->pdata[own->like]);
    }
}

void published_range(PublishedCase *own, GHashTable *models)
{
    if (!own->recipe->open || own->step <= 0)
        return;
    own->low = own->high = own->step;
    static const PublishedVary varied[] = {{.micro_batch = 2},  {.chunks = 1},
                                           {.chunks = 2},       {.chunks = 4},
                                           {.recompute = TRUE}, {.chunks = 4, .recompute = TRUE}};
    for (guint i = 0; i < G_N_ELEMENTS(varied); i++) {
        g_autoptr(PublishedRecipe) recipe = published_recipe(own->run, models, &varied[i]);
        if (recipe->scenario == NULL || strcmp(recipe->scenario, own->recipe->scenario) == 0)
            continue;
        g_autoptr(StepJob) job = case_job(own->run->id, recipe->scenario, NULL, NULL);
        g_autoptr(StepResult) result = job == NULL ? NULL : step_run(job, NULL, NULL, NULL);
        if (result == NULL)
            continue;
        own->low = MIN(own->low, case_step(result));
        own->high = MAX(own->high, case_step(result));
    }
}
