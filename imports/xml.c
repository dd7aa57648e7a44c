// imports/xml.c: reading NCCL's dialect of XML character by character.
#include "imports/xml.h"

#include <string.h>

#include "base/error.h"

enum { ELEMENTS = 32768, ATTRIBUTES = 64, DEPTH = 64, NAME_LIMIT = 255 };

// Where the reader stands.
typedef struct {
    const char *name; // borrowed: for errors
    const char *at, *end;
    guint line;
    guint elements; // so far
} XmlText;

void import_xml_free(ImportXmlElement *root)
{
    if (root == NULL)
        return;
    g_free(root->name);
    g_strfreev(root->keys);
    g_strfreev(root->values);
    if (root->children != NULL)
        g_ptr_array_unref(root->children);
    g_free(root);
}

static void xml_free_child(gpointer data)
{
    import_xml_free(data);
}

const char *import_xml_find(const ImportXmlElement *element, const char *key)
{
    for (guint i = 0; element->keys[i] != NULL; i++)
        if (strcmp(element->keys[i], key) == 0)
            return element->values[i];
    return NULL;
}

guint import_xml_count(const ImportXmlElement *element, const char *name)
{
    guint count = 0;
    for (guint i = 0; i < element->children->len; i++)
        count += strcmp(((const ImportXmlElement *)element->children->pdata[i])->name, name) == 0;
    return count;
}

const ImportXmlElement *import_xml_child(const ImportXmlElement *element, const char *name)
{
    for (guint i = 0; i < element->children->len; i++) {
        const ImportXmlElement *child = element->children->pdata[i];
        if (strcmp(child->name, name) == 0)
            return child;
    }
    return NULL;
}

