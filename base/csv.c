// base/csv.c: one pass over the bytes of a table.
#include "base/csv.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"

enum { FILE_LIMIT = 4 << 20, COLUMN_LIMIT = 256 };

struct Csv {
    char *name;      // owned
    GPtrArray *rows; // of CsvRow *, owned; the first is the header
};

static void csv_row_free(gpointer data)
{
    CsvRow *row = data;
    g_strfreev(row->fields);
    g_free(row);
}

void csv_free(Csv *csv)
{
    if (csv == NULL)
        return;
    g_ptr_array_unref(csv->rows);
    g_free(csv->name);
    g_free(csv);
}

guint csv_rows(const Csv *csv)
{
    return csv->rows->len - 1;
}

const CsvRow *csv_get(const Csv *csv, guint row)
{
    g_assert(row < csv_rows(csv));
    return csv->rows->pdata[row + 1];
}

static const CsvRow *csv_header(const Csv *csv)
{
    return csv->rows->pdata[0];
}

gboolean csv_find_column(const Csv *csv, const char *name, guint *column, GError **error)
{
    const CsvRow *header = csv_header(csv);
    for (guint i = 0; header->fields[i] != NULL; i++) {
        if (strcmp(header->fields[i], name) == 0) {
            *column = i;
            return TRUE;
        }
    }
    g_autofree char *where = g_strdup_printf("%s:%u", csv->name, header->line);
    g_autofree char *hint = suggest_hint(name, (const char *const *)header->fields);
    return base_error_set(error, BASE_ERROR_FAILED, where, "found no column '%s', wanted one%s", name, hint);
}

char *csv_where(const Csv *csv, guint row, guint column)
{
    g_autofree char *name = base_error_quote(csv_header(csv)->fields[column]);
    return g_strdup_printf("%s:%u: %s", csv->name, csv_get(csv, row)->line, name);
}

static gboolean csv_refuse(const Csv *csv, guint line, const char *what, GError **error)
{
    g_autofree char *where = g_strdup_printf("%s:%u", csv->name, line);
    return base_error_set(error, BASE_ERROR_FAILED, where, "%s", what);
}

// What is being read, and how far.
typedef struct {
    const char *at, *end;
    guint line;
} CsvCursor;

// Whether a line ends here; where it does, steps over its end.
static gboolean csv_skip_end(CsvCursor *cursor)
{
    gsize left = (gsize)(cursor->end - cursor->at);
    gsize n = left >= 1 && cursor->at[0] == '\n'                ? 1
              : left >= 2 && memcmp(cursor->at, "\r\n", 2) == 0 ? 2
                                                                : 0;
    cursor->at += n;
    cursor->line += n > 0;
    return n > 0;
}

// Reads one field up to the ',' or line end behind it. NULL with an error.
static char *csv_read_field(const Csv *csv, CsvCursor *cursor, GError **error)
{
    g_autoptr(GString) field = g_string_new(NULL);
    guint start = cursor->line;
    if (cursor->at < cursor->end && *cursor->at == '"') {
        cursor->at++;
        for (;;) {
            if (cursor->at == cursor->end) {
                csv_refuse(csv, start, "found a quote that is never closed, wanted '\"' at the field's end",
                           error);
                return NULL;
            }
            char byte = *cursor->at++;
            if (byte == '"') {
                if (cursor->at == cursor->end || *cursor->at != '"')
                    break;
                cursor->at++;
            }
            cursor->line += byte == '\n';
            g_string_append_c(field, byte);
        }
    } else {
        while (cursor->at < cursor->end && strchr(",\"\r\n", *cursor->at) == NULL)
            g_string_append_c(field, *cursor->at++);
    }
    CsvCursor peek = *cursor;
    if (cursor->at < cursor->end && *cursor->at != ',' && !csv_skip_end(&peek)) {
        csv_refuse(
            csv, cursor->line,
            *cursor->at == '\r' ? "found a lone carriage return, wanted lines that end in LF or CR LF"
            : *cursor->at == '"'
                ? "found a quote inside a field, wanted the whole field in quotes and '\"\"' for a quote"
                : "found text behind a closing quote, wanted ',' or the line's end",
            error);
        return NULL;
    }
    return g_string_free(g_steal_pointer(&field), FALSE);
}

