// imports/smi-cell.c: the words in the cells of 'nvidia-smi topo' matrices.
#include "imports/smi-cell.h"

#include <string.h>

// Longer words before those that they start with.
static const struct {
    const char *word;
    ImportSmiClass class;
} CELL_WORDS[] = {
    {"NODE", IMPORT_SMI_NODE},   {"SYS", IMPORT_SMI_SYS},     {"SOC", IMPORT_SMI_SYS},
    {"PHB", IMPORT_SMI_PHB},     {"PXB", IMPORT_SMI_PXB},     {"PIX", IMPORT_SMI_PIX},
    {"X", IMPORT_SMI_SELF},      {"OK", IMPORT_SMI_PEER},     {"CNS", IMPORT_SMI_NO_PEER},
    {"GNS", IMPORT_SMI_NO_PEER}, {"TNS", IMPORT_SMI_NO_PEER}, {"NS", IMPORT_SMI_NO_PEER},
    {"DR", IMPORT_SMI_NO_PEER},
};

// Reads one cell; returns its length, 0: none.
static gsize cell_read_one(const char *text, ImportSmiCell *cell)
{
    if (text[0] == 'N' && text[1] == 'V' && text[2] >= '1' && text[2] <= '9') {
        gsize length = g_ascii_isdigit(text[3]) ? 4 : 3;
        *cell = (ImportSmiCell){IMPORT_SMI_NVLINK, (guint)(text[2] - '0')};
        if (length == 4)
            cell->links = 10 * cell->links + (guint)(text[3] - '0');
        return length;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(CELL_WORDS); i++) {
        gsize length = strlen(CELL_WORDS[i].word);
        if (strncmp(text, CELL_WORDS[i].word, length) == 0) {
            *cell = (ImportSmiCell){CELL_WORDS[i].class, 0};
            return length;
        }
    }
    return 0;
}

const char *import_smi_cell_read(const char *word, GArray *cells)
{
    ImportSmiCell cell;
    for (gsize length; (length = cell_read_one(word, &cell)) > 0; word += length)
        g_array_append_val(cells, cell);
    return word;
}

char *import_smi_cell_name(ImportSmiCell cell)
{
    static const char *const names[] = {"nothing", "X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS", "OK", "NS"};
    if (cell.class == IMPORT_SMI_NVLINK)
        return g_strdup_printf("NV%u", cell.links);
    return g_strdup(names[cell.class]);
}
