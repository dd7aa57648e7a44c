// plans/framework.c: reading a framework's file.
#include "plans/framework.h"

#include "base/library.h"

// As the keys of [bytes] and [kernels] are called, indexed by ModelMemory; the first class has no key.
static const char *const CLASSES[] = {NULL,      "embedding",  "norm",     "rotary",
                                      "softmax", "activation", "residual", "loss"};
G_STATIC_ASSERT(G_N_ELEMENTS(CLASSES) == MODEL_MEMORY_CLASSES);

void plan_framework_free(PlanFramework *framework)
{
    if (framework == NULL)
        return;
    g_free(framework->name);
    g_free(framework->title);
    g_free(framework->source);
    g_free(framework);
}

static gboolean framework_get(Ini *ini, const char *section, const char *key, UnitsKind kind, double low,
                              double high, double *value, GError **error)
{
    if (!ini_get(ini, section, key, INI_OPTIONAL, kind, value, error))
        return FALSE;
    if (ini_has(ini, section, key) && !(*value >= low && *value <= high))
        return ini_refuse(ini, section, key, error, "found %g, wanted %g to %g", *value, low, high);
    return TRUE;
}

static gboolean framework_read_classes(Ini *ini, const char *section, double *values, GError **error)
{
    for (guint i = 0; i < MODEL_MEMORY_CLASSES; i++) {
        values[i] = 1;
        if (CLASSES[i] != NULL &&
            !framework_get(ini, section, CLASSES[i], UNITS_NUMBER, 0, 1000, &values[i], error))
            return FALSE;
    }
    return TRUE;
}

static gboolean framework_fill(PlanFramework *framework, Ini *ini, GError **error)
{
    static const char *const section = "framework";
    guint kernel = TOPO_ATTENTION_BEST;
    if (!ini_get_text(ini, section, "title", INI_REQUIRED, &framework->title, error) ||
        !ini_get_text(ini, section, "source", INI_REQUIRED, &framework->source, error) ||
        !ini_get_flag(ini, section, "flash", INI_REQUIRED, &framework->flash, error) ||
        !ini_get_flag(ini, section, "early_stop", INI_OPTIONAL, &framework->early_stop, error) ||
        !ini_get_choice(ini, section, "kernel", INI_OPTIONAL, TOPO_ATTENTION_NAMES, &kernel, error) ||
        !framework_get(ini, section, "attention", UNITS_NUMBER, 0.01, 10, &framework->attention, error) ||
        !framework_get(ini, section, "launch", UNITS_TIME, 0, 1, &framework->launch, error) ||
        !framework_get(ini, section, "step", UNITS_TIME, 0, 3600, &framework->step, error) ||
        !framework_get(ini, section, "memory", UNITS_NUMBER, 0.1, 2, &framework->memory, error) ||
        !framework_get(ini, section, "gemm", UNITS_NUMBER, 0.1, 2, &framework->gemm, error) ||
        !framework_get(ini, section, "update", UNITS_NUMBER, 0.1, 100, &framework->update, error) ||
        !framework_get(ini, section, "products", UNITS_NUMBER, 0.1, 2, &framework->products, error) ||
        !framework_get(ini, section, "accumulate", UNITS_NUMBER, 0, 1000, &framework->accumulate, error))
        return FALSE;
    framework->kernel = (TopoAttentionKernel)kernel;
    return framework_read_classes(ini, "bytes", framework->bytes, error) &&
           framework_read_classes(ini, "kernels", framework->kernels, error) && ini_finish(ini, error);
}

PlanFramework *plan_framework_read(const char *name, const char *where, GError **error)
{
    g_autoptr(Ini) ini = library_read_ini("plans/data/frameworks", "framework", name, where, error);
    if (ini == NULL)
        return NULL;
    g_autoptr(PlanFramework) framework = g_new0(PlanFramework, 1);
    framework->name = g_strdup(name);
    framework->attention = framework->products = framework->gemm = framework->update = 1;
    framework->memory = PLAN_FRAMEWORK_MEMORY;
    return framework_fill(framework, ini, error) ? g_steal_pointer(&framework) : NULL;
}
