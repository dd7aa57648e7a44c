// base/suggest.h: the nearest known name to a word that is not known ("did you mean ...?").
#pragma once

#include <glib.h>

// The entry of names (NULL-terminated) nearest to word by edit distance (insert, delete, replace, swap of two
// neighbours; case and '-' against '_' cost nothing), or NULL when none is near enough: at most a third of
// the word's length, and at least one edit is always allowed; then the first name that starts with word
// counts (three letters at least; five, and one edit is allowed there too). Borrowed from names. Ties go to
// the earlier name.
const char *suggest_find(const char *word, const char *const *names);

// " (did you mean 'NAME'?)" or "". Caller frees.
char *suggest_hint(const char *word, const char *const *names);
