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

void progress_clear(Progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = FALSE;
}
