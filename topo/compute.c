// topo/compute.c: the optional sections of a chip's file, their limits, and what stands in for them.
#include "topo/compute.h"

const char *const TOPO_ATTENTION_NAMES[] = {"best", "flash2", "flash3", "triton", NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(TOPO_ATTENTION_NAMES) == TOPO_ATTENTIONS + 1);

// The guesses: a chip like those that are measured (A100 to B200).
static const TopoCompute DEFAULTS = {
    .tile_m = 128,
    .tile_n = 256,
    .depth = 128,
    .kernel_time = 3e-6,
    .memory_efficiency = 0.8,
    .update_efficiency = 0.7,
    .collective_blocks = 0,
    .collective_slowdown = 0.65,
    .collective_memory = 0.23,
    .host_bandwidth = 20e9,
};

static double compute_guess(TopoPrecision precision)
{
    switch (precision) {
    case TOPO_PRECISION_FP32:
    case TOPO_PRECISION_TF32:
    case TOPO_PRECISION_FP16:
    case TOPO_PRECISION_BF16:
        return 0.7;
    case TOPO_PRECISION_FP8:
    case TOPO_PRECISION_INT8:
        return 0.6;
    case TOPO_PRECISION_FP4:
        return 0.45;
    case TOPO_PRECISIONS:
        break;
    }
    g_assert_not_reached();
}

typedef struct {
    const char *key;
    UnitsKind kind;
    double *value;
    double low, high;
} ComputeKey;

static gboolean compute_get(Ini *ini, const char *section, const ComputeKey *key, GError **error)
{
    if (!ini_get(ini, section, key->key, INI_OPTIONAL, key->kind, key->value, error))
        return FALSE;
    if (ini_has(ini, section, key->key) && !(*key->value >= key->low && *key->value <= key->high))
        return ini_refuse(ini, section, key->key, error, "found %g, wanted %g to %g", *key->value, key->low,
                          key->high);
    return TRUE;
}

static gboolean compute_read_chip(Ini *ini, TopoCompute *compute, GError **error)
{
    const ComputeKey keys[] = {
        {"multiprocessors", UNITS_COUNT, &compute->multiprocessors, 0, 1e6},
        {"tile_m", UNITS_COUNT, &compute->tile_m, 1, 65536},
        {"tile_n", UNITS_COUNT, &compute->tile_n, 1, 65536},
        {"waves", UNITS_FRACTION, &compute->waves, 0, 1},
        {"depth", UNITS_COUNT, &compute->depth, 0, 1e6},
        {"kernel_time", UNITS_TIME, &compute->kernel_time, 0, 1},
        {"memory_efficiency", UNITS_FRACTION, &compute->memory_efficiency, 0.001, 1},
        {"update_efficiency", UNITS_FRACTION, &compute->update_efficiency, 0.001, 1},
        {"collective_blocks", UNITS_COUNT, &compute->collective_blocks, 0, 1e6},
        {"collective_slowdown", UNITS_NUMBER, &compute->collective_slowdown, 0, 10},
        {"collective_memory", UNITS_FRACTION, &compute->collective_memory, 0, 0.9},
        {"host_bandwidth", UNITS_RATE, &compute->host_bandwidth, 1, 1e18},
        {"power", UNITS_NUMBER, &compute->power, 0, 1e6},
    };
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
        if (!compute_get(ini, "compute", &keys[i], error))
            return FALSE;
    if (compute->collective_blocks > 0 && compute->collective_blocks > compute->multiprocessors / 2)
        return ini_refuse(ini, "compute", "collective_blocks", error,
                          "found %g, wanted at most half of the %g multiprocessors",
                          compute->collective_blocks, compute->multiprocessors);
    return TRUE;
}

