// validation/constants.c: fitted constants into a machine's file.
#include "validation/constants.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "coll/fabric.h"

#define RATE_MAX 1e15 // bytes/s: "does not grow with size"

gboolean validation_constants_get(const TopoMachine *machine, ValidationNcclOp op, const ValidationFit *fit,
                                  ValidationConstants *constants)
{
    static const struct {
        ValidationNcclOp from;
        MachineTuningOp to;
    } ops[] = {
        {VALIDATION_NCCL_ALL_REDUCE, MACHINE_TUNING_ALL_REDUCE},
        {VALIDATION_NCCL_ALL_GATHER, MACHINE_TUNING_ALL_GATHER},
        {VALIDATION_NCCL_REDUCE_SCATTER, MACHINE_TUNING_REDUCE_SCATTER},
        {VALIDATION_NCCL_ALL_TO_ALL, MACHINE_TUNING_ALL_TO_ALL},
    };
    guint i = 0;
    while (i < G_N_ELEMENTS(ops) && ops[i].from != op)
        i++;
    if (i == G_N_ELEMENTS(ops))
        return FALSE;
    guint32 n = machine->graph->gpus->len;
    g_autofree guint32 *gpus = g_new(guint32, n);
    for (guint32 g = 0; g < n; g++)
        gpus[g] = g;
    gboolean across = coll_fabric_island(machine->graph, gpus, n) < n;
    *constants = (ValidationConstants){.op = ops[i].to};
    constants->fit.ranks = across ? 0 : n;
    constants->fit.lines = MIN(fit->branches, (guint)MACHINE_TUNING_LINES);
    for (guint b = 0; b < constants->fit.lines; b++) {
        MachineTuningLine *line = &constants->fit.line[b];
        if (!units_ps_from_seconds(MAX(fit->branch[b].alpha, 0), &line->latency))
            return FALSE;
        double bandwidth = fit->branch[b].bandwidth;
        line->bandwidth = isfinite(bandwidth) ? CLAMP(bandwidth, 1e3, RATE_MAX) : RATE_MAX;
    }
    return TRUE;
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
