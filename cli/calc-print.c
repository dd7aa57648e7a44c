// cli/calc-print.c: the numbers of "stepline calc" as text and as JSON.
#include "cli/calc-print.h"

#include "base/units.h"
#include "cli/options.h"

// How a link's bandwidth reads under the two conventions of NVLink.
typedef struct {
    const char *convention; // "both_directions", "each_way", "as_given"
    const char *chip;       // whose NVLink it looks like, or NULL
    double other;           // bytes/s under the other convention; 0: none
} CalcPrintConvention;

static CalcPrintConvention calc_print_find_convention(double bandwidth)
{
    const char *both = plan_budget_find_both(bandwidth), *each = plan_budget_find_each(bandwidth);
    return both != NULL   ? (CalcPrintConvention){"both_directions", both, bandwidth / 2}
           : each != NULL ? (CalcPrintConvention){"each_way", each, bandwidth * 2}
                          : (CalcPrintConvention){"as_given", NULL, 0};
}

static void calc_print_memory(const CalcPrint *calc)
{
    guint count = 0;
    const PlanStatePart *parts = plan_states_parts(calc->optimizer, &count);
    g_autofree char *card = units_format_binary(calc->card);
    g_print("\nMemory per GPU: model states under %s, %g B a parameter:\n ",
            PLAN_OPTIMIZER_NAMES[calc->optimizer], plan_states_bytes_per_parameter(calc->optimizer));
    for (guint i = 0; i < count; i++)
        g_print(" %s %g B%s", parts[i].name, parts[i].bytes, i + 1 < count ? "," : "\n");
    if (calc->optimizer == PLAN_OPTIMIZER_ADAM_FP32)
        g_print("  The primer's rule is 20 B; its four fp32 parts alone are 16 B.\n");
    for (int zero = 0; zero <= 3; zero++) {
        PlanStates states = plan_states(calc->parameters, calc->optimizer, zero, calc->budget.gpus);
        g_autofree char *binary = units_format_binary(states.total);
        g_autofree char *decimal = units_format_bytes(states.total);
        g_autofree char *name = zero == 0 ? g_strdup("plain DDP") : g_strdup_printf("ZeRO stage %d", zero);
        g_print("  %-12s  %10s  %10s  %s %s\n", name, binary, decimal,
                states.total <= calc->card ? "fits" : "does not fit", card);
    }
    g_print("  Activations come on top.\n");
}

static void calc_print_convention(const PlanBudget *budget, double bandwidth)
{
    CalcPrintConvention is = calc_print_find_convention(bandwidth);
    if (is.chip == NULL)
        return;
    g_autofree char *used = units_format_rate(bandwidth);
    g_autofree char *other = units_format_rate(is.other);
    g_autofree char *time = units_format_seconds(plan_budget_all_reduce(budget, is.other));
    if (plan_budget_find_both(bandwidth) == NULL) {
        g_print("  %s is NVLink of the %s each way. Divided by both directions together, %s, as the primer "
                "does, the "
                "all-reduce would take %s.\n",
                used, is.chip, other, time);
        return;
    }
    const char *also = plan_budget_find_each(bandwidth);
    g_autofree char *aside = also != NULL ? g_strdup_printf(" (and of the %s each way)", also) : g_strdup("");
    g_print("  %s looks like a total: NVLink of the %s, both directions together%s. It was used as it is; a "
            "ring sends on "
            "one direction, and at %s each way the all-reduce would take %s.\n",
            used, is.chip, aside, other, time);
}

static void calc_print_links(const CalcPrint *calc)
{
    const PlanBudget *budget = &calc->budget;
    g_autofree char *gradient = units_format_bytes(plan_budget_gradient_bytes(budget));
    g_autofree char *sent = units_format_bytes(plan_budget_sent(budget));
    g_autofree char *latency =
        budget->latency > 0 ? units_format_seconds(budget->latency) : g_strdup("no latency");
    g_autofree char *compute = units_format_seconds(plan_budget_compute(budget));
    g_print("\nAll-reduce of %s of 16-bit gradients, ring, %s per message: each GPU sends %s.\n"
            "The step, nothing overlapped: compute takes %s at %.4g %% of the peak.\n"
            "  %-24s  %10s  %10s  %10s  %10s\n",
            gradient, latency, sent, compute, 100 * budget->mfu, "link", "used", "all-reduce", "step",
            "sync share");
    double worst = 0;
    for (guint i = 0; i < calc->links->len; i++) {
        const CalcPrintLink *link = &g_array_index(calc->links, CalcPrintLink, i);
        g_autofree char *used = units_format_rate(link->bandwidth);
        g_autofree char *sync = units_format_seconds(plan_budget_all_reduce(budget, link->bandwidth));
        g_autofree char *step = units_format_seconds(plan_budget_step(budget, link->bandwidth));
        double share = plan_budget_sync_share(budget, link->bandwidth);
        worst = MAX(worst, share);
        g_print("  %-24s  %10s  %10s  %10s  %8.1f %%\n", link->name, used, sync, step, 100 * share);
    }
    for (guint i = 0; i < calc->links->len; i++)
        calc_print_convention(budget, g_array_index(calc->links, CalcPrintLink, i).bandwidth);
    if (worst > 0.3)
        g_print("  Where the sync is a large share there are three moves: accumulate gradients over more "
                "tokens, shard, or "
                "a better interconnect. More GPUs on a slow network make the share larger.\n");
}

