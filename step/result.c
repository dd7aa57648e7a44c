// step/result.c: life of a result.
#include "step/result.h"

static void step_link_use_free(gpointer data)
{
    StepLinkUse *use = data;
    g_free(use->name);
    g_free(use->class_name);
    g_free(use);
}

static void step_usage_free(gpointer data)
{
    g_array_unref(((StepUsage *)data)->points);
    g_free(data);
}

StepResult *step_result_new(void)
{
    StepResult *result = g_new0(StepResult, 1);
    result->exposures = g_array_new(FALSE, FALSE, sizeof(StepExposure));
    result->links = g_ptr_array_new_with_free_func(step_link_use_free);
    result->assumptions = g_ptr_array_new_with_free_func(g_free);
    result->ignored = g_ptr_array_new_with_free_func(g_free);
    result->remedies = g_ptr_array_new_with_free_func(g_free);
    result->usage = g_ptr_array_new_with_free_func(step_usage_free);
    return result;
}

void step_result_free(StepResult *result)
{
    if (result == NULL)
        return;
    g_free(result->name);
    g_free(result->text);
    g_free(result->model);
    g_free(result->machine);
    g_free(result->chip);
    g_free(result->fidelity);
    g_free(result->counting);
    g_array_unref(result->exposures);
    g_ptr_array_unref(result->links);
    g_ptr_array_unref(result->assumptions);
    g_free(result->plan);
    g_ptr_array_unref(result->ignored);
    g_ptr_array_unref(result->remedies);
    g_ptr_array_unref(result->usage);
    if (result->programs != NULL)
        g_ptr_array_unref(result->programs);
    g_free(result->runs);
    g_free(result->track_ranks);
    sim_trace_clear(&result->trace);
    g_free(result);
}