static gboolean compute_read_efficiency(Ini *ini, TopoDevice *device, GError **error)
{
    TopoCompute *compute = &device->compute;
    for (guint i = 0; i < TOPO_PRECISIONS; i++) {
        compute->efficiency[i] = compute_guess((TopoPrecision)i);
        const ComputeKey efficiency = {TOPO_PRECISION_NAMES[i], UNITS_FRACTION, &compute->efficiency[i],
                                       0.001, 1};
        const ComputeKey burst = {TOPO_PRECISION_NAMES[i], UNITS_FRACTION, &compute->burst[i], 0.001, 1};
        if (!compute_get(ini, "efficiency", &efficiency, error) || !compute_get(ini, "burst", &burst, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean compute_read_attention(Ini *ini, const char *section, TopoAttention *attention,
                                       GError **error)
{
    static const char *const rates[TOPO_HEADS] = {"rate_64", "rate_128", "rate_256"};
    static const char *const halves[TOPO_HEADS] = {"half_64", "half_128", "half_256"};
    const char *known = NULL;
    for (guint i = 0; i < TOPO_HEADS; i++) {
        const ComputeKey rate = {rates[i], UNITS_FLOPS, &attention->rate[i], 1e6, 1e21};
        const ComputeKey half = {halves[i], UNITS_NUMBER, &attention->half[i], 0, 1e6};
        if (!compute_get(ini, section, &rate, error) || !compute_get(ini, section, &half, error))
            return FALSE;
        if (ini_has(ini, section, rates[i]) != ini_has(ini, section, halves[i]))
            return ini_refuse(ini, section, rates[i], error, "found only one of %s and %s, wanted both",
                              rates[i], halves[i]);
        if (attention->rate[i] > 0)
            known = rates[i];
    }
    const ComputeKey backward = {"backward", UNITS_NUMBER, &attention->backward, 0.01, 10};
    if (!compute_get(ini, section, &backward, error))
        return FALSE;
    if (known == NULL)
        return ini_refuse(ini, section, rates[1], error, "found no rate at all, wanted at least one");
    return TRUE;
}

// Four tenths of the 16-bit peak, half of that at 1,000 tokens: the middle of A100 and H100 with
// FlashAttention 2.
static void compute_guess_attention(TopoDevice *device)
{
    double peak = MAX(device->peak[TOPO_PRECISION_BF16], device->peak[TOPO_PRECISION_FP16]);
    for (guint i = 0; peak == 0 && i < TOPO_PRECISIONS; i++)
        peak = device->peak[i];
    TopoAttention *best = &device->compute.attention[TOPO_ATTENTION_BEST];
    best->rate[1] = 0.4 * peak;
    best->half[1] = 1000;
}

gboolean topo_compute_read(Ini *ini, TopoDevice *device, GError **error)
{
    device->compute = DEFAULTS;
    g_autoptr(GString) assumed = g_string_new(NULL);
    if (!compute_read_chip(ini, &device->compute, error) || !compute_read_efficiency(ini, device, error))
        return FALSE;
    static const char *const sections[] = {"compute", "efficiency"};
    for (guint i = 0; i < G_N_ELEMENTS(sections); i++)
        if (!ini_has_section(ini, sections[i]))
            g_string_append_printf(assumed, "%s%s", assumed->len > 0 ? ", " : "", sections[i]);
    for (guint i = 0; i < TOPO_ATTENTIONS; i++) {
        TopoAttention *attention = &device->compute.attention[i];
        attention->backward = 0.8;
        g_autofree char *section = i == TOPO_ATTENTION_BEST
                                       ? g_strdup("attention")
                                       : g_strconcat("attention-", TOPO_ATTENTION_NAMES[i], NULL);
        if (ini_has_section(ini, section)) {
            if (!compute_read_attention(ini, section, attention, error))
                return FALSE;
        } else if (i == TOPO_ATTENTION_BEST) {
            compute_guess_attention(device);
            g_string_append_printf(assumed, "%sattention", assumed->len > 0 ? ", " : "");
        } else {
            *attention = device->compute.attention[TOPO_ATTENTION_BEST];
        }
    }
    if (assumed->len > 0)
        device->assumed = g_strdup_printf("%s: guessed", assumed->str);
    return TRUE;
}
