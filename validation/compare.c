// validation/compare.c: measured collectives beside simulated ones.
#include "validation/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/median.h"
#include "coll/measure.h"

static void validation_compared_free(gpointer data)
{
    ValidationCompared *compared = data;
    g_free(compared->algorithm);
    g_free(compared->reason);
    g_free(compared);
}

static void validation_family_free(gpointer data)
{
    g_free(((ValidationFamily *)data)->family);
    g_free(data);
}

// The simulator's operation, by the words of nccl-tests; COLL_OPS: none.
static CollOp validation_compare_op(ValidationNcclOp op)
{
    CollOp coll = COLL_OPS;
    return coll_choice_find_op(VALIDATION_NCCL_OP_NAMES[op], NULL, &coll, NULL) ? coll : COLL_OPS;
}

static void validation_compare_row(ValidationCompared *at, const TopoMachine *machine, guint64 messages_max)
{
    const ValidationCollective *row = at->row;
    CollOp op = validation_compare_op(row->op);
    if (op == COLL_OPS) {
        at->reason = g_strdup_printf("no %s", VALIDATION_NCCL_OP_NAMES[row->op]);
        return;
    }
    if (messages_max > 0 && coll_measure_count(machine, op, row->bytes) > messages_max) {
        at->reason = g_strdup_printf("%u ranks take too many messages", row->ranks);
        return;
    }
    CollMeasure measure;
    g_autoptr(GError) error = NULL;
    if (!coll_measure_machine(machine, op, row->bytes, NULL, NULL, FALSE, NULL, &measure, &error)) {
        at->reason = g_strdup(error->message);
        return;
    }
    at->simulated = units_seconds(measure.time);
    at->algorithm = g_strdup_printf("%s%s%s", measure.algo->name, measure.protocol != NULL ? "/" : "",
                                    measure.protocol != NULL ? measure.protocol : "");
    at->error = row->bytes >= VALIDATION_COMPARE_LARGE ? row->time / at->simulated - 1
                                                       : at->simulated / row->time - 1;
}

GPtrArray *validation_compare_run(const GPtrArray *rows, guint64 messages_max, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(validation_compared_free);
    g_autoptr(TopoMachine) machine = NULL; // rows of one machine and size stand together
    g_autofree char *trouble = NULL;
    guint32 ranks = 0;
    const char *name = "";
    for (guint i = 0; i < rows->len; i++) {
        const ValidationCollective *row = rows->pdata[i];
        ValidationCompared *at = g_new0(ValidationCompared, 1);
        at->row = row;
        at->simulated = at->error = (double)NAN;
        g_ptr_array_add(all, at);
        if (strcmp(name, row->machine) != 0 || ranks != row->ranks) {
            name = row->machine;
            ranks = row->ranks;
            g_clear_pointer(&machine, topo_machine_free);
            g_clear_pointer(&trouble, g_free);
            g_autoptr(GError) local = NULL;
            g_autofree char *path = g_strdup_printf("topo/data/machines/%s.ini", name);
            g_autoptr(GBytes) known = library_find(path);
            if (known == NULL)
                trouble = g_strdup_printf("no machine %s in the library", name);
            else if ((machine = topo_machine_read(name, ranks, NULL, &local)) == NULL)
                trouble = g_strdup(local->message);
        }
        if (machine == NULL)
            at->reason = g_strdup(trouble);
        else
            validation_compare_row(at, machine, messages_max);
    }
    (void)error;
    return g_steal_pointer(&all);
}

static ValidationFamily *validation_compare_family(const GPtrArray *compared, const char *name)
{
    ValidationFamily *family = g_new0(ValidationFamily, 1);
    g_autoptr(GArray) large = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) small = g_array_new(FALSE, FALSE, sizeof(double));
    family->family = g_strdup(name);
    for (guint i = 0; i < compared->len; i++) {
        const ValidationCompared *at = compared->pdata[i];
        if (strcmp(at->row->family, name) != 0)
            continue;
        double error = fabs(at->error);
        if (isnan(error))
            family->skipped++;
        else
            g_array_append_val(at->row->bytes >= VALIDATION_COMPARE_LARGE ? large : small, error);
    }
    family->large = large->len;
    family->small = small->len;
    family->rows = large->len + small->len;
    family->busbw = base_median(large);
    family->latency = base_median(small);
    return family;
}

static int validation_compare_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *validation_compare_families(const GPtrArray *compared)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < compared->len; i++)
        g_ptr_array_add(names, ((const ValidationCompared *)compared->pdata[i])->row->family);
    g_ptr_array_sort(names, validation_compare_name);
    GPtrArray *families = g_ptr_array_new_with_free_func(validation_family_free);
    for (guint i = 0; i < names->len; i++)
        if (i == 0 || strcmp(names->pdata[i], names->pdata[i - 1]) != 0)
            g_ptr_array_add(families, validation_compare_family(compared, names->pdata[i]));
    return families;
}