static gboolean csv_read_row(Csv *csv, CsvCursor *cursor, GError **error)
{
    guint line = cursor->line;
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
    for (;;) {
        char *field = csv_read_field(csv, cursor, error);
        if (field == NULL)
            return FALSE;
        g_ptr_array_add(fields, field);
        if (fields->len > COLUMN_LIMIT)
            return csv_refuse(csv, line, "found more than 256 columns, wanted at most 256", error);
        if (cursor->at == cursor->end || csv_skip_end(cursor))
            break;
        cursor->at++; // the ','
    }
    if (csv->rows->len > 0) {
        guint wanted = g_strv_length(csv_header(csv)->fields);
        if (fields->len != wanted) {
            g_autofree char *what = g_strdup_printf("found %u field%s, wanted %u as in the header",
                                                    fields->len, fields->len == 1 ? "" : "s", wanted);
            return csv_refuse(csv, line, what, error);
        }
    }
    CsvRow *row = g_new0(CsvRow, 1);
    row->line = line;
    g_ptr_array_add(fields, NULL);
    row->fields = (char **)g_ptr_array_steal(fields, NULL);
    g_ptr_array_add(csv->rows, row);
    return TRUE;
}

static gboolean csv_check_header(const Csv *csv, GError **error)
{
    if (csv->rows->len == 0)
        return base_error_set(error, BASE_ERROR_FAILED, csv->name,
                              "found no row, wanted a header with column names");
    const CsvRow *header = csv_header(csv);
    for (guint i = 0; header->fields[i] != NULL; i++) {
        if (header->fields[i][0] == '\0')
            return csv_refuse(csv, header->line, "found a column without name, wanted a name for each",
                              error);
        for (guint j = 0; j < i; j++) {
            if (strcmp(header->fields[i], header->fields[j]) != 0)
                continue;
            g_autofree char *quoted = base_error_quote(header->fields[i]);
            g_autofree char *what = g_strdup_printf("found the column '%s' twice, wanted it once", quoted);
            return csv_refuse(csv, header->line, what, error);
        }
    }
    return TRUE;
}

Csv *csv_read_text(const char *name, const char *text, gsize length, GError **error)
{
    if (length > FILE_LIMIT) {
        base_error_set(error, BASE_ERROR_FAILED, name,
                       "found more than 4 MiB, wanted a table of at most that");
        return NULL;
    }
    if (!text_check(name, text, length, "a table", error))
        return NULL;
    g_autoptr(Csv) csv = g_new0(Csv, 1);
    csv->name = g_strdup(name);
    csv->rows = g_ptr_array_new_with_free_func(csv_row_free);
    CsvCursor cursor = {.at = text, .end = text + length, .line = 1};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        cursor.at += 3;
    while (cursor.at < cursor.end) {
        if (csv_skip_end(&cursor))
            continue;
        if (*cursor.at == '#') {
            const char *end = memchr(cursor.at, '\n', (gsize)(cursor.end - cursor.at));
            cursor.at = end == NULL ? cursor.end : end + 1;
            cursor.line++;
            continue;
        }
        gboolean first = csv->rows->len == 0;
        if (!csv_read_row(csv, &cursor, error) || (first && !csv_check_header(csv, error)))
            return NULL;
    }
    return csv_check_header(csv, error) ? g_steal_pointer(&csv) : NULL;
}

Csv *csv_read_file(const char *path, GError **error)
{
    gsize length = 0;
    g_autofree char *text = text_read_file(path, FILE_LIMIT, "a table", &length, error);
    return text == NULL ? NULL : csv_read_text(path, text, length, error);
}
