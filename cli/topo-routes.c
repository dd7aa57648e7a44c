// cli/topo-routes.c: stepline topo routes: the path between two nodes of a machine, hop by hop.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/options.h"
#include "cli/topo-path.h"
#include "cli/topo-verb.h"
#include "machines/machine.h"

// The node that a word names: "3" or "gpu3", "nic0", ... FALSE with a usage error.
static gboolean routes_find_node(const TopoGraph *graph, const char *word, guint32 *node, GError **error)
{
    gsize letters = strcspn(word, "0123456789"), digits = strspn(word + letters, "0123456789");
    g_autofree char *kind =
        letters == 0 ? g_strdup(TOPO_NODE_NAMES[TOPO_NODE_GPU]) : g_strndup(word, letters);
    g_autofree char *quoted = base_error_quote(word);
    guint k = 0;
    while (TOPO_NODE_NAMES[k] != NULL && strcmp(TOPO_NODE_NAMES[k], kind) != 0)
        k++;
    if (TOPO_NODE_NAMES[k] == NULL || digits == 0 || word[letters + digits] != '\0') {
        g_autofree char *hint = k < TOPO_NODE_KINDS ? g_strdup("") : suggest_hint(kind, TOPO_NODE_NAMES);
        return base_error_set(error, BASE_ERROR_USAGE, "topo routes",
                              "found '%s', wanted a GPU (gpu0 or 0) or another node such as nic0%s", quoted,
                              hint);
    }
    guint64 number = digits > 9 ? G_MAXUINT64 : g_ascii_strtoull(word + letters, NULL, 10);
    if (graph->counts[k] == 0)
        return base_error_set(error, BASE_ERROR_USAGE, "topo routes", "found '%s', but the machine has no %s",
                              quoted, kind);
    if (number >= graph->counts[k])
        return base_error_set(error, BASE_ERROR_USAGE, "topo routes", "found '%s', wanted %s0 to %s%u",
                              quoted, kind, kind, graph->counts[k] - 1);
    for (guint32 i = 0; i < graph->nodes->len; i++)
        if (topo_graph_node(graph, i)->kind == k && topo_graph_node(graph, i)->number == number)
            *node = i;
    return TRUE;
}

static int routes_run(const TopoVerbArguments *arguments, GError **error)
{
    g_autoptr(TopoMachine) machine = topo_machine_read(arguments->words[0], arguments->gpus, NULL, error);
    guint32 from = 0, to = 0;
    if (machine == NULL)
        return BASE_ERROR_FAILED;
    const TopoGraph *graph = machine->graph;
    if (!routes_find_node(graph, arguments->words[1], &from, error) ||
        !routes_find_node(graph, arguments->words[2], &to, error))
        return BASE_ERROR_USAGE;
    g_autofree char *a = topo_graph_name(graph, from), *b = topo_graph_name(graph, to);
    if (from == to) {
        base_error_set(error, BASE_ERROR_USAGE, "topo routes", "found %s twice, wanted two nodes", a);
        return BASE_ERROR_USAGE;
    }
    g_autoptr(TopoRouter) router = topo_router_new(graph, 0);
    TopoPath path;
    if (!topo_path_find(graph, router, from, to, &path)) {
        base_error_set(error, BASE_ERROR_FAILED, machine->name, "%s cannot reach %s", a, b);
        return BASE_ERROR_FAILED;
    }
    if (arguments->json) {
        g_autoptr(JsonBuilder) json = json_builder_new();
        json_builder_begin_object(json);
        topo_path_add_fields(json, graph, &path);
        json_builder_end_object(json);
        options_print_json(json_builder_get_root(json));
    } else {
        topo_path_print(graph, &path);
    }
    topo_path_clear(&path);
    return 0;
}

const TopoVerb TOPO_VERB_ROUTES = {
    .name = "routes",
    .usage = "NAME|FILE A B [--gpus N] [--json]",
    .words = 3,
    .takes_gpus = TRUE,
    .takes_json = TRUE,
    .run = routes_run,
};
