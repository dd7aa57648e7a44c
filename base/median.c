// base/median.c: sorting, and taking the middle.
#include "base/median.h"

#include <math.h>

static int median_compare(gconstpointer a, gconstpointer b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double base_median(GArray *values)
{
    if (values->len == 0)
        return (double)NAN;
    g_array_sort(values, median_compare);
    return (g_array_index(values, double, (values->len - 1) / 2) +
            g_array_index(values, double, values->len / 2)) /
           2;
}
