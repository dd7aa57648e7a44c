// imports/import.c: the table of importers of topologies, and choosing the one that a file looks most like.
#include "imports/import.h"

#include <string.h>

#include "base/error.h"

enum { FILE_LIMIT = 4 << 20 };

const Importer *const IMPORTERS[] = {
    &IMPORT_NCCL,
    &IMPORT_SMI,
    NULL,
};

void import_init(Import *import)
{
    *import = (Import){
        .notes = g_ptr_array_new_with_free_func(g_free),
        .assumed = g_ptr_array_new_with_free_func(g_free),
    };
}

void import_clear(Import *import)
{
    topo_graph_free(import->graph);
    g_free(import->chip);
    g_clear_pointer(&import->notes, g_ptr_array_unref);
    g_clear_pointer(&import->assumed, g_ptr_array_unref);
    *import = (Import){0};
}

void import_note(Import *import, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(import->notes, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

void import_assume(Import *import, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(import->assumed, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

// Maps a regular file of at most FILE_LIMIT bytes. NULL with an error; caller unrefs.
static GMappedFile *import_map(const char *path, GError **error)
{
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        base_error_set(error, BASE_ERROR_FAILED, path, "%s",
                       g_file_test(path, G_FILE_TEST_EXISTS) ? "found no regular file, wanted a topology file"
                                                             : "no such file");
        return NULL;
    }
    g_autoptr(GError) local = NULL;
    g_autoptr(GMappedFile) mapped = g_mapped_file_new(path, FALSE, &local);
    if (mapped == NULL) {
        base_error_set(error, BASE_ERROR_FAILED, path, "cannot be read: %s", local->message);
        return NULL;
    }
    if (g_mapped_file_get_length(mapped) > FILE_LIMIT) {
        base_error_set(error, BASE_ERROR_FAILED, path,
                       "found more than 4 MiB, wanted the topology of one node");
        return NULL;
    }
    return g_steal_pointer(&mapped);
}

gboolean import_read(const char *path, Import *import, GError **error)
{
    g_autoptr(GMappedFile) mapped = import_map(path, error);
    if (mapped == NULL)
        return FALSE;
    gsize length = g_mapped_file_get_length(mapped);
    g_autofree char *text = g_malloc0(length + 1); // whoever runs past length meets an end
    if (length > 0)
        memcpy(text, g_mapped_file_get_contents(mapped), length);
    const Importer *best = NULL;
    int most = 0;
    g_autoptr(GString) tried = g_string_new(NULL);
    for (guint i = 0; IMPORTERS[i] != NULL; i++) {
        int likeness = IMPORTERS[i]->sniff(text, length);
        g_string_append_printf(tried, "%s%s", i == 0 ? "" : " or ", IMPORTERS[i]->title);
        if (likeness > most) {
            most = likeness;
            best = IMPORTERS[i];
        }
    }
    if (best == NULL)
        return base_error_set(error, BASE_ERROR_FAILED, path,
                              "found nothing that looks like a topology, wanted %s", tried->str);
    return best->read(path, text, length, import, error);
}
