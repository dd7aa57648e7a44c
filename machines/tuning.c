// machines/tuning.c: reading and writing section [nccl].
#include "machines/tuning.h"

#include <string.h>

#include "base/error.h"

static const char SECTION[] = "nccl";

const char *const MACHINE_TUNING_OP_NAMES[] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", NULL};

void machine_tuning_init(MachineTuning *tuning)
{
    *tuning = (MachineTuning){0};
    for (guint op = 0; op < MACHINE_TUNING_OPS; op++)
        tuning->fits[op] = g_array_new(FALSE, FALSE, sizeof(MachineTuningFit));
}

void machine_tuning_clear(MachineTuning *tuning)
{
    for (guint op = 0; op < MACHINE_TUNING_OPS; op++)
        if (tuning->fits[op] != NULL)
            g_array_unref(tuning->fits[op]);
    *tuning = (MachineTuning){0};
}

static int machine_tuning_compare(gconstpointer a, gconstpointer b)
{
    const MachineTuningFit *x = a, *y = b;
    if (x->ranks != y->ranks)
        return x->ranks < y->ranks ? -1 : 1;
    return (x->islands > y->islands) - (x->islands < y->islands);
}

static void machine_tuning_add(MachineTuning *tuning, MachineTuningOp op, const MachineTuningFit *fit)
{
    g_array_append_val(tuning->fits[op], *fit);
    g_array_sort(tuning->fits[op], machine_tuning_compare);
}

void machine_tuning_set(MachineTuning *tuning, MachineTuningOp op, const MachineTuningFit *fit)
{
    tuning->present = TRUE;
    for (guint i = tuning->fits[op]->len; i > 0; i--)
        if (g_array_index(tuning->fits[op], MachineTuningFit, i - 1).ranks == fit->ranks)
            g_array_remove_index(tuning->fits[op], i - 1);
    machine_tuning_add(tuning, op, fit);
}

const MachineTuningFit *machine_tuning_find(const MachineTuning *tuning, MachineTuningOp op, guint32 ranks,
                                            guint32 islands)
{
    const MachineTuningFit *best = NULL;
    double nearest = 0;
    for (guint i = 0; i < tuning->fits[op]->len; i++) {
        const MachineTuningFit *fit = &g_array_index(tuning->fits[op], MachineTuningFit, i);
        if ((fit->ranks == 0) != (islands > 1))
            continue;
        double own = fit->ranks > 0 ? fit->ranks : fit->islands > 0 ? fit->islands : 2;
        double asked = islands > 1 ? islands : ranks;
        double ratio = own > asked ? own / asked : asked / own;
        if (best == NULL || ratio < nearest) {
            best = fit;
            nearest = ratio;
        }
    }
    return best;
}

// "ALPHA, B" or, across islands, "ALPHA, STEP, B".
static gboolean machine_tuning_read_line(const char *text, gboolean across, const char *where,
                                         MachineTuningLine *line, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    guint n = g_strv_length(words);
    if (n != (across ? 3 : 2)) {
        g_autofree char *quoted = base_error_quote(text);
        return base_error_set(error, BASE_ERROR_FAILED, where, "found '%s', wanted '%s'", quoted,
                              across ? "60 us, 95 us, 365 GB/s" : "16.5 us, 216 GB/s");
    }
    if (!units_parse_ps(words[0], where, &line->latency, error) ||
        (across && !units_parse_ps(words[1], where, &line->step, error)) ||
        !units_parse(UNITS_RATE, words[n - 1], where, &line->bandwidth, error))
        return FALSE;
    if (line->latency > PS_PER_SECOND || line->step > PS_PER_SECOND || line->bandwidth < 1e3)
        return base_error_set(error, BASE_ERROR_FAILED, where,
                              "found '%s', wanted at most a second and at least 1 kB/s", text);
    return TRUE;
}

static gboolean machine_tuning_read_fit(MachineTuning *tuning, Ini *ini, const char *key, MachineTuningOp op,
                                        guint32 ranks, guint32 islands, GError **error)
{
    g_autofree char *text = NULL;
    if (!ini_get_text(ini, SECTION, key, INI_REQUIRED, &text, error))
        return FALSE;
    g_autofree char *where = ini_where(ini, SECTION, key);
    g_auto(GStrv) lines = g_strsplit(text, ";", -1);
    MachineTuningFit fit = {.ranks = ranks, .islands = islands, .lines = g_strv_length(lines)};
    if (fit.lines < 1 || fit.lines > MACHINE_TUNING_LINES)
        return base_error_set(error, BASE_ERROR_FAILED, where, "found %u lines, wanted one to four",
                              fit.lines);
    for (guint i = 0; i < fit.lines; i++)
        if (!machine_tuning_read_line(lines[i], ranks == 0, where, &fit.line[i], error))
            return FALSE;
    machine_tuning_add(tuning, op, &fit);
    return TRUE;
}

