// validation/ask.c: answering a command line without printing.
#include "validation/ask.h"

#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "coll/measure.h"
#include "models/count.h"
#include "plans/budget.h"
#include "plans/memory.h"
#include "scenarios/scenario.h"
#include "step/run.h"
#include "timeline/metrics.h"
#include "validation/buckets.h"
#include "validation/nccl-log.h"

// What may stand behind a word.
enum {
    MODEL,
    MACHINE,
    GPUS,
    RANKS,
    OP,
    ALGORITHM,
    PROTOCOL,
    SIZE,
    SEQUENCE,
    PEAK,
    MEASURED,
    TEXTS,
};
static const char *const OPTIONS[TEXTS + 1] = {"--model",
                                               "--machine",
                                               "--gpus",
                                               "--ranks",
                                               "--op",
                                               "--algorithm",
                                               "--protocol",
                                               "--size",
                                               "--sequence",
                                               "--peak",
                                               "--measured-per-gpu",
                                               NULL};

typedef struct {
    char **argv;             // owned: the command is argv[0]
    const char *scenario;    // borrowed from argv, as all below; NULL: none
    const char *text[TEXTS]; // NULL: not there
    GPtrArray *sets;         // of const char *; owned
    gboolean schedule, plain;
} Ask;

static void ask_clear(Ask *ask)
{
    g_strfreev(ask->argv);
    g_ptr_array_unref(ask->sets);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ask, ask_clear)

static gboolean ask_parse_option(Ask *ask, char *const **at, GError **error)
{
    const char *word = **at;
    if (strcmp(word, "--schedule") == 0 || strcmp(word, "--plain") == 0) {
        *(word[2] == 's' ? &ask->schedule : &ask->plain) = TRUE;
        return TRUE;
    }
    guint option = 0;
    while (OPTIONS[option] != NULL && strcmp(OPTIONS[option], word) != 0)
        option++;
    gboolean set = strcmp(word, "--set") == 0;
    if (OPTIONS[option] == NULL && !set) {
        g_autofree char *quoted = base_error_quote(word);
        return base_error_set(error, BASE_ERROR_FAILED, NULL,
                              "found '%s', wanted an option of validation/ask.h", quoted);
    }
    (*at)++;
    if (**at == NULL)
        return base_error_set(error, BASE_ERROR_FAILED, word, "found nothing behind it, wanted a value");
    if (set)
        g_ptr_array_add(ask->sets, **at);
    else
        ask->text[option] = **at;
    return TRUE;
}

static gboolean ask_parse(Ask *ask, const char *words, GError **error)
{
    g_autoptr(GError) local = NULL;
    ask->sets = g_ptr_array_new();
    if (!g_shell_parse_argv(words, NULL, &ask->argv, &local)) {
        g_autofree char *quoted = base_error_quote(local->message);
        return base_error_set(error, BASE_ERROR_FAILED, NULL, "found words that a shell would refuse: %s",
                              quoted);
    }
    for (char *const *at = ask->argv + 1; *at != NULL; at++) {
        if (**at != '-' && ask->scenario == NULL)
            ask->scenario = *at;
        else if (!ask_parse_option(ask, &at, error))
            return FALSE;
    }
    g_ptr_array_add(ask->sets, NULL);
    return TRUE;
}

static void ask_clear_answer(gpointer data)
{
    g_free(((ValidationAnswer *)data)->key);
}

static void ask_answer(GArray *answers, const char *key, UnitsKind kind, double value)
{
    ValidationAnswer answer = {.key = g_strdup(key), .kind = kind, .value = value};
    g_array_append_val(answers, answer);
}

// A whole number from 1 behind an option; value stays where there is none.
static gboolean ask_count(const Ask *ask, guint option, guint32 *value, GError **error)
{
    gint64 number = *value;
    if (ask->text[option] == NULL)
        return TRUE;
    if (!units_parse_whole(UNITS_COUNT, ask->text[option], OPTIONS[option], &number, error))
        return FALSE;
    if (number < 1 || number > G_MAXINT32)
        return base_error_set(error, BASE_ERROR_FAILED, OPTIONS[option], "found %s, wanted 1 to %d",
                              ask->text[option], G_MAXINT32);
    *value = (guint32)number;
    return TRUE;
}

static Ini *ask_open(const Ask *ask, GError **error)
{
    if (ask->scenario == NULL)
        return ini_read_text("command line", "", 0, error);
    g_autoptr(GBytes) bytes = library_find(ask->scenario);
    if (bytes == NULL)
        return scenario_open(ask->scenario, error);
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    return ini_read_text(ask->scenario, text, length, error);
}

