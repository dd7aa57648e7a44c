// validation/nccl-table.c: groups tables into runs, says what is assumed, and refuses what measured nothing.
#include "validation/nccl-table.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "validation/nccl-infer.h"

void validation_nccl_table_facts_init(ValidationNcclFacts *facts)
{
    *facts = (ValidationNcclFacts){.hosts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
}

void validation_nccl_table_facts_clear(ValidationNcclFacts *facts)
{
    g_hash_table_unref(facts->hosts);
    g_free(facts->device);
    *facts = (ValidationNcclFacts){0};
}

void validation_nccl_table_facts_add(ValidationNcclFacts *facts, guint32 rank, const char *host,
                                     const char *device)
{
    facts->ranks = MAX(facts->ranks, rank + 1);
    facts->zeros += rank == 0;
    g_hash_table_add(facts->hosts, g_strdup(host));
    if (facts->device == NULL && device != NULL)
        facts->device = base_error_quote(device);
}

ValidationNcclTable *validation_nccl_table_new(guint line, ValidationNcclOp named,
                                               const ValidationNcclFacts *facts)
{
    ValidationNcclTable *table = g_new0(ValidationNcclTable, 1);
    table->line = line;
    table->named = named;
    table->ranks = facts->ranks;
    table->zeros = facts->zeros;
    table->hosts = g_hash_table_size(facts->hosts);
    table->device = g_strdup(facts->device);
    table->rows = g_array_new(FALSE, FALSE, sizeof(ValidationNcclRow));
    return table;
}

void validation_nccl_table_free(ValidationNcclTable *table)
{
    if (table == NULL)
        return;
    g_array_unref(table->rows);
    g_free(table->device);
    g_free(table);
}

// A run being put together.
typedef struct {
    ValidationNcclRun *run; // owned until it is the log's
    guint line;             // of its first table
    guint zeros;
    ValidationNcclRanks ranks; // of its first table with figures that say
} Group;

static void validation_nccl_group_free(gpointer data)
{
    Group *group = data;
    validation_nccl_log_run_free(group->run);
    g_free(group);
}

// The operation that a file's name speaks of, else VALIDATION_NCCL_OPS.
static ValidationNcclOp validation_nccl_name_op(const char *path)
{
    static const struct {
        const char *word;
        ValidationNcclOp op;
    } words[] = {
        {"alltoall", VALIDATION_NCCL_ALL_TO_ALL}, {"allgather", VALIDATION_NCCL_ALL_GATHER},
        {"sendrecv", VALIDATION_NCCL_SEND_RECV},  {"broadcast", VALIDATION_NCCL_BROADCAST},
        {"gather", VALIDATION_NCCL_GATHER},       {"scatter", VALIDATION_NCCL_SCATTER},
    };
    g_autofree char *base = g_path_get_basename(path);
    g_autoptr(GString) plain = g_string_new(NULL);
    for (const char *at = base; *at != '\0'; at++)
        if (g_ascii_isalnum(*at))
            g_string_append_c(plain, g_ascii_tolower(*at));
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (strstr(plain->str, words[i].word) != NULL)
            return words[i].op;
    return VALIDATION_NCCL_OPS;
}

static ValidationNcclOp validation_nccl_table_op(const ValidationNcclTable *table, ValidationNcclLog *log,
                                                 gboolean *assumed)
{
    gboolean contradicts = FALSE;
    ValidationNcclOp op = validation_nccl_infer_op(table->rows, table->named, table->ranks,
                                                   table->redop_column, &contradicts, assumed);
    if (contradicts)
        validation_nccl_log_add_note(
            log, table->line, "the log speaks of %s, but the columns below are those of %s: read as that",
            VALIDATION_NCCL_OP_NAMES[table->named], VALIDATION_NCCL_OP_NAMES[op]);
    if (!*assumed)
        return op;
    ValidationNcclOp named = validation_nccl_name_op(log->name);
    gboolean still = FALSE;
    if (named != VALIDATION_NCCL_OPS) {
        ValidationNcclOp other = validation_nccl_infer_op(table->rows, named, table->ranks,
                                                          table->redop_column, &contradicts, &still);
        if (!contradicts) {
            *assumed = FALSE;
            op = other;
        }
    }
    return op;
}

static Group *validation_nccl_find_group(GPtrArray *groups, const ValidationNcclTable *table,
                                         ValidationNcclOp op, const ValidationNcclRanks *ranks)
{
    for (guint i = 0; i < groups->len; i++) {
        Group *group = groups->pdata[i];
        gboolean overlap = group->ranks.low == 0 || ranks->low == 0 ||
                           (group->ranks.low <= ranks->high && ranks->low <= group->ranks.high);
        if (group->run->op == op && group->run->ranks_listed == table->ranks && overlap) {
            if (group->ranks.low == 0)
                group->ranks = *ranks;
            return group;
        }
    }
    Group *group = g_new0(Group, 1);
    group->run = validation_nccl_log_run_new(op);
    group->run->ranks_listed = table->ranks;
    group->run->hosts = table->hosts;
    group->run->device = g_strdup(table->device);
    group->line = table->line;
    group->zeros = table->zeros;
    group->ranks = *ranks;
    g_ptr_array_add(groups, group);
    return group;
}

// Why a group measured nothing, or NULL. Caller frees.
static char *validation_nccl_group_refuse(const Group *group)
{
    guint silent = 0, moved = 0, right = 0;
    for (guint i = 0; i < group->run->rows->len; i++) {
        const ValidationNcclRow *row = &g_array_index(group->run->rows, ValidationNcclRow, i);
        const ValidationNcclSide *side = &row->side[VALIDATION_NCCL_OUT];
        silent += side->algbw >= 1e8 && side->busbw <= 0; // 0.1 GB/s and up would show
        moved += side->busbw > 0;
        right +=
            !side->wrong || (row->side[VALIDATION_NCCL_IN].time > 0 && !row->side[VALIDATION_NCCL_IN].wrong);
    }
    if ((silent > 0 && moved == 0) || (group->run->ranks == 1))
        return g_strdup_printf("found %s of one rank%s, wanted at least two: nothing was sent (nccl-tests "
                               "without -g N, or built "
                               "without MPI=1)",
                               group->zeros > 1 ? "several runs" : "a run",
                               group->zeros > 1 ? " each (rank 0 is listed more than once)" : "");
    if (right == 0)
        return g_strdup("found wrong results in every row (#wrong), wanted a run that works");
    return NULL;
}

static void validation_nccl_note_ranks(const Group *group, const ValidationNcclRanks *ranks,
                                       ValidationNcclLog *log)
{
    if (ranks->from_ratio)
        validation_nccl_log_add_note(log, group->line, "busbw / algbw allows %u to %u ranks: taken as %u",
                                     ranks->low, ranks->high, ranks->ranks);
    if (group->run->ranks_listed != 0 && ranks->ranks != group->run->ranks_listed)
        validation_nccl_log_add_note(log, group->line,
                                     "the device list ends at rank %u, but the figures are those of "
                                     "%u ranks: read as that",
                                     group->run->ranks_listed - 1, ranks->ranks);
    if (ranks->ranks == 0)
        validation_nccl_log_add_note(log, group->line, "nothing says how many ranks this %s had",
                                     VALIDATION_NCCL_OP_NAMES[group->run->op]);
}

static void validation_nccl_note_rows(const Group *group, ValidationNcclLog *log)
{
    static const char *const sides[] = {"out-of-place", "in-place"};
    const GArray *rows = group->run->rows;
    guint empty = 0, lack = 0;
    for (guint i = 0; i < rows->len; i++) {
        const ValidationNcclRow *row = &g_array_index(rows, ValidationNcclRow, i);
        empty += row->bytes == 0;
        lack += isnan(row->side[VALIDATION_NCCL_IN].time) ? 1 : 0;
    }
    if (empty > 0)
        validation_nccl_log_add_note(log, group->line, "%u row%s of 0 bytes not used", empty,
                                     empty == 1 ? "" : "s");
    if (lack > 0)
        validation_nccl_log_add_note(log, group->line, "%u row%s without in-place figures", lack,
                                     lack == 1 ? "" : "s");
    for (guint side = 0; side < VALIDATION_NCCL_SIDES; side++) {
        guint wrong = 0, outliers = 0, first_wrong = 0, first_outlier = 0;
        for (guint i = 0; i < rows->len; i++) {
            const ValidationNcclRow *row = &g_array_index(rows, ValidationNcclRow, i);
            if (row->side[side].wrong && wrong++ == 0)
                first_wrong = row->line;
            if (row->side[side].outlier && row->bytes > 0 && outliers++ == 0)
                first_outlier = row->line;
        }
        if (wrong > 0)
            validation_nccl_log_add_note(log, first_wrong, "%u %s row%s with wrong results (#wrong) not used",
                                         wrong, sides[side], wrong == 1 ? "" : "s");
        if (outliers > 0 && side == VALIDATION_NCCL_OUT)
            validation_nccl_log_add_note(log, first_outlier,
                                         "%u %s row%s took %g times as long as a larger size or "
                                         "more (a warm-up?): "
                                         "not used, unless these are more than a quarter",
                                         outliers, sides[side], outliers == 1 ? "" : "s",
                                         VALIDATION_NCCL_OUTLIER);
    }
}

gboolean validation_nccl_table_add_runs(const GPtrArray *tables, const char *version, ValidationNcclLog *log,
                                        GError **error)
{
    g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func(validation_nccl_group_free);
    for (guint i = 0; i < tables->len; i++) {
        const ValidationNcclTable *table = tables->pdata[i];
        gboolean assumed = FALSE;
        ValidationNcclOp op = validation_nccl_table_op(table, log, &assumed);
        ValidationNcclRun alone = {.op = op, .rows = table->rows};
        ValidationNcclRanks ranks = validation_nccl_infer_ranks(&alone);
        Group *group = validation_nccl_find_group(groups, table, op, &ranks);
        if (assumed && !group->run->op_assumed)
            validation_nccl_log_add_note(log, table->line,
                                         "nothing tells %s from others with such columns: assumed",
                                         VALIDATION_NCCL_OP_NAMES[op]);
        group->run->op_assumed |= assumed;
        g_array_append_vals(group->run->rows, table->rows->data, table->rows->len);
    }
    for (guint i = 0; i < groups->len; i++) {
        Group *group = groups->pdata[i];
        ValidationNcclRanks ranks = validation_nccl_infer_ranks(group->run);
        group->run->ranks = ranks.ranks;
        group->run->version = g_strdup(version);
        validation_nccl_log_run_finish(group->run);
        g_autofree char *why = validation_nccl_group_refuse(group);
        if (why != NULL && groups->len == 1) {
            g_autofree char *where = g_strdup_printf("%s:%u", log->name, group->line);
            return base_error_set(error, BASE_ERROR_FAILED, where, "%s", why);
        }
        if (why != NULL) {
            validation_nccl_log_add_note(log, group->line, "%s", why);
            continue;
        }
        validation_nccl_note_ranks(group, &ranks, log);
        validation_nccl_note_rows(group, log);
        g_ptr_array_add(log->runs, g_steal_pointer(&group->run));
    }
    if (log->runs->len > 0)
        return TRUE;
    const char *note = log->notes->len > 0 ? log->notes->pdata[log->notes->len - 1] : log->name;
    return base_error_set(error, BASE_ERROR_FAILED, NULL, "%s", note);
}
