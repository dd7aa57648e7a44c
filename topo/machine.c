// topo/machine.c: reading a machine's file: which chip, which kind of machine, and the kind's own numbers.
#include "topo/machine.h"

#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "topo/build.h"
#include "topo/import.h"
#include "topo/links.h"

// What a kind's reader works on.
typedef struct {
    Ini *ini;          // borrowed
    const char *name;  // borrowed: the machine's
    const char *where; // borrowed: where the number of GPUs was asked for; may be NULL
    guint32 asked;     // 0: the file's own number
} MachineFile;

static const char SECTION[] = "machine";

static gboolean machine_get_rate(MachineFile *file, const char *key, IniNeed need, double *value,
                                 GError **error)
{
    return ini_get(file->ini, SECTION, key, need, UNITS_RATE, value, error) &&
           topo_links_check_bandwidth(file->ini, SECTION, key, *value, error);
}

static gboolean machine_get_latency(MachineFile *file, const char *key, Ps *value, GError **error)
{
    return ini_get_ps(file->ini, SECTION, key, INI_REQUIRED, value, error) &&
           topo_links_check_latency(file->ini, SECTION, key, *value, error);
}

static gboolean machine_get_count(MachineFile *file, const char *key, gint64 high, guint32 *value,
                                  GError **error)
{
    gint64 count = 1;
    if (!ini_get_count(file->ini, SECTION, key, INI_REQUIRED, 1, high, &count, error))
        return FALSE;
    *value = (guint32)count;
    return TRUE;
}

// FALSE with an error where one of two keys is there that would mean nothing.
static gboolean machine_check_absent(const MachineFile *file, const char *key, const char *other,
                                     const char *why, GError **error)
{
    if (ini_has(file->ini, SECTION, key))
        return ini_refuse(file->ini, SECTION, key, error, "found with %s", why);
    if (ini_has(file->ini, SECTION, other))
        return ini_refuse(file->ini, SECTION, other, error, "found with %s", why);
    return TRUE;
}

static gboolean machine_refuse_gpus(const MachineFile *file, const char *wanted, const char *why,
                                    GError **error)
{
    g_autofree char *name = base_error_quote(file->name);
    return base_error_set(error, BASE_ERROR_FAILED, file->where, "found %u GPUs, wanted %s: %s %s",
                          file->asked, wanted, name, why);
}

// The number of GPUs of a machine whose file says how large the box is; fewer may be used.
static gboolean machine_get_box(MachineFile *file, guint32 *box, guint32 *gpus, GError **error)
{
    if (!machine_get_count(file, "gpus", TOPO_BUILD_GPUS, box, error))
        return FALSE;
    *gpus = file->asked == 0 ? *box : file->asked;
    if (*gpus <= *box)
        return TRUE;
    g_autofree char *wanted = g_strdup_printf("at most %u", *box);
    g_autofree char *why = g_strdup_printf("has %u GPUs", *box);
    return machine_refuse_gpus(file, wanted, why, error);
}

// The number of GPUs of a machine that grows by whole units (a node; one node in every site).
static gboolean machine_get_gpus(MachineFile *file, guint32 unit, const char *unit_name, guint32 *gpus,
                                 GError **error)
{
    if (!machine_get_count(file, "gpus", TOPO_BUILD_GPUS, gpus, error))
        return FALSE;
    if (*gpus % unit != 0)
        return ini_refuse(file->ini, SECTION, "gpus", error, "found %u, wanted a multiple of %u (%s)", *gpus,
                          unit, unit_name);
    if (file->asked == 0)
        return TRUE;
    *gpus = file->asked;
    if (*gpus % unit == 0)
        return TRUE;
    g_autofree char *wanted = g_strdup_printf("a multiple of %u", unit);
    g_autofree char *why = g_strdup_printf("grows by %s", unit_name);
    return machine_refuse_gpus(file, wanted, why, error);
}

static TopoGraph *machine_read_island(MachineFile *file, GError **error)
{
    TopoBuildIsland spec = {0};
    guint32 box = 0;
    if (!machine_get_box(file, &box, &spec.gpus, error) ||
        !machine_get_rate(file, "bandwidth", INI_REQUIRED, &spec.bandwidth, error) ||
        !machine_get_latency(file, "latency", &spec.latency, error))
        return NULL;
    return topo_build_island(&spec);
}

