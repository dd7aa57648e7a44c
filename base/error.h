// base/error.h: the one GError domain of the program, and its exit codes.
//
// Errors of the world (files, values, disks) travel as GError ** in this domain. The message is one line:
//   file:line: section.key: what was found, what was wanted[, the nearest known name]
// Our own faults are g_assert. Out of memory aborts (GLib).
#pragma once

#include <glib.h>

#define BASE_ERROR (base_error_quark())
GQuark base_error_quark(void);

// The code of an error is the exit status that the program ends with.
typedef enum {
    BASE_ERROR_FAILED = 1,     // a file that cannot be read or written, a value that is wrong
    BASE_ERROR_USAGE = 2,      // what was typed makes no sense
    BASE_ERROR_INFEASIBLE = 3, // the question is well put, the answer is no (does not fit, out of tolerance)
} BaseErrorCode;

// Sets *error (if error is not NULL) to "WHERE: MESSAGE"; where may be NULL. Always returns FALSE, so that a
// reader can say: return base_error_set(error, ...). Whatever stands in where and in the arguments, the
// message is one printable line (control characters and broken UTF-8 become '?') of 4 kB at most.
gboolean base_error_set(GError **error, BaseErrorCode code, const char *where, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

// A printable copy of untrusted text for a message: control characters and broken UTF-8 become '?', and what
// is longer than 80 bytes is cut with "...". Caller frees.
char *base_error_quote(const char *text);
