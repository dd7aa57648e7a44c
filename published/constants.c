// published/constants.c: reading the table of constants, and finding them in jobs.
#include "published/constants.h"

#include <string.h>

#include "published/table.h"

static const char *const KINDS[] = {"efficiency",  "attention",     "memory",  "fw-memory",
                                    "fw-products", "fw-accumulate", "fw-gemm", "spread"};
G_STATIC_ASSERT(G_N_ELEMENTS(KINDS) == PUBLISHED_KINDS);

static void constant_free(gpointer data)
{
    PublishedConstant *constant = data;
    g_free(constant->name);
    g_free(constant->detail);
    g_free(constant->source);
    g_free(constant->where);
    g_free(constant);
}

static char *constant_where(const PublishedConstant *c)
{
    const char *detail = c->detail;
    switch (c->kind) {
    case PUBLISHED_EFFICIENCY:
        return g_strdup_printf("topo/data/chips/%s.ini [efficiency] %s", c->name,
                               strcmp(detail, "16bit") == 0 ? "bf16 fp16" : detail);
    case PUBLISHED_ATTENTION:
        return g_strdup_printf("topo/data/chips/%s.ini [attention%s%s] rate_128", c->name,
                               strcmp(detail, "best") == 0 ? "" : "-",
                               strcmp(detail, "best") == 0 ? "" : detail);
    case PUBLISHED_MEMORY:
        return g_strdup_printf("topo/data/chips/%s.ini [compute] memory_efficiency", c->name);
    case PUBLISHED_FW_MEMORY:
        return g_strdup_printf("plans/data/frameworks/%s.ini [framework] memory", c->name);
    case PUBLISHED_FW_PRODUCTS:
        return g_strdup_printf("plans/data/frameworks/%s.ini [framework] products", c->name);
    case PUBLISHED_FW_ACCUMULATE:
        return g_strdup_printf("plans/data/frameworks/%s.ini [framework] accumulate", c->name);
    case PUBLISHED_FW_GEMM:
        return g_strdup_printf("plans/data/frameworks/%s.ini [framework] gemm", c->name);
    case PUBLISHED_SPREAD:
        return g_strdup("step/job.h STEP_SPREAD");
    case PUBLISHED_KINDS:
        break;
    }
    g_assert_not_reached();
}

GPtrArray *published_constants(void)
{
    enum { KIND, NAME, DETAIL, PRIOR, SIGMA, LOW, HIGH, SOURCE };
    static const char *const names[] = {"kind", "name", "detail", "prior", "sigma",
                                        "low",  "high", "source", NULL};
    guint at[G_N_ELEMENTS(names)];
    Csv *csv = published_table_read("constants", names, at);
    GPtrArray *constants = g_ptr_array_new_with_free_func(constant_free);
    for (guint i = 0; i < csv_rows(csv); i++) {
        char **fields = csv_get(csv, i)->fields;
        PublishedConstant *constant = g_new0(PublishedConstant, 1);
        g_ptr_array_add(constants, constant);
        while (constant->kind < PUBLISHED_KINDS && strcmp(KINDS[constant->kind], fields[at[KIND]]) != 0)
            constant->kind++;
        g_assert(constant->kind < PUBLISHED_KINDS);
        constant->name = g_strdup(fields[at[NAME]]);
        constant->detail = g_strdup(fields[at[DETAIL]]);
        constant->source = g_strdup(fields[at[SOURCE]]);
        constant->prior = g_ascii_strtod(fields[at[PRIOR]], NULL);
        constant->sigma = g_ascii_strtod(fields[at[SIGMA]], NULL);
        constant->low = g_ascii_strtod(fields[at[LOW]], NULL);
        constant->high = g_ascii_strtod(fields[at[HIGH]], NULL);
        constant->where = constant_where(constant);
    }
    csv_free(csv);
    return constants;
}

static gboolean constant_is_16bit(TopoPrecision precision)
{
    return precision == TOPO_PRECISION_BF16 || precision == TOPO_PRECISION_FP16;
}

