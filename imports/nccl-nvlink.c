// imports/nccl-nvlink.c: reading <nvlink>, <xgmi> and <c2c>.
#include "imports/nccl-nvlink.h"

#include <string.h>

#include "imports/parts.h"

enum {
    SWITCH = 0x068000,
    BRIDGE = 0x068001,
    LINKS = 64
}; // classes: NVSwitch, Power9; most links to one target

// A GPU on its way to a number.
typedef struct {
    guint host, part;
    gint64 dev; // -1: not stated
} NvlinkOrder;

// What the reading carries.
typedef struct {
    ImportNccl *nccl;         // borrowed
    ImportNcclNvlink *nvlink; // borrowed
    GHashTable *by_busid;     // "host digits" -> number + 1; owned keys; never iterated
} NvlinkWalk;

void import_nccl_nvlink_clear(ImportNcclNvlink *nvlink)
{
    g_clear_pointer(&nvlink->gpus, g_array_unref);
    g_free(nvlink->to_switch);
    g_free(nvlink->to_cpu);
    g_free(nvlink->peers);
    g_free(nvlink->links);
    *nvlink = (ImportNcclNvlink){0};
}

gboolean import_nccl_nvlink_has_switch(const ImportNcclNvlink *nvlink)
{
    for (guint i = 0; i < nvlink->gpus->len; i++)
        if (nvlink->to_switch[i] > 0)
            return TRUE;
    return FALSE;
}

guint import_nccl_nvlink_pairs(const ImportNcclNvlink *nvlink)
{
    guint n = nvlink->gpus->len, pairs = 0;
    for (guint a = 0; a < n; a++)
        for (guint b = a + 1; b < n; b++)
            pairs += nvlink->peers[a * n + b] > 0;
    return pairs;
}

static int nvlink_compare(gconstpointer left, gconstpointer right)
{
    const NvlinkOrder *a = left, *b = right;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->dev != b->dev)
        return a->dev < b->dev ? -1 : 1;
    return a->part < b->part ? -1 : a->part > b->part;
}

// Numbers the GPUs by host and dev; by host and place in the file where some dev is missing or there twice.
static gboolean nvlink_number(ImportNccl *nccl, ImportNcclNvlink *nvlink, GError **error)
{
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(NvlinkOrder));
    for (guint i = 0; i < nccl->parts->len; i++) {
        const ImportNcclPart *part = import_nccl_part(nccl, i);
        if (part->kind != IMPORT_NCCL_GPU || !part->kept)
            continue;
        if (order->len == IMPORT_NCCL_GPUS)
            return import_nccl_file_refuse(&nccl->file, part->element, NULL, error,
                                           "found more than %d GPUs, wanted fewer", IMPORT_NCCL_GPUS);
        NvlinkOrder gpu = {.host = part->host, .part = i, .dev = -1};
        if (part->gpu != NULL &&
            !import_nccl_file_get(&nccl->file, part->gpu, "dev", 0, G_MAXINT32, &gpu.dev, error))
            return FALSE;
        g_array_append_val(order, gpu);
    }
    g_array_sort(order, nvlink_compare);
    nvlink->by_dev = TRUE;
    for (guint i = 0; i < order->len; i++) {
        const NvlinkOrder *gpu = &g_array_index(order, NvlinkOrder, i), *last = gpu - 1;
        nvlink->by_dev &= gpu->dev >= 0 && (i == 0 || gpu->host != last->host || gpu->dev != last->dev);
    }
    for (guint i = 0; i < order->len && !nvlink->by_dev; i++)
        g_array_index(order, NvlinkOrder, i).dev = -1;
    g_array_sort(order, nvlink_compare);
    for (guint i = 0; i < order->len; i++)
        g_array_append_val(nvlink->gpus, g_array_index(order, NvlinkOrder, i).part);
    return TRUE;
}

