// imports/smi-table.c: the rows of 'nvidia-smi topo -m' held against each other and made a table.
#include "imports/smi-table.h"

#include <string.h>

#include "base/error.h"
#include "imports/smi-text.h"

static void table_device_free(ImportSmiDevice *device)
{
    g_free(device->label);
    g_free(device->device);
    g_free(device->cpus);
    g_free(device->numa);
    g_free(device);
}

void import_smi_table_free(ImportSmiTable *table)
{
    if (table == NULL)
        return;
    g_ptr_array_unref(table->devices);
    g_free(table->cells);
    g_free(table);
}

int import_smi_table_sniff(const char *text, gsize length)
{
    g_autoptr(ImportSmiText) parts = import_smi_text_read(text, length, IMPORT_SMI_DEVICES);
    if (parts->links != NULL)
        return 95;
    if (parts->peers != NULL || parts->alone > 0 || (parts->affinity > 0 && parts->words))
        return 60;
    return parts->words ? 30 : 0;
}

// "name:line". Caller frees.
static char *table_where(const char *name, guint line)
{
    return g_strdup_printf("%s:%u", name, line);
}

static const ImportSmiRow *table_row(const ImportSmiBlock *block, guint index)
{
    return g_ptr_array_index(block->rows, index);
}

static gboolean table_refuse_text(const char *name, const ImportSmiText *text, GError **error)
{
    guint line = text->affinity;
    const char *found = "affinities without a matrix (nvidia-smi topo -mp)";
    if (text->peers != NULL) {
        line = table_row(text->peers, 0)->line;
        found = "only what 'nvidia-smi topo -p2p' prints: who may reach whom, not by which links";
    } else if (text->alone > 0) {
        line = text->alone;
        found = "the row of a GPU, but not the first GPU's row, which starts with X, before it";
    } else if (line == 0) {
        return base_error_set(error, BASE_ERROR_FAILED, name,
                              "found no matrix of links, wanted the output of 'nvidia-smi topo -m'");
    }
    g_autofree char *where = table_where(name, line);
    return base_error_set(error, BASE_ERROR_FAILED, where,
                          "found %s, wanted the matrix of 'nvidia-smi topo -m'", found);
}

// A list of CPUs or NUMA nodes: numbers and rising ranges with commas between.
static gboolean table_is_list(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    for (guint i = 0; parts[i] != NULL; i++) {
        char *end = parts[i];
        guint64 low = g_ascii_strtoull(parts[i], &end, 10), high = low;
        if (!g_ascii_isdigit(parts[i][0]))
            return FALSE;
        if (*end == '-' && g_ascii_isdigit(end[1]))
            high = g_ascii_strtoull(end + 1, &end, 10);
        if (*end != '\0' || high < low)
            return FALSE;
    }
    return parts[0] != NULL;
}

// The words behind a row's cells. Columns may be empty, so that fewer words than columns are told apart by
// what they look like.
static void table_take_affinity(ImportSmiDevice *device, const ImportSmiRow *row,
                                const ImportSmiHeader *header, GPtrArray *assumed)
{
    const char *words[2] = {NULL, NULL}; // CPUs, NUMA
    guint columns =
        header == NULL ? 3 : (guint)(header->cpus != 0) + (header->numa != 0) + (header->gpu_numa != 0);
    guint n = row->rest->len, taken = 0;
    if (n > 0 && (n >= columns || header == NULL || strpbrk(g_ptr_array_index(row->rest, 0), "-,") != NULL) &&
        (header == NULL || header->cpus))
        words[0] = g_ptr_array_index(row->rest, taken++);
    if (n > taken && (header == NULL || header->numa))
        words[1] = g_ptr_array_index(row->rest, taken++);
    if (n > MAX(columns, taken)) {
        g_autofree char *quoted = base_error_quote(g_ptr_array_index(row->rest, MAX(columns, taken)));
        g_ptr_array_add(
            assumed, g_strdup_printf("line %u: '%s' behind the last column is ignored", row->line, quoted));
    }
    for (guint i = 0; i < 2; i++) {
        if (words[i] == NULL || strcmp(words[i], "N/A") == 0)
            continue;
        g_autofree char *quoted = base_error_quote(words[i]);
        if (table_is_list(words[i]))
            *(i == 0 ? &device->cpus : &device->numa) = g_strdup(words[i]);
        else
            g_ptr_array_add(assumed,
                            g_strdup_printf("line %u: the affinity '%s' is no list of numbers and is ignored",
                                            row->line, quoted));
    }
}

