// imports/smi-row.c: lines of 'nvidia-smi topo' text as rows and headers.
#include "imports/smi-row.h"

#include <string.h>

// The bytes of an escape sequence of a terminal at text (CSI ... letter), 0: none.
static gsize row_escape(const char *text, gsize length)
{
    if (length < 2 || text[0] != '\033' || text[1] != '[')
        return 0;
    gsize end = 2;
    while (end < length && ((text[end] >= '0' && text[end] <= '?') || text[end] == ' '))
        end++;
    return end < length && g_ascii_isalpha(text[end]) ? end + 1 : end;
}

char *import_smi_row_clean(const char *text, gsize length)
{
    GString *out = g_string_sized_new(length);
    for (gsize i = 0; i < length;) {
        gsize escape = row_escape(text + i, length - i);
        if (escape > 0) {
            i += escape;
        } else if (i + 1 < length && text[i] == '\xc2' && text[i + 1] == '\xa0') {
            g_string_append_c(out, ' ');
            i += 2;
        } else {
            gboolean blank = text[i] == '|' || (text[i] != '\n' && (guchar)text[i] < ' ');
            g_string_append_c(out, blank ? ' ' : text[i]);
            i++;
        }
    }
    return g_string_free(out, FALSE);
}

// The length of GPU or NIC (what) and a number at the start of word, 0: none. Numbers have four digits at
// most.
static gsize row_numbered(const char *word, const char *what)
{
    gsize start = strlen(what), end = start;
    if (strncmp(word, what, start) != 0)
        return 0;
    while (end < start + 4 && g_ascii_isdigit(word[end]))
        end++;
    return end > start ? end : 0;
}

gboolean import_smi_row_is(const char *word, const char *what)
{
    gsize length = row_numbered(word, what);
    return length > 0 && word[length] == '\0';
}

gboolean import_smi_row_is_affinity(const char *word)
{
    return strcmp(word, "N/A") == 0 ||
           (word[strspn(word, "0123456789-,")] == '\0' && strpbrk(word, "0123456789") != NULL);
}

// Whether a word can be a device's name: "mlx5_bond_0", "rocep4s0f0", and no cell.
static gboolean row_is_name(const char *word)
{
    enum { LONGEST = 64 };
    gsize length = strlen(word);
    if (!g_ascii_isalpha(word[0]) || length > LONGEST)
        return FALSE;
    g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(ImportSmiCell));
    if (*import_smi_cell_read(word, cells) == '\0')
        return FALSE;
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isalnum(word[i]) && strchr("_-.", word[i]) == NULL)
            return FALSE;
    return TRUE;
}

// The words of a line. Caller unrefs.
static GPtrArray *row_words(const char *line)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    for (line += strspn(line, " \t"); *line != '\0'; line += strspn(line, " \t")) {
        gsize length = strcspn(line, " \t");
        g_ptr_array_add(words, g_strndup(line, length));
        line += length;
    }
    return words;
}

// What stands behind the last mark that a tagged log puts before a line's own text: "[1,0]<stdout>:GPU0" is
// GPU0.
static const char *row_untag(const char *word)
{
    const char *at = word + strlen(word);
    while (at > word && strchr(":>]", at[-1]) == NULL)
        at--;
    return at;
}

void import_smi_row_free(ImportSmiRow *row)
{
    if (row == NULL)
        return;
    g_free(row->label);
    g_array_unref(row->cells);
    g_ptr_array_unref(row->rest);
    g_free(row);
}

// Takes the words from number first on: cells as far as they go, then the rest.
static void row_take(ImportSmiRow *row, const GPtrArray *words, guint first)
{
    guint i = first;
    for (; i < words->len && row->rest->len == 0; i++) {
        const char *word = g_ptr_array_index(words, i);
        guint before = row->cells->len;
        const char *behind = import_smi_cell_read(word, row->cells);
        if (row->cells->len > before + 1 || (row->cells->len > before && *behind != '\0'))
            row->glued++;
        if (*behind == '\0')
            continue;
        if (row->cells->len > before && !import_smi_row_is_affinity(behind)) {
            g_array_set_size(row->cells, before);
            row->glued--;
            behind = word;
        }
        g_ptr_array_add(row->rest, g_strdup(behind));
    }
    for (; i < words->len; i++)
        g_ptr_array_add(row->rest, g_strdup(g_ptr_array_index(words, i)));
}

