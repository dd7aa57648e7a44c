// cli/topo-verb.h: one word that a person types after "stepline topo", and what it does.
#pragma once

#include <glib.h>

// What was typed after the word.
typedef struct {
    char *const *words; // borrowed: as many as the verb wants
    guint32 gpus;       // --gpus; 0: not given
    gboolean json;      // --json
    const char *output; // -o; NULL: not given
    const char *chip;   // --chip; NULL: not given
} TopoVerbArguments;

typedef struct {
    const char *name;  // "show"
    const char *usage; // "NAME|FILE [--gpus N] [--json]"
    int words;         // how many words it wants
    gboolean takes_gpus, takes_json, takes_output, takes_chip;
    // Results go to stdout, words to stderr. Returns the exit status.
    int (*run)(const TopoVerbArguments *arguments, GError **error);
} TopoVerb;

// Each is defined in cli/topo-NAME.c and stands once in the table of cli/cmd-topo.c.
extern const TopoVerb TOPO_VERB_SHOW, TOPO_VERB_CHECK, TOPO_VERB_IMPORT, TOPO_VERB_DOT, TOPO_VERB_ROUTES;
