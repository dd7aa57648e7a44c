// base/text.h: reading a text file that anyone may have written: its size, its encoding, nothing that steers
// a terminal.
#pragma once

#include <glib.h>

// Reads a regular file of at most limit bytes; of a longer one, limit + 1 bytes come back, so that the caller
// can refuse it. wanted ("a text file") stands in the error. A NUL follows the text. NULL with an error
// "PATH: ..."; caller frees.
char *text_read_file(const char *path, gsize limit, const char *wanted, gsize *length, GError **error);

// Whether a character may not stand in a line of text: control characters but the tab, and the two line ends
// of Unicode.
gboolean text_is_foreign(gunichar c);

// Whether length bytes are UTF-8 without NUL and without foreign characters; lines end in LF or CR LF. FALSE
// with an error "NAME: ..." or "NAME:LINE: ..."; wanted ("key = value lines") stands in it.
gboolean text_check(const char *name, const char *text, gsize length, const char *wanted, GError **error);