static ImportSmiDevice *table_add_device(ImportSmiTable *table, const char *label, guint line)
{
    ImportSmiDevice *device = g_new0(ImportSmiDevice, 1);
    device->label = g_strdup(label);
    device->line = line;
    device->gpu = import_smi_row_is(label, "GPU");
    if (device->gpu)
        table->gpus++;
    g_ptr_array_add(table->devices, device);
    return device;
}

// How many labels of the header and the rows agree, from the first on; glued names count as their whole.
static guint table_agree(const ImportSmiBlock *block)
{
    guint n = 0;
    while (n < block->rows->len && n < block->header->labels->len &&
           strcmp(table_row(block, n)->label, g_ptr_array_index(block->header->labels, n)) == 0)
        n++;
    return n;
}

// A header whose names ran together ("mlx5_0mlx5_1") is told apart by the rows' names.
static void table_split_header(const ImportSmiBlock *block)
{
    ImportSmiHeader *header = block->header;
    for (guint n; (n = table_agree(block)) < MIN(block->rows->len, header->labels->len);) {
        const char *label = table_row(block, n)->label;
        char *glued = g_ptr_array_index(header->labels, n);
        if (!g_str_has_prefix(glued, label))
            return;
        g_ptr_array_insert(header->labels, (gint)n, g_strdup(label));
        memmove(glued, glued + strlen(label), strlen(glued + strlen(label)) + 1);
    }
}

// The devices: those of the rows, then columns that have no row. *columns: how many cells a row may have.
static gboolean table_take_devices(ImportSmiTable *table, const ImportSmiBlock *block, const char *name,
                                   guint *columns, GPtrArray *assumed, GError **error)
{
    guint rows = block->rows->len, widest = 0, agree = 0;
    const ImportSmiHeader *header = block->header;
    for (guint i = 0; i < rows; i++) {
        table_add_device(table, table_row(block, i)->label, table_row(block, i)->line);
        widest = MAX(widest, table_row(block, i)->cells->len);
    }
    if (header != NULL) {
        table_split_header(block);
        agree = table_agree(block);
    }
    if (header != NULL && agree == MIN(rows, header->labels->len)) {
        *columns = header->labels->len;
        for (guint i = rows; i < *columns && i <= IMPORT_SMI_DEVICES; i++)
            table_add_device(table, g_ptr_array_index(header->labels, i), 0);
    } else {
        *columns = MAX(rows, widest);
        g_ptr_array_add(assumed,
                        header == NULL
                            ? g_strdup("there is no header: the columns are taken to be those of the rows")
                            : g_strdup_printf("line %u: the header's names are not those of the rows: "
                                              "the rows' are taken",
                                              header->line));
        for (guint i = rows; i < *columns && i <= IMPORT_SMI_DEVICES; i++) {
            g_autofree char *label = g_strdup_printf("NIC%u", i - table->gpus);
            table_add_device(table, label, 0);
        }
    }
    if (table->devices->len > IMPORT_SMI_DEVICES) {
        g_autofree char *where = table_where(name, table_row(block, 0)->line);
        return base_error_set(error, BASE_ERROR_FAILED, where,
                              "found more than %d devices, wanted at most that many", IMPORT_SMI_DEVICES);
    }
    for (guint i = 0; i < table->devices->len; i++) {
        for (guint j = 0; j < i; j++) {
            const ImportSmiDevice *a = import_smi_table_device(table, i),
                                  *b = import_smi_table_device(table, j);
            if (strcmp(a->label, b->label) != 0)
                continue;
            g_autofree char *where = table_where(name, a->line > 0 ? a->line : table_row(block, 0)->line);
            return base_error_set(error, BASE_ERROR_FAILED, where, "found %s twice, wanted each device once",
                                  a->label);
        }
    }
    return TRUE;
}

