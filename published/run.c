// published/run.c: reading a table of published runs.
#include "published/run.h"

#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/library.h"
#include "base/units.h"

const char *const PUBLISHED_COUNT_NAMES[] = {"unknown", "full", "causal", "hardware", NULL};

typedef enum { RUN_TEXT, RUN_WHOLE, RUN_SMALL, RUN_FLAG, RUN_NUMBER } RunKind;

typedef struct {
    const char *column;
    RunKind kind;
    gsize at;        // of the field in PublishedRun
    gboolean needed; // the field may not be empty
} RunColumn;

#define RUN_AT(field) G_STRUCT_OFFSET(PublishedRun, field)
static const RunColumn COLUMNS[] = {
    {"run_id", RUN_TEXT, RUN_AT(id), TRUE},
    {"source_key", RUN_TEXT, RUN_AT(source_key), TRUE},
    {"source", RUN_TEXT, RUN_AT(source), FALSE},
    {"source_ref", RUN_TEXT, RUN_AT(reference), FALSE},
    {"model", RUN_TEXT, RUN_AT(model), TRUE},
    {"model_variant", RUN_TEXT, RUN_AT(variant), FALSE},
    {"layers_override", RUN_WHOLE, RUN_AT(layers), FALSE},
    {"seq_len", RUN_WHOLE, RUN_AT(sequence), FALSE},
    {"chip", RUN_TEXT, RUN_AT(chip), TRUE},
    {"n_devices", RUN_SMALL, RUN_AT(gpus), TRUE},
    {"devices_per_node", RUN_SMALL, RUN_AT(per_node), FALSE},
    {"intra_bw_Bps_per_dir", RUN_NUMBER, RUN_AT(intra), FALSE},
    {"inter_bw_Bps_per_dir", RUN_NUMBER, RUN_AT(inter), FALSE},
    {"fabric", RUN_TEXT, RUN_AT(fabric), FALSE},
    {"precision", RUN_TEXT, RUN_AT(precision), FALSE},
    {"peak_flops_per_device_used", RUN_NUMBER, RUN_AT(peak), FALSE},
    {"tp", RUN_SMALL, RUN_AT(tp), FALSE},
    {"sp", RUN_FLAG, RUN_AT(sp), FALSE},
    {"pp", RUN_SMALL, RUN_AT(pp), FALSE},
    {"vp", RUN_WHOLE, RUN_AT(vp), FALSE},
    {"layers_per_vstage", RUN_WHOLE, RUN_AT(layers_per_vstage), FALSE},
    {"cp", RUN_SMALL, RUN_AT(cp), FALSE},
    {"ep", RUN_SMALL, RUN_AT(ep), FALSE},
    {"dp", RUN_SMALL, RUN_AT(dp), FALSE},
    {"dp_kind", RUN_TEXT, RUN_AT(dp_kind), FALSE},
    {"fsdp_shard", RUN_SMALL, RUN_AT(shard), FALSE},
    {"hsdp_replicas", RUN_SMALL, RUN_AT(replicas), FALSE},
    {"mbs", RUN_WHOLE, RUN_AT(micro_batch), FALSE},
    {"gbs", RUN_WHOLE, RUN_AT(batch), FALSE},
    {"recompute", RUN_TEXT, RUN_AT(recompute), FALSE},
    {"recompute_detail", RUN_TEXT, RUN_AT(recompute_detail), FALSE},
    {"offload", RUN_TEXT, RUN_AT(offload), FALSE},
    {"tp_overlap", RUN_FLAG, RUN_AT(tp_overlap), FALSE},
    {"dp_overlap", RUN_FLAG, RUN_AT(dp_overlap), FALSE},
    {"pp_schedule", RUN_TEXT, RUN_AT(pp_schedule), FALSE},
    {"step_time_s", RUN_NUMBER, RUN_AT(step), FALSE},
    {"step_time_p10_s", RUN_NUMBER, RUN_AT(low), FALSE},
    {"step_time_p90_s", RUN_NUMBER, RUN_AT(high), FALSE},
    {"flops_per_s_per_device", RUN_NUMBER, RUN_AT(flops), FALSE},
    {"mfu", RUN_NUMBER, RUN_AT(mfu), FALSE},
    {"hfu", RUN_NUMBER, RUN_AT(hfu), FALSE},
    {"tokens_per_s", RUN_NUMBER, RUN_AT(tokens_per_s), FALSE},
    {"flop_counting", RUN_TEXT, RUN_AT(counting_text), FALSE},
    {"completeness", RUN_TEXT, RUN_AT(completeness), FALSE},
    {"missing", RUN_TEXT, RUN_AT(missing), FALSE},
    {"split", RUN_TEXT, RUN_AT(split), FALSE},
    {"net_known", RUN_TEXT, RUN_AT(net_known), FALSE},
};
enum { RUN_COLUMNS = G_N_ELEMENTS(COLUMNS) };

