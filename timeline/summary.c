// timeline/summary.c: a result in words and as JSON.
#include "timeline/summary.h"

#include "step/explain.h"

static void summary_time(GString *out, const char *label, Ps time, const StepResult *result,
                         const char *words)
{
    g_autofree char *text = units_format_time(time);
    g_string_append_printf(out, "  %-14s%-10s%5.1f %%  %s\n", label, text,
                           100.0 * (double)time / (double)MAX(result->step, 1), words);
}

static double summary_mfu(const StepResult *result, Ps step)
{
    return result->model_flops / (result->peak_flops * result->ranks * units_seconds(step));
}

// The classes of the last rank's time.
static void summary_classes(GString *out, const StepResult *result)
{
    summary_time(out, "compute", result->compute, result, "forward, backward, recomputation, optimizer");
    summary_time(out, "exposed", result->exposed_comm, result, "communication that nothing hides");
    if (result->plain && result->loader == 0 && result->launch == 0) {
        summary_time(out, "idle", result->idle, result, "neither");
        return;
    }
    summary_time(out, "bubble", result->bubble, result, "waiting for the work of other ranks");
    if (result->loader > 0)
        summary_time(out, "loader", result->loader, result, "waiting for data");
    summary_time(out, "launch", result->launch, result, "waiting for the host to launch kernels");
}

// Exposed time of one kind of operation on one stream.
typedef struct {
    SimKind kind;
    const char *stream; // borrowed
    Ps time;
    guint pieces;
} SummaryExposed;

static gint summary_compare(gconstpointer a, gconstpointer b)
{
    const SummaryExposed *one = a, *other = b;
    if (one->time != other->time)
        return one->time > other->time ? -1 : 1;
    return one->kind < other->kind ? -1 : one->kind > other->kind;
}

// What was waited for, by kind and stream, longest first.
static void summary_exposed_kinds(GString *out, const StepResult *result)
{
    enum { SHOWN = 4 };
    const SimProgram *program = step_result_program(result, result->last_track);
    g_autoptr(GArray) kinds = g_array_new(FALSE, FALSE, sizeof(SummaryExposed));
    for (guint i = 0; i < result->exposures->len; i++) {
        const StepExposure *exposure = &g_array_index(result->exposures, StepExposure, i);
        const SimOp *op = sim_program_op(program, exposure->op);
        const char *stream = g_ptr_array_index(program->streams, op->stream);
        guint at = 0;
        while (at < kinds->len && (g_array_index(kinds, SummaryExposed, at).kind != op->kind ||
                                   g_array_index(kinds, SummaryExposed, at).stream != stream))
            at++;
        SummaryExposed fresh = {.kind = op->kind, .stream = stream};
        if (at == kinds->len)
            g_array_append_val(kinds, fresh);
        SummaryExposed *own = &g_array_index(kinds, SummaryExposed, at);
        own->time += exposure->end - exposure->start;
        own->pieces++;
    }
    g_array_sort(kinds, summary_compare);
    for (guint i = 0; i < MIN(kinds->len, SHOWN); i++) {
        const SummaryExposed *own = &g_array_index(kinds, SummaryExposed, i);
        g_autofree char *time = units_format_time(own->time);
        g_string_append_printf(out, "exposed         %s in %u waits for %s on stream %s\n", time, own->pieces,
                               SIM_KIND_NAMES[own->kind], own->stream);
    }
}

static void summary_exposed(GString *out, const StepResult *result)
{
    enum { SHOWN = 3 };
    guint stretches = 0;
    for (guint i = 0; i < result->exposures->len; i = step_explain_stretch(result, i))
        stretches++;
    if (stretches > SHOWN) {
        summary_exposed_kinds(out, result);
        return;
    }
    for (guint i = 0, end = 0; i < result->exposures->len; i = end) {
        end = step_explain_stretch(result, i);
        g_autofree char *words = step_explain_words(result, i, end);
        g_string_append_printf(out, "exposed         %s\n", words);
    }
}

