// cli/collective-steps.h: a collective stepped through: who sends which piece to whom, and what is finished.
#pragma once

#include <glib.h>

#include "coll/algo.h"

enum { COLLECTIVE_STEPS_RANKS = 16 }; // more would not fit a page

// Prints every step on stdout, and that the result was checked. The shape has at most COLLECTIVE_STEPS_RANKS
// ranks, and no switch takes part (asserted). FALSE with an error where the algorithm does not keep its
// promise.
gboolean collective_steps_print(const CollAlgo *algo, const CollShape *shape, GError **error);
