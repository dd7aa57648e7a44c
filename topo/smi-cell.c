// topo/smi-cell.c: the words in the cells of 'nvidia-smi topo' matrices.
#include "topo/smi-cell.h"

#include <string.h>

// Longer words before those that they start with.
static const struct {
    const char *word;
    TopoSmiClass class;
} CELL_WORDS[] = {
    {"NODE", TOPO_SMI_NODE},   {"SYS", TOPO_SMI_SYS},     {"SOC", TOPO_SMI_SYS},     {"PHB", TOPO_SMI_PHB},
    {"PXB", TOPO_SMI_PXB},     {"PIX", TOPO_SMI_PIX},     {"X", TOPO_SMI_SELF},      {"OK", TOPO_SMI_PEER},
    {"CNS", TOPO_SMI_NO_PEER}, {"GNS", TOPO_SMI_NO_PEER}, {"TNS", TOPO_SMI_NO_PEER}, {"NS", TOPO_SMI_NO_PEER},
    {"DR", TOPO_SMI_NO_PEER},
};

// Reads one cell; returns its length, 0: none.
static gsize cell_read_one(const char *text, TopoSmiCell *cell)
{
    if (text[0] == 'N' && text[1] == 'V' && text[2] >= '1' && text[2] <= '9') {
        gsize length = g_ascii_isdigit(text[3]) ? 4 : 3;
        *cell = (TopoSmiCell){TOPO_SMI_NVLINK, (guint)(text[2] - '0')};
        if (length == 4)
            cell->links = 10 * cell->links + (guint)(text[3] - '0');
        return length;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(CELL_WORDS); i++) {
        gsize length = strlen(CELL_WORDS[i].word);
        if (strncmp(text, CELL_WORDS[i].word, length) == 0) {
            *cell = (TopoSmiCell){CELL_WORDS[i].class, 0};
            return length;
        }
    }
    return 0;
}

const char *topo_smi_cell_read(const char *word, GArray *cells)
{
    TopoSmiCell cell;
    for (gsize length; (length = cell_read_one(word, &cell)) > 0; word += length)
        g_array_append_val(cells, cell);
    return word;
}

char *topo_smi_cell_name(TopoSmiCell cell)
{
    static const char *const names[] = {"nothing", "X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS", "OK", "NS"};
    if (cell.class == TOPO_SMI_NVLINK)
        return g_strdup_printf("NV%u", cell.links);
    return g_strdup(names[cell.class]);
}