// All of an `islands` machine but the number of GPUs.
static gboolean machine_get_islands(MachineFile *file, TopoBuildIslands *spec, GError **error)
{
    if (!machine_get_count(file, "gpus_per_node", TOPO_BUILD_GPUS, &spec->gpus_per_node, error) ||
        !machine_get_rate(file, "network_bandwidth", INI_REQUIRED, &spec->network_bandwidth, error) ||
        !machine_get_latency(file, "network_latency", &spec->network_latency, error))
        return FALSE;
    spec->pcie_bandwidth = spec->network_bandwidth;
    if (!machine_get_rate(file, "pcie_bandwidth", INI_OPTIONAL, &spec->pcie_bandwidth, error))
        return FALSE;
    if (spec->pcie_bandwidth < spec->network_bandwidth)
        return ini_refuse(
            file->ini, SECTION, "pcie_bandwidth", error,
            "found less than network_bandwidth, wanted at least as much: the NIC's rate is what it can use");
    if (spec->gpus_per_node == 1)
        return machine_check_absent(file, "nvlink_bandwidth", "nvlink_latency",
                                    "gpus_per_node = 1, wanted only where a node has GPUs to join", error);
    if (!machine_get_rate(file, "nvlink_bandwidth", INI_REQUIRED, &spec->inside.bandwidth, error) ||
        !machine_get_latency(file, "nvlink_latency", &spec->inside.latency, error))
        return FALSE;
    if (spec->inside.latency > spec->network_latency)
        return ini_refuse(
            file->ini, SECTION, "nvlink_latency", error,
            "found more than network_latency, wanted at most as much: else routes inside a node leave it");
    return TRUE;
}

static TopoGraph *machine_read_islands(MachineFile *file, GError **error)
{
    TopoBuildIslands spec = {0};
    if (!machine_get_islands(file, &spec, error) ||
        !machine_get_gpus(file, spec.gpus_per_node, "nodes of gpus_per_node GPUs", &spec.gpus, error))
        return NULL;
    return topo_build_islands(&spec);
}

static TopoGraph *machine_read_pcie(MachineFile *file, GError **error)
{
    TopoBuildPcie spec = {0};
    guint32 box = 0;
    if (!machine_get_box(file, &box, &spec.gpus, error) ||
        !machine_get_count(file, "gpus_per_switch", box, &spec.gpus_per_switch, error) ||
        !machine_get_count(file, "sockets", 64, &spec.sockets, error) ||
        !machine_get_rate(file, "bandwidth", INI_REQUIRED, &spec.bandwidth, error) ||
        !machine_get_latency(file, "latency", &spec.latency, error))
        return NULL;
    gboolean fine =
        spec.sockets == 1
            ? machine_check_absent(file, "socket_bandwidth", "socket_latency",
                                   "sockets = 1, wanted only where there are sockets to join", error)
            : machine_get_rate(file, "socket_bandwidth", INI_REQUIRED, &spec.socket_bandwidth, error) &&
                  machine_get_latency(file, "socket_latency", &spec.socket_latency, error);
    if (!fine)
        return NULL;
    spec.switches = box / spec.gpus_per_switch;
    if (box % spec.gpus_per_switch != 0 || spec.switches % spec.sockets != 0) {
        ini_refuse(file->ini, SECTION, "gpus", error,
                   "found %u, wanted a multiple of gpus_per_switch x sockets = %" G_GUINT64_FORMAT, box,
                   (guint64)spec.gpus_per_switch * spec.sockets);
        return NULL;
    }
    return topo_build_pcie(&spec);
}

static TopoGraph *machine_read_wan(MachineFile *file, GError **error)
{
    TopoBuildWan spec = {0};
    gint64 sites = 2;
    guint32 gpus = 0;
    if (!ini_get_count(file->ini, SECTION, "sites", INI_REQUIRED, 2, 64, &sites, error) ||
        !machine_get_islands(file, &spec.site, error) ||
        !machine_get_rate(file, "wan_bandwidth", INI_REQUIRED, &spec.wan_bandwidth, error) ||
        !machine_get_latency(file, "wan_latency", &spec.wan_latency, error) ||
        !machine_get_gpus(file, (guint32)sites * spec.site.gpus_per_node,
                          "one node of gpus_per_node GPUs a site", &gpus, error))
        return NULL;
    spec.sites = (guint32)sites;
    spec.site.gpus = gpus / spec.sites;
    return topo_build_wan(&spec);
}

static TopoGraph *machine_read_graph(MachineFile *file, GError **error)
{
    gint64 per_node = TOPO_BUILD_GPUS; // where nothing is said, all stand in one island
    gboolean forward = FALSE;
    if (!ini_get_count(file->ini, SECTION, "gpus_per_node", INI_OPTIONAL, 1, TOPO_BUILD_GPUS, &per_node,
                       error) ||
        !ini_get_flag(file->ini, SECTION, "gpu_forward", INI_OPTIONAL, &forward, error))
        return NULL;
    g_autoptr(TopoGraph) graph = topo_links_read(file->ini, (guint32)per_node, forward, error);
    if (graph != NULL && file->asked != 0 && file->asked != graph->gpus->len) {
        g_autofree char *wanted = g_strdup_printf("%u", graph->gpus->len);
        g_autofree char *why = g_strdup_printf("has %u GPUs", graph->gpus->len);
        machine_refuse_gpus(file, wanted, why, error);
        return NULL;
    }
    return g_steal_pointer(&graph);
}

