// cli/reasons.h: why rows were left out.
#pragma once

#include <glib.h>

// Prints each reason once, in order of appearance, with its number of rows; reasons (of const char *) holds
// one a row, NULL for a row that was not left out. Nothing where there is none.
void reasons_print(const GPtrArray *reasons);