// What the fullest stage holds at its peak, and when.
static void summary_memory(GString *out, const StepResult *result)
{
    g_autofree char *memory = units_format_binary((double)result->memory_bytes);
    const StepUsage *full = NULL;
    guint stage = 0;
    for (guint i = 0; i < result->usage->len; i++) {
        const StepUsage *usage = result->usage->pdata[i];
        if (full == NULL || usage->peak > full->peak) {
            full = usage;
            stage = i;
        }
    }
    if (full == NULL)
        return;
    g_autofree char *peak = units_format_binary((double)full->peak);
    g_autofree char *when = units_format_time(full->when);
    g_string_append_printf(out, "memory          %s of %s at the peak, at %s%s", peak, memory, when,
                           full->peak > result->memory_bytes ? ": does not fit" : "");
    if (result->usage->len > 1)
        g_string_append_printf(out, " (stage %u is the fullest)", stage);
    g_string_append(out, "\n               ");
    gboolean first = TRUE;
    for (guint kind = 0; kind < PLAN_MEMORY_KINDS; kind++) {
        if (full->kinds[kind] <= 0)
            continue;
        g_autofree char *bytes = units_format_binary((double)full->kinds[kind]);
        g_string_append_printf(out, "%s %s %s", first ? "" : ",", PLAN_MEMORY_NAMES[kind], bytes);
        first = FALSE;
    }
    g_string_append(out, "\n");
    for (guint i = 0; i < result->remedies->len; i++)
        g_string_append_printf(out, "would fit       %s\n", (const char *)result->remedies->pdata[i]);
}

char *timeline_summary_text(const StepResult *result, gboolean assumptions)
{
    GString *out = g_string_new(NULL);
    g_autofree char *step = units_format_time(result->step);
    g_autofree char *peak = units_format_flops(result->peak_flops);
    g_string_append_printf(out, "%s: %s on %u x %s (%s)\n", result->name, result->model, result->ranks,
                           result->chip, result->machine);
    g_string_append_printf(out, "plan            %s\n", result->plan);
    g_string_append_printf(out, "step            %s, MFU %.1f %% (%s, of %s a GPU), %.0f tokens/s\n", step,
                           100 * result->mfu, result->counting, peak, result->tokens_per_s);
    if (result->hfu > result->mfu)
        g_string_append_printf(out, "                HFU %.1f %%: with what is computed again\n",
                               100 * result->hfu);
    summary_classes(out, result);
    g_autofree char *comm = units_format_time(result->communication);
    g_autofree char *bytes = units_format_bytes((double)result->gradient_bytes);
    double hidden = result->communication == 0
                        ? 0
                        : 100 - 100 * (double)result->exposed_comm / (double)result->communication;
    g_string_append_printf(out, "communication   %s, %.1f %% hidden", comm, hidden);
    if (result->buckets > 0)
        g_string_append_printf(out, "; gradients of %s in %u bucket%s", bytes, result->buckets,
                               result->buckets == 1 ? "" : "s");
    g_string_append(out, "\n");
    summary_exposed(out, result);
    if (result->plain) {
        g_autofree char *ceiling = units_format_time(result->perfect_overlap);
        g_autofree char *whole = units_format_time(result->whole_all_reduce);
        g_string_append_printf(
            out,
            "ceiling         %s, MFU %.1f %%: perfect overlap, the larger of compute and one all-reduce "
            "(%s)\n",
            ceiling, 100 * summary_mfu(result, result->perfect_overlap), whole);
    }
    g_autofree char *bound = units_format_time(result->bound);
    g_string_append_printf(out, "bound           %s: no step of this job can be shorter on this machine\n",
                           bound);
    summary_memory(out, result);
    g_string_append_printf(out,
                           "simulated       %" G_GUINT64_FORMAT " messages, %" G_GUINT64_FORMAT
                           " events, fidelity %s, fingerprint %016" G_GINT64_MODIFIER "x\n",
                           result->messages, result->events, result->fidelity, result->fingerprint);
    for (guint i = 0; i < result->ignored->len; i++)
        g_string_append_printf(out, "ignored         %s\n", (const char *)result->ignored->pdata[i]);
    for (guint i = 0; assumptions && i < result->assumptions->len; i++)
        g_string_append_printf(out, "assumed         %s\n", (const char *)result->assumptions->pdata[i]);
    return g_string_free(out, FALSE);
}

static void summary_text_member(JsonBuilder *builder, const char *key, const char *value)
{
    json_builder_set_member_name(builder, key);
    json_builder_add_string_value(builder, value);
}

