// cli/options.h: reading a command's options, and printing its JSON.
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "cli/command.h"

// Parses entries (as g_option_context does) out of argc/argv, leaving the positional words. low..high says
// how many words may follow the command (argv[0] is not counted). FALSE with a usage error. --help prints the
// usage, entries and details (may be NULL) and exits 0.
gboolean options_parse(const Command *command, const GOptionEntry *entries, const char *details, int low,
                       int high, int *argc, char ***argv, GError **error);

// Prints a JSON tree and a newline on stdout, indented, and frees the node.
void options_print_json(JsonNode *node);
// The same of an object, which it frees.
void options_print_json_object(JsonObject *object);
