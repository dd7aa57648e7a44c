// machines/kind-graph.c: kind = graph: a machine spelt out link by link.
#include "machines/kind.h"
#include "topo/build.h"
#include "topo/links.h"

static const char SECTION[] = MACHINE_KIND_SECTION;
static const char *const KEYS[] = {"gpus_per_node", "gpu_forward", NULL};

static TopoGraph *graph_read(MachineKindFile *file, GError **error)
{
    guint32 per_node = TOPO_BUILD_GPUS; // where nothing is said, all stand in one island
    gboolean forward = FALSE;
    if (!machine_kind_get_count(file, "gpus_per_node", INI_OPTIONAL, TOPO_BUILD_GPUS, &per_node, error) ||
        !ini_get_flag(file->ini, SECTION, "gpu_forward", INI_OPTIONAL, &forward, error))
        return NULL;
    g_autoptr(TopoGraph) graph = topo_links_read(file->ini, per_node, forward, error);
    if (graph != NULL && file->asked != 0 && file->asked != graph->gpus->len) {
        g_autofree char *wanted = g_strdup_printf("%u", graph->gpus->len);
        g_autofree char *why = g_strdup_printf("has %u GPUs", graph->gpus->len);
        machine_kind_refuse_gpus(file, wanted, why, error);
        return NULL;
    }
    return g_steal_pointer(&graph);
}

const MachineKind MACHINE_KIND_GRAPH = {
    .name = "graph",
    .title = "spelt out link by link in [links]",
    .keys = KEYS,
    .read = graph_read,
};