static void summary_int_member(JsonBuilder *builder, const char *key, gint64 value)
{
    json_builder_set_member_name(builder, key);
    json_builder_add_int_value(builder, value);
}

static void summary_double_member(JsonBuilder *builder, const char *key, double value)
{
    json_builder_set_member_name(builder, key);
    json_builder_add_double_value(builder, value);
}

static void summary_texts(JsonBuilder *builder, const char *key, const GPtrArray *texts)
{
    json_builder_set_member_name(builder, key);
    json_builder_begin_array(builder);
    for (guint i = 0; i < texts->len; i++)
        json_builder_add_string_value(builder, texts->pdata[i]);
    json_builder_end_array(builder);
}

JsonNode *timeline_summary_json(const StepResult *result)
{
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    summary_text_member(builder, "scenario", result->name);
    summary_text_member(builder, "model", result->model);
    summary_text_member(builder, "machine", result->machine);
    summary_text_member(builder, "chip", result->chip);
    summary_text_member(builder, "plan", result->plan);
    summary_int_member(builder, "gpus", result->ranks);
    summary_double_member(builder, "step_s", units_seconds(result->step));
    summary_double_member(builder, "mfu", result->mfu);
    summary_double_member(builder, "hfu", result->hfu);
    summary_text_member(builder, "counting", result->counting);
    summary_double_member(builder, "tokens_per_s", result->tokens_per_s);
    summary_double_member(builder, "tflops_per_gpu", result->mfu * result->peak_flops * 1e-12);
    summary_double_member(builder, "model_flops", result->model_flops);
    summary_double_member(builder, "compute_s", units_seconds(result->compute));
    summary_double_member(builder, "exposed_comm_s", units_seconds(result->exposed_comm));
    summary_double_member(builder, "idle_s", units_seconds(result->idle));
    summary_double_member(builder, "bubble_s", units_seconds(result->bubble));
    summary_double_member(builder, "loader_s", units_seconds(result->loader));
    summary_double_member(builder, "launch_s", units_seconds(result->launch));
    summary_double_member(builder, "communication_s", units_seconds(result->communication));
    if (result->plain) {
        summary_double_member(builder, "whole_all_reduce_s", units_seconds(result->whole_all_reduce));
        summary_double_member(builder, "perfect_overlap_s", units_seconds(result->perfect_overlap));
        summary_double_member(builder, "perfect_overlap_mfu", summary_mfu(result, result->perfect_overlap));
    }
    summary_double_member(builder, "bound_s", units_seconds(result->bound));
    summary_int_member(builder, "gradient_bytes", result->gradient_bytes);
    summary_int_member(builder, "buckets", result->buckets);
    summary_double_member(builder, "model_states_bytes", result->states_bytes);
    summary_int_member(builder, "memory_peak_bytes", result->peak_bytes);
    summary_int_member(builder, "memory_bytes", result->memory_bytes);
    json_builder_set_member_name(builder, "fits");
    json_builder_add_boolean_value(builder, result->peak_bytes <= result->memory_bytes);
    summary_texts(builder, "remedies", result->remedies);
    json_builder_set_member_name(builder, "exposed");
    json_builder_begin_array(builder);
    for (guint i = 0, end = 0; i < result->exposures->len; i = end) {
        end = step_explain_stretch(result, i);
        g_autofree char *words = step_explain_words(result, i, end);
        json_builder_begin_object(builder);
        summary_double_member(builder, "start_s",
                              units_seconds(g_array_index(result->exposures, StepExposure, i).start));
        summary_double_member(builder, "end_s",
                              units_seconds(g_array_index(result->exposures, StepExposure, end - 1).end));
        summary_text_member(builder, "words", words);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
    summary_texts(builder, "assumptions", result->assumptions);
    summary_texts(builder, "ignored", result->ignored);
    summary_int_member(builder, "events", (gint64)result->events);
    summary_int_member(builder, "messages", (gint64)result->messages);
    g_autofree char *fingerprint = g_strdup_printf("%016" G_GINT64_MODIFIER "x", result->fingerprint);
    summary_text_member(builder, "fingerprint", fingerprint);
    summary_double_member(builder, "wall_s", result->wall_s);
    summary_text_member(builder, "fidelity", result->fidelity);
    json_builder_end_object(builder);
    return json_builder_get_root(builder);
}
