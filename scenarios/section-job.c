// scenarios/section-job.c: reading the plan of a step.
#include "scenarios/section-job.h"

#include <string.h>

#include "base/error.h"
#include "coll/group.h"
#include "plans/memory.h"

// A whole number of a key that is a guint32 of the plan.
static gboolean job_number(Ini *ini, const char *key, gint64 low, guint32 *value, GError **error)
{
    gint64 number = *value;
    if (!ini_get_count(ini, "job", key, INI_OPTIONAL, low, COLL_GROUP_RANKS_MAX, &number, error))
        return FALSE;
    *value = (guint32)number;
    return TRUE;
}

static gboolean job_choice(Ini *ini, const char *key, const char *const *names, guint *value, GError **error)
{
    return ini_get_choice(ini, "job", key, INI_OPTIONAL, names, value, error);
}

static gboolean job_flag(Ini *ini, const char *key, gboolean *value, GError **error)
{
    return ini_get_flag(ini, "job", key, INI_OPTIONAL, value, error);
}

// dp: a number, or what the GPUs leave to it.
static gboolean job_read_dp(Plan *plan, Ini *ini, GError **error)
{
    g_autofree char *text = NULL;
    if (!ini_get_text(ini, "job", "dp", INI_OPTIONAL, &text, error))
        return FALSE;
    guint64 others = (guint64)plan->tp * plan->cp * plan->pp;
    plan->dp = (guint32)MAX(plan->gpus / others, 1);
    if (text == NULL || strcmp(text, "auto") == 0)
        return TRUE;
    if (g_ascii_isalpha(text[0]))
        return ini_refuse(ini, "job", "dp", error, "found '%s', wanted a number of ranks, or auto", text);
    return job_number(ini, "dp", 1, &plan->dp, error);
}

static gboolean job_read_split(Plan *plan, Ini *ini, GError **error)
{
    g_autofree char *order = NULL;
    if (!job_number(ini, "tp", 1, &plan->tp, error) || !job_number(ini, "cp", 1, &plan->cp, error) ||
        !job_number(ini, "pp", 1, &plan->pp, error) || !job_read_dp(plan, ini, error) ||
        !job_flag(ini, "sp", &plan->sp, error) ||
        !job_number(ini, "tp_overlap", 1, &plan->tp_overlap, error) ||
        !job_flag(ini, "cp_balanced", &plan->cp_balanced, error) ||
        !ini_get_text(ini, "job", "order", INI_OPTIONAL, &order, error))
        return FALSE;
    if (order == NULL)
        return TRUE;
    g_autofree char *where = ini_where(ini, "job", "order");
    return plan_read_order(order, plan->order, where, error);
}

static gboolean job_read_pipeline(Plan *plan, Ini *ini, GError **error)
{
    g_autofree char *schedule = NULL;
    if (!ini_get_text(ini, "job", "schedule", INI_OPTIONAL, &schedule, error) ||
        !job_number(ini, "chunks", 1, &plan->chunks, error) ||
        !ini_get_count(ini, "job", "layers_first", INI_OPTIONAL, 0, MODEL_LAYERS_MAX, &plan->layers_first,
                       error) ||
        !ini_get_count(ini, "job", "layers_last", INI_OPTIONAL, 0, MODEL_LAYERS_MAX, &plan->layers_last,
                       error) ||
        !job_flag(ini, "scatter_gather", &plan->scatter_gather, error))
        return FALSE;
    if (schedule == NULL) {
        plan->schedule = plan->chunks > 1 ? &PIPE_INTERLEAVED : &PIPE_1F1B;
        return TRUE;
    }
    g_autofree char *where = ini_where(ini, "job", "schedule");
    plan->schedule = pipe_find(schedule, where, error);
    return plan->schedule != NULL;
}

