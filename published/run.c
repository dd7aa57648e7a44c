// published/run.c: reading a table of published runs.
#include "published/run.h"

#include <string.h>

#include "base/error.h"
#include "base/record.h"
#include "published/table.h"

const char *const PUBLISHED_COUNT_NAMES[] = {"unknown", "full", "causal", "hardware", NULL};

#define RUN_AT(field) G_STRUCT_OFFSET(PublishedRun, field)
static const RecordColumn COLUMNS[] = {
    {"run_id", RECORD_TEXT, RUN_AT(id), TRUE},
    {"source_key", RECORD_TEXT, RUN_AT(source_key), TRUE},
    {"source", RECORD_TEXT, RUN_AT(source), FALSE},
    {"source_ref", RECORD_TEXT, RUN_AT(reference), FALSE},
    {"model", RECORD_TEXT, RUN_AT(model), TRUE},
    {"model_variant", RECORD_TEXT, RUN_AT(variant), FALSE},
    {"layers_override", RECORD_WHOLE, RUN_AT(layers), FALSE},
    {"seq_len", RECORD_WHOLE, RUN_AT(sequence), FALSE},
    {"chip", RECORD_TEXT, RUN_AT(chip), TRUE},
    {"n_devices", RECORD_SMALL, RUN_AT(gpus), TRUE},
    {"inter_bw_Bps_per_dir", RECORD_NUMBER, RUN_AT(inter), FALSE},
    {"precision", RECORD_TEXT, RUN_AT(precision), FALSE},
    {"peak_flops_per_device_used", RECORD_NUMBER, RUN_AT(peak), FALSE},
    {"tp", RECORD_SMALL, RUN_AT(tp), FALSE},
    {"sp", RECORD_MAYBE, RUN_AT(sp), FALSE},
    {"pp", RECORD_SMALL, RUN_AT(pp), FALSE},
    {"vp", RECORD_WHOLE, RUN_AT(vp), FALSE},
    {"cp", RECORD_SMALL, RUN_AT(cp), FALSE},
    {"ep", RECORD_SMALL, RUN_AT(ep), FALSE},
    {"dp", RECORD_SMALL, RUN_AT(dp), FALSE},
    {"dp_kind", RECORD_TEXT, RUN_AT(dp_kind), FALSE},
    {"fsdp_shard", RECORD_SMALL, RUN_AT(shard), FALSE},
    {"mbs", RECORD_WHOLE, RUN_AT(micro_batch), FALSE},
    {"gbs", RECORD_WHOLE, RUN_AT(batch), FALSE},
    {"recompute", RECORD_TEXT, RUN_AT(recompute), FALSE},
    {"recompute_detail", RECORD_TEXT, RUN_AT(recompute_detail), FALSE},
    {"offload", RECORD_TEXT, RUN_AT(offload), FALSE},
    {"tp_overlap", RECORD_MAYBE, RUN_AT(tp_overlap), FALSE},
    {"dp_overlap", RECORD_MAYBE, RUN_AT(dp_overlap), FALSE},
    {"pp_schedule", RECORD_TEXT, RUN_AT(pp_schedule), FALSE},
    {"step_time_s", RECORD_NUMBER, RUN_AT(step), FALSE},
    {"flops_per_s_per_device", RECORD_NUMBER, RUN_AT(flops), FALSE},
    {"mfu", RECORD_NUMBER, RUN_AT(mfu), FALSE},
    {"hfu", RECORD_NUMBER, RUN_AT(hfu), FALSE},
    {"tokens_per_s", RECORD_NUMBER, RUN_AT(tokens_per_s), FALSE},
    {"flop_counting", RECORD_TEXT, RUN_AT(counting_text), FALSE},
    {"missing", RECORD_TEXT, RUN_AT(missing), FALSE},
    {"split", RECORD_TEXT, RUN_AT(split), FALSE},
    {"net_known", RECORD_TEXT, RUN_AT(net_known), FALSE},
    {NULL, RECORD_TEXT, 0, FALSE},
};

static void run_free(gpointer run)
{
    record_free(COLUMNS, run);
}

// The convention from the table's words: its own names, or what sources write of their formulas.
static PublishedCount run_counting(const char *text)
{
    static const struct {
        const char *part;
        PublishedCount count;
    } words[] = {
        {"recomput", PUBLISHED_COUNT_HARDWARE}, {"hardware", PUBLISHED_COUNT_HARDWARE},
        {"half", PUBLISHED_COUNT_CAUSAL},       {"causal", PUBLISHED_COUNT_CAUSAL},
        {"full", PUBLISHED_COUNT_FULL},
    };
    g_autofree char *low = g_ascii_strdown(text, -1);
    // "no recompute", "causal halving" denied and the like: what is denied is taken out first.
    static const char *const denied[] = {"no recompute", "no causal halving", "without recompute"};
    for (guint i = 0; i < G_N_ELEMENTS(denied); i++)
        for (char *at = strstr(low, denied[i]); at != NULL; at = strstr(at, denied[i]))
            memset(at, ' ', strlen(denied[i]));
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (strstr(low, words[i].part) != NULL)
            return words[i].count;
    return PUBLISHED_COUNT_UNKNOWN;
}

// The runs read so far, and their names.
typedef struct {
    GPtrArray *runs;
    GHashTable *seen;
} Runs;

static gboolean runs_take(gpointer user, gpointer record, const Csv *csv, guint row, GError **error)
{
    Runs *all = user;
    PublishedRun *run = record;
    g_ptr_array_add(all->runs, run);
    run->counting = run_counting(run->counting_text);
    if (g_hash_table_add(all->seen, run->id))
        return TRUE;
    guint column = 0;
    csv_find_column(csv, COLUMNS[0].column, &column, NULL);
    g_autofree char *where = csv_where(csv, row, column), *quoted = base_error_quote(run->id);
    return base_error_set(error, BASE_ERROR_FAILED, where, "found run '%s' twice", quoted);
}

// Frees csv, which may be NULL.
static GPtrArray *runs_of(Csv *csv, GError **error)
{
    if (csv == NULL)
        return NULL;
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(run_free);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    gboolean fine = record_read(csv, COLUMNS, sizeof(PublishedRun), runs_take, &(Runs){runs, seen}, error);
    csv_free(csv);
    return fine ? g_steal_pointer(&runs) : NULL;
}

GPtrArray *published_runs_read_text(const char *name, const char *text, gsize length, GError **error)
{
    return runs_of(csv_read_text(name, text, length, error), error);
}

GPtrArray *published_runs_read(const char *path, GError **error)
{
    return runs_of(csv_read_file(path, error), error);
}

GPtrArray *published_runs_library(GError **error)
{
    return runs_of(published_table_open("runs", error), error);
}
