// cli/memory-read.c: options and scenarios as a plan, a model and a chip.
#include "cli/memory-read.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "scenarios/scenario.h"
#include "plans/memory.h"

// Ranks in one dimension, and micro-batches and sequences in a step.
#define MEMORY_RANKS_MAX     G_GINT64_CONSTANT(1048576)
#define MEMORY_SEQUENCES_MAX G_GINT64_CONSTANT(1000000000)

void memory_options_clear(MemoryOptions *options)
{
    for (guint i = 0; i < MEMORY_TEXTS; i++)
        g_free(options->text[i]);
    g_strfreev(options->sets);
    g_free(options->stages);
}

void memory_question_clear(MemoryQuestion *question)
{
    step_job_free(question->job);
    model_spec_free(question->model);
    topo_machine_free(question->machine);
    topo_device_free(question->device);
    plan_framework_free(question->framework);
}

const ModelSpec *memory_question_model(const MemoryQuestion *question)
{
    return question->job != NULL ? question->job->model : question->model;
}

const TopoDevice *memory_question_device(const MemoryQuestion *question)
{
    const TopoMachine *machine = question->job != NULL ? question->job->machine : question->machine;
    return machine != NULL ? machine->device : question->device;
}

// A whole number from low to high; value stays where text is NULL.
static gboolean memory_read_count(const char *name, const char *text, gint64 low, gint64 high, gint64 *value,
                                  GError **error)
{
    g_autoptr(GError) local = NULL;
    gint64 found = 0;
    if (text == NULL)
        return TRUE;
    if (!units_parse_whole(UNITS_COUNT, text, name, &found, &local))
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", local->message);
    if (found < low || found > high)
        return base_error_set(error, BASE_ERROR_USAGE, name,
                              "found %" G_GINT64_FORMAT ", wanted %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                              found, low, high);
    *value = found;
    return TRUE;
}

static gboolean memory_read_rank(const char *name, const char *text, guint32 *value, GError **error)
{
    gint64 found = *value;
    if (!memory_read_count(name, text, 1, MEMORY_RANKS_MAX, &found, error))
        return FALSE;
    *value = (guint32)found;
    return TRUE;
}

// One of names (NULL-terminated), as its index; value stays where text is NULL.
static gboolean memory_read_choice(const char *name, const char *text, const char *const *names, guint *value,
                                   GError **error)
{
    guint at = 0;
    if (text == NULL)
        return TRUE;
    while (names[at] != NULL && strcmp(names[at], text) != 0)
        at++;
    if (names[at] == NULL) {
        g_autofree char *found = base_error_quote(text);
        g_autofree char *wanted = g_strjoinv(", ", (char **)names);
        g_autofree char *hint = suggest_hint(text, names);
        return base_error_set(error, BASE_ERROR_USAGE, name, "found '%s', wanted one of: %s%s", found, wanted,
                              hint);
    }
    *value = at;
    return TRUE;
}

static gboolean memory_read_offload(Plan *plan, const char *text, GError **error)
{
    static const char *const names[] = {"optimizer", "weights", "activations", NULL};
    gboolean *const flags[] = {&plan->offload_optimizer, &plan->offload_weights, &plan->offload_activations};
    g_auto(GStrv) words = g_strsplit(text == NULL ? "" : text, ",", -1);
    for (guint i = 0; text != NULL && words[i] != NULL; i++) {
        guint at = 0;
        if (!memory_read_choice("--offload", g_strstrip(words[i]), names, &at, error))
            return FALSE;
        *flags[at] = TRUE;
    }
    return TRUE;
}

// Sizes of a step. A batch that is not typed has one micro-batch a rank, or twice as many as stages: enough
// for the schedule to reach its fullest.
static gboolean memory_read_batch(const MemoryOptions *options, MemoryQuestion *question, GError **error)
{
    Plan *plan = &question->plan;
    char *const *text = options->text;
    plan->sequence = question->model->sequence;
    if (!memory_read_count("--sequence", text[MEMORY_SEQUENCE], 1, MODEL_SEQUENCE_MAX, &plan->sequence,
                           error) ||
        !memory_read_count("--micro-batch", text[MEMORY_MICRO_BATCH], 1, MEMORY_SEQUENCES_MAX,
                           &plan->micro_batch, error))
        return FALSE;
    if (question->model->positions > 0 && plan->sequence > question->model->positions)
        return base_error_set(error, BASE_ERROR_USAGE, "--sequence",
                              "found %" G_GINT64_FORMAT ", wanted at most %" G_GINT64_FORMAT
                              ", the model's learned positions",
                              plan->sequence, question->model->positions);
    plan->batch = plan->micro_batch * plan->dp * (plan->pp > 1 ? 2 * (gint64)plan->pp : 1);
    if (!memory_read_count("--batch", text[MEMORY_BATCH], 1, MEMORY_SEQUENCES_MAX, &plan->batch, error))
        return FALSE;
    plan->micro_batches = 0;
    return TRUE;
}

static gboolean memory_read_ranks(const MemoryOptions *options, MemoryQuestion *question, GError **error)
{
    Plan *plan = &question->plan;
    char *const *text = options->text;
    guint32 gpus = question->machine != NULL ? question->machine->graph->gpus->len : 0;
    if (!memory_read_rank("--gpus", text[MEMORY_GPUS], &gpus, error) ||
        !memory_read_rank("--tp", text[MEMORY_TP], &plan->tp, error) ||
        !memory_read_rank("--cp", text[MEMORY_CP], &plan->cp, error) ||
        !memory_read_rank("--dp", text[MEMORY_DP], &plan->dp, error) ||
        !memory_read_rank("--pp", text[MEMORY_PP], &plan->pp, error) ||
        !memory_read_rank("--shard", text[MEMORY_SHARD], &plan->shard, error) ||
        !memory_read_rank("--chunks", text[MEMORY_CHUNKS], &plan->chunks, error))
        return FALSE;
    if (text[MEMORY_SHARD] == NULL)
        plan->shard = 0;
    double model = (double)plan->tp * plan->cp * plan->pp;
    if (model * plan->dp > (double)MEMORY_RANKS_MAX)
        return base_error_set(
            error, BASE_ERROR_USAGE, NULL,
            "found %.0f ranks (--tp x --cp x --dp x --pp), wanted at most %" G_GINT64_FORMAT,
            model * plan->dp, MEMORY_RANKS_MAX);
    if (gpus > 0 && text[MEMORY_DP] == NULL && gpus % (guint32)model == 0)
        plan->dp = gpus / (guint32)model;
    plan->gpus = gpus > 0 ? gpus : (guint32)model * plan->dp;
    return TRUE;
}

static gboolean memory_read_plan(const MemoryOptions *options, MemoryQuestion *question, GError **error)
{
    static const char *const dtypes[] = {"bf16", "fp16", "fp32", NULL};
    Plan *plan = &question->plan;
    char *const *text = options->text;
    gint64 zero = 0;
    guint dtype = 0, gradients = plan->gradients, recompute = plan->recompute, optimizer = plan->optimizer,
          buckets = plan->buckets;
    g_autoptr(GError) local = NULL;
    if (!memory_read_ranks(options, question, error) || !memory_read_batch(options, question, error) ||
        !memory_read_count("--zero", text[MEMORY_ZERO], 0, 3, &zero, error) ||
        !memory_read_choice("--gradients", text[MEMORY_GRADIENTS], PLAN_GRADIENTS_NAMES, &gradients, error) ||
        !memory_read_choice("--gradient-dtype", text[MEMORY_GRADIENT_DTYPE], dtypes, &dtype, error) ||
        !memory_read_choice("--recompute", text[MEMORY_RECOMPUTE], PLAN_RECOMPUTE_NAMES, &recompute, error) ||
        !memory_read_count("--recompute-every", text[MEMORY_RECOMPUTE_EVERY], 1, MODEL_LAYERS_MAX,
                           &plan->recompute_every, error) ||
        !memory_read_choice("--optimizer", text[MEMORY_OPTIMIZER], PLAN_OPTIMIZER_NAMES, &optimizer, error) ||
        !memory_read_choice("--buckets", text[MEMORY_BUCKETS], PLAN_BUCKETS_NAMES, &buckets, error) ||
        !memory_read_offload(plan, text[MEMORY_OFFLOAD], error))
        return FALSE;
    if (g_strcmp0(text[MEMORY_BUCKET], "whole") == 0)
        plan->bucket = G_MAXINT64;
    else if (text[MEMORY_BUCKET] != NULL &&
             !units_parse_whole(UNITS_BYTES, text[MEMORY_BUCKET], "--bucket", &plan->bucket, &local))
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", local->message);
    if (plan->bucket < 1024)
        return base_error_set(error, BASE_ERROR_USAGE, "--bucket",
                              "found less than 1 KiB, wanted a size such as '25 MiB'");
    plan->sp = options->sp;
    plan->zero = (int)zero;
    plan->gradients = (PlanGradients)gradients;
    plan->gradient_bytes = dtype < 2 ? 2 : 4;
    plan->recompute = (PlanRecompute)recompute;
    plan->optimizer = (PlanOptimizer)optimizer;
    plan->buckets = (PlanBuckets)buckets;
    if (text[MEMORY_SCHEDULE] != NULL)
        plan->schedule = pipe_find(text[MEMORY_SCHEDULE], "--schedule", &local);
    else if (plan->chunks > 1)
        plan->schedule = &PIPE_INTERLEAVED;
    return plan->schedule != NULL || base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", local->message);
}

// A model, and a chip: the machine's (all of whose GPUs count where neither --gpus nor --dp is typed), the
// one that is named, or the documents' H100.
static gboolean memory_read_things(const MemoryOptions *options, MemoryQuestion *question, GError **error)
{
    char *const *text = options->text;
    const char *machine = text[MEMORY_MACHINE], *chip = text[MEMORY_CHIP];
    if (text[MEMORY_MODEL] == NULL)
        return base_error_set(error, BASE_ERROR_USAGE, NULL,
                              "found no model, wanted a scenario or --model NAME");
    if (machine != NULL && chip != NULL)
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "found both --machine and --chip, wanted one");
    question->model = model_spec_read(text[MEMORY_MODEL], "--model", error);
    if (question->model == NULL)
        return FALSE;
    gboolean own = machine != NULL && text[MEMORY_GPUS] == NULL && text[MEMORY_DP] == NULL;
    if (own && (question->machine = topo_machine_read(machine, 0, "--machine", error)) == NULL)
        return FALSE;
    if (!memory_read_plan(options, question, error))
        return FALSE;
    if (machine == NULL)
        question->device = topo_device_read(chip != NULL ? chip : "h100-sxm", "--chip", error);
    else if (!own)
        question->machine = topo_machine_read(machine, question->plan.gpus, "--machine", error);
    return question->device != NULL || question->machine != NULL;
}

