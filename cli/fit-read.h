// cli/fit-read.h: what a person typed after "stepline fit", read and checked.
#pragma once

#include <glib.h>

#include "validation/nccl-log.h"

typedef struct {
    char *machine, *op, *write; // owned; NULL: not given
    gint64 ranks;               // 0: as the log says
    gboolean json;
    ValidationNcclOp only; // of --op; VALIDATION_NCCL_OPS: all
} FitOptions;

// Parses the command line and leaves the logs in argv[1] .. argv[argc - 1]. FALSE with a usage error; options
// is to be cleared in both cases.
gboolean fit_options_read(FitOptions *options, int *argc, char ***argv, GError **error);
void fit_options_clear(FitOptions *options);
