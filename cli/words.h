// cli/words.h: commands whose first word says what they do: finding it in a table, and options that it takes.
#pragma once

#include <glib.h>

// The index of word among names (NULL-terminated). FALSE with a usage error that starts with command and
// names them all and the nearest.
gboolean words_find(const char *command, const char *word, const char *const *names, guint *index,
                    GError **error);

typedef struct {
    const char *option; // "--rows"; NULL ends a list
    gboolean given, taken;
} WordsOption;

// FALSE with a usage error for the first option that was given and is not taken; usage is the command's with
// its word, and what may follow.
gboolean words_check(const char *command, const char *word, const char *usage, const WordsOption *options,
                     GError **error);
