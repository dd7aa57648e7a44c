// base/ini.c: GKeyFile with lines, duplicates refused, unread keys reported.
#include "base/ini.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"

enum { FILE_LIMIT = 1 << 20 };

// One key of the text, in the order of the lines.
typedef struct {
    char *section, *key; // owned
    char *value;         // owned, stripped
    guint line;          // from 1; 0: came by --set
    gboolean asked;      // a getter looked at it
} IniEntry;

struct Ini {
    char *name;         // owned
    char *text;         // owned, as read
    GPtrArray *entries; // of IniEntry
    GHashTable *index;  // "section\nkey" -> IniEntry (borrowed); never iterated
    GPtrArray *asked;   // "section.key" that getters know, for suggestions; owned strings
    GHashTable *known;  // set of the strings in asked (borrowed)
};

static void ini_entry_free(gpointer data)
{
    IniEntry *entry = data;
    g_free(entry->section);
    g_free(entry->key);
    g_free(entry->value);
    g_free(entry);
}

void ini_free(Ini *ini)
{
    if (ini == NULL)
        return;
    g_hash_table_unref(ini->index);
    g_hash_table_unref(ini->known);
    g_ptr_array_unref(ini->asked);
    g_ptr_array_unref(ini->entries);
    g_free(ini->name);
    g_free(ini->text);
    g_free(ini);
}

const char *ini_name(const Ini *ini)
{
    return ini->name;
}

const char *ini_text(const Ini *ini)
{
    return ini->text;
}

static IniEntry *ini_find(const Ini *ini, const char *section, const char *key)
{
    g_autofree char *id = g_strconcat(section, "\n", key, NULL);
    return g_hash_table_lookup(ini->index, id);
}

static void ini_add(Ini *ini, const char *section, const char *key, const char *value, guint line)
{
    IniEntry *entry = g_new0(IniEntry, 1);
    entry->section = g_strdup(section);
    entry->key = g_strdup(key);
    entry->value = g_strstrip(g_strdup(value));
    entry->line = line;
    g_ptr_array_add(ini->entries, entry);
    g_hash_table_insert(ini->index, g_strconcat(section, "\n", key, NULL), entry);
}

static gboolean ini_refuse_line(const Ini *ini, guint line, GError **error, const char *what)
{
    g_autofree char *where = g_strdup_printf("%s:%u", ini->name, line);
    return base_error_set(error, BASE_ERROR_FAILED, where, "%s", what);
}

// Our own walk over the lines finds what GKeyFile forgets: the line of each key, and keys given twice. The
// grammar stays GKeyFile's; its parser reads the text as well, and its refusals stand.
static gboolean ini_scan(Ini *ini, GError **error)
{
    g_autofree char *section = NULL;
    g_auto(GStrv) lines = g_strsplit(ini->text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        char *line = g_strstrip(lines[i]);
        if (*line == '\0' || *line == '#')
            continue;
        if (*line == '[') {
            char *end = strchr(line, ']');
            if (end == NULL || end[1] != '\0' || end == line + 1)
                return ini_refuse_line(ini, i + 1, error, "found a broken section header, wanted [name]");
            g_free(section);
            section = g_strndup(line + 1, (gsize)(end - line - 1));
            continue;
        }
        char *equals = strchr(line, '=');
        if (equals == NULL || equals == line) {
            g_autofree char *quoted = base_error_quote(line);
            g_autofree char *what = g_strdup_printf("found '%s', wanted 'key = value'", quoted);
            return ini_refuse_line(ini, i + 1, error, what);
        }
        if (section == NULL)
            return ini_refuse_line(ini, i + 1, error, "found a key before the first [section]");
        *equals = '\0';
        char *key = g_strchomp(line);
        IniEntry *first = ini_find(ini, section, key);
        if (first != NULL) {
            g_autofree char *quoted_section = base_error_quote(section);
            g_autofree char *quoted = base_error_quote(key);
            g_autofree char *what = g_strdup_printf("%s.%s: found twice, first in line %u; wanted once",
                                                    quoted_section, quoted, first->line);
            return ini_refuse_line(ini, i + 1, error, what);
        }
        ini_add(ini, section, key, equals + 1, i + 1);
    }
    return TRUE;
}

