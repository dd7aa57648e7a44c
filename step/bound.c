// step/bound.c: a time that no step can beat.
#include "step/bound.h"

Ps step_bound(const StepJob *job)
{
    double compute = step_job_compute_s(job) + step_job_update_s(job);
    const TopoGraph *graph = job->machine->graph;
    double widest = 0; // bytes/s that one GPU can send at most
    g_autofree double *out = g_new0(double, graph->nodes->len);
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        out[link->from] += link->bandwidth;
    }
    for (guint32 i = 0; i < graph->gpus->len; i++)
        widest = MAX(widest, out[topo_graph_gpu(graph, i)]);
    double p = job->dp, least = 0;
    if (job->dp > 1)
        least = 2 * (p - 1) / p * (double)step_job_gradient(job) / widest;
    double seconds = MAX(compute, least);
    // A bound is rounded down, so that rounding up elsewhere cannot undercut it.
    return (Ps)(seconds * 1e12 * (1 - 1e-12));
}