static gboolean memory_read_scenario(const char *name, const MemoryOptions *options, MemoryQuestion *question,
                                     GError **error)
{
    for (guint i = 0; i < MEMORY_TEXTS; i++)
        if ((options->text[i] != NULL && i != MEMORY_FRAMEWORK) || options->sp)
            return base_error_set(
                error, BASE_ERROR_USAGE, NULL,
                "found options of a plan beside a scenario, wanted --set section.key=value");
    g_autoptr(Ini) ini = scenario_open(name, error);
    if (ini == NULL)
        return FALSE;
    question->job = scenario_read(ini, (const char *const *)options->sets, error);
    if (question->job == NULL)
        return FALSE;
    question->plan = question->job->plan;
    return TRUE;
}

gboolean memory_read(const char *scenario, const MemoryOptions *options, MemoryQuestion *question,
                     GError **error)
{
    static const char *const stages[] = {"ends", "all", NULL};
    guint shown = 0;
    plan_init(&question->plan);
    if (!memory_read_choice("--stages", options->stages, stages, &shown, error))
        return FALSE;
    if (scenario == NULL && options->sets != NULL)
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "found --set and no scenario");
    if (scenario != NULL ? !memory_read_scenario(scenario, options, question, error)
                         : !memory_read_things(options, question, error))
        return FALSE;
    if (options->text[MEMORY_FRAMEWORK] != NULL) {
        question->framework = plan_framework_read(options->text[MEMORY_FRAMEWORK], "--framework", error);
        if (question->framework == NULL)
            return FALSE;
    }
    const ModelSpec *model = memory_question_model(question);
    g_autoptr(GPtrArray) broken = plan_check(&question->plan, model);
    if (broken->len > 0) {
        g_ptr_array_add(broken, NULL);
        g_autofree char *all = g_strjoinv("; ", (char **)broken->pdata);
        return base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", all);
    }
    if (!plan_memory_bounded(&question->plan, model))
        return base_error_set(error, BASE_ERROR_USAGE, NULL,
                              "found a step whose activations pass 8 PiB on one GPU, wanted less");
    return TRUE;
}
