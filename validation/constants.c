// validation/constants.c: fitted constants into a machine's file.
#include "validation/constants.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "coll/fabric.h"
#include "coll/nccl.h"

#define RATE_MAX 1e15 // bytes/s: "does not grow with size"

// The operations that have constants.
static const struct {
    ValidationNcclOp from;
    MachineTuningOp to;
    CollOp op;
} OPS[] = {
    {VALIDATION_NCCL_ALL_REDUCE, MACHINE_TUNING_ALL_REDUCE, COLL_OP_ALL_REDUCE},
    {VALIDATION_NCCL_ALL_GATHER, MACHINE_TUNING_ALL_GATHER, COLL_OP_ALL_GATHER},
    {VALIDATION_NCCL_REDUCE_SCATTER, MACHINE_TUNING_REDUCE_SCATTER, COLL_OP_REDUCE_SCATTER},
    {VALIDATION_NCCL_ALL_TO_ALL, MACHINE_TUNING_ALL_TO_ALL, COLL_OP_ALL_TO_ALL},
    {VALIDATION_NCCL_BROADCAST, MACHINE_TUNING_BROADCAST, COLL_OP_BROADCAST},
    {VALIDATION_NCCL_REDUCE, MACHINE_TUNING_REDUCE, COLL_OP_REDUCE},
};

gboolean validation_constants_get(const TopoMachine *machine, ValidationNcclOp op, const ValidationFit *fit,
                                  ValidationConstants *constants)
{
    guint i = 0;
    while (i < G_N_ELEMENTS(OPS) && OPS[i].from != op)
        i++;
    if (i == G_N_ELEMENTS(OPS))
        return FALSE;
    guint32 n = machine->graph->gpus->len;
    g_autofree guint32 *gpus = g_new(guint32, n);
    for (guint32 g = 0; g < n; g++)
        gpus[g] = g;
    CollShape shape = {.op = OPS[i].op, .ranks = n, .island = coll_fabric_island(machine->graph, gpus, n)};
    CollNccl nccl;
    coll_nccl_init(&nccl, &machine->tuning, machine->graph, NULL, NULL);
    *constants = (ValidationConstants){.op = OPS[i].to, .islands = coll_islands(&shape)};
    constants->fit.ranks = constants->islands > 1 ? 0 : n;
    constants->fit.lines = MIN(fit->branches, (guint)MACHINE_TUNING_LINES);
    for (guint b = 0; b < constants->fit.lines; b++) {
        MachineTuningLine *line = &constants->fit.line[b];
        Ps alpha = 0;
        if (!units_ps_from_seconds(MAX(fit->branch[b].alpha, 0), &alpha))
            return FALSE;
        coll_nccl_split(&nccl, &shape, b, constants->fit.lines, alpha, &line->latency, &line->step);
        double bandwidth = fit->branch[b].bandwidth;
        line->bandwidth = isfinite(bandwidth) ? CLAMP(bandwidth, 1e3, RATE_MAX) : RATE_MAX;
    }
    return TRUE;
}

// The line of fewer islands gets the step that the two latencies ask for.
static void validation_constants_join(MachineTuningLine *few, double few_steps, const MachineTuningLine *many,
                                      double many_steps)
{
    double a = (double)few->latency + (double)few->step * few_steps;
    double b = (double)many->latency + (double)many->step * many_steps;
    double step = CLAMP((b - a) / (many_steps - few_steps), 0, a / few_steps);
    few->step = (Ps)step;
    few->latency = (Ps)(a - step * few_steps);
}

gboolean validation_constants_add(GArray *all, const ValidationConstants *constants)
{
    CollOp op = COLL_OPS;
    for (guint i = 0; i < G_N_ELEMENTS(OPS); i++)
        if (OPS[i].to == constants->op)
            op = OPS[i].op;
    for (guint i = 0; i < all->len; i++) {
        ValidationConstants *own = &g_array_index(all, ValidationConstants, i);
        if (own->op != constants->op || own->fit.ranks > 0 || constants->fit.ranks > 0 ||
            own->islands == constants->islands)
            continue;
        ValidationConstants few = own->islands < constants->islands ? *own : *constants,
                            many = own->islands < constants->islands ? *constants : *own;
        double few_steps = coll_nccl_steps(op, few.islands), many_steps = coll_nccl_steps(op, many.islands);
        guint last = few.fit.lines - 1, end = many.fit.lines - 1;
        gboolean alike = last == end;
        for (guint l = 0; l < end && (alike || l == 0) && last > 0; l++)
            validation_constants_join(&few.fit.line[l], few_steps, &many.fit.line[l], many_steps);
        validation_constants_join(&few.fit.line[last], few_steps, &many.fit.line[end], many_steps);
        *own = few;
        return TRUE;
    }
    g_array_append_val(all, *constants);
    return FALSE;
}

// The text of a machine's file without its section [nccl]. NULL with an error; caller frees.
static char *validation_constants_read(const char *name, GError **error)
{
    g_autoptr(Ini) ini = library_read_ini("topo/data/machines", "machine", name, "--write", error);
    if (ini == NULL)
        return NULL;
    GString *out = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(ini_text(ini), "\n", -1);
    gboolean inside = FALSE;
    for (guint i = 0; lines[i] != NULL; i++) {
        g_autofree char *line = g_strstrip(g_strdup(lines[i]));
        if (*line == '[')
            inside = strcmp(line, "[nccl]") == 0;
        if (!inside)
            g_string_append_printf(out, "%s\n", lines[i]);
    }
    while (out->len > 1 && out->str[out->len - 2] == '\n')
        g_string_truncate(out, out->len - 1);
    return g_string_free(out, FALSE);
}

gboolean validation_constants_write(const char *path, const char *name, const GArray *constants,
                                    GError **error)
{
    if (constants->len == 0)
        return base_error_set(error, BASE_ERROR_FAILED, path,
                              "nothing to write: no operation with constants was fitted");
    if (strcmp(path, name) != 0 && g_file_test(path, G_FILE_TEST_EXISTS))
        return base_error_set(error, BASE_ERROR_FAILED, path,
                              "is there already, wanted a new file, or the machine's own");
    g_autofree char *text = validation_constants_read(name, error);
    g_autoptr(TopoMachine) machine = text == NULL ? NULL : topo_machine_read(name, 0, "--machine", error);
    if (machine == NULL)
        return FALSE;
    for (guint i = 0; i < constants->len; i++) {
        const ValidationConstants *at = &g_array_index(constants, ValidationConstants, i);
        machine_tuning_set(&machine->tuning, at->op, &at->fit);
    }
    g_autofree char *section = machine_tuning_write(&machine->tuning);
    g_autofree char *whole =
        g_strconcat(text, "\n# Latencies and bus bandwidths as 'stepline fit' found them in measurements.\n",
                    section, NULL);
    g_autoptr(GError) local = NULL;
    if (!g_file_set_contents(path, whole, -1, &local))
        return base_error_set(error, BASE_ERROR_FAILED, path, "cannot be written: %s", local->message);
    return TRUE;
}
