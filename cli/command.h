// cli/command.h: one word that a person types after "stepline", and what it does.
#pragma once

#include <glib.h>

typedef struct {
    const char *name;    // "run"
    const char *usage;   // "SCENARIO [--set section.key=value]... [--db FILE]"
    const char *summary; // one line for the list of commands
    // argv[0] is the command's name. Results go to stdout, words to stderr. Returns the exit status (0 well,
    // 1 failed, 2 usage, 3 infeasible or out of tolerance); with an error set, main prints it in one line and
    // exits with its code.
    int (*run)(int argc, char **argv, GError **error);
} Command;

// Each is defined in cli/cmd-NAME.c and stands once in the table of cli/main.c.
extern const Command COMMAND_RUN, COMMAND_LIST, COMMAND_COLLECTIVE, COMMAND_CALC, COMMAND_TABLES,
    COMMAND_TOPO, COMMAND_MODEL, COMMAND_PLOT, COMMAND_RUNS, COMMAND_VALIDATE, COMMAND_FIT, COMMAND_MEMORY,
    COMMAND_SWEEP;
