// imports/smi-tree.c: PCIe trees from distances: groups by one class after the other, the nearest first.
#include "imports/smi-tree.h"

#include <string.h>

void import_smi_tree_free(ImportSmiTree *tree)
{
    if (tree == NULL)
        return;
    g_free(tree->pix);
    g_free(tree->pxb);
    g_free(tree->socket);
    g_free(tree);
}

ImportSmiClass import_smi_tree_get(const ImportSmiTree *tree, guint a, guint b)
{
    if (tree->pix[a] == tree->pix[b])
        return IMPORT_SMI_PIX;
    if (tree->pxb[a] == tree->pxb[b])
        return IMPORT_SMI_PXB;
    return tree->socket[a] == tree->socket[b] ? IMPORT_SMI_NODE : IMPORT_SMI_SYS;
}

// Makes one group of two; a group is named by its first device.
static void tree_join(guint *groups, guint n, guint a, guint b)
{
    guint keep = MIN(groups[a], groups[b]), drop = MAX(groups[a], groups[b]);
    for (guint i = 0; keep != drop && i < n; i++)
        if (groups[i] == drop)
            groups[i] = keep;
}

// The groups of what is at most farthest apart, starting from finer groups (NULL: each device alone).
static guint *tree_group(const ImportSmiTable *table, const guint *finer, ImportSmiClass farthest)
{
    guint n = table->devices->len;
    guint *groups = g_new(guint, n);
    for (guint i = 0; i < n; i++)
        groups[i] = finer == NULL ? i : finer[i];
    for (guint i = 0; i < n; i++) {
        for (guint j = 0; j < i; j++) {
            ImportSmiClass class = import_smi_table_get(table, i, j).class;
            if (class >= IMPORT_SMI_PIX && class <= farthest)
                tree_join(groups, n, i, j);
        }
    }
    return groups;
}

// Where a device stands by its affinity; NULL: not said.
static const char *tree_affinity(const ImportSmiDevice *device)
{
    return device->numa != NULL ? device->numa : device->cpus;
}

static gboolean tree_same_affinity(const ImportSmiDevice *a, const ImportSmiDevice *b)
{
    return g_strcmp0(tree_affinity(a), tree_affinity(b)) == 0;
}

// The first GPU of a socket group; devices->len: it has none.
static guint tree_first_gpu(const ImportSmiTree *tree, const ImportSmiTable *table, guint group)
{
    guint i = 0;
    while (i < tree->devices && (tree->socket[i] != group || !import_smi_table_device(table, i)->gpu))
        i++;
    return i;
}

// Whether the text says of two groups that a pair of them is SYS apart.
static gboolean tree_is_apart(const ImportSmiTree *tree, const ImportSmiTable *table, guint a, guint b)
{
    for (guint i = 0; i < tree->devices; i++)
        for (guint j = 0; tree->socket[i] == a && j < tree->devices; j++)
            if (tree->socket[j] == b && import_smi_table_get(table, i, j).class == IMPORT_SMI_SYS)
                return TRUE;
    return FALSE;
}

// Socket groups of which nothing is known but the affinity of their GPUs, and this is the same, are one
// socket.
static void tree_join_affine(ImportSmiTree *tree, const ImportSmiTable *table, GPtrArray *assumed)
{
    guint joined = 0;
    gboolean silent = FALSE;
    for (guint a = 0; a < tree->devices; a++) {
        guint gpu = tree->socket[a] == a ? tree_first_gpu(tree, table, a) : tree->devices;
        for (guint b = a + 1; gpu < tree->devices && b < tree->devices; b++) {
            guint other = tree->socket[b] == b ? tree_first_gpu(tree, table, b) : tree->devices;
            if (other == tree->devices ||
                !tree_same_affinity(import_smi_table_device(table, gpu),
                                    import_smi_table_device(table, other)) ||
                tree_is_apart(tree, table, a, b))
                continue;
            silent = silent || tree_affinity(import_smi_table_device(table, gpu)) == NULL;
            tree_join(tree->socket, tree->devices, a, b);
            joined++;
        }
    }
    if (joined > 0)
        g_ptr_array_add(
            assumed, g_strdup(silent ? "NVLink hides how GPUs are joined by PCIe, and their affinity is not "
                                       "given: one socket"
                                     : "NVLink hides how some GPUs are joined by PCIe: those of one affinity "
                                       "share a socket, each on PCIe lanes of its own"));
}

