// cli/cmd-topo.c: stepline topo: shows a machine's graph, or checks it.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options.h"
#include "topo/machine.h"
#include "topo/route.h"

static const char *const WORDS[] = {"show", "check", NULL};

// Links that are alike.
typedef struct {
    TopoLink like;
    guint32 links;
} ShowClass;

// A route between two GPUs, worked out.
typedef struct {
    guint32 from, to; // node ids
    GArray *links;    // of guint32; owned
    Ps latency;
    double bottleneck; // bytes/s
} ShowPath;

static int show_compare_links(gconstpointer left, gconstpointer right)
{
    const TopoLink *a = left, *b = right;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->bandwidth < b->bandwidth || a->bandwidth > b->bandwidth)
        return a->bandwidth > b->bandwidth ? -1 : 1;
    return a->latency < b->latency ? -1 : a->latency > b->latency;
}

// The kinds of links by class, then falling bandwidth, then latency. Caller unrefs: of ShowClass.
static GArray *show_get_classes(const TopoGraph *graph)
{
    GArray *classes = g_array_new(FALSE, FALSE, sizeof(ShowClass));
    g_autoptr(GArray) links = g_array_copy(graph->links);
    g_array_sort(links, show_compare_links);
    for (guint i = 0; i < links->len; i++) {
        ShowClass next = {.like = g_array_index(links, TopoLink, i), .links = 1};
        ShowClass *last = classes->len == 0 ? NULL : &g_array_index(classes, ShowClass, classes->len - 1);
        if (last != NULL && show_compare_links(&last->like, &next.like) == 0)
            last->links++;
        else
            g_array_append_val(classes, next);
    }
    return classes;
}

// gpu0 to gpu1 and to the last GPU, as far as there are so many; returns how many.
static guint show_get_paths(const TopoGraph *graph, ShowPath paths[2])
{
    g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
    guint32 last = graph->gpus->len - 1;
    guint n = MIN(last, 2);
    for (guint i = 0; i < n; i++) {
        paths[i] =
            (ShowPath){.from = topo_graph_gpu(graph, 0), .to = topo_graph_gpu(graph, i == 0 ? 1 : last)};
        paths[i].links = g_array_new(FALSE, FALSE, sizeof(guint32));
        gboolean found = topo_router_find(router, paths[i].from, paths[i].to, paths[i].links);
        g_assert(found); // the machine was checked
        paths[i].bottleneck = G_MAXDOUBLE;
        for (guint k = 0; k < paths[i].links->len; k++) {
            const TopoLink *link = topo_graph_link(graph, g_array_index(paths[i].links, guint32, k));
            paths[i].latency += link->latency;
            paths[i].bottleneck = MIN(paths[i].bottleneck, link->bandwidth);
        }
    }
    return n;
}

static void show_count_links(const TopoGraph *graph, guint32 counts[TOPO_LINK_CLASSES])
{
    for (guint32 i = 0; i < graph->links->len; i++)
        counts[topo_graph_link(graph, i)->class]++;
}

static void show_print_counts(const char *what, const char *const *names, const guint32 *counts,
                              guint32 total)
{
    g_autofree char *all = units_format_count(total);
    printf("%-9s%s", what, all);
    for (guint k = 0, shown = 0; names[k] != NULL; k++) {
        g_autofree char *count = units_format_count(counts[k]);
        if (counts[k] > 0)
            printf("%s%s %s", shown++ == 0 ? ": " : ", ", count, names[k]);
    }
    printf("\n");
}

static void show_print_path(const TopoGraph *graph, const ShowPath *path)
{
    g_autofree char *from = topo_graph_name(graph, path->from);
    g_autofree char *to = topo_graph_name(graph, path->to);
    g_autofree char *latency = units_format_time(path->latency);
    g_autofree char *bottleneck = units_format_rate(path->bottleneck);
    printf("\nPath %s to %s: %u links, latency %s, bottleneck %s\n", from, to, path->links->len, latency,
           bottleneck);
    for (guint i = 0; i < path->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(path->links, guint32, i));
        g_autofree char *a = topo_graph_name(graph, link->from);
        g_autofree char *b = topo_graph_name(graph, link->to);
        g_autofree char *rate = units_format_rate(link->bandwidth);
        g_autofree char *time = units_format_time(link->latency);
        printf("  %-12s> %-12s%-9s%12s%12s\n", a, b, TOPO_LINK_NAMES[link->class], rate, time);
    }
}

