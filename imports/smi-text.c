// imports/smi-text.c: text around and between 'nvidia-smi topo' matrices, line by line.
#include "imports/smi-text.h"

#include <string.h>

// Where the reader stands.
typedef struct {
    ImportSmiText *text; // borrowed
    guint rows_most;
    ImportSmiBlock *block;   // owned: the matrix that is being read; NULL: none
    gboolean open;           // rows may follow
    gboolean fresh;          // the last line was a row of block
    ImportSmiHeader *header; // owned: the last line, if it may be a header; NULL
    char *header_text;       // owned: how it stands there
} TextReader;

static void text_block_free(ImportSmiBlock *block)
{
    if (block == NULL)
        return;
    import_smi_row_free_header(block->header);
    g_ptr_array_unref(block->rows);
    g_ptr_array_unref(block->nics);
    g_free(block);
}

void import_smi_text_free(ImportSmiText *text)
{
    if (text == NULL)
        return;
    text_block_free(text->links);
    text_block_free(text->peers);
    g_free(text->other_text);
    g_free(text);
}

static void text_other(TextReader *reader, guint line, const char *as_read)
{
    ImportSmiText *text = reader->text;
    if (text->other++ == 0) {
        text->other_line = line;
        text->other_text = g_strstrip(g_strdup(as_read));
    }
}

// Whether a matrix is one of -p2p: its first row that has more than an X tells.
static gboolean text_is_peer(const ImportSmiBlock *block)
{
    for (guint i = 0; i < block->rows->len; i++) {
        const ImportSmiRow *row = g_ptr_array_index(block->rows, i);
        for (guint j = 0; j < row->cells->len; j++) {
            ImportSmiClass class = g_array_index(row->cells, ImportSmiCell, j).class;
            if (class != IMPORT_SMI_SELF)
                return class == IMPORT_SMI_PEER || class == IMPORT_SMI_NO_PEER;
        }
    }
    return FALSE;
}

// Puts away the matrix that was being read.
static void text_close(TextReader *reader)
{
    ImportSmiBlock *block = g_steal_pointer(&reader->block);
    reader->open = reader->fresh = FALSE;
    if (block == NULL)
        return;
    block->peer = text_is_peer(block);
    ImportSmiBlock **place = block->peer ? &reader->text->peers : &reader->text->links;
    if (*place == NULL) {
        *place = block;
        return;
    }
    if (reader->text->more++ == 0)
        reader->text->more_line = ((const ImportSmiRow *)g_ptr_array_index(block->rows, 0))->line;
    text_block_free(block);
}

static gboolean text_has_row(const ImportSmiBlock *block, const char *label)
{
    for (guint i = 0; i < block->rows->len; i++)
        if (strcmp(((const ImportSmiRow *)g_ptr_array_index(block->rows, i))->label, label) == 0)
            return TRUE;
    return FALSE;
}

// Forgets the last line as a header: it was none.
static void text_drop_header(TextReader *reader)
{
    if (reader->header != NULL)
        text_other(reader, reader->header->line, reader->header_text);
    g_clear_pointer(&reader->header, import_smi_row_free_header);
    g_clear_pointer(&reader->header_text, g_free);
}

// Whether a line that looks like a row is one of the open matrix and not a sentence with such a word in it.
static gboolean text_belongs(const ImportSmiBlock *block, const ImportSmiRow *row)
{
    guint at = block->rows->len;
    gboolean own =
        row->cells->len > at && g_array_index(row->cells, ImportSmiCell, at).class == IMPORT_SMI_SELF;
    if (import_smi_row_is(row->label, "GPU") || import_smi_row_is(row->label, "NIC"))
        return own || !text_has_row(block, row->label);
    for (guint i = 0; !own && block->header != NULL && i < block->header->labels->len; i++)
        own = strcmp(row->label, g_ptr_array_index(block->header->labels, i)) == 0;
    return own;
}

static void text_add_row(TextReader *reader, ImportSmiRow *taken, const char *line)
{
    g_autoptr(ImportSmiRow) row = taken;
    gboolean gpu = import_smi_row_is(row->label, "GPU");
    gboolean first =
        gpu && row->cells->len > 0 && g_array_index(row->cells, ImportSmiCell, 0).class == IMPORT_SMI_SELF;
    if (first && (!reader->open || reader->header != NULL || text_has_row(reader->block, row->label))) {
        text_close(reader);
        reader->block = g_new0(ImportSmiBlock, 1);
        reader->block->rows = g_ptr_array_new_with_free_func((GDestroyNotify)import_smi_row_free);
        reader->block->nics = g_ptr_array_new_with_free_func(g_free);
        reader->block->header = g_steal_pointer(&reader->header);
        g_clear_pointer(&reader->header_text, g_free);
        reader->open = TRUE;
    }
    text_drop_header(reader);
    if (!reader->open || !text_belongs(reader->block, row)) {
        if (gpu && reader->block == NULL && reader->text->alone == 0)
            reader->text->alone = row->line;
        text_other(reader, row->line, line);
    } else if (reader->block->rows->len >= reader->rows_most) {
        if (reader->text->crowded == 0)
            reader->text->crowded = row->line;
    } else {
        reader->fresh = TRUE;
        g_ptr_array_add(reader->block->rows, g_steal_pointer(&row));
    }
}