static gpointer run_field(PublishedRun *run, const RunColumn *column)
{
    return (char *)run + column->at;
}

static void run_free(gpointer data)
{
    PublishedRun *run = data;
    for (guint i = 0; i < RUN_COLUMNS; i++)
        if (COLUMNS[i].kind == RUN_TEXT)
            g_free(*(char **)run_field(run, &COLUMNS[i]));
    g_free(run);
}

// A number from 0 up; the tables write whole ones as 5e+10 too.
static gboolean run_number(const char *text, double high, double *value)
{
    char *end = NULL;
    *value = g_ascii_strtod(text, &end);
    return end != text && *end == '\0' && *value >= 0 && *value <= high;
}

static gboolean run_read_field(PublishedRun *run, const RunColumn *column, const char *text)
{
    double value = 0;
    gpointer field = run_field(run, column);
    if (column->kind == RUN_TEXT) {
        *(char **)field = g_strdup(text);
        g_strdelimit(*(char **)field, "\r\n\t", ' '); // texts go into lines
        return TRUE;
    }
    if (column->kind == RUN_FLAG)
        *(int *)field = -1;
    if (text[0] == '\0')
        return TRUE;
    double high = column->kind == RUN_NUMBER  ? 1e30
                  : column->kind == RUN_WHOLE ? 1e12
                  : column->kind == RUN_SMALL ? 1e6
                                              : 1;
    if (!run_number(text, high, &value))
        return FALSE;
    if (column->kind == RUN_NUMBER) {
        *(double *)field = value;
        return TRUE;
    }
    gint64 whole = (gint64)value;
    if ((double)whole < value)
        return FALSE;
    if (column->kind == RUN_WHOLE)
        *(gint64 *)field = whole;
    else if (column->kind == RUN_SMALL)
        *(guint32 *)field = (guint32)whole;
    else
        *(int *)field = (int)whole;
    return TRUE;
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

static GPtrArray *runs_of(Csv *csv, GError **error)
{
    guint columns[RUN_COLUMNS];
    for (guint i = 0; i < RUN_COLUMNS; i++)
        if (!csv_find_column(csv, COLUMNS[i].column, &columns[i], error))
            return NULL;
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(run_free);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint row = 0; row < csv_rows(csv); row++) {
        PublishedRun *run = g_new0(PublishedRun, 1);
        g_ptr_array_add(runs, run);
        run->line = csv_get(csv, row)->line;
        for (guint i = 0; i < RUN_COLUMNS; i++) {
            const char *text = csv_get(csv, row)->fields[columns[i]];
            if (!(COLUMNS[i].needed && text[0] == '\0') && run_read_field(run, &COLUMNS[i], text))
                continue;
            static const char *const wanted[] = {[RUN_TEXT] = "a name",
                                                 [RUN_WHOLE] = "a whole number",
                                                 [RUN_SMALL] = "a whole number up to a million",
                                                 [RUN_FLAG] = "0 or 1",
                                                 [RUN_NUMBER] = "a number from 0 up"};
            g_autofree char *where = csv_where(csv, row, columns[i]);
            g_autofree char *quoted = base_error_quote(text);
            base_error_set(error, BASE_ERROR_FAILED, where, "found '%s', wanted %s", quoted,
                           wanted[COLUMNS[i].kind]);
            return NULL;
        }
        run->counting = run_counting(run->counting_text);
        if (!g_hash_table_add(seen, run->id)) {
            g_autofree char *where = csv_where(csv, row, columns[0]);
            g_autofree char *quoted = base_error_quote(run->id);
            base_error_set(error, BASE_ERROR_FAILED, where, "found run '%s' twice", quoted);
            return NULL;
        }
    }
    return g_steal_pointer(&runs);
}

GPtrArray *published_runs_read_text(const char *name, const char *text, gsize length, GError **error)
{
    Csv *csv = csv_read_text(name, text, length, error);
    if (csv == NULL)
        return NULL;
    GPtrArray *runs = runs_of(csv, error);
    csv_free(csv);
    return runs;
}

GPtrArray *published_runs_read(const char *path, GError **error)
{
    Csv *csv = csv_read_file(path, error);
    if (csv == NULL)
        return NULL;
    GPtrArray *runs = runs_of(csv, error);
    csv_free(csv);
    return runs;
}

GPtrArray *published_runs_library(GError **error)
{
    static const char *const path = "validation/data/runs.csv";
    g_autoptr(GBytes) bytes = library_find(path);
    g_assert(bytes != NULL);
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    return published_runs_read_text(path, text, length, error);
}
