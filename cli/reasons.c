// cli/reasons.c: counting reasons.
#include "cli/reasons.h"

#include <stdio.h>

void reasons_print(const GPtrArray *reasons)
{
    g_autoptr(GHashTable) rows = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    for (guint i = 0; i < reasons->len; i++) {
        gpointer reason = reasons->pdata[i];
        if (reason == NULL)
            continue;
        guint so_far = GPOINTER_TO_UINT(g_hash_table_lookup(rows, reason));
        if (so_far == 0)
            g_ptr_array_add(order, reason);
        g_hash_table_insert(rows, reason, GUINT_TO_POINTER(so_far + 1));
    }
    for (guint i = 0; i < order->len; i++) {
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(rows, order->pdata[i]));
        printf("%sleft out: %u row%s: %s\n", i == 0 ? "\n" : "", n, n == 1 ? "" : "s",
               (const char *)order->pdata[i]);
    }
}
