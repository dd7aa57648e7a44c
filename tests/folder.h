// tests/folder.h: a folder of its own for the files of one test program.
#pragma once

#include <glib/gstdio.h>

static char *folder; // owned; from folder_make to folder_remove

// Makes the folder. FALSE: it cannot be made.
static inline gboolean folder_make(void)
{
    folder = g_dir_make_tmp("stepline-test-XXXXXX", NULL);
    return folder != NULL;
}

// The path of a file in it. Caller frees.
static inline char *folder_file(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

// Removes the folder and its files.
static inline void folder_remove(void)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name = g_dir_read_name(dir); name != NULL; name = g_dir_read_name(dir)) {
        g_autofree char *path = folder_file(name);
        g_remove(path);
    }
    g_rmdir(folder);
    g_clear_pointer(&folder, g_free);
}
