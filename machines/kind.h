// machines/kind.h: what a kind of machine is, and the getters that the kinds share.
//
// A kind is one file (machines/kind-NAME.c) and one line of the table in machines/kinds.c. It reads its own
// keys of the section [machine] and builds a graph; what all machines have (title, source, chip, kind) is
// read before, by machines/machine.c, which also refuses what nobody read.
#pragma once

#include <glib.h>

#include "base/ini.h"
#include "topo/device.h"
#include "topo/graph.h"

#define MACHINE_KIND_SECTION "machine"

// What a kind's reader works on.
typedef struct {
    Ini *ini;           // borrowed
    const char *name;   // borrowed: the machine's
    const char *where;  // borrowed: where the number of GPUs was asked for; may be NULL
    guint32 asked;      // GPUs; 0: the file's own number
    GPtrArray *notes;   // of char *, borrowed: the kind adds a sentence for what it worked out or assumed
    TopoDevice *device; // owned: a chip that the kind brings with it, else NULL
} MachineKindFile;

typedef struct {
    const char *name;        // "island": the word after 'kind ='
    const char *title;       // one line for people
    const char *const *keys; // of [machine], NULL-terminated
    // A graph that has not been frozen. NULL with an error; the caller frees it.
    TopoGraph *(*read)(MachineKindFile *file, GError **error);
} MachineKind;

extern const MachineKind MACHINE_KIND_ISLAND, MACHINE_KIND_ISLANDS, MACHINE_KIND_PCIE, MACHINE_KIND_WAN,
    MACHINE_KIND_GRAPH, MACHINE_KIND_CUBE, MACHINE_KIND_TORUS, MACHINE_KIND_NODES;

// All kinds, in the order in which errors name them; NULL-terminated.
extern const MachineKind *const MACHINE_KINDS[];

// The getters of base/ini.h on [machine], with what every machine's numbers must be (topo/links.h). FALSE
// with an error; an absent key leaves *value as it was, unless need says that it must be there.
gboolean machine_kind_get_rate(MachineKindFile *file, const char *key, IniNeed need, double *value,
                               GError **error);
gboolean machine_kind_get_latency(MachineKindFile *file, const char *key, IniNeed need, Ps *value,
                                  GError **error);
// From 1 to high.
gboolean machine_kind_get_count(MachineKindFile *file, const char *key, IniNeed need, gint64 high,
                                guint32 *value, GError **error);

// FALSE with an error "found with WHY" where one of two keys is there that would mean nothing.
gboolean machine_kind_check_absent(const MachineKindFile *file, const char *key, const char *other,
                                   const char *why, GError **error);

// The number of GPUs of a machine whose key gpus says how large the box is (at most high); fewer may be used.
gboolean machine_kind_get_box(MachineKindFile *file, gint64 high, guint32 *box, guint32 *gpus,
                              GError **error);

// The number of GPUs of a machine that grows by whole units (a node; one node in every site): key gpus, or
// what was asked for. With part, less than one unit may be asked for too.
gboolean machine_kind_get_gpus(MachineKindFile *file, guint32 unit, const char *unit_name, gboolean part,
                               guint32 *gpus, GError **error);

// An error about the number of GPUs that was asked for: "found N GPUs, wanted WANTED: NAME WHY". Returns
// FALSE.
gboolean machine_kind_refuse_gpus(const MachineKindFile *file, const char *wanted, const char *why,
                                  GError **error);

// Adds a sentence to the notes.
void machine_kind_add_note(MachineKindFile *file, const char *format, ...) G_GNUC_PRINTF(2, 3);
