// step/bound.c: a time that no step can beat.
#include "step/bound.h"

// bytes/s that one GPU can send at most.
static double bound_widest(const TopoGraph *graph)
{
    double widest = 0;
    g_autofree double *out = g_new0(double, graph->nodes->len);
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        out[link->from] += link->bandwidth;
    }
    for (guint32 i = 0; i < graph->gpus->len; i++)
        widest = MAX(widest, out[topo_graph_gpu(graph, i)]);
    return widest;
}

Ps step_bound(const StepJob *job, const StepLowered *lowered)
{
    const Plan *plan = &job->plan;
    Ps longest = 0;
    for (guint32 stage = 0; stage < lowered->programs->len; stage++) {
        const SimProgram *program = lowered->programs->pdata[stage];
        Ps sum = 0;
        g_autofree guint32 *counts = sim_program_count(program);
        for (guint32 form = 0; form < program->forms->len; form++) {
            const SimOp *op = &g_array_index(program->forms, SimOp, form);
            if (op->work == SIM_WORK_TIMED && sim_kind_is_compute(op->kind) && op->stream == 0)
                sum += op->duration * counts[form];
        }
        longest = MAX(longest, sum);
    }
    double p = plan_data(plan), seconds = 0;
    if (p > 1)
        seconds = (p - 1) / p * (double)lowered->parameters * (double)plan->gradient_bytes /
                  bound_widest(job->machine->graph);
    return MAX(longest, (Ps)(seconds * 1e12 * (1 - 1e-12)));
}