// batch in sequences, or tokens of a step (then *tokens is above 0); and how it is cut into micro-batches.
static gboolean job_read_batch(Plan *plan, Ini *ini, gint64 *tokens, GError **error)
{
    gboolean counted = ini_has(ini, "job", "batch");
    *tokens = 0;
    if (counted && ini_has(ini, "job", "tokens"))
        return ini_refuse(ini, "job", "tokens", error, "found beside batch, wanted one of them");
    if (!counted && !ini_get_whole(ini, "job", "tokens", INI_REQUIRED, UNITS_COUNT, tokens, error))
        return FALSE;
    if (!counted && *tokens < 1)
        return ini_refuse(ini, "job", "tokens", error, "found %" G_GINT64_FORMAT ", wanted at least 1",
                          *tokens);
    if (!ini_get_count(ini, "job", "batch", INI_OPTIONAL, 1, MODEL_SEQUENCE_MAX, &plan->batch, error))
        return FALSE;
    if (!counted) // what does not divide is told in job_check
        plan->batch = MAX(*tokens / plan->sequence, 1);
    plan->micro_batch = plan->pp > 1 ? 1 : MAX(plan->batch / plan->dp, 1);
    return ini_get_count(ini, "job", "micro_batch", INI_OPTIONAL, 1, MODEL_SEQUENCE_MAX, &plan->micro_batch,
                         error);
}

// The cap of a bucket: a size, or "whole".
static gboolean job_read_bucket(Plan *plan, Ini *ini, GError **error)
{
    g_autofree char *text = NULL;
    guint buckets = plan->buckets;
    if (!job_choice(ini, "buckets", PLAN_BUCKETS_NAMES, &buckets, error) ||
        !ini_get_text(ini, "job", "bucket", INI_OPTIONAL, &text, error))
        return FALSE;
    plan->buckets = (PlanBuckets)buckets;
    if (g_strcmp0(text, "whole") == 0)
        plan->bucket = G_MAXINT64;
    else if (!ini_get_whole(ini, "job", "bucket", INI_OPTIONAL, UNITS_BYTES, &plan->bucket, error))
        return FALSE;
    if (!ini_get_whole(ini, "job", "first_bucket", INI_OPTIONAL, UNITS_BYTES, &plan->first_bucket, error))
        return FALSE;
    const char *const keys[] = {"bucket", "first_bucket"};
    const gint64 values[] = {plan->bucket, plan->first_bucket};
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
        if (values[i] < 1024)
            return ini_refuse(ini, "job", keys[i], error,
                              "found less than 1 KiB, wanted a size such as '25 MiB'");
    return job_flag(ini, "bucket_split", &plan->bucket_split, error);
}

static gboolean job_read_data(Plan *plan, Ini *ini, GError **error)
{
    static const char *const dtypes[] = {"bf16", "fp16", "fp32", NULL};
    gint64 zero = plan->zero;
    guint gradients = plan->gradients, copies = plan->copies_last ? 1 : 0, dtype = 0;
    if (!ini_get_count(ini, "job", "zero", INI_OPTIONAL, 0, 3, &zero, error) ||
        !job_number(ini, "shard", 1, &plan->shard, error) ||
        !job_choice(ini, "gradients", PLAN_GRADIENTS_NAMES, &gradients, error) ||
        !job_choice(ini, "copies", PLAN_COPIES_NAMES, &copies, error) ||
        !job_choice(ini, "gradient_dtype", dtypes, &dtype, error) ||
        !job_flag(ini, "sync_every", &plan->sync_every, error) ||
        !job_flag(ini, "overlap", &plan->overlap, error) ||
        !job_flag(ini, "overlap_gather", &plan->overlap_gather, error) ||
        !job_number(ini, "prefetch", 0, &plan->prefetch, error) ||
        !job_flag(ini, "limiter", &plan->limiter, error) || !job_flag(ini, "reshard", &plan->reshard, error))
        return FALSE;
    plan->zero = (int)zero;
    plan->gradients = (PlanGradients)gradients;
    plan->copies_last = copies == 1;
    plan->gradient_bytes = dtype == 2 ? 4 : 2;
    return job_read_bucket(plan, ini, error);
}

static gboolean job_read_memory(Plan *plan, Ini *ini, GError **error)
{
    guint recompute = plan->recompute, optimizer = plan->optimizer;
    if (!job_choice(ini, "recompute", PLAN_RECOMPUTE_NAMES, &recompute, error) ||
        !ini_get_count(ini, "job", "recompute_every", INI_OPTIONAL, 1, MODEL_LAYERS_MAX,
                       &plan->recompute_every, error) ||
        !job_flag(ini, "offload_optimizer", &plan->offload_optimizer, error) ||
        !job_flag(ini, "offload_weights", &plan->offload_weights, error) ||
        !job_flag(ini, "offload_activations", &plan->offload_activations, error) ||
        !job_choice(ini, "optimizer", PLAN_OPTIMIZER_NAMES, &optimizer, error))
        return FALSE;
    plan->recompute = (PlanRecompute)recompute;
    plan->optimizer = (PlanOptimizer)optimizer;
    return TRUE;
}

