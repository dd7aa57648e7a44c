// timeline/store.h: writing what a run leaves behind into an SQLite file (timeline/schema.sql says what is in
// it).
#pragma once

#include <glib.h>

#include "step/result.h"

// Whether a run could be written to path: to be asked before hours are simulated. The file is not made or
// changed. FALSE with the error that timeline_store_write would give; a disk may still fill up later.
gboolean timeline_store_check(const char *path, GError **error);

// Writes one run, in one transaction: whatever goes wrong (a full disk, a kill), the file is as it was
// before. A file that is not there is made, and one that is ours gets one more run; two programs that write
// at once wait for each other. *run_id (may be NULL) becomes the run's id. FALSE with an error "PATH: ...",
// and no file is left that was not there before.
gboolean timeline_store_write(const char *path, const StepResult *result, gint64 *run_id, GError **error);
