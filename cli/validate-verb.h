// cli/validate-verb.h: one word that a person types after "stepline validate", and what it does.
#pragma once

#include <glib.h>

// What was typed beside the word; NULL, FALSE: not given.
typedef struct {
    gboolean json, rows, all, families, csv; // --json, --rows, ...
    char *family, *report;                   // --family, --report
    char *points, *models, *run, *db;        // --points, ...
    gboolean threads;                        // --jobs was given
    int jobs;                                // as given, or the number of cores
} ValidateArguments;

typedef struct {
    const char *name;         // "collectives"
    const char *usage;        // "[--family NAME] [--rows] [--all] [--json]"
    const char *const *takes; // options, NULL-terminated: "--family"; --json each takes
    // Results go to stdout, words to stderr. Returns the exit status.
    int (*run)(const ValidateArguments *arguments, GError **error);
} ValidateVerb;

// Each is defined in cli/validate-NAME.c and stands once in the table of cli/cmd-validate.c.
extern const ValidateVerb VALIDATE_VERB_RUNS, VALIDATE_VERB_COLLECTIVES, VALIDATE_VERB_BUCKETS,
    VALIDATE_VERB_LAYERS, VALIDATE_VERB_REPORTS;