Ini *ini_read_text(const char *name, const char *text, gsize length, GError **error)
{
    static const char MARK[] = "\xef\xbb\xbf"; // which some editors put before UTF-8
    if (length >= 3 && memcmp(text, MARK, 3) == 0) {
        text += 3;
        length -= 3;
    }
    if (length > FILE_LIMIT) {
        base_error_set(error, BASE_ERROR_FAILED, name, "found more than 1 MiB, wanted a short text file");
        return NULL;
    }
    if (!text_check(name, text, length, "key = value lines", error))
        return NULL;
    g_autoptr(Ini) ini = g_new0(Ini, 1);
    ini->name = g_strdup(name);
    ini->text = g_strndup(text, length);
    ini->entries = g_ptr_array_new_with_free_func(ini_entry_free);
    ini->index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    ini->asked = g_ptr_array_new_with_free_func(g_free);
    ini->known = g_hash_table_new(g_str_hash, g_str_equal);
    if (!ini_scan(ini, error))
        return NULL;
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) local = NULL;
    if (length > 0 && !g_key_file_load_from_data(file, ini->text, length, G_KEY_FILE_NONE, &local)) {
        g_autofree char *quoted = base_error_quote(local->message);
        base_error_set(error, BASE_ERROR_FAILED, name, "%s", quoted);
        return NULL;
    }
    return g_steal_pointer(&ini);
}

Ini *ini_read_file(const char *path, GError **error)
{
    gsize length = 0;
    g_autofree char *text = text_read_file(path, FILE_LIMIT, "a text file", &length, error);
    return text == NULL ? NULL : ini_read_text(path, text, length, error);
}

gboolean ini_set(Ini *ini, const char *assignment, GError **error)
{
    if (!g_utf8_validate(assignment, -1, NULL))
        return base_error_set(error, BASE_ERROR_USAGE, "--set", "found bytes that are not UTF-8 text");
    for (const char *at = assignment; *at != '\0'; at = g_utf8_next_char(at)) {
        if (text_is_foreign(g_utf8_get_char(at))) {
            g_autofree char *found = base_error_quote(assignment);
            return base_error_set(error, BASE_ERROR_USAGE, "--set",
                                  "found '%s' with a control character, wanted plain text", found);
        }
    }
    const char *equals = strchr(assignment, '=');
    const char *dot = equals == NULL ? NULL : g_strstr_len(assignment, equals - assignment, ".");
    if (dot == NULL || dot == assignment || dot + 1 == equals) {
        g_autofree char *quoted = base_error_quote(assignment);
        return base_error_set(error, BASE_ERROR_USAGE, "--set", "found '%s', wanted section.key=value",
                              quoted);
    }
    g_autofree char *section = g_strstrip(g_strndup(assignment, (gsize)(dot - assignment)));
    g_autofree char *key = g_strstrip(g_strndup(dot + 1, (gsize)(equals - dot - 1)));
    IniEntry *entry = ini_find(ini, section, key);
    if (entry == NULL) {
        ini_add(ini, section, key, equals + 1, 0);
        return TRUE;
    }
    g_free(entry->value);
    entry->value = g_strstrip(g_strdup(equals + 1));
    entry->line = 0;
    return TRUE;
}

gboolean ini_has_section(const Ini *ini, const char *section)
{
    for (guint i = 0; i < ini->entries->len; i++)
        if (strcmp(((IniEntry *)ini->entries->pdata[i])->section, section) == 0)
            return TRUE;
    return FALSE;
}

gboolean ini_has(const Ini *ini, const char *section, const char *key)
{
    return ini_find(ini, section, key) != NULL;
}

gboolean ini_peek(const Ini *ini, guint at, const char **section, const char **key, const char **value)
{
    if (at >= ini->entries->len)
        return FALSE;
    const IniEntry *entry = ini->entries->pdata[at];
    *section = entry->section;
    *key = entry->key;
    *value = entry->value;
    return TRUE;
}

static char *ini_where_entry(const Ini *ini, const IniEntry *entry)
{
    g_autofree char *section = base_error_quote(entry->section);
    g_autofree char *key = base_error_quote(entry->key);
    if (entry->line == 0)
        return g_strdup_printf("--set: %s.%s", section, key);
    return g_strdup_printf("%s:%u: %s.%s", ini->name, entry->line, section, key);
}

