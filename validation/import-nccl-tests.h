// validation/import-nccl-tests.h: reads the output of nccl-tests, whatever its version, and two-column CSV.
#pragma once

#include <glib.h>

#include "validation/nccl-log.h"

// Reads a file: the text that nccl-tests (or rccl-tests) prints, with whatever stands round it, its JSON
// (-J), or a CSV whose columns are named bytes and seconds, ms or us (its runs have no known operation or
// ranks). What was dropped or assumed stands in the log's notes. NULL with an error of one line: unreadable,
// no row, only one rank (nothing was sent), every row wrong. Caller frees.
ValidationNcclLog *validation_import_nccl_tests_read(const char *path, GError **error);
// The same from memory; name stands in errors where a file's path would.
ValidationNcclLog *validation_import_nccl_tests_read_text(const char *name, const char *text, gsize length,
                                                          GError **error);
