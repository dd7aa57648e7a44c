// cli/progress.c: one line on stderr for what takes over a second.
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

void progress_init(Progress *progress)
{
    *progress = (Progress){.start = g_get_monotonic_time(), .enabled = isatty(STDERR_FILENO) == 1};
}

gboolean progress_show(gpointer user, Ps now, guint64 events)
{
    Progress *progress = user;
    gint64 taken = g_get_monotonic_time() - progress->start;
    if (!progress->enabled || taken < G_USEC_PER_SEC)
        return TRUE;
    g_autofree char *time = units_format_time(now);
    fprintf(stderr, "\r\033[K%s simulated, %.0f M events, %.1f M/s", time, (double)events * 1e-6,
            (double)events / (double)taken);
    progress->shown = TRUE;
    return TRUE;
}

void progress_show_points(Progress *progress, guint done, guint points)
{
    gint64 now = g_get_monotonic_time(), taken = now - progress->start;
    if (!progress->enabled || taken < G_USEC_PER_SEC || now - progress->last < G_USEC_PER_SEC / 10)
        return;
    progress->last = now;
    progress->shown = TRUE;
    double seconds = (double)taken / G_USEC_PER_SEC;
    fprintf(stderr, "\r\033[K%u of %u points", done, points);
    if (done == 0)
        return;
    g_autofree char *left = units_format_seconds(seconds / done * (points - done));
    fprintf(stderr, ", %.3g a second, %s left", done / seconds, left);
}

void progress_clear(Progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = FALSE;
}
