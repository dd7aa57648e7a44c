// base/text.c: reading a text file that anyone may have written.
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

char *text_read_file(const char *path, gsize limit, const char *wanted, gsize *length, GError **error)
{
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        gboolean there = g_file_test(path, G_FILE_TEST_EXISTS);
        base_error_set(error, BASE_ERROR_FAILED, path, "%s%s",
                       there ? "found no regular file, wanted " : "no such file", there ? wanted : "");
        return NULL;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        base_error_set(error, BASE_ERROR_FAILED, path, "cannot be read: %s", g_strerror(errno));
        return NULL;
    }
    g_autofree char *text = g_malloc(limit + 2);
    *length = fread(text, 1, limit + 1, file);
    int broken = ferror(file) ? errno : 0;
    fclose(file);
    if (broken != 0) {
        base_error_set(error, BASE_ERROR_FAILED, path, "cannot be read: %s", g_strerror(broken));
        return NULL;
    }
    text[*length] = '\0';
    return g_realloc(g_steal_pointer(&text), *length + 1);
}

gboolean text_is_foreign(gunichar c)
{
    return (g_unichar_iscntrl(c) && c != '\t') || c == 0x2028 || c == 0x2029;
}

gboolean text_check(const char *name, const char *text, gsize length, const char *wanted, GError **error)
{
    if (memchr(text, '\0', length) != NULL || !g_utf8_validate(text, (gssize)length, NULL))
        return base_error_set(error, BASE_ERROR_FAILED, name,
                              "found bytes that are not UTF-8 text, wanted %s", wanted);
    guint line = 1;
    const char *end = text + length;
    for (const char *at = text; at < end; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        if (c == '\n') {
            line++;
        } else if (text_is_foreign(c) && !(c == '\r' && (at + 1 == end || at[1] == '\n'))) {
            g_autofree char *where = g_strdup_printf("%s:%u", name, line);
            return base_error_set(error, BASE_ERROR_FAILED, where, "%s",
                                  c == '\r'
                                      ? "found a lone carriage return, wanted lines that end in LF or CR LF"
                                      : "found a control character, wanted plain text");
        }
    }
    return TRUE;
}
