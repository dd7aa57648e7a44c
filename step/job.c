// step/job.c: what follows from a job at once.
#include "step/job.h"

#include "coll/measure.h"

StepJob *step_job_new(void)
{
    StepJob *job = g_new0(StepJob, 1);
    job->optimizer = STEP_OPTIMIZER_ADAM_MIXED;
    job->gradient_bytes = 2;
    job->overlap = TRUE;
    job->bucket = G_GINT64_CONSTANT(25) << 20;
    job->first_bucket = 1 << 20;
    job->chunk = COLL_CHUNK_DEFAULT;
    job->counting = MODEL_COUNT_6N_ATTENTION;
    job->precision = TOPO_PRECISION_BF16;
    job->update = STEP_UPDATE_MEMORY;
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
    g_free(job);
}

double step_job_peak(const StepJob *job)
{
    return job->machine->device->peak[job->precision];
}

double step_job_flops(const StepJob *job)
{
    return (double)(job->tokens / job->dp) * model_count_flops(job->model, job->counting, job->sequence);
}

gint64 step_job_gradient(const StepJob *job)
{
    return model_count_parameters(job->model) * job->gradient_bytes;
}

double step_job_compute_s(const StepJob *job)
{
    return step_job_flops(job) / (job->efficiency * step_job_peak(job));
}

double step_job_update_s(const StepJob *job)
{
    if (job->update == STEP_UPDATE_NONE)
        return 0;
    double bytes = job->optimizer == STEP_OPTIMIZER_SGD_MOMENTUM ? 14 : 28;
    return bytes * (double)model_count_parameters(job->model) / job->machine->device->memory_bandwidth;
}

void step_job_chooser(const StepJob *job, CollNccl *nccl, CollChooser *chooser, gconstpointer *choose)
{
    *chooser = job->nccl ? coll_nccl_choose : coll_choice_plain;
    *choose = job->nccl ? (gconstpointer)nccl : (gconstpointer)job->algorithm;
    if (job->nccl)
        coll_nccl_init(nccl, &job->machine->tuning, job->machine->graph, job->algorithm, job->protocol);
}
