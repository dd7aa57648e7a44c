// base/append.h: appending to a GArray inline, for arrays of millions of small elements.
//
// A GArray keeps to itself how much room it has, so that every append is a call of some sixty instructions.
// Here the owner keeps the room beside the array.
#pragma once

#include <glib.h>

// The place of one more element of a size (that of the array's elements), which the caller fills; *room: how
// many elements have room, kept by the caller, 0 at first.
static inline gpointer append_slot(GArray *array, gsize size, guint *room)
{
    guint n = array->len;
    if (G_UNLIKELY(n >= *room)) {
        g_assert(n < G_MAXUINT / 2);
        *room = MAX(64, 2 * n);
        g_array_set_size(array, *room);
    }
    array->len = n + 1;
    return array->data + size * n;
}
