// imports/import.c: the table of importers of topologies, and choosing the one that a file looks most like.
#include "imports/import.h"

#include "base/error.h"
#include "base/text.h"

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

gboolean import_read(const char *path, Import *import, GError **error)
{
    gsize length = 0;
    g_autofree char *text = text_read_file(path, FILE_LIMIT, "a topology file", &length, error);
    if (text == NULL)
        return FALSE;
    if (length > FILE_LIMIT)
        return base_error_set(error, BASE_ERROR_FAILED, path,
                              "found more than 4 MiB, wanted the topology of one node");
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
