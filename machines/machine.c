// machines/machine.c: reading what all machines' files have, and handing the rest to the kind of machine.
#include "machines/machine.h"

#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "imports/import.h"
#include "machines/kind.h"
#include "topo/build.h"

static const char SECTION[] = MACHINE_KIND_SECTION;

void topo_machine_free(TopoMachine *machine)
{
    if (machine == NULL)
        return;
    g_free(machine->name);
    g_free(machine->title);
    g_free(machine->source);
    topo_device_free(machine->device);
    topo_graph_free(machine->graph);
    machine_tuning_clear(&machine->tuning);
    g_clear_pointer(&machine->notes, g_ptr_array_unref);
    g_free(machine);
}

// The kind that the file names; one with a key 'node' need not say that it is of kind nodes.
static const MachineKind *machine_get_kind(Ini *ini, GError **error)
{
    const char *names[32] = {NULL};
    guint kind = 0;
    for (guint i = 0; MACHINE_KINDS[i] != NULL; i++) {
        g_assert(i + 1 < G_N_ELEMENTS(names));
        names[i] = MACHINE_KINDS[i]->name;
        if (MACHINE_KINDS[i] == &MACHINE_KIND_NODES)
            kind = i;
    }
    IniNeed need = ini_has(ini, SECTION, "node") ? INI_OPTIONAL : INI_REQUIRED;
    return ini_get_choice(ini, SECTION, "kind", need, names, &kind, error) ? MACHINE_KINDS[kind] : NULL;
}

static gboolean machine_build(TopoMachine *machine, Ini *ini, const MachineKind *kind, guint32 gpus,
                              const char *where, GError **error)
{
    MachineKindFile file = {
        .ini = ini, .name = machine->name, .where = where, .asked = gpus, .notes = machine->notes};
    machine->graph = kind->read(&file, error);
    if (machine->device == NULL)
        machine->device = file.device;
    else
        topo_device_free(file.device);
    return machine->graph != NULL && machine_tuning_read(&machine->tuning, ini, error);
}

// A file that is no machine file of ours: one node's topology as other tools write it.
static TopoMachine *machine_import(const char *path, guint32 gpus, const char *where, GError **error)
{
    Import import;
    import_init(&import);
    g_autoptr(TopoMachine) machine = g_new0(TopoMachine, 1);
    machine_tuning_init(&machine->tuning);
    machine->notes = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *chip_where = g_strdup_printf("%s: machine.chip", path);
    gboolean fine = import_read(path, &import, error);
    if (fine && import.chip == NULL)
        fine = base_error_set(
            error, BASE_ERROR_FAILED, chip_where,
            "the file does not say which chip, wanted a machine file that does: 'stepline topo import "
            "FILE --chip NAME -o MACHINE.ini'");
    if (fine && gpus != 0 && gpus != import.graph->gpus->len)
        fine = base_error_set(error, BASE_ERROR_FAILED, where, "found %u GPUs, wanted %u: so many has %s",
                              gpus, import.graph->gpus->len, path);
    if (fine) {
        machine->name = g_strdup(path);
        g_autofree char *base = g_path_get_basename(path);
        machine->title = g_strdup_printf("Imported from %s", base);
        machine->source =
            g_strdup_printf("%s; assumptions: 'stepline topo import' lists %u", path, import.assumed->len);
        machine->device = topo_device_read(import.chip, chip_where, error);
        machine->graph = g_steal_pointer(&import.graph);
        for (guint i = 0; i < import.assumed->len; i++)
            g_ptr_array_add(machine->notes, g_strdup(import.assumed->pdata[i]));
        fine = machine->device != NULL;
    }
    import_clear(&import);
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

// The machine of an ini's section [machine]. whole: the ini is nothing but a machine's file. node: it must be
// one node.
static TopoMachine *machine_read_ini(Ini *ini, const char *name, guint32 gpus, gboolean whole, gboolean node,
                                     const char *where, GError **error)
{
    g_autoptr(TopoMachine) machine = g_new0(TopoMachine, 1);
    machine_tuning_init(&machine->tuning);
    machine->name = g_strdup(name);
    machine->title = g_strdup(name);
    machine->source = g_strdup("not stated");
    machine->notes = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *chip = NULL;
    IniNeed need = ini_has(ini, SECTION, "node") ? INI_OPTIONAL : INI_REQUIRED; // a node has a chip
    if (!ini_get_text(ini, SECTION, "title", INI_OPTIONAL, &machine->title, error) ||
        !ini_get_text(ini, SECTION, "source", INI_OPTIONAL, &machine->source, error) ||
        !ini_get_text(ini, SECTION, "chip", need, &chip, error))
        return NULL;
    const MachineKind *kind = machine_get_kind(ini, error);
    if (kind == NULL)
        return NULL;
    if (node && kind == &MACHINE_KIND_NODES) {
        g_autofree char *quoted = base_error_quote(name);
        base_error_set(error, BASE_ERROR_FAILED, where,
                       "found '%s' of kind nodes, wanted a machine of one node", quoted);
        return NULL;
    }
    g_autofree char *chip_where = ini_where(ini, SECTION, "chip");
    if (chip != NULL && (machine->device = topo_device_read(chip, chip_where, error)) == NULL)
        return NULL;
    if (!machine_build(machine, ini, kind, gpus, where, error) || (whole && !ini_finish(ini, error)) ||
        !topo_graph_check(machine->graph, ini_name(ini), error))
        return NULL;
    g_assert(machine->device != NULL); // a key 'node' that nobody read was an error
    return g_steal_pointer(&machine);
}

static TopoMachine *machine_read(const char *name, guint32 gpus, gboolean node, const char *where,
                                 GError **error)
{
    if (gpus > TOPO_BUILD_GPUS) {
        base_error_set(error, BASE_ERROR_FAILED, where, "found %u GPUs, wanted at most %d", gpus,
                       TOPO_BUILD_GPUS);
        return NULL;
    }
    if (machine_is_import(name))
        return machine_import(name, gpus, where, error);
    g_autoptr(Ini) ini = library_read_ini("topo/data/machines", "machine", name, where, error);
    return ini == NULL ? NULL : machine_read_ini(ini, name, gpus, TRUE, node, where, error);
}

TopoMachine *topo_machine_read_section(Ini *ini, guint32 gpus, const char *where, GError **error)
{
    TopoMachine *machine = machine_read_ini(ini, ini_name(ini), gpus, FALSE, FALSE, where, error);
    if (machine != NULL && !ini_has(ini, SECTION, "source")) {
        g_free(machine->source);
        machine->source = g_strdup("the scenario's own section [machine]");
    }
    return machine;
}

TopoMachine *topo_machine_read(const char *name, guint32 gpus, const char *where, GError **error)
{
    return machine_read(name, gpus, FALSE, where, error);
}

TopoMachine *topo_machine_read_node(const char *name, guint32 gpus, const char *where, GError **error)
{
    return machine_read(name, gpus, TRUE, where, error);
}