static StepJob *ask_job(const Ask *ask, GError **error)
{
    static const struct {
        guint option;
        const char *key;
    } keys[] = {{MODEL, "model.use"}, {MACHINE, "machine.use"}, {GPUS, "machine.gpus"}};
    g_autoptr(Ini) ini = ask_open(ask, error);
    if (ini == NULL)
        return NULL;
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        if (ask->text[keys[i].option] == NULL)
            continue;
        g_autofree char *set = g_strdup_printf("%s=%s", keys[i].key, ask->text[keys[i].option]);
        if (!ini_set(ini, set, error))
            return NULL;
    }
    return scenario_read(ini, (const char *const *)ask->sets->pdata, error);
}

static UnitsKind ask_kind(const char *key)
{
    if (strcmp(key, "mfu") == 0 || strcmp(key, "hfu") == 0)
        return UNITS_FRACTION;
    if (g_str_has_suffix(key, "_bytes"))
        return UNITS_BYTES;
    return g_str_has_suffix(key, "_s") && !g_str_has_suffix(key, "_per_s") ? UNITS_TIME : UNITS_NUMBER;
}

static void ask_schedule(const Plan *plan, GArray *answers)
{
    for (guint32 stage = 0; stage < plan->pp; stage++) {
        g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(PipeStep));
        plan->schedule->steps(steps, stage, plan->pp, (guint32)plan->micro_batches, plan->chunks);
        guint forward = 0;
        while (forward < steps->len && !g_array_index(steps, PipeStep, forward).backward)
            forward++;
        // The last of them is the first turn's, unless nothing is left to take turns with.
        gboolean turns = forward < plan->micro_batches * plan->chunks;
        g_autofree char *key = g_strdup_printf("warm_up_%u", stage);
        ask_answer(answers, key, UNITS_NUMBER, (double)(turns ? forward - 1 : forward));
    }
}

static gboolean ask_run(const Ask *ask, GArray *answers, GError **error)
{
    g_autoptr(StepJob) job = ask_job(ask, error);
    if (job == NULL)
        return FALSE;
    if (ask->schedule) {
        ask_schedule(&job->plan, answers);
        return TRUE;
    }
    g_autoptr(StepResult) result = step_run(job, NULL, NULL, error);
    if (result == NULL)
        return FALSE;
    double values[TIMELINE_METRICS];
    timeline_metrics(result, values);
    for (guint i = 0; i < TIMELINE_METRICS; i++) {
        const char *name = TIMELINE_METRIC_TABLE[i].name;
        if (strcmp(name, "wall_s") != 0) // which is no answer
            ask_answer(answers, name, ask_kind(name), values[i]);
    }
    return TRUE;
}

static gboolean ask_memory(const Ask *ask, GArray *answers, GError **error)
{
    g_autoptr(StepJob) job = ask_job(ask, error);
    if (job == NULL)
        return FALSE;
    PlanMemoryPeak peak = plan_memory_fullest(&job->plan, job->model, job->machine->device, job->framework);
    ask_answer(answers, "parameters", UNITS_NUMBER, (double)model_count_parameters(job->model));
    ask_answer(answers, "model_states_bytes", UNITS_BYTES, (double)plan_memory_states(&peak));
    ask_answer(answers, "activations_bytes", UNITS_BYTES, (double)peak.kind[PLAN_MEMORY_ACTIVATIONS]);
    ask_answer(answers, "peak_bytes", UNITS_BYTES, (double)peak.peak);
    return TRUE;
}

// busbw over algbw, as nccl-tests has it.
static double ask_factor(const char *op, guint32 ranks)
{
    for (guint i = 0; op != NULL && VALIDATION_NCCL_OP_NAMES[i] != NULL; i++)
        if (strcmp(VALIDATION_NCCL_OP_NAMES[i], op) == 0)
            return validation_nccl_log_factor((ValidationNcclOp)i, ranks);
    return validation_nccl_log_factor(VALIDATION_NCCL_ALL_REDUCE, ranks);
}

static gboolean ask_collective(const Ask *ask, GArray *answers, GError **error)
{
    guint32 ranks = 0;
    gint64 bytes = 0;
    CollOp op = COLL_OPS;
    if (ask->text[MACHINE] == NULL || ask->text[SIZE] == NULL)
        return base_error_set(error, BASE_ERROR_FAILED, NULL, "found no %s, wanted --machine and --size",
                              ask->text[MACHINE] == NULL ? "machine" : "size");
    if (!ask_count(ask, RANKS, &ranks, error) ||
        !units_parse_whole(UNITS_BYTES, ask->text[SIZE], "--size", &bytes, error) ||
        !coll_choice_find_op(ask->text[OP] != NULL ? ask->text[OP] : "all-reduce", "--op", &op, error))
        return FALSE;
    const CollAlgo *algo = NULL;
    const char *protocol = NULL;
    if (ask->text[ALGORITHM] != NULL &&
        (algo = coll_choice_find(ask->text[ALGORITHM], op, "--algorithm", error)) == NULL)
        return FALSE;
    for (guint i = 0; ask->text[PROTOCOL] != NULL && COLL_NCCL_PROTOCOLS[i] != NULL; i++)
        if (strcmp(COLL_NCCL_PROTOCOLS[i], ask->text[PROTOCOL]) == 0)
            protocol = COLL_NCCL_PROTOCOLS[i];
    if (ask->text[PROTOCOL] != NULL && protocol == NULL)
        return base_error_set(error, BASE_ERROR_FAILED, "--protocol",
                              "found '%s', wanted ll, ll128 or simple", ask->text[PROTOCOL]);
    g_autoptr(TopoMachine) machine = topo_machine_read(ask->text[MACHINE], ranks, "--machine", error);
    CollMeasure measure;
    if (machine == NULL ||
        !coll_measure_machine(machine, op, bytes, algo, protocol, ask->plain, NULL, &measure, error))
        return FALSE;
    double algbw = (double)bytes / units_seconds(measure.time);
    ask_answer(answers, "time_s", UNITS_TIME, units_seconds(measure.time));
    ask_answer(answers, "algbw_Bps", UNITS_RATE, algbw);
    ask_answer(answers, "busbw_Bps", UNITS_RATE,
               algbw * ask_factor(ask->text[OP], machine->graph->gpus->len));
    return TRUE;
}