// A bus id as NCCL compares them: its hex digits, leading zeros dropped, with the host in front. Caller
// frees.
static char *nvlink_key(guint host, const char *busid)
{
    GString *key = g_string_new(NULL);
    g_string_append_printf(key, "%u ", host);
    gsize start = key->len;
    for (; *busid != '\0'; busid++)
        if (g_ascii_isxdigit(*busid) && (key->len > start || *busid != '0'))
            g_string_append_c(key, g_ascii_tolower(*busid));
    return g_string_free(key, FALSE);
}

// The number of the GPU that a link of GPU number rank names; G_MAXUINT: none of the file's.
static guint nvlink_find(const NvlinkWalk *walk, guint rank, const char *target)
{
    if (target == NULL)
        return G_MAXUINT;
    g_autofree char *key = nvlink_key(import_nccl_nvlink_gpu(walk->nccl, walk->nvlink, rank)->host, target);
    return GPOINTER_TO_UINT(g_hash_table_lookup(walk->by_busid, key)) - 1;
}

// A link whose target is its own GPU: where there are two GPUs the other one must be meant.
static guint nvlink_mend_self(NvlinkWalk *walk, const ImportXmlElement *link, guint rank)
{
    gboolean two = walk->nvlink->gpus->len == 2;
    import_nccl_file_report(&walk->nccl->file, link->line, "%s whose target is the GPU itself: %s",
                            link->name, two ? "taken as the other of the two GPUs" : "ignored");
    return two ? 1 - rank : G_MAXUINT;
}

// Adds count links of a rate from GPU number rank to where the element points.
static void nvlink_add(NvlinkWalk *walk, const ImportXmlElement *link, guint rank, gint64 count, double rate)
{
    ImportNcclNvlink *nvlink = walk->nvlink;
    ImportNcclFile *file = &walk->nccl->file;
    const char *text = import_xml_find(link, "tclass"), *target = import_xml_find(link, "target");
    guint class = import_nccl_file_class(text), peer = nvlink_find(walk, rank, target);
    if (text == NULL) {
        import_nccl_file_report(file, link->line, "%s without tclass: taken by its target as a link to %s",
                                link->name, peer == G_MAXUINT ? "an NVSwitch" : "that GPU");
        class = peer == G_MAXUINT ? SWITCH : 0x030200;
    }
    if (import_nccl_file_is_gpu(class)) {
        if (peer == rank)
            peer = nvlink_mend_self(walk, link, rank);
        else if (peer == G_MAXUINT)
            import_nccl_file_report(file, link->line, "%s to a GPU that the file does not have: ignored",
                                    link->name);
        if (peer == G_MAXUINT)
            return;
        nvlink->peers[rank * nvlink->gpus->len + peer] += (double)count * rate;
    } else if (class == BRIDGE) {
        nvlink->to_cpu[rank] += (double)count * rate;
    } else {
        if (class != SWITCH)
            import_nccl_file_report(file, link->line,
                                    "%s to something that is no GPU: taken as an NVSwitch, as NCCL does",
                                    link->name);
        nvlink->to_switch[rank] += (double)count * rate;
    }
    nvlink->links[rank] += count;
    nvlink->rate = rate;
}

static gboolean nvlink_read_c2c(NvlinkWalk *walk, const ImportXmlElement *link, guint rank, GError **error)
{
    enum { GRACE = 44712 }; // MB/s, as files of GB200 machines have it
    ImportNcclFile *file = &walk->nccl->file;
    gint64 megabytes = 0, count = 1;
    if (!import_nccl_file_get(file, link, "bw", 0, 10000000, &megabytes, error) ||
        !import_nccl_file_get(file, link, "count", 1, LINKS, &count, error))
        return FALSE;
    if (megabytes == 0) {
        megabytes = GRACE;
        import_nccl_file_report(file, link->line,
                                "c2c.bw missing or 0: taken as %d MB/s, as GB200 files have it", GRACE);
    }
    walk->nvlink->to_cpu[rank] += (double)megabytes * (double)count * 1e6;
    return TRUE;
}

