// cli/memory-print.c: a rank's memory by kind and stage, as text and as JSON.
#include "cli/memory-print.h"

#include "base/units.h"
#include "cli/fields.h"
#include "cli/options.h"
#include "models/count.h"

// The stages that are shown, without repeats.
typedef struct {
    PlanMemoryPeak peaks[3];
    guint count;
    guint32 fullest;
} MemoryPrintStages;

static PlanMemoryPeak memory_print_peak(const MemoryPrint *what, guint32 stage)
{
    return plan_memory_peak(what->plan, what->model, what->device, what->framework, stage);
}

static MemoryPrintStages memory_print_stages(const MemoryPrint *what)
{
    PlanMemoryPeak full = plan_memory_fullest(what->plan, what->model, what->device, what->framework);
    guint32 last = what->plan->pp - 1;
    MemoryPrintStages stages = {.fullest = full.stage};
    stages.peaks[stages.count++] = memory_print_peak(what, 0);
    if (full.stage > 0)
        stages.peaks[stages.count++] = full;
    if (last > full.stage)
        stages.peaks[stages.count++] = memory_print_peak(what, last);
    return stages;
}

// A part of the rule of bytes a parameter, as the plan keeps it: its name (caller frees) and its bytes.
static char *memory_print_part(const MemoryPrint *what, const PlanStatePart *part, const PlanMemoryPeak *peak,
                               gint64 *bytes)
{
    static const PlanMemoryKind kinds[] = {
        [PLAN_STATE_WEIGHTS] = PLAN_MEMORY_WEIGHTS,
        [PLAN_STATE_GRADIENTS] = PLAN_MEMORY_GRADIENTS,
        [PLAN_STATE_OPTIMIZER] = PLAN_MEMORY_OPTIMIZER,
    };
    guint count;
    const PlanStatePart *parts = plan_states_parts(what->plan->optimizer, &count);
    double all = 0;
    for (guint i = 0; i < count; i++)
        if (parts[i].kind == part->kind)
            all += parts[i].bytes;
    *bytes = (gint64)((double)peak->kind[kinds[part->kind]] * part->bytes / all);
    if (part->kind == PLAN_STATE_GRADIENTS && what->plan->gradient_bytes == 4)
        return g_strdup("fp32 gradients");
    return g_strdup(part->name);
}

static void memory_print_cell(gint64 bytes)
{
    g_autofree char *text = bytes == 0 ? g_strdup("0") : units_format_binary((double)bytes);
    g_print("%18s", text);
}

static void memory_print_head(const MemoryPrint *what)
{
    const Plan *plan = what->plan;
    g_autofree char *parameters = units_format_count(model_count_parameters(what->model));
    g_autofree char *sequence = units_format_count(plan->sequence);
    g_print("%s, %s parameters, on %u %s%s: tp %u x cp %u x dp %u x pp %u, ZeRO %d", what->model->name,
            parameters, plan->gpus, what->device->title, plan->gpus == 1 ? "" : " GPUs", plan->tp, plan->cp,
            plan->dp, plan->pp, plan->zero);
    if (plan->zero > 0)
        g_print(" over %u", plan->shard);
    g_print("\n%" G_GINT64_FORMAT " micro-batch%s of %" G_GINT64_FORMAT " x %s tokens on each data rank, ",
            plan->micro_batches, plan->micro_batches == 1 ? "" : "es", plan->micro_batch, sequence);
    if (plan->pp > 1)
        g_print("schedule %s, ", plan->schedule->name);
    g_print("recompute %s, %s\n", PLAN_RECOMPUTE_NAMES[plan->recompute],
            what->framework == NULL || what->framework->flash ? "attention as one kernel"
                                                              : "attention with its scores");
}

static void memory_print_table(const MemoryPrint *what, const MemoryPrintStages *stages)
{
    guint32 last = what->plan->pp - 1;
    g_print("\n%-30s", "Memory of one GPU");
    for (guint i = 0; i < stages->count; i++) {
        g_autofree char *name = g_strdup_printf("stage %u", stages->peaks[i].stage);
        g_print("%18s", name);
    }
    if (last > 0) {
        g_print("\n%-30s", "");
        for (guint i = 0; i < stages->count; i++) {
            guint32 stage = stages->peaks[i].stage;
            gboolean full = stage == stages->fullest;
            g_print("%18s", stage == 0      ? (full ? "first, fullest" : "first")
                            : stage == last ? (full ? "last, fullest" : "last")
                                            : "fullest");
        }
    }
    guint count;
    const PlanStatePart *parts = plan_states_parts(what->plan->optimizer, &count);
    for (guint p = 0; p < count; p++) {
        for (guint i = 0; i < stages->count; i++) {
            gint64 bytes;
            g_autofree char *name = memory_print_part(what, &parts[p], &stages->peaks[i], &bytes);
            if (i == 0)
                g_print("\n  %-28s", name);
            memory_print_cell(bytes);
        }
    }
    g_print("\n%-30s", "model states");
    for (guint i = 0; i < stages->count; i++)
        memory_print_cell(plan_memory_states(&stages->peaks[i]));
    for (guint kind = PLAN_MEMORY_GATHERED; kind < PLAN_MEMORY_KINDS; kind++) {
        g_print("\n%-30s", PLAN_MEMORY_NAMES[kind]);
        for (guint i = 0; i < stages->count; i++)
            memory_print_cell(stages->peaks[i].kind[kind]);
    }
    g_print("\n%-30s", "peak");
    for (guint i = 0; i < stages->count; i++)
        memory_print_cell(stages->peaks[i].peak);
    g_print("\n");
}