gboolean published_constant_touches(const PublishedConstant *c, const StepJob *job)
{
    const PlanFramework *framework = job->framework;
    if (framework == NULL)
        return FALSE;
    if (c->kind == PUBLISHED_SPREAD)
        return job->plan.gpus > 8;
    const char *own = c->kind >= PUBLISHED_FW_MEMORY ? framework->name : job->machine->device->name;
    if (strcmp(own, c->name) != 0)
        return FALSE;
    switch (c->kind) {
    case PUBLISHED_EFFICIENCY: // the logits stay in 16 bits, so that a narrow job has both
        return strcmp(c->detail, "16bit") == 0 ||
               strcmp(c->detail, TOPO_PRECISION_NAMES[job->precision]) == 0;
    case PUBLISHED_ATTENTION:
        return framework->flash && strcmp(c->detail, TOPO_ATTENTION_NAMES[framework->kernel]) == 0;
    case PUBLISHED_FW_PRODUCTS:
        return !framework->flash;
    case PUBLISHED_MEMORY:
    case PUBLISHED_FW_MEMORY:
    case PUBLISHED_FW_ACCUMULATE:
    case PUBLISHED_FW_GEMM:
    case PUBLISHED_SPREAD:
    case PUBLISHED_KINDS:
        break;
    }
    return TRUE;
}

static TopoPrecision constant_precision(const PublishedConstant *c)
{
    for (guint i = 0; i < TOPO_PRECISIONS; i++)
        if (strcmp(TOPO_PRECISION_NAMES[i], c->detail) == 0)
            return (TopoPrecision)i;
    return TOPO_PRECISION_BF16;
}

static TopoAttentionKernel constant_kernel(const PublishedConstant *c)
{
    for (guint i = 0; i < TOPO_ATTENTIONS; i++)
        if (strcmp(TOPO_ATTENTION_NAMES[i], c->detail) == 0)
            return (TopoAttentionKernel)i;
    g_assert_not_reached();
}

enum { HEAD_128 = 1 };

double published_constant_get(const PublishedConstant *c, const StepJob *job)
{
    const TopoCompute *chip = &job->machine->device->compute;
    switch (c->kind) {
    case PUBLISHED_EFFICIENCY:
        return chip->efficiency[constant_precision(c)];
    case PUBLISHED_ATTENTION:
        return chip->attention[constant_kernel(c)].rate[HEAD_128] * 1e-12;
    case PUBLISHED_MEMORY:
        return chip->memory_efficiency;
    case PUBLISHED_FW_MEMORY:
        return job->framework->memory;
    case PUBLISHED_FW_PRODUCTS:
        return job->framework->products;
    case PUBLISHED_FW_ACCUMULATE:
        return job->framework->accumulate;
    case PUBLISHED_FW_GEMM:
        return job->framework->gemm;
    case PUBLISHED_SPREAD:
        return job->reality.spread;
    case PUBLISHED_KINDS:
        break;
    }
    g_assert_not_reached();
}

void published_constant_set(const PublishedConstant *c, StepJob *job, double value)
{
    TopoCompute *chip = &job->machine->device->compute;
    double ratio;
    switch (c->kind) {
    case PUBLISHED_EFFICIENCY:
        for (guint i = 0; i < TOPO_PRECISIONS; i++)
            if (i == constant_precision(c) ||
                (strcmp(c->detail, "16bit") == 0 && constant_is_16bit((TopoPrecision)i)))
                chip->efficiency[i] = value;
        return;
    case PUBLISHED_ATTENTION:
        ratio = value * 1e12 / chip->attention[constant_kernel(c)].rate[HEAD_128];
        for (guint i = 0; i < TOPO_HEADS; i++)
            chip->attention[constant_kernel(c)].rate[i] *= ratio;
        return;
    case PUBLISHED_MEMORY:
        chip->memory_efficiency = value;
        return;
    case PUBLISHED_FW_MEMORY:
        job->framework->memory = value;
        return;
    case PUBLISHED_FW_PRODUCTS:
        job->framework->products = value;
        return;
    case PUBLISHED_FW_ACCUMULATE:
        job->framework->accumulate = value;
        return;
    case PUBLISHED_FW_GEMM:
        job->framework->gemm = value;
        return;
    case PUBLISHED_SPREAD:
        job->reality.spread = value;
        return;
    case PUBLISHED_KINDS:
        break;
    }
    g_assert_not_reached();
}