// What the text says against the tree, and against its own affinities.
static void tree_note(const ImportSmiTree *tree, const ImportSmiTable *table, GPtrArray *notes,
                      GPtrArray *assumed)
{
    guint broken = 0, split = 0, mixed = 0, seen = 0;
    g_autofree char *first = NULL;
    for (guint i = 0; i < tree->devices; i++) {
        for (guint j = i + 1; j < tree->devices; j++) {
            const ImportSmiDevice *a = import_smi_table_device(table, i),
                                  *b = import_smi_table_device(table, j);
            ImportSmiCell cell = import_smi_table_get(table, i, j);
            ImportSmiClass said = cell.class == IMPORT_SMI_PHB ? IMPORT_SMI_NODE : cell.class;
            ImportSmiClass made = import_smi_tree_get(tree, i, j);
            gboolean known = tree_affinity(a) != NULL && tree_affinity(b) != NULL && a->gpu && b->gpu;
            if (said >= IMPORT_SMI_PIX && said != made && broken++ == 0) {
                g_autofree char *one = import_smi_cell_name(cell);
                g_autofree char *two = import_smi_cell_name((ImportSmiCell){made, 0});
                first = g_strdup_printf("%s and %s: %s, but no farther than %s by way of other devices",
                                        a->label, b->label, one, two);
            }
            seen |= cell.class == IMPORT_SMI_PHB ? 1 : cell.class == IMPORT_SMI_NODE ? 2 : 0;
            split += known && made == IMPORT_SMI_SYS && tree_same_affinity(a, b);
            mixed += known && made != IMPORT_SMI_SYS && !tree_same_affinity(a, b);
        }
    }
    if (broken > 0)
        g_ptr_array_add(
            notes, g_strdup_printf("the PCIe classes of %u pairs fit no tree, the nearer way counts (%s)",
                                   broken, first));
    if (seen == 3)
        g_ptr_array_add(assumed, g_strdup("PHB and NODE are modelled alike: through the socket"));
    if (split > 0)
        g_ptr_array_add(
            assumed, g_strdup_printf("pairs of GPUs that are SYS apart though of one affinity (a virtual "
                                     "machine often hides its tree): %u; as many sockets as the matrix shows",
                                     split));
    if (mixed > 0)
        g_ptr_array_add(
            notes, g_strdup_printf("pairs of GPUs of different affinities within one socket: %u; the matrix "
                                   "counts",
                                   mixed));
}

ImportSmiTree *import_smi_tree_new(const ImportSmiTable *table, GPtrArray *notes, GPtrArray *assumed)
{
    ImportSmiTree *tree = g_new0(ImportSmiTree, 1);
    tree->devices = table->devices->len;
    tree->pix = tree_group(table, NULL, IMPORT_SMI_PIX);
    tree->pxb = tree_group(table, tree->pix, IMPORT_SMI_PXB);
    tree->socket = tree_group(table, tree->pxb, IMPORT_SMI_NODE);
    tree_join_affine(tree, table, assumed);
    tree_note(tree, table, notes, assumed);
    return tree;
}

// How many devices a group has.
static guint tree_size(const guint *groups, guint n, guint group)
{
    guint size = 0;
    for (guint i = 0; i < n; i++)
        size += groups[i] == group;
    return size;
}

// Whether a device is the first of a PXB group that holds more than one PIX group: there stands a top switch.
static gboolean tree_has_top(const ImportSmiTree *tree, guint device)
{
    guint group = tree->pxb[device];
    return tree_size(tree->pxb, tree->devices, group) > tree_size(tree->pix, tree->devices, group);
}