static gboolean xml_refuse(const XmlText *text, guint line, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

static gboolean xml_refuse(const XmlText *text, guint line, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *where = g_strdup_printf("%s:%u", text->name, line);
    return base_error_set(error, BASE_ERROR_FAILED, where, "%s", what);
}

static gboolean xml_starts(const XmlText *text, const char *word)
{
    gsize length = strlen(word);
    return (gsize)(text->end - text->at) >= length && memcmp(text->at, word, length) == 0;
}

static void xml_skip(XmlText *text, gsize bytes)
{
    for (; bytes > 0; bytes--)
        text->line += *text->at++ == '\n';
}

static void xml_skip_blanks(XmlText *text)
{
    while (text->at < text->end && g_ascii_isspace(*text->at))
        xml_skip(text, 1);
}

// Past what opens here and closes with close. FALSE with an error where it never does.
static gboolean xml_skip_past(XmlText *text, const char *close, const char *what, GError **error)
{
    guint line = text->line;
    while (text->at < text->end && !xml_starts(text, close))
        xml_skip(text, 1);
    if (text->at == text->end)
        return xml_refuse(text, line, error, "found %s that never ends, wanted '%s'", what, close);
    xml_skip(text, strlen(close));
    return TRUE;
}

// Past blanks, comments and <?...?>, to the next '<' or the end.
static gboolean xml_skip_between(XmlText *text, GError **error)
{
    for (;;) {
        xml_skip_blanks(text);
        if (xml_starts(text, "<!--")) {
            if (!xml_skip_past(text, "-->", "a comment", error))
                return FALSE;
        } else if (xml_starts(text, "<?")) {
            if (!xml_skip_past(text, "?>", "a '<?'", error))
                return FALSE;
        } else if (text->at < text->end && *text->at != '<') {
            const char *stop = memchr(text->at, '\n', (gsize)(text->end - text->at));
            g_autofree char *raw =
                g_strndup(text->at, (gsize)MIN((stop == NULL ? text->end : stop) - text->at, 200));
            g_autofree char *quoted = base_error_quote(g_strstrip(raw));
            return xml_refuse(text, text->line, error,
                              "found the text '%s', wanted an element '<...>' (XML alone, nothing around it)",
                              quoted);
        } else {
            return TRUE;
        }
    }
}

static gboolean xml_is_name(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '-' || c == ':' || c == '.';
}

// The name that starts here. NULL with an error.
static char *xml_read_name(XmlText *text, const char *what, GError **error)
{
    const char *start = text->at;
    while (text->at < text->end && xml_is_name(*text->at))
        text->at++;
    gsize length = (gsize)(text->at - start);
    if (length > 0 && length <= NAME_LIMIT)
        return g_strndup(start, length);
    if (text->at == text->end) {
        xml_refuse(text, text->line, error, "found the end of the file, wanted %s", what);
    } else {
        g_autofree char *raw = g_strndup(text->at, (gsize)MIN(text->end - text->at, 8));
        g_autofree char *quoted = base_error_quote(length > 0 ? "a name of more than 255 letters" : raw);
        xml_refuse(text, text->line, error, "found '%s', wanted %s", quoted, what);
    }
    return NULL;
}

// key="value" or key='value'. FALSE with an error.
static gboolean xml_read_attribute(XmlText *text, ImportXmlElement *element, GPtrArray *keys,
                                   GPtrArray *values, GError **error)
{
    g_autofree char *key = xml_read_name(text, "an attribute, '/>' or '>'", error);
    if (key == NULL)
        return FALSE;
    xml_skip_blanks(text);
    guint line = text->line;
    if (text->at == text->end)
        return xml_refuse(text, line, error,
                          "found the end of the file inside <%s> after '%s', wanted its value", element->name,
                          key);
    if (*text->at != '=')
        return xml_refuse(text, line, error, "%s.%s: found no '=', wanted %s=\"...\"", element->name, key,
                          key);
    text->at++;
    xml_skip_blanks(text);
    char quote = text->at < text->end ? *text->at : '\0';
    if (quote != '"' && quote != '\'')
        return xml_refuse(text, line, error, "%s.%s: found no quote, wanted %s=\"...\"", element->name, key,
                          key);
    const char *start = ++text->at;
    const char *stop = memchr(start, quote, (gsize)(text->end - start));
    if (stop == NULL)
        return xml_refuse(text, line, error, "%s.%s: found a value that never ends, wanted a closing %c",
                          element->name, key, quote);
    xml_skip(text, (gsize)(stop - start) + 1);
    if (text->line != line)
        return xml_refuse(text, line, error, "%s.%s: found a value over several lines, wanted a closing %c",
                          element->name, key, quote);
    for (guint i = 0; i < keys->len; i++)
        if (strcmp(keys->pdata[i], key) == 0)
            return xml_refuse(text, line, error, "%s.%s: found twice, wanted once", element->name, key);
    if (keys->len == ATTRIBUTES)
        return xml_refuse(text, line, error, "%s: found more than %d attributes, wanted fewer", element->name,
                          ATTRIBUTES);
    g_ptr_array_add(keys, g_steal_pointer(&key));
    g_ptr_array_add(values, g_strndup(start, (gsize)(stop - start)));
    return TRUE;
}

// "<name key=value ...>" or ".../>", from its '<'. *open says whether children follow. NULL with an error.
static ImportXmlElement *xml_read_tag(XmlText *text, gboolean *open, GError **error)
{
    g_autoptr(ImportXmlElement) element = g_new0(ImportXmlElement, 1);
    element->line = text->line;
    element->children = g_ptr_array_new_with_free_func(xml_free_child);
    text->at++;
    element->name = xml_read_name(text, "an element's name after '<'", error);
    if (element->name == NULL)
        return NULL;
    if (++text->elements > ELEMENTS) {
        xml_refuse(text, text->line, error, "found more than %d elements, wanted fewer", ELEMENTS);
        return NULL;
    }
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
    gboolean fine = TRUE;
    for (xml_skip_blanks(text); fine; xml_skip_blanks(text)) {
        if (text->at == text->end)
            fine = xml_refuse(text, text->line, error, "found the end of the file inside <%s>, wanted '>'",
                              element->name);
        else if (*text->at == '>' || xml_starts(text, "/>"))
            break;
        else
            fine = xml_read_attribute(text, element, keys, values, error);
    }
    if (!fine)
        return NULL;
    *open = *text->at == '>';
    text->at += *open ? 1 : 2;
    g_ptr_array_add(keys, NULL);
    g_ptr_array_add(values, NULL);
    element->keys = (char **)g_ptr_array_steal(keys, NULL);
    element->values = (char **)g_ptr_array_steal(values, NULL);
    return g_steal_pointer(&element);
}

// "</name>" of the element that is open. FALSE with an error.
static gboolean xml_read_close(XmlText *text, const ImportXmlElement *open, GError **error)
{
    text->at += 2;
    g_autofree char *name = xml_read_name(text, "an element's name after '</'", error);
    if (name == NULL)
        return FALSE;
    xml_skip_blanks(text);
    if (strcmp(name, open->name) != 0)
        return xml_refuse(text, text->line, error, "found </%s>, wanted </%s> (opened in line %u)", name,
                          open->name, open->line);
    if (text->at == text->end || *text->at != '>')
        return xml_refuse(text, text->line, error, "found </%s without '>', wanted </%s>", name, name);
    text->at++;
    return TRUE;
}

// The next tag inside *open (NULL: the root is still to come), which is moved to the element that is open
// after it.
static gboolean xml_read_next(XmlText *text, ImportXmlElement **root, ImportXmlElement **open, guint *depth,
                              GError **error)
{
    if (xml_starts(text, "</") && *open != NULL) {
        if (!xml_read_close(text, *open, error))
            return FALSE;
        *open = (*open)->parent;
        --*depth;
        return TRUE;
    }
    gboolean opens = FALSE;
    ImportXmlElement *element = xml_read_tag(text, &opens, error);
    if (element == NULL)
        return FALSE;
    element->parent = *open;
    if (*open == NULL)
        *root = element;
    else
        g_ptr_array_add((*open)->children, element);
    if (opens) {
        *open = element;
        if (++*depth > DEPTH)
            return xml_refuse(text, element->line, error,
                              "found more than %d levels of elements, wanted fewer", DEPTH);
    }
    return TRUE;
}

ImportXmlElement *import_xml_read(const char *name, const char *bytes, gsize length, GError **error)
{
    XmlText text = {.name = name, .at = bytes, .end = bytes + length, .line = 1};
    const char *bad = NULL;
    if (!g_utf8_validate(bytes, (gssize)length, &bad)) {
        while (text.at < bad)
            xml_skip(&text, 1);
        xml_refuse(&text, text.line, error, "found bytes that are not UTF-8 text, wanted an XML file");
        return NULL;
    }
    if (xml_starts(&text, "\xef\xbb\xbf"))
        text.at += 3;
    g_autoptr(ImportXmlElement) root = NULL;
    ImportXmlElement *open = NULL;
    guint depth = 0;
    do {
        if (!xml_skip_between(&text, error))
            return NULL;
        if (text.at == text.end) {
            if (open == NULL)
                xml_refuse(&text, text.line, error, "found no element, wanted <system> ... </system>");
            else
                xml_refuse(
                    &text, text.line, error,
                    "found the end of the file inside <%s> (opened in line %u), wanted </%s>: cut short?",
                    open->name, open->line, open->name);
            return NULL;
        }
        if (!xml_read_next(&text, &root, &open, &depth, error))
            return NULL;
    } while (open != NULL);
    if (!xml_skip_between(&text, error))
        return NULL;
    if (text.at < text.end) {
        xml_refuse(&text, text.line, error, "found more after </%s>, wanted the end of the file", root->name);
        return NULL;
    }
    return g_steal_pointer(&root);
}