static gboolean ask_calc(const Ask *ask, GArray *answers, GError **error)
{
    guint32 gpus = 1, sequence = 0;
    double measured = 0;
    if (ask->text[MODEL] == NULL || ask->text[MEASURED] == NULL)
        return base_error_set(error, BASE_ERROR_FAILED, NULL,
                              "found no %s, wanted --model and --measured-per-gpu",
                              ask->text[MODEL] == NULL ? "model" : "measurement");
    g_autoptr(ModelSpec) model = model_spec_read(ask->text[MODEL], "--model", error);
    if (model == NULL || !ask_count(ask, GPUS, &gpus, error) || !ask_count(ask, SEQUENCE, &sequence, error) ||
        !units_parse(UNITS_NUMBER, ask->text[MEASURED], OPTIONS[MEASURED], &measured, error))
        return FALSE;
    PlanBudget budget;
    plan_budget_init(&budget, (double)model_count_parameters(model), gpus);
    if (sequence > 0)
        budget.flops_per_token = model_count_flops(model, MODEL_COUNT_6N_ATTENTION, sequence);
    if (ask->text[PEAK] != NULL && !units_parse(UNITS_FLOPS, ask->text[PEAK], "--peak", &budget.peak, error))
        return FALSE;
    if (!plan_budget_check(&budget, error) ||
        !plan_budget_check_measured(&budget, measured * gpus, OPTIONS[MEASURED], error))
        return FALSE;
    ask_answer(answers, "measured_mfu", UNITS_FRACTION, plan_budget_mfu(&budget, measured * gpus));
    return TRUE;
}

// "validate buckets": ours alone.
static gboolean ask_validate(const Ask *ask, GArray *answers, GError **error)
{
    if (g_strcmp0(ask->scenario, "buckets") != 0) {
        g_autofree char *quoted = base_error_quote(ask->scenario != NULL ? ask->scenario : "");
        return base_error_set(error, BASE_ERROR_FAILED, "validate", "found '%s', wanted buckets", quoted);
    }
    g_autoptr(GPtrArray) rows = validation_buckets_run(error);
    if (rows == NULL)
        return FALSE;
    for (guint i = 0; i < rows->len; i++) {
        const ValidationBuckets *row = rows->pdata[i];
        for (guint bucket = 0; bucket < row->ours->len; bucket++) {
            g_autofree char *key =
                g_strdup_printf("%s_%" G_GINT64_FORMAT "_%u", row->model, row->cap >> 20, bucket + 1);
            ask_answer(answers, key, UNITS_BYTES, (double)g_array_index(row->ours, gint64, bucket));
        }
    }
    return TRUE;
}

GArray *validation_ask(const char *words, GError **error)
{
    static const struct {
        const char *name;
        gboolean (*answer)(const Ask *ask, GArray *answers, GError **error);
    } verbs[] = {{"run", ask_run},
                 {"memory", ask_memory},
                 {"collective", ask_collective},
                 {"calc", ask_calc},
                 {"validate", ask_validate}};
    g_auto(Ask) ask = {0};
    if (!ask_parse(&ask, words, error))
        return NULL;
    g_autoptr(GArray) answers = g_array_new(FALSE, FALSE, sizeof(ValidationAnswer));
    g_array_set_clear_func(answers, ask_clear_answer);
    for (guint i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (strcmp(verbs[i].name, ask.argv[0]) == 0)
            return verbs[i].answer(&ask, answers, error) ? g_steal_pointer(&answers) : NULL;
    g_autofree char *quoted = base_error_quote(ask.argv[0]);
    base_error_set(error, BASE_ERROR_FAILED, NULL,
                   "found '%s', wanted one of: run, memory, collective, calc, validate", quoted);
    return NULL;
}