static gboolean nvlink_read_gpu(NvlinkWalk *walk, guint rank, GError **error)
{
    ImportNcclFile *file = &walk->nccl->file;
    const ImportXmlElement *gpu = import_nccl_nvlink_gpu(walk->nccl, walk->nvlink, rank)->gpu;
    gint64 sm = 0;
    if (gpu == NULL)
        return TRUE;
    if (!import_nccl_file_get(file, gpu, "sm", 0, 9999, &sm, error))
        return FALSE;
    for (guint i = 0; i < gpu->children->len; i++) {
        const ImportXmlElement *link = gpu->children->pdata[i];
        gboolean nv = strcmp(link->name, "nvlink") == 0;
        if (strcmp(link->name, "c2c") == 0 && !nvlink_read_c2c(walk, link, rank, error))
            return FALSE;
        if (!nv && strcmp(link->name, "xgmi") != 0)
            continue;
        gint64 count = 1;
        if (!import_nccl_file_get(file, link, "count", 0, LINKS, &count, error))
            return FALSE;
        if (count == 0 || import_xml_find(link, "count") == NULL)
            import_nccl_file_report(file, link->line, "%s %s", link->name,
                                    count == 0 ? "with count=\"0\": ignored"
                                               : "without count: taken as one link");
        double rate = nv ? import_parts_nvlink(sm) : import_parts_xgmi(import_xml_find(gpu, "gcn"));
        if (rate <= 0) {
            rate = 25e9;
            import_nccl_file_report(file, gpu->line,
                                    "gpu.sm missing or unknown: its NVLinks taken as 25 GB/s each way");
        }
        if (count > 0)
            nvlink_add(walk, link, rank, count, rate);
    }
    return TRUE;
}

// Where two GPUs do not say the same of the link between them, the larger figure is taken.
static void nvlink_mend_pairs(ImportNccl *nccl, ImportNcclNvlink *nvlink)
{
    guint n = nvlink->gpus->len;
    for (guint a = 0; a < n; a++)
        for (guint b = a + 1; b < n; b++) {
            double *ways[2] = {&nvlink->peers[a * n + b], &nvlink->peers[b * n + a]};
            if (*ways[0] <= *ways[1] && *ways[0] >= *ways[1])
                continue;
            import_nccl_file_report(
                &nccl->file, import_nccl_nvlink_gpu(nccl, nvlink, a)->element->line,
                "two GPUs do not say the same of the links between them: taken as the larger figure");
            *ways[0] = *ways[1] = MAX(*ways[0], *ways[1]);
        }
}

gboolean import_nccl_nvlink_read(ImportNccl *nccl, ImportNcclNvlink *nvlink, GError **error)
{
    *nvlink = (ImportNcclNvlink){.gpus = g_array_new(FALSE, FALSE, sizeof(guint))};
    if (!nvlink_number(nccl, nvlink, error))
        return FALSE;
    gsize n = nvlink->gpus->len;
    nvlink->to_switch = g_new0(double, MAX(n, 1));
    nvlink->to_cpu = g_new0(double, MAX(n, 1));
    nvlink->peers = g_new0(double, MAX(n * n, 1));
    nvlink->links = g_new0(gint64, MAX(n, 1));
    g_autoptr(GHashTable) by_busid = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    NvlinkWalk walk = {.nccl = nccl, .nvlink = nvlink, .by_busid = by_busid};
    for (guint i = 0; i < n; i++) {
        const ImportNcclPart *gpu = import_nccl_nvlink_gpu(nccl, nvlink, i);
        if (!g_hash_table_insert(by_busid, nvlink_key(gpu->host, gpu->busid), GUINT_TO_POINTER(i + 1)))
            return import_nccl_file_refuse(&nccl->file, gpu->element, "busid", error,
                                           "found the bus id of another GPU, wanted each once");
    }
    for (guint i = 0; i < n; i++)
        if (!nvlink_read_gpu(&walk, i, error))
            return FALSE;
    nvlink_mend_pairs(nccl, nvlink);
    return TRUE;
}
