// base/ini-get.c: the getters of base/ini.h: values of every kind.
#include "base/ini.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

gboolean ini_get_text(Ini *ini, const char *section, const char *key, IniNeed need, char **value,
                      GError **error)
{
    const char *text = NULL;
    if (!ini_ask(ini, section, key, need, &text, error))
        return FALSE;
    if (text == NULL)
        return TRUE;
    if (*text == '\0')
        return ini_refuse(ini, section, key, error, "found nothing, wanted a value");
    g_free(*value);
    *value = g_strdup(text);
    return TRUE;
}

gboolean ini_get_flag(Ini *ini, const char *section, const char *key, IniNeed need, gboolean *value,
                      GError **error)
{
    static const char *const names[] = {"no", "yes", NULL};
    guint index = *value ? 1 : 0;
    if (!ini_get_choice(ini, section, key, need, names, &index, error))
        return FALSE;
    *value = index == 1;
    return TRUE;
}

gboolean ini_get(Ini *ini, const char *section, const char *key, IniNeed need, UnitsKind kind, double *value,
                 GError **error)
{
    const char *text = NULL;
    if (!ini_ask(ini, section, key, need, &text, error))
        return FALSE;
    if (text == NULL)
        return TRUE;
    g_autofree char *where = ini_where(ini, section, key);
    return units_parse(kind, text, where, value, error);
}

gboolean ini_get_whole(Ini *ini, const char *section, const char *key, IniNeed need, UnitsKind kind,
                       gint64 *value, GError **error)
{
    g_assert(kind == UNITS_COUNT || kind == UNITS_BYTES);
    double number = (double)*value;
    if (!ini_get(ini, section, key, need, kind, &number, error))
        return FALSE;
    *value = (gint64)number;
    return TRUE;
}

gboolean ini_get_count(Ini *ini, const char *section, const char *key, IniNeed need, gint64 low, gint64 high,
                       gint64 *value, GError **error)
{
    gint64 number = *value;
    if (!ini_get_whole(ini, section, key, need, UNITS_COUNT, &number, error))
        return FALSE;
    if (ini_has(ini, section, key) && (number < low || number > high))
        return ini_refuse(ini, section, key, error,
                          "found %" G_GINT64_FORMAT ", wanted a whole number from %" G_GINT64_FORMAT
                          " to %" G_GINT64_FORMAT,
                          number, low, high);
    *value = number;
    return TRUE;
}

gboolean ini_get_ps(Ini *ini, const char *section, const char *key, IniNeed need, Ps *value, GError **error)
{
    const char *text = NULL;
    if (!ini_ask(ini, section, key, need, &text, error))
        return FALSE;
    if (text == NULL)
        return TRUE;
    g_autofree char *where = ini_where(ini, section, key);
    return units_parse_ps(text, where, value, error);
}

gboolean ini_get_choice(Ini *ini, const char *section, const char *key, IniNeed need,
                        const char *const *names, guint *value, GError **error)
{
    const char *text = NULL;
    if (!ini_ask(ini, section, key, need, &text, error))
        return FALSE;
    if (text == NULL)
        return TRUE;
    for (guint i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *value = i;
            return TRUE;
        }
    }
    g_autofree char *found = base_error_quote(text);
    g_autofree char *wanted = g_strjoinv(", ", (char **)names);
    g_autofree char *hint = suggest_hint(text, names);
    return ini_refuse(ini, section, key, error, "found '%s', wanted one of: %s%s", found, wanted, hint);
}