// Keys that mean something only under others.
static gboolean job_check_meaning(const Plan *plan, Ini *ini, GError **error)
{
    const struct {
        const char *key;
        gboolean means;
        const char *wanted;
    } rules[] = {
        {"sp", plan->tp > 1, "tp above 1"},
        {"tp_overlap", plan->tp > 1, "tp above 1"},
        {"cp_balanced", plan->cp > 1, "cp above 1"},
        {"schedule", plan->pp > 1, "pp above 1"},
        {"chunks", plan->pp > 1, "pp above 1"},
        {"scatter_gather", plan->pp > 1 && plan->tp > 1 && !plan->sp, "pp and tp above 1, and sp = no"},
        {"shard", plan->zero > 0, "zero = 1, 2 or 3"},
        {"gradients", plan->zero >= 2, "zero = 2 or 3"},
        {"copies", plan->zero > 0 && plan->shard > 0, "zero = 1, 2 or 3 and shard"},
        {"overlap_gather", plan->zero == 1 || plan->zero == 2, "zero = 1 or 2"},
        {"prefetch", plan->zero == 3 || plan->offload_weights, "zero = 3 or offload_weights = yes"},
        {"limiter", plan->zero == 3 || plan->offload_weights, "zero = 3 or offload_weights = yes"},
        {"reshard", plan->zero == 3, "zero = 3"},
        {"buckets", plan->zero < 3, "zero below 3 (its units are layers)"},
        {"bucket_split", plan->zero < 3, "zero below 3 (its units are layers)"},
        {"recompute_every", plan->recompute == PLAN_RECOMPUTE_FULL, "recompute = full"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++)
        if (ini_has(ini, "job", rules[i].key) && !rules[i].means)
            return ini_refuse(ini, "job", rules[i].key, error, "means nothing here, wanted %s beside it",
                              rules[i].wanted);
    return TRUE;
}

static void job_add(GPtrArray *lines, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void job_add(GPtrArray *lines, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    g_ptr_array_add(lines, g_strdup_vprintf(format, values));
    va_end(values);
}

// Rules about the batch, in the words of the file: tokens, where these were given; and nothing about the
// ranks that share it where they are wrong themselves.
static void job_check_batch(const Plan *plan, gint64 tokens, GPtrArray *lines)
{
    gboolean split = (guint64)plan->tp * plan->cp * plan->pp * plan->dp == plan->gpus;
    for (guint i = lines->len; i-- > 0;)
        if (g_str_has_prefix(lines->pdata[i], "batch: ") && strstr(lines->pdata[i], "wanted a multiple of") &&
            (!split || tokens > 0))
            g_ptr_array_remove_index(lines, i);
    if (tokens == 0)
        return;
    gint64 sequence = plan->sequence, unit = (split ? plan->dp : 1) * sequence; // below 5e13
    gint64 micro = plan->micro_batch <= MODEL_SEQUENCE_MAX / sequence ? plan->micro_batch : 1;
    if (tokens % unit != 0 && !split)
        job_add(lines,
                "tokens: found %" G_GINT64_FORMAT ", wanted a multiple of a sequence's %" G_GINT64_FORMAT,
                tokens, sequence);
    else if (tokens % unit != 0)
        job_add(lines,
                "tokens: found %" G_GINT64_FORMAT ", wanted a multiple of %" G_GINT64_FORMAT
                " (%u ranks x sequences of %" G_GINT64_FORMAT " tokens)",
                tokens, unit, plan->dp, sequence);
    else if (split && tokens % (unit * micro) != 0)
        job_add(lines,
                "tokens: found %" G_GINT64_FORMAT ", wanted a multiple of %" G_GINT64_FORMAT
                " (%u ranks x micro-batches of %" G_GINT64_FORMAT " sequences of %" G_GINT64_FORMAT
                " tokens)",
                tokens, unit * micro, plan->dp, micro, sequence);
}

// Sizes of buckets that nothing asks for are said, not refused: they may stand beside an axis over zero.
static void job_note_buckets(StepJob *job, const Ini *ini)
{
    const Plan *plan = &job->plan;
    static const char *const keys[] = {"bucket", "first_bucket"};
    const char *why = plan->zero == 3                          ? "with zero = 3 the units are layers"
                      : plan->buckets == PLAN_BUCKETS_MEGATRON ? "buckets = megatron has sizes of its own"
                      : plan_data(plan) == 1                   ? "no other rank has the same gradients"
                                                               : NULL;
    for (guint i = 0; i < G_N_ELEMENTS(keys) && why != NULL; i++)
        if (ini_has(ini, "job", keys[i]))
            job_add(job->notes, "job.%s means nothing here: %s", keys[i], why);
    if (why == NULL && plan->bucket == G_MAXINT64 && ini_has(ini, "job", "first_bucket"))
        job_add(job->notes, "job.first_bucket means nothing here: bucket = whole is one bucket");
}

// All broken rules in one line; a single one stands at its key's line.
static gboolean job_check(StepJob *job, Ini *ini, gint64 tokens, GError **error)
{
    g_autoptr(GPtrArray) lines = plan_check(&job->plan, job->model);
    job_check_batch(&job->plan, tokens, lines);
    if (lines->len == 0)
        return plan_memory_bounded(&job->plan, job->model) ||
               ini_refuse(ini, "job", ini_has(ini, "job", "micro_batch") ? "micro_batch" : "batch", error,
                          "found a step whose activations pass 8 PiB on one GPU, wanted less");
    if (lines->len == 1) {
        const char *line = lines->pdata[0], *colon = strstr(line, ": ");
        g_autofree char *key = colon == NULL ? NULL : g_strndup(line, (gsize)(colon - line));
        if (key != NULL)
            return ini_refuse(ini, "job", key, error, "%s", colon + 2);
    }
    GString *all = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++)
        g_string_append_printf(all, "%s%s", i == 0 ? "" : "; ", (const char *)lines->pdata[i]);
    base_error_set(error, BASE_ERROR_FAILED, ini_name(ini), "job: %u rules are broken: %s", lines->len,
                   all->str);
    g_string_free(all, TRUE);
    return FALSE;
}

// Keeps every sum of bytes of plans/memory.c in an int64: activations of a step, nothing divided, as
// plan_memory_bounded counts them.
static gboolean job_check_memory(const StepJob *job, Ini *ini, GError **error)
{
    const Plan *plan = &job->plan;
    const ModelSpec *model = job->model;
    double sequence = (double)plan->sequence, heads = (double)model->heads;
    double width =
        16.0 * (double)model->hidden + 8.0 * (double)model->ffn + 8.0 * heads * (double)model->head_dim;
    double token =
        (double)model->layers * (2 * width + 5 * heads * sequence) + 10.0 * (double)model->vocabulary;
    double bytes = token * sequence * (double)plan->micro_batch * (double)plan->micro_batches;
    if (bytes <= 0x1p60)
        return TRUE;
    return ini_refuse(ini, "job", ini_has(ini, "job", "batch") ? "batch" : "tokens", error,
                      "the activations of a step, unsharded, are %.2g bytes, wanted at most 1e18", bytes);
}

gboolean scenario_section_job(StepJob *job, Ini *ini, GError **error)
{
    Plan *plan = &job->plan;
    plan->gpus = job->machine->graph->gpus->len;
    if (plan->gpus > COLL_GROUP_RANKS_MAX)
        return ini_refuse(ini, "machine", "gpus", error, "found %u GPUs, wanted at most %d", plan->gpus,
                          COLL_GROUP_RANKS_MAX);
    gint64 tokens = 0;
    if (!job_read_split(plan, ini, error) || !job_read_pipeline(plan, ini, error) ||
        !job_read_batch(plan, ini, &tokens, error) || !job_read_data(plan, ini, error) ||
        !job_read_memory(plan, ini, error) || !job_check_meaning(plan, ini, error) ||
        !job_check(job, ini, tokens, error) || !job_check_memory(job, ini, error))
        return FALSE;
    job_note_buckets(job, ini);
    return TRUE;
}
