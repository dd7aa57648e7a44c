// scenarios/scenario.c: a scenario file as a job.
#include "scenarios/scenario.h"

#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "coll/choice.h"
#include "coll/group.h"
#include "scenarios/grid.h"
#include "scenarios/section-job.h"
#include "step/items.h"
#include "plans/memory.h"

Ini *scenario_open(const char *name, GError **error)
{
    return library_read_ini("scenarios", "scenario", name, NULL, error);
}

static gboolean scenario_read_model(StepJob *job, Ini *ini, GError **error)
{
    g_autofree char *use = NULL;
    IniNeed need = ini_has(ini, "model", "title") ? INI_OPTIONAL : INI_REQUIRED;
    if (!ini_get_text(ini, "model", "use", need, &use, error))
        return FALSE;
    g_autofree char *where = ini_where(ini, "model", "use");
    job->model = use == NULL ? model_spec_read_section(ini, error) : model_spec_read(use, where, error);
    if (job->model == NULL || (use != NULL && !model_spec_override(job->model, ini, error)))
        return FALSE;
    job->plan.sequence = job->model->sequence;
    return ini_get_count(ini, "model", "sequence", INI_OPTIONAL, 1, MODEL_SEQUENCE_MAX, &job->plan.sequence,
                         error) &&
           model_spec_check_sequence(job->model, job->plan.sequence, ini, error);
}

// [machine] use = NAME, or node = NAME, nodes = N, nic = RATE: a node joined to a fabric (kind nodes of
// machines/kind-nodes.c).
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

// How compute is timed: a fraction of peak, or by operator in a framework.
static gboolean scenario_read_framework(StepJob *job, Ini *ini, GError **error)
{
    g_autofree char *name = NULL;
    if (!ini_get_text(ini, "compute", "framework", INI_OPTIONAL, &name, error))
        return FALSE;
    if (ini_has(ini, "compute", "efficiency")) {
        if (name != NULL)
            return ini_refuse(ini, "compute", "framework", error,
                              "found beside efficiency, wanted one of them");
        if (!ini_get(ini, "compute", "efficiency", INI_REQUIRED, UNITS_FRACTION, &job->efficiency, error))
            return FALSE;
        if (job->efficiency < 0.001)
            return ini_refuse(ini, "compute", "efficiency", error,
                              "found %g, wanted a fraction of peak from 0.001 to 1", job->efficiency);
        return TRUE;
    }
    g_autofree char *where = ini_where(ini, "compute", "framework");
    job->framework = plan_framework_read(name == NULL ? "megatron-core" : name, where, error);
    job->gradient_norm = TRUE;
    job->reality.spread = STEP_SPREAD;
    return job->framework != NULL;
}

static gboolean scenario_read_compute(StepJob *job, Ini *ini, GError **error)
{
    static const char *const updates[] = {"none", "memory", NULL};
    guint precision = job->precision, counting = job->counting, update = job->update;
    if (!scenario_read_framework(job, ini, error) ||
        !ini_get_choice(ini, "compute", "precision", INI_OPTIONAL, TOPO_PRECISION_NAMES, &precision, error) ||
        !ini_get_choice(ini, "compute", "counting", INI_OPTIONAL, MODEL_COUNTING_NAMES, &counting, error) ||
        !ini_get_choice(ini, "compute", "optimizer_time", INI_OPTIONAL, updates, &update, error) ||
        !ini_get_flag(ini, "compute", "gradient_norm", INI_OPTIONAL, &job->gradient_norm, error))
        return FALSE;
    job->precision = (TopoPrecision)precision;
    job->counting = (ModelCounting)counting;
    job->update = (StepUpdate)update;
    if (step_job_peak(job) <= 0)
        return ini_refuse(ini, "compute", "precision", error, "chip %s has no peak for %s",
                          job->machine->device->name, TOPO_PRECISION_NAMES[precision]);
    double seconds = step_items_seconds(job);
    if (seconds > 86400)
        return ini_refuse(ini, "job", ini_has(ini, "job", "batch") ? "batch" : "tokens", error,
                          "the compute of a step would take %.3g s, wanted at most a day", seconds);
    return TRUE;
}

// The links of some GPUs' own ports at a fraction of their bandwidth.
static gboolean scenario_slow_links(StepJob *job, Ini *ini, GError **error)
{
    gint64 gpu = -1;
    double factor = 2;
    if (!ini_get_count(ini, "reality", "slow_link", INI_OPTIONAL, 0, job->plan.gpus - 1, &gpu, error) ||
        !ini_get(ini, "reality", "slow_link_factor", INI_OPTIONAL, UNITS_NUMBER, &factor, error))
        return FALSE;
    if (factor < 1 || factor > 1e6)
        return ini_refuse(ini, "reality", "slow_link_factor", error, "found %g, wanted 1 to 1e6", factor);
    if (gpu < 0 && ini_has(ini, "reality", "slow_link_factor"))
        return ini_refuse(ini, "reality", "slow_link_factor", error, "means nothing without slow_link");
    if (gpu < 0)
        return TRUE;
    job->reality.slow_link = TRUE;
    TopoGraph *graph = job->machine->graph;
    guint32 node = topo_graph_gpu(graph, (guint32)gpu);
    for (guint32 i = 0; i < graph->links->len; i++) {
        TopoLink *link = &g_array_index(graph->links, TopoLink, i);
        if (link->from == node || link->to == node)
            link->bandwidth /= factor;
    }
    return TRUE;
}

