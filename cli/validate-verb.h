// cli/validate-verb.h: one word that a person types after "stepline validate", and what it does.
#pragma once

#include <glib.h>

// What was typed beside the word.
typedef struct {
    gboolean json, rows, all; // --json, --rows, --all
    const char *family;       // --family; NULL: not given
    const char *report;       // --report; NULL: not given
} ValidateArguments;

typedef struct {
    const char *name;  // "collectives"
    const char *usage; // "[--family NAME] [--rows] [--all] [--json]"
    gboolean takes_rows, takes_all, takes_family, takes_report;
    // Results go to stdout, words to stderr. Returns the exit status.
    int (*run)(const ValidateArguments *arguments, GError **error);
} ValidateVerb;

// Each is defined in cli/validate-NAME.c and stands once in the table of cli/cmd-validate.c.
extern const ValidateVerb VALIDATE_VERB_COLLECTIVES, VALIDATE_VERB_BUCKETS, VALIDATE_VERB_LAYERS,
    VALIDATE_VERB_REPORTS;
