// plans/plan.c: a plan's defaults, its dimensions, and which layers each stage holds.
#include "plans/plan.h"

#include <string.h>

#include "base/error.h"

const char *const PLAN_DIMENSION_NAMES[] = {"tp", "cp", "dp", "pp", NULL};
const char *const PLAN_RECOMPUTE_NAMES[] = {"none", "selective", "full", NULL};
const char *const PLAN_GRADIENTS_NAMES[] = {"sharded", "whole", NULL};
const char *const PLAN_COPIES_NAMES[] = {"every", "last", NULL};
const char *const PLAN_BUCKETS_NAMES[] = {"torch", "megatron", NULL};

void plan_init(Plan *plan)
{
    *plan = (Plan){
        .gpus = 1,
        .tp = 1,
        .cp = 1,
        .dp = 1,
        .pp = 1,
        .order = {PLAN_DIMENSION_TP, PLAN_DIMENSION_CP, PLAN_DIMENSION_DP, PLAN_DIMENSION_PP},
        .tp_overlap = 1,
        .cp_balanced = TRUE,
        .micro_batch = 1,
        .batch = 1,
        .micro_batches = 1,
        .schedule = &PIPE_1F1B,
        .chunks = 1,
        .layers_first = -1,
        .layers_last = -1,
        .shard = 0, // all
        .gradients = PLAN_GRADIENTS_SHARDED,
        .overlap = TRUE,
        .gradient_bytes = 2,
        .buckets = PLAN_BUCKETS_TORCH,
        .bucket = G_GINT64_CONSTANT(25) << 20,
        .first_bucket = G_GINT64_CONSTANT(1) << 20,
        .prefetch = 1,
        .limiter = TRUE,
        .reshard = TRUE,
        .recompute = PLAN_RECOMPUTE_NONE,
        .recompute_every = 1,
        .optimizer = PLAN_OPTIMIZER_ADAM_MIXED,
    };
}

guint32 plan_data(const Plan *plan)
{
    return plan->dp * plan->cp;
}

// How the layers fall on virtual stages. Those that layers_first and layers_last leave are shared out evenly
// over the other stages; the remainder goes one each to stages 1, 2, ... and, where these do not suffice, to
// stage 0 (the last stage has the head, which costs more than the embedding).
typedef struct {
    guint64 stages;
    gboolean first_said, last_said;
    gint64 first, last, each; // of stages 0, the last one, and the least of those between
    guint64 longer;           // stages 1 .. longer hold one layer more
} PlanLayers;

static PlanLayers plan_split(const Plan *plan, const ModelSpec *model)
{
    PlanLayers layers = {.stages = (guint64)plan->pp * plan->chunks};
    if (layers.stages == 1) {
        layers.first = layers.last = layers.each = model->layers;
        return layers;
    }
    layers.first_said = plan->layers_first >= 0;
    layers.last_said = plan->layers_last >= 0;
    gint64 left = model->layers;
    left -= layers.first_said ? plan->layers_first : 0;
    left -= layers.last_said ? plan->layers_last : 0;
    gint64 others = (gint64)layers.stages - layers.first_said - layers.last_said;
    if (others > 0)
        layers.each = left / others;
    gint64 rest = others > 0 ? left % others : 0;
    layers.longer = (guint64)MIN(rest, (gint64)layers.stages - 2);
    layers.first = layers.first_said ? plan->layers_first : layers.each + (rest - (gint64)layers.longer);
    layers.last = layers.last_said ? plan->layers_last : layers.each;
    return layers;
}

gint64 plan_layers(const Plan *plan, const ModelSpec *model, guint32 stage, guint32 chunk)
{
    g_assert(stage < plan->pp && chunk < plan->chunks);
    PlanLayers layers = plan_split(plan, model);
    guint64 number = (guint64)chunk * plan->pp + stage;
    if (number == 0)
        return layers.first;
    if (number == layers.stages - 1)
        return layers.last;
    return layers.each + (number <= layers.longer);
}

gint64 plan_first_layer(const Plan *plan, const ModelSpec *model, guint32 stage, guint32 chunk)
{
    g_assert(stage < plan->pp && chunk < plan->chunks);
    PlanLayers layers = plan_split(plan, model);
    guint64 number = (guint64)chunk * plan->pp + stage;
    if (number == 0)
        return 0;
    return layers.first + (gint64)(number - 1) * layers.each + (gint64)MIN(number - 1, layers.longer);
}

gboolean plan_read_order(const char *text, PlanDimension order[PLAN_DIMENSIONS], const char *where,
                         GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, "-", PLAN_DIMENSIONS + 1);
    guint seen = 0;
    gboolean fine = g_strv_length(words) == PLAN_DIMENSIONS;
    PlanDimension found[PLAN_DIMENSIONS] = {PLAN_DIMENSION_TP};
    for (guint i = 0; fine && i < PLAN_DIMENSIONS; i++) {
        guint d = 0;
        while (d < PLAN_DIMENSIONS && strcmp(words[i], PLAN_DIMENSION_NAMES[d]) != 0)
            d++;
        fine = d < PLAN_DIMENSIONS && (seen >> d & 1) == 0;
        seen |= 1u << d;
        found[i] = (PlanDimension)d;
    }
    if (!fine) {
        g_autofree char *quoted = base_error_quote(text);
        return base_error_set(error, BASE_ERROR_FAILED, where,
                              "found order '%s', wanted tp, cp, dp and pp, each once, fastest first, such as "
                              "'tp-cp-dp-pp'",
                              quoted);
    }
    memcpy(order, found, sizeof found);
    return TRUE;
}

char *plan_order_text(const PlanDimension order[PLAN_DIMENSIONS])
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < PLAN_DIMENSIONS; i++)
        g_string_append_printf(text, "%s%s", i > 0 ? "-" : "", PLAN_DIMENSION_NAMES[order[i]]);
    return g_string_free(text, FALSE);
}
