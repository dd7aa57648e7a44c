// cli/topo-show.c: stepline topo show: a machine's nodes, links and two paths.
#include <stdio.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/fields.h"
#include "cli/options.h"
#include "cli/topo-classes.h"
#include "cli/topo-path.h"
#include "cli/topo-verb.h"
#include "machines/machine.h"

// gpu0 to gpu1 and to the last GPU, as far as there are so many; returns how many.
static guint show_get_paths(const TopoGraph *graph, TopoPath paths[2])
{
    g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
    guint32 last = graph->gpus->len - 1;
    guint n = MIN(last, 2);
    for (guint i = 0; i < n; i++) {
        guint32 from = topo_graph_gpu(graph, 0), to = topo_graph_gpu(graph, i == 0 ? 1 : last);
        gboolean found = topo_path_find(graph, router, from, to, &paths[i]);
        g_assert(found); // the machine was checked
    }
    return n;
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

static void show_print_text(const TopoMachine *machine)
{
    const TopoGraph *graph = machine->graph;
    guint32 by_class[TOPO_LINK_CLASSES] = {0};
    topo_classes_count(graph, by_class);
    printf("%s: %s\n", machine->name, machine->title);
    printf("source   %s\n", machine->source);
    printf("chip     %s (%s)\n", machine->device->name, machine->device->title);
    show_print_counts("nodes", TOPO_NODE_NAMES, graph->counts, graph->nodes->len);
    show_print_counts("links", TOPO_LINK_NAMES, by_class, graph->links->len);
    printf("\nLinks, each direction by itself (a cable is two):\n");
    printf("  %-9s%12s%12s%12s\n", "class", "links", "bandwidth", "latency");
    g_autoptr(GArray) classes = topo_classes_new(graph);
    for (guint i = 0; i < classes->len; i++) {
        const TopoClass *class = &g_array_index(classes, TopoClass, i);
        g_autofree char *count = units_format_count(class->links);
        g_autofree char *rate = units_format_rate(class->like.bandwidth);
        g_autofree char *time = units_format_time(class->like.latency);
        printf("  %-9s%12s%12s%12s\n", TOPO_LINK_NAMES[class->like.class], count, rate, time);
    }
    TopoPath paths[2];
    guint n = show_get_paths(graph, paths);
    for (guint i = 0; i < n; i++) {
        printf("\n");
        topo_path_print(graph, &paths[i]);
        topo_path_clear(&paths[i]);
    }
}

static void show_print_json(const TopoMachine *machine)
{
    const TopoGraph *graph = machine->graph;
    guint32 by_class[TOPO_LINK_CLASSES] = {0};
    topo_classes_count(graph, by_class);
    g_autoptr(JsonBuilder) json = json_builder_new();
    json_builder_begin_object(json);
    fields_add_text(json, "name", machine->name);
    fields_add_text(json, "title", machine->title);
    fields_add_text(json, "source", machine->source);
    fields_add_text(json, "chip", machine->device->name);
    fields_add_int(json, "gpus", graph->gpus->len);
    fields_add_int(json, "node_count", graph->nodes->len);
    fields_add_int(json, "link_count", graph->links->len);
    fields_begin_object(json, "nodes");
    for (guint k = 0; k < TOPO_NODE_KINDS; k++)
        if (graph->counts[k] > 0)
            fields_add_int(json, TOPO_NODE_NAMES[k], graph->counts[k]);
    json_builder_end_object(json);
    fields_begin_object(json, "links");
    for (guint k = 0; k < TOPO_LINK_CLASSES; k++)
        if (by_class[k] > 0)
            fields_add_int(json, TOPO_LINK_NAMES[k], by_class[k]);
    json_builder_end_object(json);
    fields_begin_array(json, "link_classes");
    g_autoptr(GArray) classes = topo_classes_new(graph);
    for (guint i = 0; i < classes->len; i++) {
        const TopoClass *class = &g_array_index(classes, TopoClass, i);
        json_builder_begin_object(json);
        topo_path_add_link(json, &class->like);
        fields_add_int(json, "links", class->links);
        json_builder_end_object(json);
    }
    json_builder_end_array(json);
    fields_begin_array(json, "paths");
    TopoPath paths[2];
    guint n = show_get_paths(graph, paths);
    for (guint i = 0; i < n; i++) {
        json_builder_begin_object(json);
        topo_path_add_fields(json, graph, &paths[i]);
        json_builder_end_object(json);
        topo_path_clear(&paths[i]);
    }
    json_builder_end_array(json);
    json_builder_end_object(json);
    options_print_json(json_builder_get_root(json));
}

static int show_run(const TopoVerbArguments *arguments, GError **error)
{
    g_autoptr(TopoMachine) machine = topo_machine_read(arguments->words[0], arguments->gpus, NULL, error);
    if (machine == NULL)
        return BASE_ERROR_FAILED;
    if (arguments->json)
        show_print_json(machine);
    else
        show_print_text(machine);
    return 0;
}

const TopoVerb TOPO_VERB_SHOW = {
    .name = "show",
    .usage = "NAME [--gpus N] [--json]",
    .words = 1,
    .takes_gpus = TRUE,
    .takes_json = TRUE,
    .run = show_run,
};
