// base/median.h: the middle of some numbers.
#pragma once

#include <glib.h>

// The median of values (GArray of double), which it sorts; of an even number the mean of the middle two. NAN
// of none.
double base_median(GArray *values);