static const char *const KIND_NAMES[] = {"island", "islands", "pcie", "wan", "graph", NULL};
static TopoGraph *(*const KIND_READERS[])(MachineFile *, GError **) = {
    machine_read_island, machine_read_islands, machine_read_pcie, machine_read_wan, machine_read_graph,
};
G_STATIC_ASSERT(G_N_ELEMENTS(KIND_NAMES) == G_N_ELEMENTS(KIND_READERS) + 1);

void topo_machine_free(TopoMachine *machine)
{
    if (machine == NULL)
        return;
    g_free(machine->name);
    g_free(machine->title);
    g_free(machine->source);
    topo_device_free(machine->device);
    topo_graph_free(machine->graph);
    g_free(machine);
}

// A file that is no machine file of ours: one node's topology as other tools write it.
static TopoMachine *machine_import(const char *path, guint32 gpus, const char *where, GError **error)
{
    TopoImport import;
    topo_import_init(&import);
    g_autoptr(TopoMachine) machine = g_new0(TopoMachine, 1);
    g_autofree char *chip_where = g_strdup_printf("%s: machine.chip", path);
    MachineFile file = {.name = path, .where = where, .asked = gpus};
    gboolean fine = topo_import_read(path, &import, error);
    if (fine && import.chip == NULL)
        fine = base_error_set(
            error, BASE_ERROR_FAILED, chip_where,
            "the file does not say which chip, wanted a machine file that does: 'stepline topo import "
            "FILE --chip NAME -o MACHINE.ini'");
    if (fine && gpus != 0 && gpus != import.graph->gpus->len) {
        g_autofree char *wanted = g_strdup_printf("%u", import.graph->gpus->len);
        g_autofree char *why = g_strdup_printf("has %u GPUs", import.graph->gpus->len);
        fine = machine_refuse_gpus(&file, wanted, why, error);
    }
    if (fine) {
        machine->name = g_strdup(path);
        g_autofree char *base = g_path_get_basename(path);
        machine->title = g_strdup_printf("Imported from %s", base);
        machine->source =
            g_strdup_printf("%s; assumptions: 'stepline topo import' lists %u", path, import.assumed->len);
        machine->device = topo_device_read(import.chip, chip_where, error);
        machine->graph = g_steal_pointer(&import.graph);
        fine = machine->device != NULL;
    }
    topo_import_clear(&import);
    return fine ? g_steal_pointer(&machine) : NULL;
}

// Whether a name is a path to a file that is no .ini: with a '/', or of a file that is there and in no
// library.
static gboolean machine_is_import(const char *name)
{
    if (g_str_has_suffix(name, ".ini"))
        return FALSE;
    if (strchr(name, '/') != NULL)
        return TRUE;
    g_autofree char *path = g_strdup_printf("topo/data/machines/%s.ini", name);
    g_autoptr(GBytes) known = library_find(path);
    return known == NULL && g_file_test(name, G_FILE_TEST_IS_REGULAR);
}

TopoMachine *topo_machine_read(const char *name, guint32 gpus, const char *where, GError **error)
{
    if (gpus > TOPO_BUILD_GPUS) {
        base_error_set(error, BASE_ERROR_FAILED, where, "found %u GPUs, wanted at most %d", gpus,
                       TOPO_BUILD_GPUS);
        return NULL;
    }
    if (machine_is_import(name))
        return machine_import(name, gpus, where, error);
    g_autoptr(Ini) ini = library_read_ini("topo/data/machines", "machine", name, where, error);
    if (ini == NULL)
        return NULL;
    g_autoptr(TopoMachine) machine = g_new0(TopoMachine, 1);
    machine->name = g_strdup(name);
    machine->title = g_strdup(name);
    machine->source = g_strdup("not stated");
    g_autofree char *chip = NULL;
    guint kind = 0;
    if (!ini_get_text(ini, SECTION, "title", INI_OPTIONAL, &machine->title, error) ||
        !ini_get_text(ini, SECTION, "source", INI_OPTIONAL, &machine->source, error) ||
        !ini_get_text(ini, SECTION, "chip", INI_REQUIRED, &chip, error) ||
        !ini_get_choice(ini, SECTION, "kind", INI_REQUIRED, KIND_NAMES, &kind, error))
        return NULL;
    g_autofree char *chip_where = ini_where(ini, SECTION, "chip");
    machine->device = topo_device_read(chip, chip_where, error);
    if (machine->device == NULL)
        return NULL;
    MachineFile file = {.ini = ini, .name = name, .where = where, .asked = gpus};
    machine->graph = KIND_READERS[kind](&file, error);
    if (machine->graph == NULL || !ini_finish(ini, error) ||
        !topo_graph_check(machine->graph, ini_name(ini), error))
        return NULL;
    return g_steal_pointer(&machine);
}
