// step/cache.h: measured collectives, kept in a file between runs.
//
// The file is $XDG_CACHE_HOME/stepline/collectives.db (SQLite). A collective is known by a hash of the
// machine's graph and [nccl], the plan's split and order of ranks, what chooses algorithms, the stage, the
// dimension, the operation and its size, and of the program itself (its file's size and time), so that a new
// build measures anew. A file that cannot be read or written is as if there were none. simulate.cache = no
// leaves it alone.
#pragma once

#include "step/siblings.h"

// Fills the collectives that the file knows.
void step_cache_find(StepSiblings *siblings);
// Adds those that it does not.
void step_cache_store(const StepSiblings *siblings);
