// base/suggest.c: the nearest known name, by Damerau-Levenshtein distance (restricted transpositions).
#include "base/suggest.h"

#include <string.h>

enum { LONGEST = 64 }; // words beyond this are nobody's typing error

static char suggest_fold(char c)
{
    return c == '_' ? '-' : g_ascii_tolower(c);
}

// From a to b, or to what b starts with.
static guint suggest_distance(const char *a, const char *b, gboolean start)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return G_MAXUINT;
    guint rows[3][LONGEST + 1] = {{0}};
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (guint)j;
    for (size_t i = 1; i <= n; i++) {
        guint *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = (guint)i;
        for (size_t j = 1; j <= m; j++) {
            char x = suggest_fold(a[i - 1]), y = suggest_fold(b[j - 1]);
            guint best = MIN(MIN(last[j], now[j - 1]) + 1, last[j - 1] + (x == y ? 0 : 1));
            if (i > 1 && j > 1 && x == suggest_fold(b[j - 2]) && suggest_fold(a[i - 2]) == y)
                best = MIN(best, before[j - 2] + 1);
            now[j] = best;
        }
    }
    guint least = rows[n % 3][m];
    for (size_t j = 0; start && j < m; j++)
        least = MIN(least, rows[n % 3][j]);
    return least;
}

// The first name that starts with word, which is then half typed; or nearly so.
static const char *suggest_start(const char *word, const char *const *names)
{
    size_t length = strlen(word);
    for (guint edits = 0; edits <= 1 && length >= (edits == 0 ? 3 : 5); edits++)
        for (const char *const *name = names; *name != NULL; name++)
            if (suggest_distance(word, *name, TRUE) <= edits)
                return *name;
    return NULL;
}

const char *suggest_find(const char *word, const char *const *names)
{
    const char *nearest = NULL;
    const char *const *known = names;
    guint least = (guint)MAX(strlen(word) / 3, 1) + 1;
    for (; *names != NULL; names++) {
        guint distance = suggest_distance(word, *names, FALSE);
        if (distance < least) {
            least = distance;
            nearest = *names;
        }
    }
    return nearest != NULL ? nearest : suggest_start(word, known);
}

char *suggest_hint(const char *word, const char *const *names)
{
    const char *nearest = suggest_find(word, names);
    return nearest == NULL ? g_strdup("") : g_strdup_printf(" (did you mean '%s'?)", nearest);
}
