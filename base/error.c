// base/error.c: the one GError domain of the program.
#include "base/error.h"

#include <string.h>

G_DEFINE_QUARK(stepline-error, base_error)

gboolean base_error_set(GError **error, BaseErrorCode code, const char *where, const char *format, ...)
{
    if (error == NULL)
        return FALSE;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (where == NULL || *where == '\0')
        g_set_error_literal(error, BASE_ERROR, (int)code, message);
    else
        g_set_error(error, BASE_ERROR, (int)code, "%s: %s", where, message);
    return FALSE;
}

char *base_error_quote(const char *text)
{
    enum { LONGEST = 80 };
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *out = g_string_new(NULL);
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        if (out->len >= LONGEST) {
            g_string_append(out, "...");
            break;
        }
        if (g_unichar_isprint(c))
            g_string_append_unichar(out, c);
        else
            g_string_append_c(out, '?');
    }
    return g_string_free(out, FALSE);
}
