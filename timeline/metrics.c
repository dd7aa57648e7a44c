// timeline/metrics.c: the numbers of a run, under the keys of 'stepline run --json'.
#include "timeline/metrics.h"

#include <string.h>

const TimelineMetric TIMELINE_METRIC_TABLE[TIMELINE_METRICS] = {
    {"gpus", TRUE},
    {"tokens", TRUE},
    {"step_s", FALSE},
    {"mfu", FALSE},
    {"hfu", FALSE},
    {"tokens_per_s", FALSE},
    {"tflops_per_gpu", FALSE},
    {"model_flops", FALSE},
    {"compute_s", FALSE},
    {"exposed_comm_s", FALSE},
    {"idle_s", FALSE},
    {"bubble_s", FALSE},
    {"loader_s", FALSE},
    {"launch_s", FALSE},
    {"communication_s", FALSE},
    {"perfect_overlap_s", FALSE},
    {"bound_s", FALSE},
    {"gradient_bytes", TRUE},
    {"buckets", TRUE},
    {"model_states_bytes", TRUE},
    {"memory_peak_bytes", TRUE},
    {"memory_bytes", TRUE},
    {"events", TRUE},
    {"messages", TRUE},
    {"wall_s", FALSE},
};

void timeline_metrics(const StepResult *result, double *values)
{
    const double all[] = {
        result->ranks,
        result->tokens,
        units_seconds(result->step),
        result->mfu,
        result->hfu,
        result->tokens_per_s,
        result->mfu * result->peak_flops * 1e-12,
        result->model_flops,
        units_seconds(result->compute),
        units_seconds(result->exposed_comm),
        units_seconds(result->idle),
        units_seconds(result->bubble),
        units_seconds(result->loader),
        units_seconds(result->launch),
        units_seconds(result->communication),
        units_seconds(result->perfect_overlap),
        units_seconds(result->bound),
        (double)result->gradient_bytes,
        (double)result->buckets,
        result->states_bytes,
        (double)result->peak_bytes,
        (double)result->memory_bytes,
        (double)result->events,
        (double)result->messages,
        result->wall_s,
    };
    G_STATIC_ASSERT(G_N_ELEMENTS(all) == TIMELINE_METRICS);
    memcpy(values, all, sizeof all);
}

int timeline_metrics_find(const char *name)
{
    for (int i = 0; i < TIMELINE_METRICS; i++)
        if (strcmp(TIMELINE_METRIC_TABLE[i].name, name) == 0)
            return i;
    return -1;
}
