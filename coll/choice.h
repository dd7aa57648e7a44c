// coll/choice.h: the table of algorithms.
#pragma once

#include <glib.h>

#include "coll/algo.h"

// All algorithms, NULL-terminated; and their names.
extern const CollAlgo *const COLL_ALGOS[];
extern const char *const COLL_ALGO_NAMES[];

// The algorithm of a name for an operation. NULL with an error that names the known ones, or says that this one
// does not do that operation. where (may be NULL) starts the error.
const CollAlgo *coll_choice_find(const char *name, CollOp op, const char *where, GError **error);

// The operation of a name ("all-reduce"). FALSE with an error.
gboolean coll_choice_find_op(const char *name, const char *where, CollOp *op, GError **error);
