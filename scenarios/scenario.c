// scenarios/scenario.c: a scenario file as a job.
#include "scenarios/scenario.h"

#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "coll/choice.h"
#include "coll/group.h"

Ini *scenario_open(const char *name, GError **error)
{
    return library_read_ini("scenarios", "scenario", name, NULL, error);
}

static gboolean scenario_read_model(StepJob *job, Ini *ini, GError **error)
{
    g_autofree char *use = NULL;
    if (!ini_get_text(ini, "model", "use", INI_REQUIRED, &use, error))
        return FALSE;
    g_autofree char *where = ini_where(ini, "model", "use");
    job->model = model_spec_read(use, where, error);
    if (job->model == NULL || !model_spec_override(job->model, ini, error))
        return FALSE;
    job->sequence = job->model->sequence;
    return ini_get_count(ini, "model", "sequence", INI_OPTIONAL, 1, MODEL_SEQUENCE_MAX, &job->sequence,
                         error) &&
           model_spec_check_sequence(job->model, job->sequence, ini, error);
}

// [machine] use = NAME, or node = NAME, nodes = N, nic = RATE: a node joined to a fabric (kind nodes of
// topo/kind-nodes.c).
static gboolean scenario_read_machine(StepJob *job, Ini *ini, GError **error)
{
    g_autofree char *use = NULL;
    gint64 gpus = 0;
    gboolean joined = ini_has(ini, "machine", "node");
    if (!ini_get_text(ini, "machine", "use", joined ? INI_OPTIONAL : INI_REQUIRED, &use, error) ||
        !ini_get_count(ini, "machine", "gpus", INI_OPTIONAL, 1, COLL_GROUP_RANKS_MAX, &gpus, error))
        return FALSE;
    if (joined && use != NULL)
        return ini_refuse(ini, "machine", "use", error, "found beside node, wanted one of them");
    g_autofree char *use_where = ini_where(ini, "machine", joined ? "node" : "use");
    if (!joined && !library_check("topo/data/machines", "machine", use, use_where, error))
        return FALSE;
    g_autofree char *gpus_where = ini_where(ini, "machine", "gpus");
    const char *where = gpus > 0 ? gpus_where : use_where;
    job->machine = joined ? topo_machine_read_section(ini, (guint32)gpus, where, error)
                          : topo_machine_read(use, (guint32)gpus, where, error);
    return job->machine != NULL;
}

// The cap of a bucket: a size, or "whole".
static gboolean scenario_read_bucket(StepJob *job, Ini *ini, GError **error)
{
    g_autofree char *text = NULL;
    if (!ini_get_text(ini, "job", "bucket", INI_OPTIONAL, &text, error))
        return FALSE;
    if (g_strcmp0(text, "whole") == 0)
        job->bucket = G_MAXINT64;
    else if (!ini_get_whole(ini, "job", "bucket", INI_OPTIONAL, UNITS_BYTES, &job->bucket, error))
        return FALSE;
    if (!ini_get_whole(ini, "job", "first_bucket", INI_OPTIONAL, UNITS_BYTES, &job->first_bucket, error))
        return FALSE;
    static const char *const keys[] = {"bucket", "first_bucket"};
    const gint64 values[] = {job->bucket, job->first_bucket};
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
        if (values[i] < 1024)
            return ini_refuse(ini, "job", keys[i], error,
                              "found less than 1 KiB, wanted a size such as '25 MiB'");
    return ini_get_flag(ini, "job", "bucket_split", INI_OPTIONAL, &job->bucket_split, error);
}

static gboolean scenario_read_split(StepJob *job, Ini *ini, GError **error)
{
    guint32 gpus = job->machine->graph->gpus->len;
    gint64 dp = gpus, zero = 0;
    if (!ini_get_count(ini, "job", "dp", INI_OPTIONAL, 1, COLL_GROUP_RANKS_MAX, &dp, error) ||
        !ini_get_count(ini, "job", "zero", INI_OPTIONAL, 0, 3, &zero, error) ||
        !ini_get_whole(ini, "job", "tokens", INI_REQUIRED, UNITS_COUNT, &job->tokens, error) ||
        !ini_get_flag(ini, "job", "overlap", INI_OPTIONAL, &job->overlap, error))
        return FALSE;
    if (dp != gpus)
        return ini_refuse(ini, "job", "dp", error,
                          "found %" G_GINT64_FORMAT ", wanted %u, the GPUs of the machine", dp, gpus);
    if (gpus > COLL_GROUP_RANKS_MAX)
        return ini_refuse(ini, "machine", "gpus", error, "found %u GPUs, wanted at most %d", gpus,
                          COLL_GROUP_RANKS_MAX);
    if (zero != 0)
        return ini_refuse(ini, "job", "zero", error,
                          "found %" G_GINT64_FORMAT ", wanted 0: sharded steps are not simulated yet", zero);
    job->dp = (guint32)dp;
    gint64 unit = dp * job->sequence;
    if (job->tokens < 1 || job->tokens % unit != 0)
        return ini_refuse(ini, "job", "tokens", error,
                          "found %" G_GINT64_FORMAT ", wanted a multiple of %" G_GINT64_FORMAT
                          " (%u ranks x sequences of %" G_GINT64_FORMAT " tokens)",
                          job->tokens, unit, job->dp, job->sequence);
    guint optimizer = job->optimizer;
    if (!ini_get_choice(ini, "job", "optimizer", INI_OPTIONAL, STEP_OPTIMIZER_NAMES, &optimizer, error))
        return FALSE;
    job->optimizer = (StepOptimizer)optimizer;
    return scenario_read_bucket(job, ini, error);
}

