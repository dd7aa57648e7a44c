// plots/bandwidth.c: time and bus bandwidth against size.
#include "plots/bandwidth.h"

#include "plots/plot.h"

enum { WIDTH = 1100, HEIGHT = 620, LABELS = 6 };

gboolean plot_bandwidth_write(const char *path, const char *title, const PlotBandwidth *points, guint n,
                              GError **error)
{
    if (!plot_check(path, error))
        return FALSE;
    g_autofree char *quoted = plot_quote(title);
    g_autoptr(GString) preamble = g_string_new(NULL);
    g_string_append_printf(preamble, "heading = %s\n", quoted);
    // A block of its own for each stretch of one algorithm, so that it has its colour and its name in the
    // legend.
    guint blocks = 0;
    for (guint i = 0; i < n; i++) {
        gboolean starts = i == 0 || g_strcmp0(points[i].label, points[i - 1].label) != 0;
        if (starts && blocks < LABELS) {
            if (blocks > 0)
                g_string_append(preamble, "EOD\n");
            g_autofree char *label = plot_quote(points[i].label);
            blocks++;
            g_string_append_printf(preamble, "array_word_%u = %s\n$block%u << EOD\n", blocks, label, blocks);
        }
        char bytes[G_ASCII_DTOSTR_BUF_SIZE], time[G_ASCII_DTOSTR_BUF_SIZE], busbw[G_ASCII_DTOSTR_BUF_SIZE];
        g_string_append_printf(preamble, "%s %s %s\n",
                               g_ascii_formatd(bytes, sizeof bytes, "%.17g", points[i].bytes),
                               g_ascii_formatd(time, sizeof time, "%.9g", points[i].time_s * 1e6),
                               g_ascii_formatd(busbw, sizeof busbw, "%.9g", points[i].busbw * 1e-9));
    }
    g_string_append(preamble, "EOD\n");
    for (guint i = blocks; i < LABELS; i++) // gnuplot wants every block to be there
        g_string_append_printf(preamble, "array_word_%u = ''\n$block%u << EOD\nEOD\n", i + 1, i + 1);
    g_string_append_printf(preamble, "blocks = %u\n", blocks);
    return plot_write(path, WIDTH, HEIGHT, preamble->str, "plots/bandwidth.gp", error);
}
