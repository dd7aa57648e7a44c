// topo/write.c: writing a machine file link by link.
#include "topo/write.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/units.h"

enum { FILE_LIMIT = 1 << 20 }; // what base/ini.c reads

static gboolean write_refuse(const TopoWrite *machine, GError **error, const char *what)
{
    g_autofree char *title = base_error_quote(machine->title == NULL ? "graph" : machine->title);
    return base_error_set(error, BASE_ERROR_FAILED, title, "cannot be written as a machine file: %s", what);
}

// Nodes come into being by kind and number where the file is read; ids must be the same then.
static gboolean write_check_nodes(const TopoWrite *machine, GError **error)
{
    const TopoGraph *graph = machine->graph;
    for (guint32 i = 1; i < graph->nodes->len; i++) {
        const TopoNode *last = topo_graph_node(graph, i - 1), *node = topo_graph_node(graph, i);
        if (node->kind < last->kind)
            return write_refuse(machine, error, "its nodes do not stand by kind");
    }
    g_autofree gboolean *linked = g_new0(gboolean, MAX(graph->nodes->len, 1));
    for (guint32 i = 0; i < graph->links->len; i++) {
        linked[topo_graph_link(graph, i)->from] = TRUE;
        linked[topo_graph_link(graph, i)->to] = TRUE;
    }
    for (guint32 i = 0; i < graph->nodes->len; i++)
        if (!linked[i])
            return write_refuse(machine, error, "it has a node without a link");
    return TRUE;
}

// GPUs of one island, as gpus_per_node says it; 0 where the islands are not of one size in order.
static guint32 write_get_island(const TopoGraph *graph)
{
    guint32 size = 0, gpus = graph->gpus->len;
    while (size < gpus && topo_graph_node(graph, topo_graph_gpu(graph, size))->island == 0)
        size++;
    for (guint32 i = 0; i < gpus; i++)
        if (size == 0 || topo_graph_node(graph, topo_graph_gpu(graph, i))->island != i / size)
            return 0;
    return size;
}

// What two links the same way have in common; mixed, because g_int64_hash only folds its halves together.
static gint64 write_pair(const TopoLink *link)
{
    return (gint64)hash_mix(((guint64)link->from << 32) | link->to);
}

static gboolean write_check_links(const TopoWrite *machine, GError **error)
{
    const TopoGraph *graph = machine->graph;
    g_autofree gint64 *pairs = g_new(gint64, MAX(graph->links->len, 1));
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal); // never iterated
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        pairs[i] = write_pair(link);
        if (!g_hash_table_add(seen, &pairs[i])) {
            g_autofree char *from = topo_graph_name(graph, link->from),
                            *to = topo_graph_name(graph, link->to);
            g_autofree char *what =
                g_strdup_printf("it has two links from %s to %s, and a file holds one each way", from, to);
            return write_refuse(machine, error, what);
        }
    }
    return TRUE;
}

// A rate that reads back as the same number: in GB/s where that is exact.
static char *write_rate(double rate)
{
    double back = 0;
    char *text = g_strdup_printf("%.15g GB/s", rate / 1e9);
    if (units_parse(UNITS_RATE, text, NULL, &back, NULL) && back <= rate && back >= rate)
        return text;
    g_free(text);
    return g_strdup_printf("%.17g B/s", rate);
}

// A latency that reads back as the same number: in us where that is exact.
static char *write_latency(Ps latency)
{
    Ps back = 0;
    char *text = g_strdup_printf("%.15g us", (double)latency / 1e6);
    if (units_parse_ps(text, NULL, &back, NULL) && back == latency)
        return text;
    g_free(text);
    return g_strdup_printf("%" G_GINT64_FORMAT " ps", latency);
}

// Untrusted text as one line of a file.
static char *write_line(const char *text)
{
    char *line = g_utf8_make_valid(text, -1);
    for (char *at = line; *at != '\0'; at++)
        if ((guchar)*at < ' ' || *at == 0x7f)
            *at = ' ';
    return g_strchomp(line);
}

static void write_key(GString *out, const char *key, const char *value)
{
    if (value == NULL)
        return;
    g_autofree char *line = write_line(value);
    if (*g_strchug(line) != '\0')
        g_string_append_printf(out, "%s = %s\n", key, line);
}

static void write_head(GString *out, const TopoWrite *machine, guint32 island)
{
    const TopoGraph *graph = machine->graph;
    g_string_append(out, "# A machine, link by link, as 'stepline topo import' writes it.\n");
    for (guint i = 0; machine->comments != NULL && i < machine->comments->len; i++) {
        g_autofree char *line = write_line(machine->comments->pdata[i]);
        g_string_append_printf(out, "# %s\n", line);
    }
    g_string_append(out, "[machine]\n");
    write_key(out, "title", machine->title);
    write_key(out, "source", machine->source);
    if (machine->chip == NULL)
        g_string_append(out, "# chip = NAME    wanted here: one of 'stepline list chips'\n");
    write_key(out, "chip", machine->chip);
    g_string_append(out, "kind = graph\n");
    if (island < graph->gpus->len)
        g_string_append_printf(out, "gpus_per_node = %u\n", island);
    if (graph->gpu_forward)
        g_string_append(out, "gpu_forward = yes\n");
}

// Whether the link after this one is its way back with the same numbers: a cable, one line.
static gboolean write_is_cable(const TopoGraph *graph, guint32 at)
{
    if (at + 1 >= graph->links->len)
        return FALSE;
    const TopoLink *out = topo_graph_link(graph, at), *back = topo_graph_link(graph, at + 1);
    return back->from == out->to && back->to == out->from && back->class == out->class &&
           back->latency == out->latency && back->bandwidth <= out->bandwidth &&
           back->bandwidth >= out->bandwidth;
}

char *topo_write_machine(const TopoWrite *machine, GError **error)
{
    const TopoGraph *graph = machine->graph;
    guint32 island = write_get_island(graph);
    if (!write_check_nodes(machine, error) || !write_check_links(machine, error))
        return NULL;
    if (island == 0) {
        write_refuse(machine, error, "its GPUs do not stand in islands of one size, in order");
        return NULL;
    }
    GString *out = g_string_new(NULL);
    write_head(out, machine, island);
    g_string_append(out, "\n[links]\n");
    for (guint32 i = 0; i < graph->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, i);
        gboolean cable = write_is_cable(graph, i);
        g_autofree char *from = topo_graph_name(graph, link->from), *to = topo_graph_name(graph, link->to);
        g_autofree char *rate = write_rate(link->bandwidth), *latency = write_latency(link->latency);
        g_string_append_printf(out, "%s %s%s = %s, %s, %s\n", from, cable ? "" : "> ", to, rate, latency,
                               TOPO_LINK_NAMES[link->class]);
        i += cable ? 1 : 0;
    }
    if (out->len <= FILE_LIMIT)
        return g_string_free(out, FALSE);
    g_string_free(out, TRUE);
    write_refuse(machine, error, "it would be longer than the 1 MiB that is read back");
    return NULL;
}