char *ini_where(const Ini *ini, const char *section, const char *key)
{
    const IniEntry *entry = ini_find(ini, section, key);
    if (entry != NULL)
        return ini_where_entry(ini, entry);
    return g_strdup_printf("%s: %s.%s", ini->name, section, key);
}

gboolean ini_refuse(const Ini *ini, const char *section, const char *key, GError **error, const char *format,
                    ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *where = ini_where(ini, section, key);
    return base_error_set(error, BASE_ERROR_FAILED, where, "%s", message);
}

// For a required key that is absent: " (line 7 has job.tokesn)", or "".
static char *ini_hint_missing(const Ini *ini, const char *section, const char *key)
{
    const char *const wanted_key[] = {key, NULL}, *const wanted_section[] = {section, NULL};
    for (guint i = 0; i < ini->entries->len; i++) {
        const IniEntry *entry = ini->entries->pdata[i];
        if (entry->asked || entry->line == 0 || suggest_find(entry->key, wanted_key) == NULL ||
            suggest_find(entry->section, wanted_section) == NULL)
            continue;
        g_autofree char *name = g_strconcat(entry->section, ".", entry->key, NULL);
        g_autofree char *quoted = base_error_quote(name);
        return g_strdup_printf(" (line %u has %s)", entry->line, quoted);
    }
    return g_strdup("");
}

gboolean ini_ask(Ini *ini, const char *section, const char *key, IniNeed need, const char **value,
                 GError **error)
{
    g_autofree char *name = g_strconcat(section, ".", key, NULL);
    if (!g_hash_table_contains(ini->known, name)) {
        g_hash_table_add(ini->known, name);
        g_ptr_array_add(ini->asked, g_steal_pointer(&name));
    }
    IniEntry *entry = ini_find(ini, section, key);
    *value = entry == NULL ? NULL : entry->value;
    if (entry != NULL)
        entry->asked = TRUE;
    if (entry != NULL || need == INI_OPTIONAL)
        return TRUE;
    g_autofree char *hint = ini_hint_missing(ini, section, key);
    return ini_refuse(ini, section, key, error, "missing%s", hint);
}

char **ini_keys(const Ini *ini, const char *section)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    for (guint i = 0; i < ini->entries->len; i++) {
        const IniEntry *entry = ini->entries->pdata[i];
        if (strcmp(entry->section, section) == 0)
            g_ptr_array_add(keys, g_strdup(entry->key));
    }
    g_ptr_array_add(keys, NULL);
    return (char **)g_ptr_array_steal(keys, NULL);
}

// The nearest of the asked names to an unread key: within its own section by key first, then by the whole
// name.
static char *ini_hint(const Ini *ini, const IniEntry *entry)
{
    g_autoptr(GPtrArray) same = g_ptr_array_new();
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    gsize prefix = strlen(entry->section) + 1;
    const char *elsewhere = NULL;
    for (guint i = 0; i < ini->asked->len; i++) {
        const char *name = ini->asked->pdata[i];
        const char *key = strchr(name, '.') + 1;
        g_ptr_array_add(all, (gpointer)name);
        if (strncmp(name, entry->section, prefix - 1) == 0 && name[prefix - 1] == '.')
            g_ptr_array_add(same, (gpointer)key);
        else if (strcmp(key, entry->key) == 0 && elsewhere == NULL)
            elsewhere = name;
    }
    g_ptr_array_add(same, NULL);
    g_ptr_array_add(all, NULL);
    if (suggest_find(entry->key, (const char *const *)same->pdata) != NULL)
        return suggest_hint(entry->key, (const char *const *)same->pdata);
    if (elsewhere != NULL)
        return g_strdup_printf(" (did you mean '%s'?)", elsewhere);
    g_autofree char *whole = g_strconcat(entry->section, ".", entry->key, NULL);
    return suggest_hint(whole, (const char *const *)all->pdata);
}

gboolean ini_finish(const Ini *ini, GError **error)
{
    for (guint i = 0; i < ini->entries->len; i++) {
        const IniEntry *entry = ini->entries->pdata[i];
        if (entry->asked)
            continue;
        g_autofree char *where = ini_where_entry(ini, entry);
        g_autofree char *hint = ini_hint(ini, entry);
        return base_error_set(error, BASE_ERROR_FAILED, where, "unknown key%s", hint);
    }
    return TRUE;
}