// Whether a line starts with a GPU or NIC and holds an X, but no cell behind the name: a row with a bad word.
static gboolean row_is_broken(const GPtrArray *words)
{
    const char *first = row_untag(g_ptr_array_index(words, 0));
    if (!import_smi_row_is(first, "GPU") && !import_smi_row_is(first, "NIC"))
        return FALSE;
    for (guint i = 1; i < words->len; i++)
        if (strcmp(g_ptr_array_index(words, i), "X") == 0)
            return TRUE;
    return FALSE;
}

ImportSmiRow *import_smi_row_read(const char *line, guint number)
{
    g_autoptr(GPtrArray) words = row_words(line);
    g_autoptr(ImportSmiRow) row = g_new0(ImportSmiRow, 1);
    row->line = number;
    row->cells = g_array_new(FALSE, FALSE, sizeof(ImportSmiCell));
    row->rest = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < words->len && row->label == NULL; i++) {
        const char *word = row_untag(g_ptr_array_index(words, i));
        gsize label = MAX(row_numbered(word, "GPU"), row_numbered(word, "NIC"));
        if (label > 0 && word[label] != '\0' && *import_smi_cell_read(word + label, row->cells) == '\0') {
            row->label = g_strndup(word, label); // "GPU0NV12"
            row->glued = 1;
            row_take(row, words, i + 1);
        } else if (i + 1 < words->len && row_is_name(word) &&
                   *import_smi_cell_read(g_ptr_array_index(words, i + 1), row->cells) == '\0') {
            g_array_set_size(row->cells, 0);
            row->label = g_strdup(word);
            row_take(row, words, i + 1);
        } else {
            g_array_set_size(row->cells, 0);
            if (i == 0 && row_is_broken(words)) {
                row->label = g_strdup(word);
                row_take(row, words, 1);
            }
        }
    }
    return row->label != NULL ? g_steal_pointer(&row) : NULL;
}

gboolean import_smi_row_add(ImportSmiRow *row, const char *line)
{
    g_autoptr(GPtrArray) words = row_words(line);
    g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(ImportSmiCell));
    guint i = 0;
    while (i < words->len && *import_smi_cell_read(g_ptr_array_index(words, i), cells) == '\0')
        i++;
    if (row->rest->len > 0 && i > 0)
        return FALSE;
    for (; i < words->len; i++)
        if (!import_smi_row_is_affinity(g_ptr_array_index(words, i)))
            return FALSE;
    row_take(row, words, 0);
    return words->len > 0;
}

void import_smi_row_free_header(ImportSmiHeader *header)
{
    if (header == NULL)
        return;
    g_ptr_array_unref(header->labels);
    g_free(header);
}

// Adds the labels of one word of a header: "GPU0GPU1mlx5_0" holds three.
static void row_add_labels(GPtrArray *labels, const char *word)
{
    for (gsize length; *word != '\0'; word += length) {
        length = MAX(row_numbered(word, "GPU"), row_numbered(word, "NIC"));
        if (length == 0)
            length = strlen(word);
        g_ptr_array_add(labels, g_strndup(word, length));
    }
}

// Whether a column of this title is there; *end moves before it.
static gboolean row_has_column(const char *line, const char *title, const char **end)
{
    const char *at = strstr(line, title);
    if (at != NULL)
        *end = MIN(*end, at);
    return at != NULL;
}

ImportSmiHeader *import_smi_row_read_header(const char *line, guint number)
{
    const char *start = line, *end = line + strlen(line);
    while (*start != '\0' && row_numbered(start, "GPU") == 0)
        start++;
    g_autoptr(ImportSmiHeader) header = g_new0(ImportSmiHeader, 1);
    header->line = number;
    header->labels = g_ptr_array_new_with_free_func(g_free);
    header->cpus = row_has_column(line, "CPU Affinity", &end);
    header->numa = row_has_column(line, "NUMA Affinity", &end);
    header->gpu_numa = row_has_column(line, "GPU NUMA ID", &end);
    if (start >= end)
        return NULL;
    g_autofree char *columns = g_strndup(start, (gsize)(end - start));
    g_autoptr(GPtrArray) words = row_words(columns);
    for (guint i = 0; i < words->len; i++) {
        if (!row_is_name(g_ptr_array_index(words, i)) &&
            row_numbered(g_ptr_array_index(words, i), "GPU") == 0)
            return NULL;
        row_add_labels(header->labels, g_ptr_array_index(words, i));
    }
    return g_steal_pointer(&header);
}
