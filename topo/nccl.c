// topo/nccl.c: reading and writing section [nccl].
#include "topo/nccl.h"

#include <string.h>

#include "base/error.h"

static const char SECTION[] = "nccl";

const char *const TOPO_NCCL_OP_NAMES[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", NULL};

void topo_nccl_init(TopoNccl *nccl)
{
    *nccl = (TopoNccl){0};
    for (guint op = 0; op < TOPO_NCCL_OPS; op++)
        nccl->fits[op] = g_array_new(FALSE, FALSE, sizeof(TopoNcclFit));
}

void topo_nccl_clear(TopoNccl *nccl)
{
    for (guint op = 0; op < TOPO_NCCL_OPS; op++)
        if (nccl->fits[op] != NULL)
            g_array_unref(nccl->fits[op]);
    *nccl = (TopoNccl){0};
}

static int topo_nccl_compare(gconstpointer a, gconstpointer b)
{
    guint32 x = ((const TopoNcclFit *)a)->ranks, y = ((const TopoNcclFit *)b)->ranks;
    return (x > y) - (x < y);
}

void topo_nccl_set(TopoNccl *nccl, TopoNcclOp op, const TopoNcclFit *fit)
{
    nccl->present = TRUE;
    for (guint i = 0; i < nccl->fits[op]->len; i++) {
        TopoNcclFit *own = &g_array_index(nccl->fits[op], TopoNcclFit, i);
        if (own->ranks == fit->ranks) {
            *own = *fit;
            return;
        }
    }
    g_array_append_val(nccl->fits[op], *fit);
    g_array_sort(nccl->fits[op], topo_nccl_compare);
}

const TopoNcclFit *topo_nccl_find(const TopoNccl *nccl, TopoNcclOp op, guint32 ranks)
{
    const TopoNcclFit *best = NULL;
    double nearest = 0;
    for (guint i = 0; i < nccl->fits[op]->len; i++) {
        const TopoNcclFit *fit = &g_array_index(nccl->fits[op], TopoNcclFit, i);
        if ((fit->ranks == 0) != (ranks == 0))
            continue;
        if (ranks == 0)
            return fit;
        double ratio = fit->ranks > ranks ? (double)fit->ranks / ranks : (double)ranks / fit->ranks;
        if (best == NULL || ratio < nearest) {
            best = fit;
            nearest = ratio;
        }
    }
    return best;
}

// "ALPHA, B" or, across islands, "ALPHA, STEP, B".
static gboolean topo_nccl_read_line(const char *text, gboolean across, const char *where, TopoNcclLine *line,
                                    GError **error)
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

static gboolean topo_nccl_read_fit(TopoNccl *nccl, Ini *ini, const char *key, TopoNcclOp op, guint32 ranks,
                                   GError **error)
{
    g_autofree char *text = NULL;
    if (!ini_get_text(ini, SECTION, key, INI_REQUIRED, &text, error))
        return FALSE;
    g_autofree char *where = ini_where(ini, SECTION, key);
    g_auto(GStrv) lines = g_strsplit(text, ";", -1);
    TopoNcclFit fit = {.ranks = ranks, .lines = g_strv_length(lines)};
    if (fit.lines > 2)
        return base_error_set(error, BASE_ERROR_FAILED, where, "found %u lines, wanted one or two", fit.lines);
    for (guint i = 0; i < fit.lines; i++)
        if (!topo_nccl_read_line(lines[i], ranks == 0, where, &fit.line[i], error))
            return FALSE;
    topo_nccl_set(nccl, op, &fit);
    return TRUE;
}

gboolean topo_nccl_read(TopoNccl *nccl, Ini *ini, GError **error)
{
    nccl->present = ini_has_section(ini, SECTION);
    if (!nccl->present)
        return TRUE;
    if (!ini_get_flag(ini, SECTION, "switch_reduces", INI_OPTIONAL, &nccl->switch_reduces, error) ||
        !ini_get_flag(ini, SECTION, "network_reduces", INI_OPTIONAL, &nccl->network_reduces, error))
        return FALSE;
    g_auto(GStrv) keys = ini_keys(ini, SECTION);
    for (guint i = 0; keys[i] != NULL; i++) {
        for (guint op = 0; op < TOPO_NCCL_OPS; op++) {
            gsize length = strlen(TOPO_NCCL_OP_NAMES[op]);
            if (strncmp(keys[i], TOPO_NCCL_OP_NAMES[op], length) != 0 || keys[i][length] != '_')
                continue;
            const char *shape = keys[i] + length + 1;
            guint64 ranks = 0;
            gboolean across = strcmp(shape, "across") == 0;
            if (!across && !g_ascii_string_to_unsigned(shape, 10, 2, 65536, &ranks, NULL))
                return ini_refuse(ini, SECTION, keys[i], error, "wanted %s_N (N ranks of an island) or %s_across",
                                  TOPO_NCCL_OP_NAMES[op], TOPO_NCCL_OP_NAMES[op]);
            if (!topo_nccl_read_fit(nccl, ini, keys[i], (TopoNcclOp)op, (guint32)ranks, error))
                return FALSE;
        }
    }
    return TRUE;
}

char *topo_nccl_write(const TopoNccl *nccl)
{
    GString *out = g_string_new("[nccl]\n");
    g_string_append_printf(out, "switch_reduces = %s\n", nccl->switch_reduces ? "yes" : "no");
    g_string_append_printf(out, "network_reduces = %s\n", nccl->network_reduces ? "yes" : "no");
    for (guint op = 0; op < TOPO_NCCL_OPS; op++) {
        for (guint i = 0; i < nccl->fits[op]->len; i++) {
            const TopoNcclFit *fit = &g_array_index(nccl->fits[op], TopoNcclFit, i);
            g_autofree char *ranks = fit->ranks == 0 ? g_strdup("across") : g_strdup_printf("%u", fit->ranks);
            g_string_append_printf(out, "%s_%s = ", TOPO_NCCL_OP_NAMES[op], ranks);
            for (guint l = 0; l < fit->lines; l++) {
                const TopoNcclLine *line = &fit->line[l];
                char alpha[G_ASCII_DTOSTR_BUF_SIZE], step[G_ASCII_DTOSTR_BUF_SIZE], rate[G_ASCII_DTOSTR_BUF_SIZE];
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
