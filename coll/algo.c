// coll/algo.c: what algorithms have in common.
#include "coll/algo.h"

const char *const COLL_OP_NAMES[] = {"all-reduce",         "reduce-scatter", "all-gather",
                                     "all-gather-payload", "broadcast",      "all-to-all",
                                     "send-recv",          "reduce",         NULL};

guint32 coll_algo_no_switches(const CollShape *shape)
{
    (void)shape;
    return 0;
}

guint64 coll_algo_no_states(const CollShape *shape)
{
    (void)shape;
    return 0;
}

const char *coll_algo_any_shape(const CollShape *shape)
{
    (void)shape;
    return NULL;
}
