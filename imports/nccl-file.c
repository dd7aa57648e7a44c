// imports/nccl-file.c: the table of attributes, and the list of issues.
#include "imports/nccl-file.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

enum { ISSUES = 100 }; // distinct ones that are kept

// The attributes of the grammar. Used ones make the graph.
static const struct {
    const char *element, *key;
    gboolean used;
} ATTRIBUTES[] = {
    {"system", "version", TRUE},
    {"cpu", "numaid", FALSE},
    {"cpu", "host_hash", TRUE},
    {"cpu", "affinity", FALSE},
    {"cpu", "affinity_offset", FALSE},
    {"cpu", "arch", TRUE},
    {"cpu", "vendor", TRUE},
    {"cpu", "familyid", TRUE},
    {"cpu", "modelid", TRUE},
    {"pci", "busid", TRUE},
    {"pci", "class", TRUE},
    {"pci", "vendor", TRUE},
    {"pci", "device", TRUE},
    {"pci", "subsystem_vendor", TRUE},
    {"pci", "subsystem_device", TRUE},
    {"pci", "link_speed", TRUE},
    {"pci", "link_width", TRUE},
    {"gpu", "dev", TRUE},
    {"gpu", "sm", TRUE},
    {"gpu", "rank", FALSE},
    {"gpu", "gdr", FALSE},
    {"gpu", "gcn", TRUE},
    {"gpu", "arch", FALSE},
    {"gpu", "mlopart", FALSE},
    {"net", "name", TRUE},
    {"net", "dev", FALSE},
    {"net", "speed", TRUE},
    {"net", "port", FALSE},
    {"net", "latency", FALSE},
    {"net", "guid", TRUE},
    {"net", "maxconn", FALSE},
    {"net", "gdr", FALSE},
    {"net", "coll", FALSE},
    {"net", "net", TRUE},
    {"net", "gin", FALSE},
    {"net", "rail", FALSE},
    {"net", "plane", FALSE},
    {"net", "keep", FALSE},
    {"nvlink", "target", TRUE},
    {"nvlink", "count", TRUE},
    {"nvlink", "tclass", TRUE},
    {"xgmi", "target", TRUE},
    {"xgmi", "count", TRUE},
    {"xgmi", "tclass", TRUE},
    {"c2c", "bw", TRUE},
    {"c2c", "count", TRUE},
};
G_STATIC_ASSERT(G_N_ELEMENTS(ATTRIBUTES) <= 64);

static void nccl_free_issue(gpointer data)
{
    ImportNcclIssue *issue = data;
    g_free(issue->what);
    g_free(issue);
}

void import_nccl_file_init(ImportNcclFile *file, const char *name)
{
    *file = (ImportNcclFile){.name = name, .issues = g_ptr_array_new_with_free_func(nccl_free_issue)};
}

void import_nccl_file_clear(ImportNcclFile *file)
{
    g_clear_pointer(&file->issues, g_ptr_array_unref);
}

void import_nccl_file_report(ImportNcclFile *file, guint line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    for (guint i = 0; i < file->issues->len; i++) {
        ImportNcclIssue *issue = file->issues->pdata[i];
        if (strcmp(issue->what, what) == 0) {
            issue->times++;
            issue->line = MIN(issue->line, line);
            return;
        }
    }
    if (file->issues->len == ISSUES) {
        file->more++;
        return;
    }
    ImportNcclIssue *issue = g_new(ImportNcclIssue, 1);
    *issue = (ImportNcclIssue){.what = g_steal_pointer(&what), .line = line, .times = 1};
    g_ptr_array_add(file->issues, issue);
}

gboolean import_nccl_file_refuse(const ImportNcclFile *file, const ImportXmlElement *element, const char *key,
                                 GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *where = g_strdup_printf("%s:%u: %s%s%s", file->name, element->line, element->name,
                                             key == NULL ? "" : ".", key == NULL ? "" : key);
    return base_error_set(error, BASE_ERROR_FAILED, where, "%s", what);
}

gboolean import_nccl_file_parse(const char *text, gint64 *value)
{
    char *rest = NULL;
    gint64 number = g_ascii_strtoll(text, &rest, 0);
    if (rest == text || rest[strspn(rest, " ")] != '\0')
        return FALSE;
    *value = number;
    return TRUE;
}

gboolean import_nccl_file_get(const ImportNcclFile *file, const ImportXmlElement *element, const char *key,
                              gint64 low, gint64 high, gint64 *value, GError **error)
{
    const char *text = import_xml_find(element, key);
    gint64 number = 0;
    if (text == NULL)
        return TRUE;
    if (!import_nccl_file_parse(text, &number) || number < low || number > high) {
        g_autofree char *quoted = base_error_quote(text);
        return import_nccl_file_refuse(file, element, key, error,
                                       "found '%s', wanted a whole number from %" G_GINT64_FORMAT
                                       " to %" G_GINT64_FORMAT,
                                       quoted, low, high);
    }
    *value = number;
    return TRUE;
}

guint import_nccl_file_class(const char *text)
{
    char *rest = NULL;
    guint64 class = text == NULL ? 0 : g_ascii_strtoull(text, &rest, 16);
    return text == NULL || *rest != '\0' || class > 0xffffff ? 0 : (guint) class;
}

gboolean import_nccl_file_is_gpu(guint class)
{
    return class >> 16 == 0x03 || class >> 16 == 0x12;
}

char *import_nccl_file_unused(const ImportNcclFile *file)
{
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(ATTRIBUTES); i++)
        if ((file->unused >> i & 1) != 0)
            g_string_append_printf(names, "%s%s.%s", names->len == 0 ? "" : ", ", ATTRIBUTES[i].element,
                                   ATTRIBUTES[i].key);
    return g_string_free(names, FALSE);
}

void import_nccl_file_check_attributes(ImportNcclFile *file, const ImportXmlElement *element)
{
    const char *known[G_N_ELEMENTS(ATTRIBUTES) + 1];
    for (guint k = 0; element->keys[k] != NULL; k++) {
        guint n = 0, at = G_N_ELEMENTS(ATTRIBUTES);
        for (guint i = 0; i < G_N_ELEMENTS(ATTRIBUTES); i++) {
            if (strcmp(ATTRIBUTES[i].element, element->name) != 0)
                continue;
            known[n++] = ATTRIBUTES[i].key;
            if (strcmp(ATTRIBUTES[i].key, element->keys[k]) == 0)
                at = i;
        }
        known[n] = NULL;
        if (at < G_N_ELEMENTS(ATTRIBUTES)) {
            file->unused |= (guint64)!ATTRIBUTES[at].used << at;
            continue;
        }
        g_autofree char *hint = suggest_hint(element->keys[k], known);
        import_nccl_file_report(file, element->line, "<%s %s=...> is not known%s: ignored", element->name,
                                element->keys[k], hint);
    }
}

void import_nccl_file_ignore(ImportNcclFile *file, const ImportXmlElement *element)
{
    import_nccl_file_report(file, element->line, "<%s> below <%s> is not known: ignored with what it holds",
                            element->name, element->parent->name);
}