// Copies one row's cells, which must fit the columns.
static gboolean table_take_row(ImportSmiTable *table, const ImportSmiRow *row, guint index, guint columns,
                               const char *name, GError **error)
{
    guint n = row->cells->len;
    g_autofree char *where = table_where(name, row->line);
    if (row->rest->len > 0) {
        const char *word = g_ptr_array_index(row->rest, 0);
        g_autofree char *quoted = base_error_quote(word);
        if (n < columns && !import_smi_row_is_affinity(word))
            return base_error_set(
                error, BASE_ERROR_FAILED, where,
                "%s: found '%s' as link %u of %u, wanted X, NV#, PIX, PXB, PHB, NODE or SYS", row->label,
                quoted, n + 1, columns);
    }
    if (n > columns)
        return base_error_set(error, BASE_ERROR_FAILED, where,
                              "%s: found %u links, wanted one for each of %u columns", row->label, n,
                              columns);
    for (guint j = 0; j < n; j++) {
        ImportSmiCell cell = g_array_index(row->cells, ImportSmiCell, j);
        if ((cell.class == IMPORT_SMI_SELF) != (j == index))
            return base_error_set(error, BASE_ERROR_FAILED, where,
                                  "%s: found %s in column %u, wanted X in column %u", row->label,
                                  cell.class == IMPORT_SMI_SELF ? "X" : "a link", j + 1, index + 1);
        if (cell.class == IMPORT_SMI_PEER || cell.class == IMPORT_SMI_NO_PEER)
            return base_error_set(
                error, BASE_ERROR_FAILED, where,
                "%s: found a word of -p2p in column %u, wanted NV#, PIX, PXB, PHB, NODE or SYS", row->label,
                j + 1);
        table->cells[index * table->devices->len + j] = cell;
    }
    return TRUE;
}

// Both halves of the matrix must agree; where one is silent, the other one counts.
static gboolean table_check_halves(ImportSmiTable *table, const char *name, guint last, GError **error)
{
    guint n = table->devices->len;
    for (guint i = 0; i < n; i++) {
        for (guint j = 0; j < i; j++) {
            ImportSmiCell *a = &table->cells[i * n + j], *b = &table->cells[j * n + i];
            const ImportSmiDevice *x = import_smi_table_device(table, i),
                                  *y = import_smi_table_device(table, j);
            if (a->class == IMPORT_SMI_UNKNOWN)
                *a = *b;
            if (b->class == IMPORT_SMI_UNKNOWN)
                *b = *a;
            g_autofree char *one = import_smi_cell_name(*a), *two = import_smi_cell_name(*b);
            g_autofree char *where = table_where(name, x->line > 0 ? x->line : last);
            if (!import_smi_cell_same(*a, *b))
                return base_error_set(error, BASE_ERROR_FAILED, where,
                                      "%s to %s: found %s, wanted %s as line %u has it", x->label, y->label,
                                      one, two, y->line);
            if (a->class == IMPORT_SMI_UNKNOWN && x->gpu && y->gpu)
                return base_error_set(
                    error, BASE_ERROR_FAILED, where,
                    "found nothing between %s and %s, wanted the rows of all %u GPUs (the text is cut)",
                    y->label, x->label, table->gpus);
        }
    }
    return TRUE;
}

// What a -p2p matrix behind the first one says.
static void table_note_peers(const ImportSmiBlock *peers, GPtrArray *notes)
{
    guint pairs = 0, without = 0;
    g_autofree char *first = NULL;
    for (guint i = 0; i < peers->rows->len; i++) {
        const ImportSmiRow *row = table_row(peers, i);
        for (guint j = i + 1; j < row->cells->len && j < peers->rows->len; j++) {
            pairs++;
            if (g_array_index(row->cells, ImportSmiCell, j).class == IMPORT_SMI_NO_PEER && without++ == 0)
                first = g_strdup_printf("%s and %s", row->label, table_row(peers, j)->label);
        }
    }
    if (without > 0)
        g_ptr_array_add(
            notes,
            g_strdup_printf("peer to peer is missing between %u of %u pairs of GPUs (first %s, line %u): "
                            "their traffic goes through host memory, which is not in the graph",
                            without, pairs, first, table_row(peers, 0)->line));
    else
        g_ptr_array_add(notes, g_strdup_printf("peer to peer works between all pairs of GPUs: %u (line %u)",
                                               pairs, table_row(peers, 0)->line));
}

