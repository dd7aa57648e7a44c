// topo/machine.c: reading what all machines' files have, and handing the rest to the kind of machine.
#include "topo/machine.h"

#include "base/error.h"
#include "base/library.h"
#include "topo/build.h"
#include "topo/kind.h"

static const char SECTION[] = TOPO_KIND_SECTION;

void topo_machine_free(TopoMachine *machine)
{
    if (machine == NULL)
        return;
    g_free(machine->name);
    g_free(machine->title);
    g_free(machine->source);
    topo_device_free(machine->device);
    topo_graph_free(machine->graph);
    topo_tuning_clear(&machine->tuning);
    g_clear_pointer(&machine->notes, g_ptr_array_unref);
    g_free(machine);
}

// The kind that the file names; one with a key 'node' need not say that it is of kind nodes.
static const TopoKind *machine_get_kind(Ini *ini, GError **error)
{
    const char *names[32] = {NULL};
    guint kind = 0;
    for (guint i = 0; TOPO_KINDS[i] != NULL; i++) {
        g_assert(i + 1 < G_N_ELEMENTS(names));
        names[i] = TOPO_KINDS[i]->name;
        if (TOPO_KINDS[i] == &TOPO_KIND_NODES)
            kind = i;
    }
    IniNeed need = ini_has(ini, SECTION, "node") ? INI_OPTIONAL : INI_REQUIRED;
    return ini_get_choice(ini, SECTION, "kind", need, names, &kind, error) ? TOPO_KINDS[kind] : NULL;
}

static gboolean machine_build(TopoMachine *machine, Ini *ini, const TopoKind *kind, guint32 gpus,
                              const char *where, GError **error)
{
    TopoKindFile file = {
        .ini = ini, .name = machine->name, .where = where, .asked = gpus, .notes = machine->notes};
    machine->graph = kind->read(&file, error);
    if (machine->device == NULL)
        machine->device = file.device;
    else
        topo_device_free(file.device);
    return machine->graph != NULL && topo_tuning_read(&machine->tuning, ini, error) && ini_finish(ini, error) &&
           topo_graph_check(machine->graph, ini_name(ini), error);
}

static TopoMachine *machine_read(const char *name, guint32 gpus, gboolean node, const char *where,
                                 GError **error)
{
    if (gpus > TOPO_BUILD_GPUS) {
        base_error_set(error, BASE_ERROR_FAILED, where, "found %u GPUs, wanted at most %d", gpus,
                       TOPO_BUILD_GPUS);
        return NULL;
    }
    g_autoptr(Ini) ini = library_read_ini("topo/data/machines", "machine", name, where, error);
    if (ini == NULL)
        return NULL;
    g_autoptr(TopoMachine) machine = g_new0(TopoMachine, 1);
    topo_tuning_init(&machine->tuning);
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
    const TopoKind *kind = machine_get_kind(ini, error);
    if (kind == NULL)
        return NULL;
    if (node && kind == &TOPO_KIND_NODES) {
        g_autofree char *quoted = base_error_quote(name);
        base_error_set(error, BASE_ERROR_FAILED, where,
                       "found '%s' of kind nodes, wanted a machine of one node", quoted);
        return NULL;
    }
    g_autofree char *chip_where = ini_where(ini, SECTION, "chip");
    if (chip != NULL && (machine->device = topo_device_read(chip, chip_where, error)) == NULL)
        return NULL;
    if (!machine_build(machine, ini, kind, gpus, where, error))
        return NULL;
    g_assert(machine->device != NULL); // a key 'node' that nobody read was an error
    return g_steal_pointer(&machine);
}

TopoMachine *topo_machine_read(const char *name, guint32 gpus, const char *where, GError **error)
{
    return machine_read(name, gpus, FALSE, where, error);
}

TopoMachine *topo_machine_read_node(const char *name, guint32 gpus, const char *where, GError **error)
{
    return machine_read(name, gpus, TRUE, where, error);
}