// The operation that a key starts with: the longest name ("reduce_scatter_8" is not one of "reduce").
static MachineTuningOp machine_tuning_find_op(const char *key)
{
    MachineTuningOp best = MACHINE_TUNING_OPS;
    gsize longest = 0;
    for (guint op = 0; op < MACHINE_TUNING_OPS; op++) {
        gsize length = strlen(MACHINE_TUNING_OP_NAMES[op]);
        if (length <= longest || strncmp(key, MACHINE_TUNING_OP_NAMES[op], length) != 0 || key[length] != '_')
            continue;
        longest = length;
        best = (MachineTuningOp)op;
    }
    return best;
}

gboolean machine_tuning_read(MachineTuning *tuning, Ini *ini, GError **error)
{
    tuning->present = ini_has_section(ini, SECTION);
    if (!tuning->present)
        return TRUE;
    if (!ini_get_flag(ini, SECTION, "switch_reduces", INI_OPTIONAL, &tuning->switch_reduces, error) ||
        !ini_get_flag(ini, SECTION, "network_reduces", INI_OPTIONAL, &tuning->network_reduces, error))
        return FALSE;
    g_auto(GStrv) keys = ini_keys(ini, SECTION);
    for (guint i = 0; keys[i] != NULL; i++) {
        MachineTuningOp op = machine_tuning_find_op(keys[i]);
        if (op == MACHINE_TUNING_OPS)
            continue; // ini_finish says so, if nobody asks for it
        const char *shape = keys[i] + strlen(MACHINE_TUNING_OP_NAMES[op]) + 1;
        gboolean across = g_str_has_prefix(shape, "across"), plain = strcmp(shape, "across") == 0;
        const char *number = !across ? shape : shape[6] == '_' ? shape + 7 : "";
        guint64 n = 0;
        if (!plain && !g_ascii_string_to_unsigned(number, 10, 2, 65536, &n, NULL))
            return ini_refuse(ini, SECTION, keys[i], error,
                              "wanted %s_N (N ranks of an island), %s_across or %s_across_N (N islands)",
                              MACHINE_TUNING_OP_NAMES[op], MACHINE_TUNING_OP_NAMES[op],
                              MACHINE_TUNING_OP_NAMES[op]);
        if (!machine_tuning_read_fit(tuning, ini, keys[i], op, across ? 0 : (guint32)n,
                                     across ? (guint32)n : 0, error))
            return FALSE;
    }
    return TRUE;
}

char *machine_tuning_write(const MachineTuning *tuning)
{
    GString *out = g_string_new("[nccl]\n");
    g_string_append_printf(out, "switch_reduces = %s\n", tuning->switch_reduces ? "yes" : "no");
    g_string_append_printf(out, "network_reduces = %s\n", tuning->network_reduces ? "yes" : "no");
    for (guint op = 0; op < MACHINE_TUNING_OPS; op++) {
        for (guint i = 0; i < tuning->fits[op]->len; i++) {
            const MachineTuningFit *fit = &g_array_index(tuning->fits[op], MachineTuningFit, i);
            g_string_append_printf(out, "%s_", MACHINE_TUNING_OP_NAMES[op]);
            if (fit->ranks == 0)
                g_string_append(out, fit->islands > 0 ? "across_" : "across");
            if (fit->ranks > 0 || fit->islands > 0)
                g_string_append_printf(out, "%u", fit->ranks > 0 ? fit->ranks : fit->islands);
            g_string_append(out, " = ");
            for (guint l = 0; l < fit->lines; l++) {
                const MachineTuningLine *line = &fit->line[l];
                char alpha[G_ASCII_DTOSTR_BUF_SIZE], step[G_ASCII_DTOSTR_BUF_SIZE],
                    rate[G_ASCII_DTOSTR_BUF_SIZE];
                g_ascii_formatd(alpha, sizeof alpha, "%.6g", (double)line->latency * 1e-6);
                g_ascii_formatd(step, sizeof step, "%.6g", (double)line->step * 1e-6);
                g_ascii_formatd(rate, sizeof rate, "%.6g", line->bandwidth * 1e-9);
                g_string_append_printf(out, "%s%s us", l > 0 ? "; " : "", alpha);
                if (fit->ranks == 0)
                    g_string_append_printf(out, ", %s us", step);
                g_string_append_printf(out, ", %s GB/s", rate);
            }
            g_string_append_c(out, '\n');
        }
    }
    return g_string_free(out, FALSE);
}