void calc_print_text(const CalcPrint *calc)
{
    const PlanBudget *budget = &calc->budget;
    g_autofree char *parameters = units_format_count(calc->parameters);
    g_autofree char *peak = units_format_flops(budget->peak);
    g_autofree char *tokens = units_format_count((gint64)budget->tokens);
    g_print("%s parameters; %" G_GINT64_FORMAT " GPU%s of %s; %s tokens per GPU and step, %s FLOPs a token\n",
            parameters, budget->gpus, budget->gpus == 1 ? "" : "s", peak, tokens,
            MODEL_COUNTING_NAMES[calc->counting]);
    calc_print_memory(calc);
    calc_print_links(calc);
    const double gpus = (double)budget->gpus, needed = plan_budget_tokens_per_s(budget, budget->mfu);
    g_print("\nThroughput for an MFU of %.4g %%: %.0f tokens/s on all GPUs together, %.1f tokens/s per GPU\n",
            100 * budget->mfu, needed, needed / gpus);
    if (calc->measured >= 0) {
        double mfu = plan_budget_mfu(budget, calc->measured);
        g_print("Measured: %.0f tokens/s on all GPUs together, %.1f tokens/s per GPU: MFU %.1f %%, %s\n",
                calc->measured, calc->measured / gpus, 100 * mfu, plan_budget_verdict(mfu)->words);
    }
}

static void calc_print_add(JsonBuilder *builder, const char *key, double value)
{
    json_builder_set_member_name(builder, key);
    json_builder_add_double_value(builder, value);
}

static void calc_print_add_whole(JsonBuilder *builder, const char *key, gint64 value)
{
    json_builder_set_member_name(builder, key);
    json_builder_add_int_value(builder, value);
}

static void calc_print_add_text(JsonBuilder *builder, const char *key, const char *value)
{
    json_builder_set_member_name(builder, key);
    if (value == NULL)
        json_builder_add_null_value(builder);
    else
        json_builder_add_string_value(builder, value);
}

static void calc_print_add_link(JsonBuilder *builder, const PlanBudget *budget, const CalcPrintLink *link)
{
    CalcPrintConvention is = calc_print_find_convention(link->bandwidth);
    json_builder_begin_object(builder);
    calc_print_add_text(builder, "name", link->name);
    calc_print_add(builder, "bandwidth_Bps", link->bandwidth);
    calc_print_add_text(builder, "convention", is.convention);
    calc_print_add_text(builder, "nvlink_of", is.chip);
    calc_print_add(builder, "all_reduce_s", plan_budget_all_reduce(budget, link->bandwidth));
    calc_print_add(builder, "step_s", plan_budget_step(budget, link->bandwidth));
    calc_print_add(builder, "sync_share", plan_budget_sync_share(budget, link->bandwidth));
    if (is.chip != NULL) {
        calc_print_add(builder, "other_bandwidth_Bps", is.other);
        calc_print_add(builder, "other_all_reduce_s", plan_budget_all_reduce(budget, is.other));
    } else {
        calc_print_add_text(builder, "other_bandwidth_Bps", NULL);
        calc_print_add_text(builder, "other_all_reduce_s", NULL);
    }
    json_builder_end_object(builder);
}

void calc_print_json(const CalcPrint *calc)
{
    const PlanBudget *budget = &calc->budget;
    const double needed = plan_budget_tokens_per_s(budget, budget->mfu);
    g_autoptr(JsonBuilder) builder = json_builder_new();
    json_builder_begin_object(builder);
    calc_print_add_whole(builder, "parameters", calc->parameters);
    calc_print_add_whole(builder, "gpus", budget->gpus);
    calc_print_add_text(builder, "optimizer", PLAN_OPTIMIZER_NAMES[calc->optimizer]);
    calc_print_add(builder, "bytes_per_parameter", plan_states_bytes_per_parameter(calc->optimizer));
    calc_print_add(builder, "capacity_bytes", calc->card);
    json_builder_set_member_name(builder, "memory");
    json_builder_begin_array(builder);
    for (int zero = 0; zero <= 3; zero++) {
        PlanStates states = plan_states(calc->parameters, calc->optimizer, zero, budget->gpus);
        json_builder_begin_object(builder);
        calc_print_add_whole(builder, "zero", zero);
        calc_print_add(builder, "model_states_bytes", states.total);
        json_builder_set_member_name(builder, "fits");
        json_builder_add_boolean_value(builder, states.total <= calc->card);
        json_builder_end_object(builder);
    }
    json_builder_end_array(builder);
    calc_print_add(builder, "gradient_bytes", plan_budget_gradient_bytes(budget));
    calc_print_add(builder, "sent_bytes_per_gpu", plan_budget_sent(budget));
    calc_print_add(builder, "compute_s", plan_budget_compute(budget));
    json_builder_set_member_name(builder, "links");
    json_builder_begin_array(builder);
    for (guint i = 0; i < calc->links->len; i++)
        calc_print_add_link(builder, budget, &g_array_index(calc->links, CalcPrintLink, i));
    json_builder_end_array(builder);
    calc_print_add(builder, "mfu", budget->mfu);
    calc_print_add(builder, "tokens_per_s_needed", needed);
    calc_print_add(builder, "tokens_per_s_needed_per_gpu", needed / (double)budget->gpus);
    if (calc->measured >= 0) {
        double mfu = plan_budget_mfu(budget, calc->measured);
        calc_print_add(builder, "measured_tokens_per_s", calc->measured);
        calc_print_add(builder, "measured_mfu", mfu);
        calc_print_add_text(builder, "verdict", plan_budget_verdict(mfu)->name);
    }
    json_builder_end_object(builder);
    options_print_json(json_builder_get_root(builder));
}
