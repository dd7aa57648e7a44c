// base/error.c: the one GError domain of the program.
#include "base/error.h"

// In bytes: a quoted value, a place (a path can be as long as a person likes), a message (which may quote
// another one with its place).
enum { QUOTE_LONGEST = 80, WHERE_LONGEST = 1000, MESSAGE_LONGEST = 3000 };

G_DEFINE_QUARK(stepline - error, base_error)

// A copy of text in one printable line: control characters and broken UTF-8 become '?', and what is longer
// than limit bytes is cut with "...". Caller frees.
static char *error_print(const char *text, gsize limit)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *out = g_string_new(NULL);
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        if (out->len >= limit) {
            g_string_append(out, "...");
            break;
        }
        if (g_unichar_isprint(c) && c != 0xfffd && c != 0x2028 && c != 0x2029)
            g_string_append_unichar(out, c);
        else
            g_string_append_c(out, '?');
    }
    return g_string_free(out, FALSE);
}

gboolean base_error_set(GError **error, BaseErrorCode code, const char *where, const char *format, ...)
{
    if (error == NULL)
        return FALSE;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *raw = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *message = error_print(raw, MESSAGE_LONGEST);
    if (where == NULL || *where == '\0') {
        g_set_error_literal(error, BASE_ERROR, (int)code, message);
        return FALSE;
    }
    g_autofree char *place = error_print(where, WHERE_LONGEST);
    g_set_error(error, BASE_ERROR, (int)code, "%s: %s", place, message);
    return FALSE;
}

char *base_error_quote(const char *text)
{
    return error_print(text, QUOTE_LONGEST);
}
