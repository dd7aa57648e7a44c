// imports/nccl.c: from the tree of an NCCL topology file to its parts.
#include "imports/nccl.h"

#include <string.h>

#include "base/error.h"
#include "imports/nccl-net.h"
#include "imports/parts.h"

// What the walk carries.
typedef struct {
    ImportNccl *nccl;    // borrowed
    ImportNcclNets nets; // owned
    GHashTable *hosts;   // host_hash -> number + 1; keys borrowed; never iterated
} NcclWalk;

void import_nccl_clear(ImportNccl *nccl)
{
    g_clear_pointer(&nccl->parts, g_array_unref);
    import_nccl_file_clear(&nccl->file);
}

static ImportNcclPart *nccl_add(ImportNccl *nccl, ImportNcclKind kind, guint parent,
                                const ImportXmlElement *element, double bandwidth)
{
    ImportNcclPart part = {
        .kind = kind, .parent = parent, .element = element, .bandwidth = bandwidth, .kept = TRUE};
    part.cpu = nccl->parts->len;
    if (parent != G_MAXUINT) {
        part.cpu = import_nccl_part(nccl, parent)->cpu;
        part.host = import_nccl_part(nccl, parent)->host;
    }
    part.busid = kind == IMPORT_NCCL_CPU ? NULL : import_xml_find(element, "busid");
    g_array_append_val(nccl->parts, part);
    return import_nccl_part(nccl, nccl->parts->len - 1);
}

// The rate of the PCIe link above a <pci>.
static double nccl_get_pcie(ImportNccl *nccl, const ImportXmlElement *pci)
{
    const char *speed = import_xml_find(pci, "link_speed"), *width = import_xml_find(pci, "link_width");
    double lane = speed == NULL ? 0 : import_parts_pcie_lane(speed);
    gint64 lanes = 0;
    if (lane <= 0) {
        lane = IMPORT_PARTS_PCIE_LANE;
        g_autofree char *found = speed == NULL ? g_strdup("is missing") : base_error_quote(speed);
        import_nccl_file_report(&nccl->file, pci->line,
                                "pci.link_speed %s%s%s: taken as 8 GT/s, as NCCL does",
                                speed == NULL ? "" : "'", found, speed == NULL ? "" : "' is no PCIe speed");
    }
    if (width == NULL || !import_nccl_file_parse(width, &lanes) || lanes < 1 || lanes > 32) {
        lanes = IMPORT_PARTS_PCIE_LANES;
        g_autofree char *found = width == NULL ? g_strdup("is missing") : base_error_quote(width);
        import_nccl_file_report(
            &nccl->file, pci->line, "pci.link_width %s%s%s: taken as 16 lanes, as NCCL does for 0",
            width == NULL ? "" : "'", found, width == NULL ? "" : "' is no number of lanes");
    }
    return lane * (double)lanes;
}

// Whether two bus ids differ in the function only ("0000:18:00.0", "0000:18:00.1"): ports of one card.
static gboolean nccl_is_same_card(const char *a, const char *b)
{
    const char *dot = a == NULL || b == NULL ? NULL : strrchr(a, '.');
    return dot != NULL && strncmp(a, b, (gsize)(dot - a) + 1) == 0;
}

// The NIC of a <pci>, and its nets if it lists them. Ports that are PCI functions of one card are one NIC, as
// in NCCL.
static void nccl_walk_nic(NcclWalk *walk, const ImportXmlElement *pci, const ImportXmlElement *nic,
                          guint parent, double bandwidth)
{
    ImportNccl *nccl = walk->nccl;
    ImportNcclPart *last = import_nccl_part(nccl, nccl->parts->len - 1);
    const char *busid = import_xml_find(pci, "busid");
    gboolean port =
        last->kind == IMPORT_NCCL_NIC && last->parent == parent && nccl_is_same_card(last->busid, busid);
    double network = 0;
    for (guint i = 0; nic != NULL && i < nic->children->len; i++) {
        const ImportXmlElement *net = nic->children->pdata[i];
        if (strcmp(net->name, "net") == 0)
            network +=
                import_nccl_net_read(&walk->nets, &nccl->file, net, import_nccl_part(nccl, parent)->host);
        else if (strcmp(net->name, "gin") != 0 && strcmp(net->name, "rma") != 0) // the same cards once more
            import_nccl_file_ignore(&nccl->file, net);
    }
    if (nic == NULL || nic->children->len == 0)
        import_nccl_file_report(&nccl->file, pci->line,
                                "NICs without a <net>, known by their PCI class: as fast as their PCIe link");
    else if (network <= 0)
        return;
    if (!port)
        last = nccl_add(nccl, IMPORT_NCCL_NIC, parent, pci, bandwidth);
    last->network += network;
}

