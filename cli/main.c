// cli/main.c: the table of commands.
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "config.h"

static const Command *const COMMANDS[] = {
    &COMMAND_RUN,  &COMMAND_LIST,   &COMMAND_MODEL, &COMMAND_TOPO, &COMMAND_COLLECTIVE,
    &COMMAND_CALC, &COMMAND_TABLES, &COMMAND_FIT,   &COMMAND_VALIDATE, &COMMAND_PLOT, &COMMAND_RUNS,
};

static void main_print_help(FILE *out)
{
    fprintf(out, "Usage: stepline COMMAND [OPTION...]\n\nSimulates distributed training steps, event by event.\n\n"
                 "Commands (each has its own --help):\n");
    for (guint i = 0; i < G_N_ELEMENTS(COMMANDS); i++)
        fprintf(out, "  %-12s%s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    fprintf(out, "\nExit status: 0 well, 1 failed, 2 usage, 3 infeasible or out of tolerance.\n");
}

static int main_run(int argc, char **argv, GError **error)
{
    if (argc < 2) {
        main_print_help(stderr);
        return BASE_ERROR_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        main_print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("stepline %s\n", VERSION);
        return 0;
    }
    const char *names[G_N_ELEMENTS(COMMANDS) + 1] = {0};
    for (guint i = 0; i < G_N_ELEMENTS(COMMANDS); i++) {
        names[i] = COMMANDS[i]->name;
        if (strcmp(argv[1], names[i]) == 0)
            return COMMANDS[i]->run(argc - 1, argv + 1, error);
    }
    g_autofree char *quoted = base_error_quote(argv[1]);
    g_autofree char *hint = suggest_hint(argv[1], names);
    base_error_set(error, BASE_ERROR_USAGE, NULL, "unknown command '%s'%s; 'stepline --help' lists them", quoted, hint);
    return BASE_ERROR_USAGE;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); // a file-size limit is an error like a full disk, not the end
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); // numbers are printed and read as in C everywhere
    g_autoptr(GError) error = NULL;
    int status = main_run(argc, argv, &error);
    if (error != NULL) {
        g_printerr("stepline: %s\n", error->message);
        return error->domain == BASE_ERROR ? error->code : BASE_ERROR_FAILED;
    }
    return status;
}