static gint64 memory_print_layers(const MemoryPrint *what, guint32 stage)
{
    gint64 layers = 0;
    for (guint32 c = 0; c < what->plan->chunks; c++)
        layers += plan_layers(what->plan, what->model, stage, c);
    return layers;
}

static void memory_print_all(const MemoryPrint *what)
{
    g_print("\n%6s%8s%11s%14s%14s%14s%14s\n", "stage", "layers", "in flight", "states", "activations",
            "other", "peak");
    for (guint32 stage = 0; stage < what->plan->pp; stage++) {
        PlanMemoryPeak peak = memory_print_peak(what, stage);
        gint64 states = plan_memory_states(&peak), activations = peak.kind[PLAN_MEMORY_ACTIVATIONS];
        g_print("%6u%8" G_GINT64_FORMAT "%11u", stage, memory_print_layers(what, stage), peak.in_flight);
        const gint64 cells[] = {states, activations, peak.peak - states - activations, peak.peak};
        for (guint i = 0; i < G_N_ELEMENTS(cells); i++) {
            g_autofree char *text = units_format_binary((double)cells[i]);
            g_print("%14s", text);
        }
        g_print("\n");
    }
}

gboolean memory_print_text(const MemoryPrint *what)
{
    MemoryPrintStages stages = memory_print_stages(what);
    PlanMemoryPeak full = memory_print_peak(what, stages.fullest);
    memory_print_head(what);
    memory_print_table(what, &stages);
    if (what->all)
        memory_print_all(what);
    gboolean fits = full.peak <= full.capacity;
    g_autofree char *words = plan_memory_words(what->plan, &full);
    g_autofree char *capacity = units_format_binary((double)full.capacity);
    g_print("\nThe fullest moment: %s. It %s %s.\n", words, fits ? "fits in" : "does not fit in", capacity);
    g_print(
        "The allowance is not computed: 1 GiB for the driver and libraries, and 7 %% of activations, logits "
        "and gathered\nweights for the allocator's gaps.\n");
    if (fits)
        return TRUE;
    g_autoptr(GPtrArray) remedies =
        plan_memory_remedies(what->plan, what->model, what->device, what->framework);
    g_print(remedies->len > 0 ? "Any one of these makes it fit, the cheapest first:\n"
                              : "No change of a single key makes it fit.\n");
    for (guint i = 0; i < remedies->len; i++)
        g_print("  %s\n", (const char *)g_ptr_array_index(remedies, i));
    return FALSE;
}

// The kinds of one stage, and their sums.
static void memory_print_add_stage(JsonBuilder *json, const MemoryPrint *what, const PlanMemoryPeak *peak)
{
    g_autofree char *words = plan_memory_words(what->plan, peak);
    fields_add_int(json, "stage", peak->stage);
    fields_add_text(json, "moment", words);
    fields_add_int(json, "layers", memory_print_layers(what, peak->stage));
    fields_add_int(json, "in_flight", peak->in_flight);
    fields_add_int(json, "model_states_bytes", plan_memory_states(peak));
    for (guint kind = 0; kind < PLAN_MEMORY_KINDS; kind++) {
        g_autofree char *key = g_strconcat(PLAN_MEMORY_NAMES[kind], "_bytes", NULL);
        fields_add_int(json, key, peak->kind[kind]);
    }
    fields_add_int(json, "peak_bytes", peak->peak);
}

static void memory_print_add_parts(JsonBuilder *json, const MemoryPrint *what, const PlanMemoryPeak *peak)
{
    guint count;
    const PlanStatePart *parts = plan_states_parts(what->plan->optimizer, &count);
    fields_begin_array(json, "states");
    for (guint i = 0; i < count; i++) {
        gint64 bytes;
        g_autofree char *name = memory_print_part(what, &parts[i], peak, &bytes);
        json_builder_begin_object(json);
        fields_add_text(json, "name", name);
        fields_add_int(json, "bytes", bytes);
        json_builder_end_object(json);
    }
    json_builder_end_array(json);
}

gboolean memory_print_json(const MemoryPrint *what)
{
    MemoryPrintStages stages = memory_print_stages(what);
    PlanMemoryPeak full = memory_print_peak(what, stages.fullest);
    gboolean fits = full.peak <= full.capacity;
    g_autoptr(JsonBuilder) json = json_builder_new();
    json_builder_begin_object(json);
    fields_add_text(json, "model", what->model->name);
    fields_add_text(json, "chip", what->device->name);
    fields_add_int(json, "parameters", model_count_parameters(what->model));
    fields_add_int(json, "gpus", what->plan->gpus);
    memory_print_add_stage(json, what, &full);
    fields_add_int(json, "capacity_bytes", full.capacity);
    json_builder_set_member_name(json, "fits");
    json_builder_add_boolean_value(json, fits);
    memory_print_add_parts(json, what, &full);
    fields_begin_array(json, "stages");
    for (guint32 i = 0; i < (what->all ? what->plan->pp : stages.count); i++) {
        PlanMemoryPeak peak = what->all ? memory_print_peak(what, i) : stages.peaks[i];
        json_builder_begin_object(json);
        memory_print_add_stage(json, what, &peak);
        json_builder_end_object(json);
    }
    json_builder_end_array(json);
    fields_begin_array(json, "remedies");
    if (!fits) {
        g_autoptr(GPtrArray) remedies =
            plan_memory_remedies(what->plan, what->model, what->device, what->framework);
        for (guint i = 0; i < remedies->len; i++)
            json_builder_add_string_value(json, g_ptr_array_index(remedies, i));
    }
    json_builder_end_array(json);
    json_builder_end_object(json);
    options_print_json(json_builder_get_root(json));
    return fits;
}