// Nets of a <nic> that has no <pci>: the file does not say where they are plugged in.
static void nccl_walk_bare_nic(NcclWalk *walk, const ImportXmlElement *nic, guint cpu)
{
    import_nccl_file_check_attributes(&walk->nccl->file, nic);
    for (guint i = 0; i < nic->children->len; i++) {
        const ImportXmlElement *net = nic->children->pdata[i];
        if (strcmp(net->name, "net") != 0) {
            import_nccl_file_ignore(&walk->nccl->file, net);
            continue;
        }
        double rate = import_nccl_net_read(&walk->nets, &walk->nccl->file, net,
                                           import_nccl_part(walk->nccl, cpu)->host);
        if (rate <= 0)
            continue;
        g_autofree char *name =
            base_error_quote(import_xml_find(net, "name") == NULL ? "?" : import_xml_find(net, "name"));
        import_nccl_file_report(&walk->nccl->file, net->line,
                                "net '%s' has no <pci>: placed at its cpu, with a PCIe link of its own speed",
                                name);
        nccl_add(walk->nccl, IMPORT_NCCL_NIC, cpu, net, rate)->network = rate;
    }
}

// Broadcom switches of PCIe 4 and 5 show themselves as two levels but carry full rate between all their
// ports: the lower one is taken as part of the upper, by the ids that NCCL goes by (topo.cc, getBcmGen).
static guint nccl_get_broadcom(const ImportNccl *nccl, const ImportXmlElement *pci, guint level)
{
    gint64 ids[4] = {0};
    static const char *const keys[] = {"vendor", "device", "subsystem_vendor", "subsystem_device"};
    for (guint i = 0; i < 4; i++)
        if (!import_nccl_file_get(&nccl->file, pci, keys[i], 0, 0xffff, &ids[i], NULL))
            return 0;
    if (ids[0] != 0x1000 || ids[2] != 0x1000)
        return 0;
    if (ids[1] == 0xc010 && ids[3] >> 12 == 0xa)
        return 4;
    return ids[1] == 0xc030 && ids[3] >> 12 == level ? 5 : 0;
}

static gboolean nccl_walk_pci(NcclWalk *walk, const ImportXmlElement *pci, guint parent, GError **error);

