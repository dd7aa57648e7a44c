// base/library.h: the data that ships inside the program: machines, models, scenarios, tables, gnuplot
// scripts.
//
// Files under topo/data, models/data, scenarios, validation/data, plots and timeline are compiled in as
// GResource data, so that the program finds them from any folder and nothing on a disk can replace them
// unseen.
#pragma once

#include <glib.h>

#include "base/ini.h"

// The bytes of one file by its path in the source tree ("topo/data/deck-nvlink-8.ini"); NULL where it is not
// there. Caller unrefs.
GBytes *library_find(const char *path);

// The names (without extension) of the files of a folder of the source tree with an extension (".ini"),
// sorted. NULL-terminated, never NULL. Caller frees with g_strfreev.
char **library_list(const char *folder, const char *extension);

// Whether a 'use' key's name is one of the library's, or a path (which may or may not be there). FALSE with
// the error that library_read_ini would give.
gboolean library_check(const char *folder, const char *what, const char *name, const char *where,
                       GError **error);

// Reads what a 'use' key names: a path where name holds a '/' or ends in extension, else the library's file
// FOLDER/NAME.EXTENSION. what ("machine") stands in the error, which starts with where (may be NULL) and
// names the nearest entry. NULL with an error.
Ini *library_read_ini(const char *folder, const char *what, const char *name, const char *where,
                      GError **error);