static void show_print_text(const TopoMachine *machine)
{
    const TopoGraph *graph = machine->graph;
    guint32 by_class[TOPO_LINK_CLASSES] = {0};
    show_count_links(graph, by_class);
    printf("%s: %s\n", machine->name, machine->title);
    printf("source   %s\n", machine->source);
    printf("chip     %s (%s)\n", machine->device->name, machine->device->title);
    show_print_counts("nodes", TOPO_NODE_NAMES, graph->counts, graph->nodes->len);
    show_print_counts("links", TOPO_LINK_NAMES, by_class, graph->links->len);
    printf("\nLinks, each direction by itself (a cable is two):\n");
    printf("  %-9s%12s%12s%12s\n", "class", "links", "bandwidth", "latency");
    g_autoptr(GArray) classes = show_get_classes(graph);
    for (guint i = 0; i < classes->len; i++) {
        const ShowClass *class = &g_array_index(classes, ShowClass, i);
        g_autofree char *count = units_format_count(class->links);
        g_autofree char *rate = units_format_rate(class->like.bandwidth);
        g_autofree char *time = units_format_time(class->like.latency);
        printf("  %-9s%12s%12s%12s\n", TOPO_LINK_NAMES[class->like.class], count, rate, time);
    }
    ShowPath paths[2];
    guint n = show_get_paths(graph, paths);
    for (guint i = 0; i < n; i++) {
        show_print_path(graph, &paths[i]);
        g_array_unref(paths[i].links);
    }
}

static void show_add_text(JsonBuilder *json, const char *key, const char *value)
{
    json_builder_set_member_name(json, key);
    json_builder_add_string_value(json, value);
}

static void show_add_int(JsonBuilder *json, const char *key, gint64 value)
{
    json_builder_set_member_name(json, key);
    json_builder_add_int_value(json, value);
}

static void show_add_double(JsonBuilder *json, const char *key, double value)
{
    json_builder_set_member_name(json, key);
    json_builder_add_double_value(json, value);
}

static void show_begin(JsonBuilder *json, const char *key, gboolean array)
{
    json_builder_set_member_name(json, key);
    if (array)
        json_builder_begin_array(json);
    else
        json_builder_begin_object(json);
}

static void show_add_link(JsonBuilder *json, const TopoLink *link)
{
    show_add_text(json, "class", TOPO_LINK_NAMES[link->class]);
    show_add_double(json, "bandwidth_Bps", link->bandwidth);
    show_add_double(json, "latency_s", units_seconds(link->latency));
}

static void show_add_path(JsonBuilder *json, const TopoGraph *graph, const ShowPath *path)
{
    json_builder_begin_object(json);
    g_autofree char *from = topo_graph_name(graph, path->from);
    g_autofree char *to = topo_graph_name(graph, path->to);
    show_add_text(json, "from", from);
    show_add_text(json, "to", to);
    show_add_double(json, "latency_s", units_seconds(path->latency));
    show_add_double(json, "bottleneck_Bps", path->bottleneck);
    show_begin(json, "hops", TRUE);
    for (guint i = 0; i < path->links->len; i++) {
        const TopoLink *link = topo_graph_link(graph, g_array_index(path->links, guint32, i));
        g_autofree char *a = topo_graph_name(graph, link->from);
        g_autofree char *b = topo_graph_name(graph, link->to);
        json_builder_begin_object(json);
        show_add_text(json, "from", a);
        show_add_text(json, "to", b);
        show_add_link(json, link);
        json_builder_end_object(json);
    }
    json_builder_end_array(json);
    json_builder_end_object(json);
}