// Seconds that copies to and from the host take in a step if nothing overlaps and one rank has all layers.
static double scenario_copies(const StepJob *job)
{
    const Plan *plan = &job->plan;
    double parameters = (double)model_count_parameters(job->model), bytes = 0;
    if (plan->offload_optimizer)
        bytes += 34 * parameters; // gradients, weights, and what the host updates
    if (plan->offload_weights)
        bytes += 2 * 2 * parameters * (double)plan->micro_batches;
    if (plan->offload_activations) {
        PlanMemoryStage stage = plan_memory_stage(plan, job->model, job->machine->device, job->framework, 0);
        bytes += 2 * (double)stage.layer * (double)job->model->layers * (double)plan->micro_batches;
    }
    return bytes / MIN(job->machine->device->compute.host_bandwidth, 50e9);
}

// No stream of a rank may take longer than a day: the clock holds a hundred.
static gboolean scenario_check_time(const StepJob *job, Ini *ini, GError **error)
{
    static const double day = 86400;
    const Plan *plan = &job->plan;
    const StepReality *reality = &job->reality;
    double slower = reality->slow_factor * (1 + reality->jitter), copies = scenario_copies(job);
    double loads =
        reality->loader > 0 ? (double)plan->micro_batch * (double)plan->micro_batches / reality->loader : 0;
    if (loads * slower > day)
        return ini_refuse(ini, "reality", "loader", error,
                          "the data of a step would take %.3g s, wanted at most a day", loads * slower);
    if (copies * slower > day)
        return ini_refuse(ini, "job",
                          plan->offload_activations ? "offload_activations"
                          : plan->offload_weights   ? "offload_weights"
                                                    : "offload_optimizer",
                          error, "copies to and from the host would take %.3g s, wanted at most a day",
                          copies * slower);
    if (slower > 1 && step_items_seconds(job) * slower > day)
        return ini_refuse(ini, "reality", reality->slow_factor > 1 ? "slow_factor" : "jitter", error,
                          "the compute of a step would take %.3g s, wanted at most a day",
                          step_items_seconds(job) * slower);
    return TRUE;
}

// What a real cluster adds.
static gboolean scenario_read_reality(StepJob *job, Ini *ini, GError **error)
{
    StepReality *reality = &job->reality;
    gint64 slow = 0, seed = 0;
    if (!ini_get_count(ini, "reality", "slow_ranks", INI_OPTIONAL, 0, job->plan.gpus, &slow, error) ||
        !ini_get(ini, "reality", "slow_factor", INI_OPTIONAL, UNITS_NUMBER, &reality->slow_factor, error) ||
        !ini_get(ini, "reality", "spread", INI_OPTIONAL, UNITS_FRACTION, &reality->spread, error) ||
        !ini_get(ini, "reality", "jitter", INI_OPTIONAL, UNITS_FRACTION, &reality->jitter, error) ||
        !ini_get_count(ini, "reality", "seed", INI_OPTIONAL, 0, G_MAXINT32, &seed, error) ||
        !ini_get(ini, "reality", "loader", INI_OPTIONAL, UNITS_NUMBER, &reality->loader, error))
        return FALSE;
    reality->slow_ranks = (guint32)slow;
    reality->seed = (guint64)seed;
    if (reality->slow_factor < 1 || reality->slow_factor > 1000)
        return ini_refuse(ini, "reality", "slow_factor", error, "found %g, wanted 1 to 1000",
                          reality->slow_factor);
    if (ini_has(ini, "reality", "loader") && reality->loader < 1e-3)
        return ini_refuse(ini, "reality", "loader", error,
                          "found %g sequences a second, wanted at least 0.001", reality->loader);
    if (slow == 0 && ini_has(ini, "reality", "slow_factor"))
        return ini_refuse(ini, "reality", "slow_factor", error, "means nothing without slow_ranks");
    if (reality->jitter <= 0 && ini_has(ini, "reality", "seed"))
        return ini_refuse(ini, "reality", "seed", error, "means nothing without jitter");
    return scenario_check_time(job, ini, error) && scenario_slow_links(job, ini, error);
}

static gboolean scenario_read_simulate(StepJob *job, Ini *ini, GError **error)
{
    guint fidelity = job->fidelity, queue = job->queue;
    gboolean shortcuts = TRUE, cache = TRUE;
    if (!ini_get_choice(ini, "simulate", "fidelity", INI_OPTIONAL, STEP_FIDELITY_NAMES, &fidelity, error) ||
        !ini_get_choice(ini, "simulate", "queue", INI_OPTIONAL, SIM_QUEUE_NAMES, &queue, error) ||
        !ini_get_flag(ini, "simulate", "shortcuts", INI_OPTIONAL, &shortcuts, error) ||
        !ini_get_flag(ini, "simulate", "cache", INI_OPTIONAL, &cache, error) ||
        !ini_get_whole(ini, "simulate", "chunk", INI_OPTIONAL, UNITS_BYTES, &job->chunk, error))
        return FALSE;
    job->queue = (SimQueueKind)queue;
    job->fidelity = (StepFidelity)fidelity;
    job->no_cache = !cache;
    job->no_fuse = !shortcuts;
    if (ini_has(ini, "simulate", "chunk") && job->chunk < 4096)
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
    if (!scenario_grid_refuse(ini, error) ||
        !ini_get_text(ini, "scenario", "title", INI_OPTIONAL, &title, error) ||
        !scenario_read_model(job, ini, error) || !scenario_read_machine(job, ini, error) ||
        !scenario_section_job(job, ini, error) || !scenario_read_compute(job, ini, error) ||
        !scenario_read_reality(job, ini, error) || !scenario_read_simulate(job, ini, error) ||
        !scenario_read_collective(job, ini, error) || !ini_finish(ini, error))
        return NULL;
    g_autofree char *base = g_path_get_basename(ini_name(ini));
    job->name = g_str_has_suffix(base, ".ini") ? g_strndup(base, strlen(base) - 4) : g_strdup(base);
    job->text = scenario_text(ini, sets);
    return g_steal_pointer(&job);
}
