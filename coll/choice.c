// coll/choice.c: the table of algorithms.
#include "coll/choice.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

const CollAlgo *const COLL_ALGOS[] = {
    &COLL_RING,
    &COLL_RAILS,
    &COLL_BINOMIAL_TREE,
    &COLL_DOUBLE_TREE,
    &COLL_HALVING,
    &COLL_TWO_LEVEL,
    &COLL_NVLS,
    &COLL_NVLS_TREE,
    &COLL_SHARP,
    &COLL_PAIRS,
    &COLL_PAIRS_TWO_LEVEL,
    &COLL_CHAIN,
    &COLL_TORUS,
    NULL,
};

static gboolean coll_choice_refuse(const char *what, const char *found, const char *const *names,
                                   const char *where, GError **error)
{
    g_autofree char *quoted = base_error_quote(found);
    g_autofree char *wanted = g_strjoinv(", ", (char **)names);
    g_autofree char *hint = suggest_hint(found, names);
    return base_error_set(error, BASE_ERROR_FAILED, where, "found %s '%s', wanted one of: %s%s", what, quoted,
                          wanted, hint);
}

const CollAlgo *coll_choice_find(const char *name, CollOp op, const char *where, GError **error)
{
    const char *names[G_N_ELEMENTS(COLL_ALGOS)] = {0};
    guint n = 0;
    for (guint i = 0; COLL_ALGOS[i] != NULL; i++) {
        if (COLL_ALGOS[i]->ops[op])
            names[n++] = COLL_ALGOS[i]->name;
        if (strcmp(COLL_ALGOS[i]->name, name) != 0)
            continue;
        if (COLL_ALGOS[i]->ops[op])
            return COLL_ALGOS[i];
        base_error_set(error, BASE_ERROR_FAILED, where, "algorithm '%s' does no %s", name, COLL_OP_NAMES[op]);
        return NULL;
    }
    coll_choice_refuse("algorithm", name, names, where, error);
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

guint32 coll_choice_chunks(gint64 bytes)
{
    return bytes <= 4 << 10 ? 1 : (guint32)CLAMP(bytes >> 20, 16, 256);
}

void coll_choice_plain(gconstpointer user, const CollShape *shape, CollChoice *choice)
{
    *choice = (CollChoice){.algo = user, .chunks = coll_choice_chunks(shape->bytes)};
    if (choice->algo == NULL && shape->box != NULL && COLL_TORUS.ops[shape->op])
        choice->algo = &COLL_TORUS;
    for (guint i = 0; choice->algo == NULL || !choice->algo->ops[shape->op]; i++)
        choice->algo = COLL_ALGOS[i];
}