static gboolean nccl_walk_bridge(NcclWalk *walk, const ImportXmlElement *pci, guint parent, GError **error)
{
    ImportNccl *nccl = walk->nccl;
    const ImportNcclPart *above = import_nccl_part(nccl, parent);
    guint generation = above->kind == IMPORT_NCCL_BRIDGE ? nccl_get_broadcom(nccl, pci, 1) : 0, self = parent;
    if (generation != 0 && nccl_get_broadcom(nccl, above->element, 0) == generation)
        import_nccl_file_report(&nccl->file, pci->line,
                                "Broadcom PCIe switches that show two levels are taken as one, as in NCCL");
    else {
        self = nccl->parts->len;
        nccl_add(nccl, IMPORT_NCCL_BRIDGE, parent, pci, nccl_get_pcie(nccl, pci));
    }
    for (guint i = 0; i < pci->children->len; i++) {
        const ImportXmlElement *child = pci->children->pdata[i];
        if (strcmp(child->name, "pci") != 0)
            import_nccl_file_ignore(&nccl->file, child);
        else if (!nccl_walk_pci(walk, child, self, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean nccl_walk_gpu(NcclWalk *walk, const ImportXmlElement *pci, guint parent, GError **error)
{
    ImportNccl *nccl = walk->nccl;
    const ImportXmlElement *gpu = import_xml_child(pci, "gpu");
    for (guint i = 0; i < pci->children->len; i++) {
        const ImportXmlElement *child = pci->children->pdata[i];
        if (strcmp(child->name, "pci") == 0)
            return import_nccl_file_refuse(&nccl->file, child, NULL, error,
                                           "found <pci> beside <gpu> in one <pci>, wanted a GPU by itself");
        if (child != gpu && strcmp(child->name, "gpu") == 0)
            import_nccl_file_report(&nccl->file, child->line,
                                    "a second <gpu> in one <pci> is a second rank on that GPU: left out");
        else if (child != gpu)
            import_nccl_file_ignore(&nccl->file, child);
    }
    nccl_add(nccl, IMPORT_NCCL_GPU, parent, pci, nccl_get_pcie(nccl, pci))->gpu = gpu;
    if (gpu == NULL)
        return TRUE;
    import_nccl_file_check_attributes(&nccl->file, gpu);
    for (guint i = 0; i < gpu->children->len; i++) {
        const ImportXmlElement *link = gpu->children->pdata[i];
        if (strcmp(link->name, "nvlink") == 0 || strcmp(link->name, "xgmi") == 0 ||
            strcmp(link->name, "c2c") == 0)
            import_nccl_file_check_attributes(&nccl->file, link);
        else
            import_nccl_file_ignore(&nccl->file, link);
    }
    return TRUE;
}

static gboolean nccl_walk_pci(NcclWalk *walk, const ImportXmlElement *pci, guint parent, GError **error)
{
    enum { ASPEED = 0x1a03, MATROX = 0x102b }; // display chips of servers' management controllers
    ImportNccl *nccl = walk->nccl;
    import_nccl_file_check_attributes(&nccl->file, pci);
    const char *text = import_xml_find(pci, "class");
    guint class = import_nccl_file_class(text);
    const ImportXmlElement *nic = import_xml_child(pci, "nic");
    gint64 vendor = 0;
    if (import_xml_find(pci, "busid") == NULL)
        return import_nccl_file_refuse(&nccl->file, pci, "busid", error, "missing");
    if (import_xml_child(pci, "gpu") != NULL)
        return nccl_walk_gpu(walk, pci, parent, error);
    if (nic != NULL || (class >> 16 == 0x02 && pci->children->len == 0)) {
        for (guint i = 0; i < pci->children->len; i++)
            if (pci->children->pdata[i] != nic)
                import_nccl_file_ignore(&nccl->file, pci->children->pdata[i]);
        nccl_walk_nic(walk, pci, nic, parent, nccl_get_pcie(nccl, pci));
        return TRUE;
    }
    if (pci->children->len > 0)
        return nccl_walk_bridge(walk, pci, parent, error);
    if (!import_nccl_file_get(&nccl->file, pci, "vendor", 0, 0xffff, &vendor, error))
        return FALSE;
    if (import_nccl_file_is_gpu(class) && vendor != ASPEED && vendor != MATROX)
        return nccl_walk_gpu(walk, pci, parent, error);
    g_autofree char *quoted = base_error_quote(text == NULL ? "" : text);
    import_nccl_file_report(&nccl->file, pci->line,
                            "<pci> %s%s%s with nothing below it left out: no GPU, no NIC",
                            text == NULL ? "without a class" : "of class '", quoted, text == NULL ? "" : "'");
    return TRUE;
}

// A <cpu> and all below it.
static gboolean nccl_walk_cpu(NcclWalk *walk, const ImportXmlElement *cpu, GError **error)
{
    ImportNccl *nccl = walk->nccl;
    guint self = nccl->parts->len;
    gint64 family = 0, model = 0;
    import_nccl_file_check_attributes(&nccl->file, cpu);
    if (!import_nccl_file_get(&nccl->file, cpu, "familyid", 0, 65535, &family, error) ||
        !import_nccl_file_get(&nccl->file, cpu, "modelid", 0, 65535, &model, error))
        return FALSE;
    double rate =
        import_parts_socket(import_xml_find(cpu, "arch"), import_xml_find(cpu, "vendor"), family, model);
    const char *hash = import_xml_find(cpu, "host_hash");
    gpointer host = g_hash_table_lookup(walk->hosts, hash == NULL ? "" : hash);
    if (host == NULL) {
        host = GUINT_TO_POINTER(++nccl->hosts);
        g_hash_table_insert(walk->hosts, (gpointer)(hash == NULL ? "" : hash), host);
    }
    nccl_add(nccl, IMPORT_NCCL_CPU, G_MAXUINT, cpu, rate)->host = GPOINTER_TO_UINT(host) - 1;
    for (guint i = 0; i < cpu->children->len; i++) {
        const ImportXmlElement *child = cpu->children->pdata[i];
        if (strcmp(child->name, "nic") == 0)
            nccl_walk_bare_nic(walk, child, self);
        else if (strcmp(child->name, "pci") != 0)
            import_nccl_file_ignore(&nccl->file, child);
        else if (!nccl_walk_pci(walk, child, self, error))
            return FALSE;
    }
    return TRUE;
}

// What a <system> is to be: its version, and nothing but CPUs below it.
static gboolean nccl_check_system(ImportNccl *nccl, const ImportXmlElement *root, GError **error)
{
    if (strcmp(root->name, "graphs") == 0)
        return import_nccl_file_refuse(
            &nccl->file, root, NULL, error,
            "found the result of a search (NCCL_GRAPH_DUMP_FILE), wanted <system>: a "
            "topology (NCCL_TOPO_DUMP_FILE)");
    if (strcmp(root->name, "system") != 0)
        return import_nccl_file_refuse(
            &nccl->file, root, NULL, error,
            "found this element first, wanted <system> as NCCL_TOPO_DUMP_FILE writes it");
    gint64 version = 1;
    import_nccl_file_check_attributes(&nccl->file, root);
    if (!import_nccl_file_get(&nccl->file, root, "version", 1, 2, &version, error))
        return FALSE;
    for (guint i = 0; i < root->children->len; i++) {
        const ImportXmlElement *child = root->children->pdata[i];
        if (strcmp(child->name, "gpu") == 0 || strcmp(child->name, "pci") == 0 ||
            strcmp(child->name, "nic") == 0)
            return import_nccl_file_refuse(
                &nccl->file, child, NULL, error,
                "found directly below <system>, wanted <cpu> with <pci busid=\"...\"> between: "
                "NCCL does not see it here");
        if (strcmp(child->name, "cpu") != 0)
            import_nccl_file_ignore(&nccl->file, child);
    }
    if (import_xml_count(root, "cpu") > IMPORT_NCCL_CPUS)
        return import_nccl_file_refuse(&nccl->file, root, NULL, error, "found %u <cpu>, wanted at most %d",
                                       import_xml_count(root, "cpu"), IMPORT_NCCL_CPUS);
    return TRUE;
}

// Leaves out GPUs that only their class names where others have a <gpu>, and bridges with nothing below them.
static void nccl_leave_out(ImportNccl *nccl)
{
    gboolean named = FALSE;
    for (guint i = 0; i < nccl->parts->len; i++)
        named |= import_nccl_part(nccl, i)->gpu != NULL;
    g_autofree gboolean *used = g_new0(gboolean, MAX(nccl->parts->len, 1));
    for (guint i = nccl->parts->len; i-- > 0;) {
        ImportNcclPart *part = import_nccl_part(nccl, i);
        if (part->kind == IMPORT_NCCL_GPU && part->gpu == NULL && named) {
            part->kept = FALSE;
            import_nccl_file_report(
                &nccl->file, part->element->line,
                "GPUs without a <gpu> beside others that have one left out: the job did not use them");
        } else if (part->kind == IMPORT_NCCL_BRIDGE && !used[i]) {
            part->kept = FALSE;
            import_nccl_file_report(&nccl->file, part->element->line,
                                    "PCI bridges with no GPU or NIC below left out");
        }
        if (part->kept && part->parent != G_MAXUINT)
            used[part->parent] = TRUE;
    }
}

// A switch that a virtual machine emulates says 2.5 GT/s x1, whatever is behind it: it gets the rate of the
// fastest part below.
static void nccl_mend_bridges(ImportNccl *nccl)
{
    const double slowest = import_parts_pcie_lane("2.5 GT/s");
    g_autofree double *below = g_new0(double, MAX(nccl->parts->len, 1));
    for (guint i = nccl->parts->len; i-- > 0;) {
        ImportNcclPart *part = import_nccl_part(nccl, i);
        if (part->kind == IMPORT_NCCL_BRIDGE && part->bandwidth <= slowest && below[i] > part->bandwidth) {
            part->bandwidth = below[i];
            import_nccl_file_report(
                &nccl->file, part->element->line,
                "PCI bridges of 2.5 GT/s x1 above faster parts are emulated: taken as fast as the "
                "fastest part below");
        }
        if (part->kept && part->parent != G_MAXUINT)
            below[part->parent] = MAX(below[part->parent], part->bandwidth);
    }
}

// CPUs whose rate is not known get one where they are joined to others of their host.
static void nccl_mend_cpus(ImportNccl *nccl)
{
    for (guint i = 0; i < nccl->parts->len; i++) {
        ImportNcclPart *cpu = import_nccl_part(nccl, i);
        if (cpu->kind != IMPORT_NCCL_CPU || cpu->bandwidth > 0)
            continue;
        cpu->bandwidth = IMPORT_PARTS_SOCKET;
        import_nccl_file_report(
            &nccl->file, cpu->element->line,
            "cpu of an unknown vendor: links to other CPUs, if any, taken as 6 GB/s, the slowest that "
            "NCCL knows");
    }
}

gboolean import_nccl_read(const char *name, const ImportXmlElement *root, ImportNccl *nccl, GError **error)
{
    *nccl = (ImportNccl){.parts = g_array_new(FALSE, FALSE, sizeof(ImportNcclPart))};
    import_nccl_file_init(&nccl->file, name);
    if (!nccl_check_system(nccl, root, error))
        return FALSE;
    g_autoptr(GHashTable) hosts = g_hash_table_new(g_str_hash, g_str_equal);
    NcclWalk walk = {.nccl = nccl, .hosts = hosts};
    import_nccl_net_init(&walk.nets);
    gboolean fine = TRUE;
    for (guint i = 0; fine && i < root->children->len; i++) {
        const ImportXmlElement *child = root->children->pdata[i];
        fine = strcmp(child->name, "cpu") != 0 || nccl_walk_cpu(&walk, child, error);
    }
    import_nccl_net_clear(&walk.nets);
    if (!fine)
        return FALSE;
    nccl_leave_out(nccl);
    nccl_mend_bridges(nccl);
    nccl_mend_cpus(nccl);
    return TRUE;
}
