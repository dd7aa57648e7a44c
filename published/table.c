// published/table.c: reading small library tables.
#include "published/table.h"

#include "base/library.h"

Csv *published_table_open(const char *name, GError **error)
{
    g_autofree char *path = g_strdup_printf("validation/data/%s.csv", name);
    g_autoptr(GBytes) bytes = library_find(path);
    g_assert(bytes != NULL);
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    return csv_read_text(path, text, length, error);
}

Csv *published_table_read(const char *name, const char *const *names, guint *columns)
{
    g_autoptr(GError) error = NULL;
    Csv *csv = published_table_open(name, &error);
    gboolean fine = csv != NULL;
    for (guint i = 0; fine && names[i] != NULL; i++)
        fine = csv_find_column(csv, names[i], &columns[i], &error);
    if (!fine)
        g_error("%s", error->message);
    return csv;
}
