// cli/collective-read.h: what a person typed after "stepline collective", read and checked.
#pragma once

#include <glib.h>

#include "coll/algo.h"
#include "coll/measure.h"

// As typed.
typedef struct {
    char *machine, *op, *algorithm, *protocol, *size, *sizes, *chunk, *queue, *output; // owned
    gint64 ranks; // of the machine's GPUs; G_MININT64, which nobody types: all of them
    gboolean steps, plain, no_shortcuts, json;
} CollectiveOptions;

void collective_options_clear(CollectiveOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CollectiveOptions, collective_options_clear)

// Parses the command line. FALSE with a usage error; options is to be cleared in both cases.
gboolean collective_options_read(CollectiveOptions *options, int argc, char **argv, GError **error);

// What is to be simulated.
typedef struct {
    const TopoMachine *machine; // borrowed
    CollOp op;                  //
    const CollAlgo *algo;       // NULL: whatever is chosen
    const char *protocol;       // static, NULL: whatever is chosen
    gint64 first, last;         // sizes, doubling
    CollMeasureOptions how;     //
    gboolean plain;             // the links alone
} Collective;

// What the options mean. machine is left to the caller, who has it. FALSE with an error.
gboolean collective_read(const CollectiveOptions *options, Collective *what, GError **error);
