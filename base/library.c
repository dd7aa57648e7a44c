// base/library.c: looking up the data that was compiled in.
#include "base/library.h"

#include <gio/gio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "library-data.h" // made by glib-compile-resources from the list in Makefile.am

static char *library_path(const char *path)
{
    return g_strconcat("/stepline/", path, NULL);
}

GBytes *library_find(const char *path)
{
    g_autofree char *full = library_path(path);
    return g_resource_lookup_data(library_get_resource(), full, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
}

static int library_compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char **library_list(const char *folder, const char *extension)
{
    g_autofree char *full = library_path(folder);
    g_auto(GStrv) children =
        g_resource_enumerate_children(library_get_resource(), full, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; children != NULL && children[i] != NULL; i++)
        if (g_str_has_suffix(children[i], extension))
            g_ptr_array_add(names, g_strndup(children[i], strlen(children[i]) - strlen(extension)));
    g_ptr_array_sort(names, library_compare);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_steal(names, NULL);
}

static gboolean library_is_path(const char *name)
{
    return strchr(name, '/') != NULL || g_str_has_suffix(name, ".ini");
}

// The library's file of a name; NULL with an error.
static GBytes *library_get(const char *folder, const char *what, const char *name, const char *where,
                           GError **error)
{
    g_autofree char *path = g_strdup_printf("%s/%s.ini", folder, name);
    GBytes *bytes = library_find(path);
    if (bytes != NULL)
        return bytes;
    g_auto(GStrv) names = library_list(folder, ".ini");
    g_autofree char *hint = suggest_hint(name, (const char *const *)names);
    g_autofree char *quoted = base_error_quote(name);
    base_error_set(
        error, BASE_ERROR_FAILED, where,
        "found no %s '%s' in the library%s, wanted a name from 'stepline list %ss' or a path with a '/'",
        what, quoted, hint, what);
    return NULL;
}

gboolean library_check(const char *folder, const char *what, const char *name, const char *where,
                       GError **error)
{
    if (library_is_path(name))
        return TRUE;
    g_autoptr(GBytes) bytes = library_get(folder, what, name, where, error);
    return bytes != NULL;
}

Ini *library_read_ini(const char *folder, const char *what, const char *name, const char *where,
                      GError **error)
{
    if (library_is_path(name))
        return ini_read_file(name, error);
    g_autoptr(GBytes) bytes = library_get(folder, what, name, where, error);
    if (bytes == NULL)
        return NULL;
    g_autofree char *path = g_strdup_printf("%s/%s.ini", folder, name);
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    return ini_read_text(path, text, length, error);
}
