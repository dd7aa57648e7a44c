// imports/parts.c: the tables of rates and device ids.
#include "imports/parts.h"

#include <string.h>

#define GB (1e9)

double import_parts_pcie_lane(const char *speed)
{
    // GT/s, and NCCL's figure for a lane in units of 100 Mb/s.
    static const struct {
        double speed;
        guint figure;
    } generations[] = {{2.5, 15}, {5, 30}, {8, 60}, {16, 120}, {32, 240}, {64, 480}};
    char *rest = NULL;
    double found = g_ascii_strtod(speed, &rest);
    if (rest == speed)
        return 0;
    rest += strspn(rest, " ");
    if (strncmp(rest, "GT/s", 4) != 0 || (rest[4] != '\0' && strcmp(rest + 4, " PCIe") != 0))
        return 0;
    for (guint i = 0; i < G_N_ELEMENTS(generations); i++)
        if (found >= generations[i].speed && found <= generations[i].speed)
            return generations[i].figure * (GB / 80);
    return 0;
}

double import_parts_nvlink(gint64 sm)
{
    if (sm < 60 || sm >= 120)
        return 0;
    if (sm >= 100)
        return 50 * GB;
    return sm == 86 ? 14.0625 * GB : sm >= 70 ? 25 * GB : 20 * GB;
}

double import_parts_xgmi(const char *gcn)
{
    const char *name = gcn == NULL ? "" : g_str_has_prefix(gcn, "gfx") ? gcn + 3 : gcn;
    if (g_str_has_prefix(name, "94") || g_str_has_prefix(name, "95"))
        return 48 * GB;
    return strcmp(name, "910") == 0 || g_str_has_prefix(name, "90a") ? 36 * GB : 24 * GB;
}

double import_parts_socket(const char *arch, const char *vendor, gint64 family, gint64 model)
{
    if (arch != NULL && strcmp(arch, "arm64") == 0)
        return 6 * GB;
    if (arch != NULL && g_str_has_prefix(arch, "ppc64"))
        return 32 * GB;
    if (vendor == NULL)
        return 0;
    if (strcmp(vendor, "GenuineIntel") == 0) {
        gboolean granite = model >= 0xad && model <= 0xaf;
        if (family != 6 || model < 0x55)
            return 6 * GB;
        return granite || model >= 0xcf ? 40 * GB : model >= 0x8f ? 22 * GB : 10 * GB;
    }
    // NCCL once wrote families as 0x8f, 0xaf, 0xbf and writes 23, 25, 26 now. RCCL files of Hygon say "AMD".
    if (strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "AMD") == 0)
        return family == 0xbf || family == 26 ? 32 * GB : family == 0xaf || family == 25 ? 24 * GB : 16 * GB;
    if (strcmp(vendor, "CentaurHauls") == 0 || strcmp(vendor, "  Shanghai  ") == 0)
        return 6 * GB;
    return 0;
}

const ImportPartsGpu *import_parts_find_gpu(gint64 vendor, gint64 device)
{
    enum { NVIDIA = 0x10de, AMD = 0x1002 };
    static const ImportPartsGpu gpus[] = {
        {NVIDIA, 0x1db1, "NVIDIA V100 SXM2 16 GB", "v100-sxm", NULL},
        {NVIDIA, 0x1db5, "NVIDIA V100 SXM2 32 GB", "v100-sxm-32g", "v100-sxm"},
        {NVIDIA, 0x1eb8, "NVIDIA T4", "t4", NULL},
        {NVIDIA, 0x20b0, "NVIDIA A100 SXM4 40 GB", "a100-sxm-40g", NULL},
        {NVIDIA, 0x20b2, "NVIDIA A100 SXM4 80 GB", "a100-sxm-80g", NULL},
        {NVIDIA, 0x20b5, "NVIDIA A100 PCIe 80 GB", "a100-pcie-80g", NULL},
        {NVIDIA, 0x20f1, "NVIDIA A100 PCIe 40 GB", "a100-pcie-40g", NULL},
        {NVIDIA, 0x20f3, "NVIDIA A800 SXM4 80 GB", "a800-sxm", "a100-sxm-80g"},
        {NVIDIA, 0x2230, "NVIDIA RTX A6000", "a6000", NULL},
        {NVIDIA, 0x2236, "NVIDIA A10", "a10", NULL},
        {NVIDIA, 0x2237, "NVIDIA A10G", "a10g", NULL},
        {NVIDIA, 0x2322, "NVIDIA H800 PCIe", "h800-pcie", NULL},
        {NVIDIA, 0x2324, "NVIDIA H800 SXM5", "h800-sxm", "h100-sxm"},
        {NVIDIA, 0x2330, "NVIDIA H100 SXM5 80 GB", "h100-sxm", NULL},
        {NVIDIA, 0x2331, "NVIDIA H100 PCIe", "h100-pcie", NULL},
        {NVIDIA, 0x2335, "NVIDIA H200 SXM 141 GB", "h200-sxm", NULL},
        {NVIDIA, 0x2684, "NVIDIA GeForce RTX 4090", "rtx4090", NULL},
        {NVIDIA, 0x26b9, "NVIDIA L40S", "l40s", NULL},
        {NVIDIA, 0x2901, "NVIDIA B200", "b200", NULL},
        {NVIDIA, 0x2941, "NVIDIA GB200", "gb200", NULL},
        {AMD, 0x738c, "AMD MI100", "mi100", NULL},
        {AMD, 0x740c, "AMD MI250X", "mi250x", NULL},
        {AMD, 0x740f, "AMD MI210", "mi210", NULL},
        {AMD, 0x74a1, "AMD MI300X", "mi300x", NULL},
    };
    for (guint i = 0; i < G_N_ELEMENTS(gpus); i++)
        if (vendor == gpus[i].vendor && device == gpus[i].device)
            return &gpus[i];
    return NULL;
}

const char *import_parts_chip_of_sm(gint64 sm, gboolean nvlink)
{
    switch (sm) {
    case 70:
        return nvlink ? "v100-sxm" : NULL;
    case 80:
        return nvlink ? "a100-sxm-80g" : "a100-pcie-80g";
    case 90:
        return nvlink ? "h100-sxm" : NULL;
    case 100:
        return nvlink ? "b200" : NULL;
    default:
        return NULL;
    }
}
