// cli/main.c: the table of commands.
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/command.h"
#include "config.h"

static const Command *const COMMANDS[] = {
    &COMMAND_RUN,        &COMMAND_SWEEP, &COMMAND_LIST,   &COMMAND_MODEL,  &COMMAND_TOPO,
    &COMMAND_COLLECTIVE, &COMMAND_CALC,  &COMMAND_MEMORY, &COMMAND_TABLES, &COMMAND_FIT,
    &COMMAND_VALIDATE,   &COMMAND_PLOT,  &COMMAND_RUNS,
};

static void main_print_help(FILE *out)
{
    fprintf(out,
            "Usage: stepline COMMAND [OPTION...]\n\nSimulates distributed training steps, event by event.\n\n"
            "Commands (each has its own --help):\n");
    for (guint i = 0; i < G_N_ELEMENTS(COMMANDS); i++)
        fprintf(out, "  %-12s%s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    fprintf(out, "\nExit status: 0 well, 1 failed, 2 usage, 3 infeasible or out of tolerance.\n");
}

// What is typed is printed in errors and results, kept in databases and handed to gnuplot: plain text only.
static gboolean main_check_words(int argc, char **argv, GError **error)
{
    for (int i = 1; i < argc; i++) {
        g_autofree char *quoted = base_error_quote(argv[i]);
        if (!g_utf8_validate(argv[i], -1, NULL))
            return base_error_set(error, BASE_ERROR_USAGE, NULL, "found '%s', wanted words in UTF-8", quoted);
        for (const char *at = argv[i]; *at != '\0'; at = g_utf8_next_char(at))
            if (text_is_foreign(g_utf8_get_char(at)))
                return base_error_set(error, BASE_ERROR_USAGE, NULL,
                                      "found '%s', wanted words without control characters", quoted);
    }
    return TRUE;
}

static const Command *main_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(COMMANDS) + 1] = {0};
    for (guint i = 0; i < G_N_ELEMENTS(COMMANDS); i++) {
        names[i] = COMMANDS[i]->name;
        if (strcmp(name, names[i]) == 0)
            return COMMANDS[i];
    }
    g_autofree char *quoted = base_error_quote(name);
    g_autofree char *hint = suggest_hint(name, names);
    base_error_set(error, BASE_ERROR_USAGE, NULL, "unknown command '%s'%s; 'stepline --help' lists them",
                   quoted, hint);
    return NULL;
}

// "stepline --help", "stepline help" and "stepline help COMMAND".
static int main_help(int argc, char **argv, GError **error)
{
    if (argc == 2) {
        main_print_help(stdout);
        return 0;
    }
    if (argc > 3) {
        base_error_set(error, BASE_ERROR_USAGE, NULL,
                       "found %d words after 'stepline help', wanted at most one", argc - 2);
        return BASE_ERROR_USAGE;
    }
    const Command *command = main_find(argv[2], error);
    char help[] = "--help";
    char *words[] = {argv[2], help, NULL};
    return command == NULL ? BASE_ERROR_USAGE : command->run(2, words, error);
}

static int main_run(int argc, char **argv, GError **error)
{
    if (argc < 2) {
        main_print_help(stderr);
        return BASE_ERROR_USAGE;
    }
    if (!main_check_words(argc, argv, error))
        return BASE_ERROR_USAGE;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return main_help(argc, argv, error);
    if (strcmp(argv[1], "--version") == 0) {
        if (argc > 2) {
            base_error_set(error, BASE_ERROR_USAGE, NULL,
                           "found words after 'stepline --version', wanted none");
            return BASE_ERROR_USAGE;
        }
        printf("stepline %s\n", VERSION);
        return 0;
    }
    const Command *command = main_find(argv[1], error);
    return command == NULL ? BASE_ERROR_USAGE : command->run(argc - 1, argv + 1, error);
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); // a file-size limit is an error like a full disk, not the end
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); // numbers are printed and read as in C everywhere
    g_autoptr(GError) error = NULL;
    int status = main_run(argc, argv, &error);
    errno = 0;
    if (error == NULL &&
        (fflush(stdout) != 0 || ferror(stdout) != 0)) // a result that nobody gets is no success
        base_error_set(&error, BASE_ERROR_FAILED, "standard output", "cannot be written: %s",
                       errno != 0 ? g_strerror(errno) : "an earlier write failed");
    if (error != NULL) {
        g_printerr("stepline: %s\n", error->message);
        return error->domain == BASE_ERROR ? error->code : BASE_ERROR_FAILED;
    }
    return status;
}
