// step/plan.c: a plan's defaults, its dimensions, and which layers each stage holds.
#include "step/plan.h"

#include <string.h>

#include "base/error.h"

const char *const STEP_DIMENSION_NAMES[] = {"tp", "cp", "dp", "pp", NULL};
const char *const STEP_RECOMPUTE_NAMES[] = {"none", "selective", "full", NULL};
const char *const STEP_GRADIENTS_NAMES[] = {"sharded", "whole", NULL};
const char *const STEP_BUCKETS_NAMES[] = {"torch", "megatron", NULL};

void step_plan_init(StepPlan *plan)
{
    *plan = (StepPlan){
        .gpus = 1,
        .tp = 1,
        .cp = 1,
        .dp = 1,
        .pp = 1,
        .order = {STEP_DIMENSION_TP, STEP_DIMENSION_CP, STEP_DIMENSION_DP, STEP_DIMENSION_PP},
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
        .gradients = STEP_GRADIENTS_SHARDED,
        .overlap = TRUE,
        .gradient_bytes = 2,
        .buckets = STEP_BUCKETS_TORCH,
        .bucket = G_GINT64_CONSTANT(25) << 20,
        .first_bucket = G_GINT64_CONSTANT(1) << 20,
        .prefetch = 1,
        .limiter = TRUE,
        .reshard = TRUE,
        .recompute = STEP_RECOMPUTE_NONE,
        .recompute_every = 1,
        .optimizer = STEP_OPTIMIZER_ADAM_MIXED,
    };
}

guint32 step_plan_data(const StepPlan *plan)
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

static PlanLayers plan_layers(const StepPlan *plan, const ModelSpec *model)
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

gint64 step_plan_layers(const StepPlan *plan, const ModelSpec *model, guint32 stage, guint32 chunk)
{
    g_assert(stage < plan->pp && chunk < plan->chunks);
    PlanLayers layers = plan_layers(plan, model);
    guint64 number = (guint64)chunk * plan->pp + stage;
    if (number == 0)
        return layers.first;
    if (number == layers.stages - 1)
        return layers.last;
    return layers.each + (number <= layers.longer);
}

gint64 step_plan_first_layer(const StepPlan *plan, const ModelSpec *model, guint32 stage, guint32 chunk)
{
    g_assert(stage < plan->pp && chunk < plan->chunks);
    PlanLayers layers = plan_layers(plan, model);
    guint64 number = (guint64)chunk * plan->pp + stage;
    if (number == 0)
        return 0;
    return layers.first + (gint64)(number - 1) * layers.each + (gint64)MIN(number - 1, layers.longer);
}

gboolean step_plan_read_order(const char *text, StepDimension order[STEP_DIMENSIONS], const char *where,
                              GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, "-", STEP_DIMENSIONS + 1);
    guint seen = 0;
    gboolean fine = g_strv_length(words) == STEP_DIMENSIONS;
    StepDimension found[STEP_DIMENSIONS] = {STEP_DIMENSION_TP};
    for (guint i = 0; fine && i < STEP_DIMENSIONS; i++) {
        guint d = 0;
        while (d < STEP_DIMENSIONS && strcmp(words[i], STEP_DIMENSION_NAMES[d]) != 0)
            d++;
        fine = d < STEP_DIMENSIONS && (seen >> d & 1) == 0;
        seen |= 1u << d;
        found[i] = (StepDimension)d;
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

char *step_plan_order_text(const StepDimension order[STEP_DIMENSIONS])
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < STEP_DIMENSIONS; i++)
        g_string_append_printf(text, "%s%s", i > 0 ? "-" : "", STEP_DIMENSION_NAMES[order[i]]);
    return g_string_free(text, FALSE);
}