// Whether the PIX group of a device has a switch: it shares one, or stands below a top switch.
static gboolean tree_has_leaf(const ImportSmiTree *tree, guint device)
{
    return tree_has_top(tree, device) || tree_size(tree->pix, tree->devices, tree->pix[device]) > 1;
}

void import_smi_tree_add(const ImportSmiTree *tree, const ImportSmiTable *table, const ImportSmiRates *rates,
                         TopoGraph *graph)
{
    guint n = tree->devices, gpu = 0;
    // the nodes by the first device of their group
    g_autofree guint32 *top = g_new0(guint32, n), *leaf = g_new0(guint32, n), *cpu = g_new0(guint32, n);
    for (guint i = 0; i < n; i++) {
        if (tree->pxb[i] == i && tree_has_top(tree, i))
            top[i] = topo_graph_add_node(graph, TOPO_NODE_PCIE_SWITCH, 0);
        if (tree->pix[i] == i && tree_has_leaf(tree, i))
            leaf[i] = topo_graph_add_node(graph, TOPO_NODE_PCIE_SWITCH, 0);
    }
    for (guint i = 0; i < n; i++)
        if (tree->socket[i] == i)
            cpu[i] = topo_graph_add_node(graph, TOPO_NODE_CPU, 0);
    for (guint i = 0; i < n; i++) {
        const ImportSmiDevice *device = import_smi_table_device(table, i);
        guint32 node =
            device->gpu ? topo_graph_gpu(graph, gpu++) : topo_graph_add_node(graph, TOPO_NODE_NIC, 0);
        guint32 up = tree_has_leaf(tree, i) ? leaf[tree->pix[i]] : cpu[tree->socket[i]];
        topo_graph_add_cable(graph, node, up, TOPO_LINK_PCIE, rates->pcie, rates->pcie_latency);
    }
    for (guint i = 0; i < n; i++) {
        if (tree->pix[i] == i && tree_has_leaf(tree, i))
            topo_graph_add_cable(graph, leaf[i],
                                 tree_has_top(tree, i) ? top[tree->pxb[i]] : cpu[tree->socket[i]],
                                 TOPO_LINK_PCIE, rates->pcie, rates->pcie_latency);
        if (tree->pxb[i] == i && tree_has_top(tree, i))
            topo_graph_add_cable(graph, top[i], cpu[tree->socket[i]], TOPO_LINK_PCIE, rates->pcie,
                                 rates->pcie_latency);
        for (guint j = i + 1; tree->socket[i] == i && j < n; j++)
            if (tree->socket[j] == j)
                topo_graph_add_cable(graph, cpu[i], cpu[j], TOPO_LINK_CPU, rates->socket,
                                     rates->socket_latency);
    }
}

// Adds the members of a PIX group.
static void tree_print_leaf(GString *out, const ImportSmiTree *tree, const ImportSmiTable *table, guint group)
{
    gboolean leaf = tree_has_leaf(tree, group);
    g_string_append(out, leaf ? " (" : " ");
    for (guint i = group, n = 0; i < tree->devices; i++)
        if (tree->pix[i] == group)
            g_string_append_printf(out, "%s%s", n++ == 0 ? "" : " ",
                                   import_smi_table_device(table, i)->label);
    g_string_append(out, leaf ? ")" : "");
}

char *import_smi_tree_name(const ImportSmiTree *tree, const ImportSmiTable *table)
{
    GString *out = g_string_new(NULL);
    for (guint s = 0, cpu = 0; s < tree->devices; s++) {
        if (tree->socket[s] != s)
            continue;
        g_string_append_printf(out, "%scpu%u:", cpu == 0 ? "" : "; ", cpu);
        cpu++;
        for (guint p = s; p < tree->devices; p++) {
            if (tree->socket[p] != s || tree->pxb[p] != p)
                continue;
            g_string_append(out, tree_has_top(tree, p) ? " (" : "");
            for (guint i = p; i < tree->devices; i++)
                if (tree->pix[i] == i && tree->pxb[i] == p)
                    tree_print_leaf(out, tree, table, i);
            g_string_append(out, tree_has_top(tree, p) ? " )" : "");
        }
    }
    return g_string_free(out, FALSE);
}