static void show_print_json(const TopoMachine *machine)
{
    const TopoGraph *graph = machine->graph;
    guint32 by_class[TOPO_LINK_CLASSES] = {0};
    show_count_links(graph, by_class);
    g_autoptr(JsonBuilder) json = json_builder_new();
    json_builder_begin_object(json);
    show_add_text(json, "name", machine->name);
    show_add_text(json, "title", machine->title);
    show_add_text(json, "source", machine->source);
    show_add_text(json, "chip", machine->device->name);
    show_add_int(json, "gpus", graph->gpus->len);
    show_add_int(json, "node_count", graph->nodes->len);
    show_add_int(json, "link_count", graph->links->len);
    show_begin(json, "nodes", FALSE);
    for (guint k = 0; k < TOPO_NODE_KINDS; k++)
        if (graph->counts[k] > 0)
            show_add_int(json, TOPO_NODE_NAMES[k], graph->counts[k]);
    json_builder_end_object(json);
    show_begin(json, "links", FALSE);
    for (guint k = 0; k < TOPO_LINK_CLASSES; k++)
        if (by_class[k] > 0)
            show_add_int(json, TOPO_LINK_NAMES[k], by_class[k]);
    json_builder_end_object(json);
    show_begin(json, "link_classes", TRUE);
    g_autoptr(GArray) classes = show_get_classes(graph);
    for (guint i = 0; i < classes->len; i++) {
        const ShowClass *class = &g_array_index(classes, ShowClass, i);
        json_builder_begin_object(json);
        show_add_link(json, &class->like);
        show_add_int(json, "links", class->links);
        json_builder_end_object(json);
    }
    json_builder_end_array(json);
    show_begin(json, "paths", TRUE);
    ShowPath paths[2];
    guint n = show_get_paths(graph, paths);
    for (guint i = 0; i < n; i++) {
        show_add_path(json, graph, &paths[i]);
        g_array_unref(paths[i].links);
    }
    json_builder_end_array(json);
    json_builder_end_object(json);
    options_print_json(json_builder_get_root(json));
}

static int topo_run(int argc, char **argv, GError **error)
{
    g_autofree char *gpus_text = NULL;
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        {"gpus", 0, 0, G_OPTION_ARG_STRING, &gpus_text, "Build the machine with N GPUs", "N"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object (show)", NULL},
        {0},
    };
    static const char details[] =
        "A NAME is one of 'stepline list machines'; with a '/' or ending in .ini it is a file.\n"
        "show prints nodes, links and two paths; check says whether every GPU reaches every other.\n";
    if (!options_parse(&COMMAND_TOPO, entries, details, 2, 2, &argc, &argv, error))
        return BASE_ERROR_USAGE;
    gboolean show = strcmp(argv[1], "show") == 0;
    if (!show && strcmp(argv[1], "check") != 0) {
        g_autofree char *quoted = base_error_quote(argv[1]);
        g_autofree char *hint = suggest_hint(argv[1], WORDS);
        base_error_set(error, BASE_ERROR_USAGE, "topo", "found '%s', wanted show or check%s", quoted, hint);
        return BASE_ERROR_USAGE;
    }
    if (json && !show) {
        base_error_set(error, BASE_ERROR_USAGE, "topo check",
                       "found --json, wanted it with 'topo show' only");
        return BASE_ERROR_USAGE;
    }
    gint64 gpus = 0;
    if (gpus_text != NULL) {
        g_autoptr(GError) local = NULL;
        if (!units_parse_whole(UNITS_COUNT, gpus_text, "--gpus", &gpus, &local)) {
            base_error_set(error, BASE_ERROR_USAGE, NULL, "%s", local->message);
            return BASE_ERROR_USAGE;
        }
        if (gpus < 1 || gpus > G_MAXUINT32) {
            base_error_set(error, BASE_ERROR_USAGE, "--gpus", "found %s, wanted a whole number from 1",
                           gpus_text);
            return BASE_ERROR_USAGE;
        }
    }
    g_autoptr(TopoMachine) machine = topo_machine_read(argv[2], (guint32)gpus, NULL, error);
    if (machine == NULL)
        return BASE_ERROR_FAILED;
    if (!show)
        printf("%s: %u GPUs, %u nodes, %u links: every GPU reaches every other\n", machine->name,
               machine->graph->gpus->len, machine->graph->nodes->len, machine->graph->links->len);
    else if (json)
        show_print_json(machine);
    else
        show_print_text(machine);
    return 0;
}

const Command COMMAND_TOPO = {
    .name = "topo",
    .usage = "show NAME [--gpus N] [--json] | check NAME|FILE [--gpus N]",
    .summary = "Show a machine's nodes, links and paths, or check that its GPUs reach each other",
    .run = topo_run,
};
