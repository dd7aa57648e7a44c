// coll/choice.c: the table of algorithms.
#include "coll/choice.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

const char *const COLL_OP_NAMES[] = {"all-reduce", "reduce-scatter", "all-gather", "all-gather-payload", NULL};

const CollAlgo *const COLL_ALGOS[] = {&COLL_RING, &COLL_BINOMIAL_TREE, NULL};
const char *const COLL_ALGO_NAMES[] = {"ring", "binomial-tree", NULL};

static gboolean coll_choice_refuse(const char *what, const char *found, const char *const *names, const char *where,
                                   GError **error)
{
    g_autofree char *quoted = base_error_quote(found);
    g_autofree char *wanted = g_strjoinv(", ", (char **)names);
    g_autofree char *hint = suggest_hint(found, names);
    return base_error_set(error, BASE_ERROR_FAILED, where, "found %s '%s', wanted one of: %s%s", what, quoted, wanted,
                          hint);
}

const CollAlgo *coll_choice_find(const char *name, CollOp op, const char *where, GError **error)
{
    for (guint i = 0; COLL_ALGOS[i] != NULL; i++) {
        g_assert(strcmp(COLL_ALGOS[i]->name, COLL_ALGO_NAMES[i]) == 0);
        if (strcmp(COLL_ALGOS[i]->name, name) != 0)
            continue;
        if (COLL_ALGOS[i]->ops[op])
            return COLL_ALGOS[i];
        base_error_set(error, BASE_ERROR_FAILED, where, "algorithm '%s' does no %s", name, COLL_OP_NAMES[op]);
        return NULL;
    }
    coll_choice_refuse("algorithm", name, COLL_ALGO_NAMES, where, error);
    return NULL;
}

gboolean coll_choice_find_op(const char *name, const char *where, CollOp *op, GError **error)
{
    for (guint i = 0; i < COLL_OPS; i++) {
        if (strcmp(COLL_OP_NAMES[i], name) == 0) {
            *op = (CollOp)i;
            return TRUE;
        }
    }
    return coll_choice_refuse("operation", name, COLL_OP_NAMES, where, error);
}