// "NIC0: mlx5_2". FALSE: the line says no such thing.
static gboolean text_add_nic(TextReader *reader, const char *line)
{
    const char *colon = strchr(line, ':');
    if (reader->block == NULL || colon == NULL || line[0] == ':')
        return FALSE;
    g_autofree char *label = g_strndup(line, (gsize)(colon - line));
    g_autofree char *device = g_strstrip(g_strdup(colon + 1));
    if (!import_smi_row_is(label, "NIC") || *device == '\0' || strpbrk(device, " \t") != NULL)
        return FALSE;
    if (reader->block->nics->len < 2 * reader->rows_most) {
        g_ptr_array_add(reader->block->nics, g_steal_pointer(&label));
        g_ptr_array_add(reader->block->nics, g_steal_pointer(&device));
    }
    return TRUE;
}

// "PIX  = Connection ...", "Legend:".
static gboolean text_is_legend(const char *line)
{
    static const char *const keys[] = {"X",  "SYS", "SOC", "NODE", "PHB", "PXB", "PIX", "NV#",
                                       "OK", "CNS", "GNS", "TNS",  "NS",  "DR",  "U"};
    if (strcmp(line, "Legend:") == 0 || strcmp(line, "NIC Legend:") == 0)
        return TRUE;
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
        gsize length = strlen(keys[i]);
        if (strncmp(line, keys[i], length) == 0) {
            const char *behind = line + length + strspn(line + length, " ");
            if (behind[0] == '=' && behind[1] == ' ')
                return TRUE;
        }
    }
    return FALSE;
}

// "GPU0 0-23 0": a row of -mp.
static gboolean text_is_affinity(const char *line)
{
    gsize label = strcspn(line, " "), start = label + strspn(line + label, " ");
    g_autofree char *gpu = g_strndup(line, label);
    g_autofree char *affinity = g_strndup(line + start, strcspn(line + start, " "));
    return import_smi_row_is(gpu, "GPU") && import_smi_row_is_affinity(affinity);
}

static void text_add_line(TextReader *reader, const char *as_read, guint number)
{
    g_autofree char *line = g_strstrip(g_strdup(as_read));
    gboolean fresh = reader->fresh;
    reader->fresh = FALSE;
    if (line[strspn(line, "-=+: ")] == '\0') // blank, or the rule of a table
        return;
    ImportSmiRow *row = import_smi_row_read(line, number);
    if (row != NULL) {
        text_add_row(reader, row, as_read);
        return;
    }
    text_drop_header(reader);
    if (fresh &&
        import_smi_row_add(g_ptr_array_index(reader->block->rows, reader->block->rows->len - 1), line)) {
        reader->fresh = TRUE;
        return;
    }
    if (text_is_legend(line)) {
        reader->open = FALSE;
        reader->text->words = TRUE;
        return;
    }
    if (text_add_nic(reader, line))
        return;
    if (strstr(line, "nvidia-smi topo") != NULL || strstr(line, "CPU Affinity") != NULL)
        reader->text->words = TRUE;
    if (reader->text->affinity == 0 && text_is_affinity(line))
        reader->text->affinity = number;
    reader->header = import_smi_row_read_header(line, number);
    if (reader->header != NULL)
        reader->header_text = g_strdup(as_read);
    else
        text_other(reader, number, as_read);
}

ImportSmiText *import_smi_text_read(const char *bytes, gsize length, guint rows_most)
{
    g_autofree char *decoded = NULL;
    if (length >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        decoded = g_convert(bytes, (gssize)length, "UTF-8", "UTF-16", NULL, &length, NULL);
    if (decoded != NULL)
        bytes = decoded;
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    g_autofree char *clean = import_smi_row_clean(bytes, length);
    ImportSmiText *text = g_new0(ImportSmiText, 1);
    TextReader reader = {.text = text, .rows_most = rows_most};
    guint number = 1;
    for (char *line = clean, *end; line != NULL; line = end, number++) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        text_add_line(&reader, line, number);
    }
    text_drop_header(&reader);
    text_close(&reader);
    return text;
}
