// step/job.c: what follows from a job at once.
#include "step/job.h"

#include "coll/measure.h"
#include "plans/cost.h"

const char *const STEP_FIDELITY_NAMES[] = {"auto", "messages", "folded", NULL};

StepJob *step_job_new(void)
{
    StepJob *job = g_new0(StepJob, 1);
    plan_init(&job->plan);
    job->notes = g_ptr_array_new_with_free_func(g_free);
    job->counting = MODEL_COUNT_6N_ATTENTION;
    job->precision = TOPO_PRECISION_BF16;
    job->update = STEP_UPDATE_MEMORY;
    job->reality.slow_factor = 1;
    return job;
}

void step_job_free(StepJob *job)
{
    if (job == NULL)
        return;
    g_free(job->name);
    g_free(job->text);
    model_spec_free(job->model);
    topo_machine_free(job->machine);
    plan_framework_free(job->framework);
    g_ptr_array_unref(job->notes);
    g_free(job);
}

double step_job_peak(const StepJob *job)
{
    return job->machine->device->peak[job->precision];
}

double step_job_tokens(const StepJob *job)
{
    return (double)job->plan.batch * (double)job->plan.sequence;
}

double step_job_flops(const StepJob *job)
{
    return step_job_tokens(job) * model_count_flops(job->model, job->counting, job->plan.sequence);
}

gboolean step_job_is_plain(const StepJob *job)
{
    return job->plan.dp == job->plan.gpus && job->plan.zero == 0;
}

gint64 step_job_gradient(const StepJob *job)
{
    return model_count_parameters(job->model) * job->plan.gradient_bytes;
}

double step_job_update_s(const StepJob *job, double parameters)
{
    if (job->update == STEP_UPDATE_NONE)
        return 0;
    double bytes = job->plan.optimizer == PLAN_OPTIMIZER_SGD_MOMENTUM ? 14 : 28;
    if (job->framework == NULL)
        return bytes * parameters / job->machine->device->memory_bandwidth;
    const PlanCost cost = {
        .device = job->machine->device, .framework = job->framework, .precision = job->precision};
    return plan_cost_update(&cost, parameters, bytes + (double)job->plan.gradient_bytes - 2);
}

void step_job_chooser(const StepJob *job, CollNccl *nccl, CollChooser *chooser, gconstpointer *choose)
{
    *chooser = job->nccl ? coll_nccl_choose : coll_choice_plain;
    *choose = job->nccl ? (gconstpointer)nccl : (gconstpointer)job->algorithm;
    if (job->nccl)
        coll_nccl_init(nccl, &job->machine->tuning, job->machine->graph, job->algorithm, job->protocol);
}
