// cli/collective-print.c: what "stepline collective" prints and draws of the sizes that it simulated.
#include "cli/collective-print.h"

#include <stdio.h>

#include "base/units.h"
#include "cli/options.h"
#include "plots/bandwidth.h"

void collective_print_json(const Collective *what, const GArray *all)
{
    JsonArray *rows = json_array_new();
    for (guint i = 0; i < all->len; i++) {
        const CollectiveRow *at = &g_array_index(all, CollectiveRow, i);
        JsonObject *row = json_object_new();
        json_object_set_string_member(row, "machine", what->machine->name);
        json_object_set_int_member(row, "ranks", what->machine->graph->gpus->len);
        json_object_set_string_member(row, "op", COLL_OP_NAMES[what->op]);
        json_object_set_string_member(row, "algorithm", at->measure.algo->name);
        if (at->measure.protocol != NULL)
            json_object_set_string_member(row, "protocol", at->measure.protocol);
        else
            json_object_set_null_member(row, "protocol");
        json_object_set_int_member(row, "bytes", at->bytes);
        json_object_set_double_member(row, "time_s", at->time);
        json_object_set_double_member(row, "algbw_Bps", at->algbw);
        json_object_set_double_member(row, "busbw_Bps", at->busbw);
        json_object_set_double_member(row, "sent_mean_bytes", at->measure.sent_mean);
        json_object_set_double_member(row, "sent_max_bytes", at->measure.sent_max);
        json_object_set_int_member(row, "messages", (gint64)at->measure.messages);
        json_object_set_int_member(row, "events", (gint64)at->measure.events);
        g_autofree char *fingerprint = g_strdup_printf("%016" G_GINT64_MODIFIER "x", at->measure.fingerprint);
        json_object_set_string_member(row, "fingerprint", fingerprint);
        json_object_set_double_member(row, "wall_s", at->measure.wall_s);
        json_array_add_object_element(rows, row);
    }
    JsonObject *object = json_object_new();
    json_object_set_array_member(object, "rows", rows);
    JsonNode *node = json_node_alloc();
    json_node_init_object(node, object);
    json_object_unref(object);
    options_print_json(node);
}

void collective_print_one(const Collective *what, const CollectiveRow *row)
{
    g_autofree char *size = units_format_bytes((double)row->bytes);
    g_autofree char *alg = units_format_rate(row->algbw);
    g_autofree char *bus = units_format_rate(row->busbw);
    g_autofree char *mean = units_format_bytes(row->measure.sent_mean);
    g_autofree char *most = units_format_bytes(row->measure.sent_max);
    printf("%s %s of %s on %u ranks of %s\n", row->label, COLL_OP_NAMES[what->op], size,
           what->machine->graph->gpus->len, what->machine->name);
    printf("time       %.6f ms\n", row->time * 1e3);
    printf("bandwidth  algbw %s, busbw %s\n", alg, bus);
    printf("sent       %s a rank on average, %s at most\n", mean, most);
    printf("simulated  %" G_GUINT64_FORMAT " messages, %" G_GUINT64_FORMAT
           " events, fingerprint %016" G_GINT64_MODIFIER "x\n",
           row->measure.messages, row->measure.events, row->measure.fingerprint);
}

// The columns of nccl-tests, out of place.
void collective_print_table(const Collective *what, const GArray *all)
{
    printf("# %s on %u ranks of %s\n", COLL_OP_NAMES[what->op], what->machine->graph->gpus->len,
           what->machine->name);
    printf("#%13s%12s%10s%10s  %s\n#%13s%12s%10s%10s\n", "size", "time", "algbw", "busbw", "algorithm", "(B)",
           "(us)", "(GB/s)", "(GB/s)");
    for (guint i = 0; i < all->len; i++) {
        const CollectiveRow *row = &g_array_index(all, CollectiveRow, i);
        printf("%14" G_GINT64_FORMAT "%12.2f%10.2f%10.2f  %s\n", row->bytes, row->time * 1e6,
               row->algbw * 1e-9, row->busbw * 1e-9, row->label);
    }
}

gboolean collective_print_plot(const Collective *what, const GArray *all, const char *path, GError **error)
{
    g_autofree PlotBandwidth *points = g_new0(PlotBandwidth, all->len);
    for (guint i = 0; i < all->len; i++) {
        const CollectiveRow *row = &g_array_index(all, CollectiveRow, i);
        points[i] = (PlotBandwidth){(double)row->bytes, row->time, row->busbw, row->label};
    }
    g_autofree char *title = g_strdup_printf("%s on %u ranks of %s", COLL_OP_NAMES[what->op],
                                             what->machine->graph->gpus->len, what->machine->name);
    return plot_bandwidth_write(path, title, points, all->len, error);
}
