// plots/plot.h: a picture by gnuplot, from a script of ours and the data before it.
//
// gnuplot is found at run time and started without a shell or its own start-up files. Its script is a file of
// the library (plots/*.gp), with assignments and data blocks in front; text from elsewhere enters it through
// plot_quote only, and is drawn as it stands (terminals are noenhanced).
#pragma once

#include <glib.h>

// text as a string of gnuplot's language: quoted, in one printable line, at most some 80 bytes. Caller frees.
char *plot_quote(const char *text);

// Whether a picture can have this name: FALSE with a usage error where it ends in neither .png nor .svg.
gboolean plot_check(const char *path, GError **error);

// Draws width x height pixels with the library's script ("plots/timeline.gp") after preamble, and puts the
// file in its place when it is whole. FALSE with an error where gnuplot is not there or fails, or the file
// cannot be written.
gboolean plot_write(const char *path, guint width, guint height, const char *preamble, const char *script,
                    GError **error);
