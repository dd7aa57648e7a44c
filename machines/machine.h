// machines/machine.h: a machine: a chip, a number of them, and the graph that joins them.
#pragma once

#include <glib.h>

#include "machines/tuning.h"
#include "topo/device.h"
#include "topo/graph.h"

typedef struct {
    char *name;           // owned: library name or path
    char *title;          // owned: one line for people
    char *source;         // owned: where its constants come from, and whether they were measured or assumed
    TopoDevice *device;   // owned
    TopoGraph *graph;     // owned, frozen, checked
    MachineTuning tuning; // how NCCL does on it
    GPtrArray *notes;     // of char *, owned: what was worked out or assumed, a sentence each; often none
} TopoMachine;

// Reads topo/data/machines/NAME.ini, or a path, and builds it with gpus GPUs (0: the file's own number). A
// path that does not end in .ini is imported (imports/import.h), where its file says which chip. where (may
// be NULL) starts the error about the name. NULL with an error: unknown key, a count that the kind cannot
// build ("deck-nvlink-8 has 8 GPUs"), an unreachable GPU, a file that looks like no topology. Caller frees.
TopoMachine *topo_machine_read(const char *name, guint32 gpus, const char *where, GError **error);

// The same for a machine that is to be a node of another one: refuses one of kind nodes. Caller frees.
TopoMachine *topo_machine_read_node(const char *name, guint32 gpus, const char *where, GError **error);

// The machine of section [machine] of an ini that holds other things too (a scenario with node, nodes and
// nic); keys that the section's kind does not read are left for ini_finish. NULL with an error; caller frees.
TopoMachine *topo_machine_read_section(Ini *ini, guint32 gpus, const char *where, GError **error);
void topo_machine_free(TopoMachine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopoMachine, topo_machine_free)