// What was read past, pieced together or left open.
static void table_note(const ImportSmiTable *table, const ImportSmiText *text, guint columns,
                       GPtrArray *notes, GPtrArray *assumed)
{
    const ImportSmiBlock *block = text->links;
    guint glued = 0, cut = 0, unknown = 0, n = table->devices->len;
    for (guint i = 0; i < block->rows->len; i++) {
        glued += table_row(block, i)->glued;
        cut += table_row(block, i)->cells->len < columns;
    }
    for (guint i = 0; i < n; i++)
        for (guint j = 0; j < i; j++)
            unknown += import_smi_table_get(table, i, j).class == IMPORT_SMI_UNKNOWN;
    if (text->peers != NULL)
        table_note_peers(text->peers, notes);
    if (glued > 0)
        g_ptr_array_add(
            assumed, g_strdup_printf("words that held more than one cell and were taken apart: %u", glued));
    if (cut > 0)
        g_ptr_array_add(
            assumed,
            g_strdup_printf("rows that end early: %u; what they have is taken for the first columns", cut));
    if (block->rows->len < n)
        g_ptr_array_add(assumed,
                        g_strdup_printf("columns without a row: %u; only the other rows tell of them",
                                        n - block->rows->len));
    if (unknown > 0)
        g_ptr_array_add(
            assumed, g_strdup_printf("pairs of devices that are not in the text: %u; their distance is what "
                                     "the other pairs leave open",
                                     unknown));
    if (text->more > 0)
        g_ptr_array_add(assumed,
                        g_strdup_printf("ignored: matrices behind the first one: %u, from line %u on",
                                        text->more, text->more_line));
    if (text->other > 0) {
        g_autofree char *quoted = base_error_quote(text->other_text);
        g_ptr_array_add(assumed,
                        g_strdup_printf("ignored: %u lines around the matrix, the first is line %u: '%s'",
                                        text->other, text->other_line, quoted));
    }
}

ImportSmiTable *import_smi_table_read(const char *name, const char *bytes, gsize length, GPtrArray *notes,
                                      GPtrArray *assumed, GError **error)
{
    g_autoptr(ImportSmiText) text = import_smi_text_read(bytes, length, IMPORT_SMI_DEVICES);
    if (text->links == NULL) {
        table_refuse_text(name, text, error);
        return NULL;
    }
    if (text->crowded > 0) {
        g_autofree char *where = table_where(name, text->crowded);
        base_error_set(error, BASE_ERROR_FAILED, where, "found more than %d rows, wanted at most that many",
                       IMPORT_SMI_DEVICES);
        return NULL;
    }
    const ImportSmiBlock *block = text->links;
    g_autoptr(ImportSmiTable) table = g_new0(ImportSmiTable, 1);
    table->devices = g_ptr_array_new_with_free_func((GDestroyNotify)table_device_free);
    guint columns = 0, last = table_row(block, block->rows->len - 1)->line;
    if (!table_take_devices(table, block, name, &columns, assumed, error))
        return NULL;
    table->cells = g_new0(ImportSmiCell, (gsize)table->devices->len * table->devices->len);
    for (guint i = 0; i < block->rows->len; i++) {
        if (!table_take_row(table, table_row(block, i), i, columns, name, error))
            return NULL;
        table_take_affinity(import_smi_table_device(table, i), table_row(block, i), block->header, assumed);
    }
    if (!table_check_halves(table, name, last, error))
        return NULL;
    for (guint i = 0; i < table->devices->len; i++) {
        ImportSmiDevice *device = import_smi_table_device(table, i);
        for (guint k = 0; k + 1 < block->nics->len && device->device == NULL; k += 2)
            if (strcmp(g_ptr_array_index(block->nics, k), device->label) == 0)
                device->device = g_strdup(g_ptr_array_index(block->nics, k + 1));
    }
    table_note(table, text, columns, notes, assumed);
    return g_steal_pointer(&table);
}