static gboolean scenario_read_compute(StepJob *job, Ini *ini, GError **error)
{
    static const char *const updates[] = {"none", "memory", NULL};
    guint precision = job->precision, counting = job->counting, update = job->update;
    if (!ini_get(ini, "compute", "efficiency", INI_REQUIRED, UNITS_FRACTION, &job->efficiency, error) ||
        !ini_get_choice(ini, "compute", "precision", INI_OPTIONAL, TOPO_PRECISION_NAMES, &precision, error) ||
        !ini_get_choice(ini, "compute", "counting", INI_OPTIONAL, MODEL_COUNTING_NAMES, &counting, error) ||
        !ini_get_choice(ini, "compute", "optimizer_time", INI_OPTIONAL, updates, &update, error))
        return FALSE;
    job->precision = (TopoPrecision)precision;
    job->counting = (ModelCounting)counting;
    job->update = (StepUpdate)update;
    if (job->efficiency < 0.001)
        return ini_refuse(ini, "compute", "efficiency", error,
                          "found %g, wanted a fraction of peak from 0.001 to 1", job->efficiency);
    if (step_job_peak(job) <= 0)
        return ini_refuse(ini, "compute", "precision", error, "chip %s has no peak for %s",
                          job->machine->device->name, TOPO_PRECISION_NAMES[precision]);
    if (step_job_compute_s(job) + step_job_update_s(job) > 86400)
        return ini_refuse(ini, "job", "tokens", error,
                          "the compute of a step would take %.3g s, wanted at most a day",
                          step_job_compute_s(job) + step_job_update_s(job));
    return TRUE;
}

static gboolean scenario_read_simulate(StepJob *job, Ini *ini, GError **error)
{
    static const char *const fidelities[] = {"messages", NULL};
    guint fidelity = 0, queue = job->queue;
    gboolean shortcuts = TRUE;
    if (!ini_get_choice(ini, "simulate", "fidelity", INI_OPTIONAL, fidelities, &fidelity, error) ||
        !ini_get_choice(ini, "simulate", "queue", INI_OPTIONAL, SIM_QUEUE_NAMES, &queue, error) ||
        !ini_get_flag(ini, "simulate", "shortcuts", INI_OPTIONAL, &shortcuts, error) ||
        !ini_get_whole(ini, "simulate", "chunk", INI_OPTIONAL, UNITS_BYTES, &job->chunk, error))
        return FALSE;
    job->queue = (SimQueueKind)queue;
    job->no_fuse = !shortcuts;
    if (job->chunk < 4096)
        return ini_refuse(ini, "simulate", "chunk", error,
                          "found less than 4 KiB, wanted a size such as '32 MiB'");
    return TRUE;
}

// [collective]: NCCL's choice where the machine says how NCCL does on it, else the links alone.
static gboolean scenario_read_collective(StepJob *job, Ini *ini, GError **error)
{
    static const char *const models[] = {"plain", "nccl", NULL};
    guint model = job->machine->tuning.present ? 1 : 0, protocol = G_MAXUINT;
    g_autofree char *algorithm = NULL;
    if (!ini_get_choice(ini, "collective", "model", INI_OPTIONAL, models, &model, error) ||
        !ini_get_choice(ini, "collective", "protocol", INI_OPTIONAL, COLL_NCCL_PROTOCOLS, &protocol, error) ||
        !ini_get_text(ini, "collective", "algorithm", INI_OPTIONAL, &algorithm, error))
        return FALSE;
    job->nccl = model == 1;
    if (protocol != G_MAXUINT && !job->nccl)
        return ini_refuse(ini, "collective", "protocol", error, "means nothing without model = nccl");
    job->protocol = protocol == G_MAXUINT ? NULL : COLL_NCCL_PROTOCOLS[protocol];
    if (algorithm == NULL)
        return TRUE;
    g_autofree char *where = ini_where(ini, "collective", "algorithm");
    job->algorithm = coll_choice_find(algorithm, COLL_OP_ALL_REDUCE, where, error);
    return job->algorithm != NULL;
}

// The scenario's text with what was set on the command line below it.
static char *scenario_text(const Ini *ini, const char *const *sets)
{
    GString *text = g_string_new(ini_text(ini));
    for (guint i = 0; sets != NULL && sets[i] != NULL; i++)
        g_string_append_printf(text, "%s# --set %s\n",
                               text->len > 0 && text->str[text->len - 1] != '\n' ? "\n" : "",
                               sets[i]); // one line: ini_set has refused any other
    return g_string_free(text, FALSE);
}

StepJob *scenario_read(Ini *ini, const char *const *sets, GError **error)
{
    g_autoptr(StepJob) job = step_job_new();
    for (guint i = 0; sets != NULL && sets[i] != NULL; i++)
        if (!ini_set(ini, sets[i], error))
            return NULL;
    g_autofree char *title = NULL;
    if (!ini_get_text(ini, "scenario", "title", INI_OPTIONAL, &title, error) ||
        !scenario_read_model(job, ini, error) || !scenario_read_machine(job, ini, error) ||
        !scenario_read_split(job, ini, error) || !scenario_read_compute(job, ini, error) ||
        !scenario_read_simulate(job, ini, error) || !scenario_read_collective(job, ini, error) ||
        !ini_finish(ini, error))
        return NULL;
    g_autofree char *base = g_path_get_basename(ini_name(ini));
    job->name = g_str_has_suffix(base, ".ini") ? g_strndup(base, strlen(base) - 4) : g_strdup(base);
    job->text = scenario_text(ini, sets);
    return g_steal_pointer(&job);
}
