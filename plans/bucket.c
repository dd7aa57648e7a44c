// plans/bucket.c: forming gradient buckets.
#include "plans/bucket.h"

GArray *plan_buckets_form(const gint64 *bytes, guint32 n, gint64 first_cap, gint64 cap, gboolean split)
{
    g_assert(first_cap > 0 && cap > 0);
    GArray *buckets = g_array_new(FALSE, FALSE, sizeof(PlanBucket));
    PlanBucket open = {0};
    gboolean is_open = FALSE;
    for (guint32 i = 0; i < n; i++) {
        gint64 left = bytes[i];
        do {
            gint64 limit = buckets->len == 0 ? first_cap : cap;
            if (!is_open)
                open = (PlanBucket){.first = i};
            is_open = TRUE;
            gint64 taken = split ? MIN(left, limit - open.bytes) : left;
            left -= taken;
            open.bytes += taken;
            open.last = i;
            open.share = left == 0 ? 1 : (double)(bytes[i] - left) / (double)bytes[i];
            if (open.bytes >= limit) {
                g_array_append_val(buckets, open);
                is_open = FALSE;
            }
        } while (left > 0);
    }
    if (is_open && (open.bytes > 0 || buckets->len == 0))
        g_array_append_val(buckets, open);
    return buckets;
}
