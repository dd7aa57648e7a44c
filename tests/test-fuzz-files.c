// tests/test-fuzz-files.c: every file of the library, broken in a thousand ways: it is read or refused in one
// line, and what is read can be lowered, checked and, where it is small, simulated.
//
// The cases are the same in every run (fixed seeds). A case that hangs is ended by an alarm.
#include "tests/check.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/library.h"
#include "coll/choice.h"
#include "coll/fabric.h"
#include "coll/group.h"
#include "machines/machine.h"
#include "models/count.h"
#include "models/ops.h"
#include "models/spec.h"
#include "models/tensor.h"
#include "scenarios/grid.h"
#include "scenarios/scenario.h"
#include "step/framework.h"
#include "step/lower.h"
#include "step/groups.h"
#include "step/run.h"

enum { MUTATIONS = 120, HANG_S = 30, TINY_EVENTS = 20000 };

typedef struct {
    char *folder, *path; // owned
    guint cases, reads;
    gint64 slowest; // us
    char *slow;     // owned: which case that was
} Fuzz;

// What a reader makes of the file at path: TRUE where it reads.
typedef gboolean (*FuzzRead)(const char *path, GError **error);

static gboolean read_chip(const char *path, GError **error)
{
    g_autoptr(TopoDevice) device = topo_device_read(path, NULL, error);
    return device != NULL;
}

static gboolean read_framework(const char *path, GError **error)
{
    g_autoptr(StepFramework) framework = step_framework_read(path, NULL, error);
    return framework != NULL;
}

static gboolean read_machine(const char *path, GError **error)
{
    g_autoptr(TopoMachine) machine = topo_machine_read(path, 0, NULL, error);
    if (machine == NULL)
        return FALSE;
    assert_true(machine->graph->gpus->len >= 1);
    return TRUE;
}

static gboolean read_model(const char *path, GError **error)
{
    g_autoptr(ModelSpec) spec = model_spec_read(path, NULL, error);
    if (spec == NULL)
        return FALSE;
    g_autoptr(GArray) tensors = model_tensors(spec);
    gint64 sum = 0;
    for (guint i = 0; i < tensors->len; i++)
        sum += g_array_index(tensors, ModelTensor, i).parameters;
    assert_int_equal(sum, model_count_parameters(spec));
    ModelShard shard = {.sequences = 3, .sequence = MODEL_SEQUENCE_MAX, .tp = 7, .cp = 5};
    for (guint i = 0; i < 6; i++) {
        g_autoptr(GArray) ops = model_ops(spec, &shard, (ModelBlock)(i / 2), i % 2 == 0);
        for (guint j = 0; j < ops->len; j++)
            assert_true(g_array_index(ops, ModelOp, j).saved >= 0);
    }
    return TRUE;
}

static void never_join(gpointer user, guint32 rank, guint32 op)
{
    (void)user;
    (void)rank;
    (void)op;
}

// As step_run does it before it starts. TRUE with *tiny where the whole is a matter of milliseconds.
static gboolean check_job(const StepJob *job, const StepLowered *lowered, gboolean *tiny, GError **error)
{
    SimEngine engine;
    StepGroups groups;
    SimStreams streams;
    SimTrace trace;
    sim_engine_init(&engine, job->queue);
    sim_trace_init(&trace, FALSE);
    sim_streams_init(&streams, &engine, (const SimProgram *const *)(const void *)lowered->programs->pdata,
                     lowered->runs, job->plan.gpus, &trace, never_join, NULL);
    gboolean fine = step_groups_init(&groups, job, lowered, &engine, &streams, error);
    double sends = 2.0 * job->plan.gpus, events = 0;
    for (guint stage = 0; stage < lowered->programs->len; stage++) {
        const SimProgram *program = lowered->programs->pdata[stage];
        for (guint32 i = 0; i < program->ops->len; i++) {
            const SimOp *op = sim_program_op(program, i);
            if (op->work == SIM_WORK_JOINT)
                events += sends * (sends + (double)op->bytes / (double)job->chunk);
        }
        events += program->ops->len * (double)job->plan.gpus;
    }
    *tiny = events < TINY_EVENTS;
    if (fine)
        step_groups_clear(&groups);
    sim_streams_clear(&streams);
    sim_trace_clear(&trace);
    sim_engine_clear(&engine);
    return fine;
}

static gboolean read_scenario(const char *path, GError **error)
{
    g_autoptr(Ini) ini = scenario_open(path, error), one = ini == NULL ? NULL : scenario_open(path, NULL);
    // One with lists is read at the last of its points.
    g_autoptr(ScenarioGrid) grid = one == NULL ? NULL : scenario_grid_new(one, NULL, FALSE, NULL);
    g_auto(GStrv) sets = grid == NULL ? NULL : scenario_grid_sets(grid, grid->points - 1);
    g_autoptr(StepJob) job = ini == NULL ? NULL : scenario_read(ini, (const char *const *)sets, error);
    if (job == NULL || !step_lower_check(job, error))
        return FALSE;
    StepLowered lowered;
    step_lower(job, &lowered);
    guint ops = 0;
    for (guint stage = 0; stage < lowered.programs->len; stage++) {
        const SimProgram *program = lowered.programs->pdata[stage];
        assert_true(program->ops->len >= 1);
        ops += program->ops->len;
    }
    assert_true(ops <= STEP_LOWER_OPS);
    gboolean tiny = FALSE, fine = check_job(job, &lowered, &tiny, error);
    step_lower_clear(&lowered);
    if (!fine || !tiny)
        return fine;
    g_autoptr(StepResult) result = step_run(job, NULL, NULL, error);
    if (result == NULL)
        return FALSE;
    assert_true(result->step >= result->bound && result->step > 0);
    assert_true(result->compute + result->exposed_comm + result->idle == result->step);
    assert_true(result->bubble + result->loader + result->launch == result->idle);
    return TRUE;
}

static void check_refusal(const GError *error, const char *what)
{
    if (error == NULL)
        fail_msg("%s: refused without an error", what);
    else if (error->domain != BASE_ERROR || error->code < 1 || error->code > 3 || *error->message == '\0')
        fail_msg("%s: a foreign error '%s'", what, error->message);
    else if (!g_utf8_validate(error->message, -1, NULL))
        fail_msg("%s: the error is not UTF-8", what);
    for (const char *at = error->message; *at != '\0'; at = g_utf8_next_char(at))
        if (g_unichar_iscntrl(g_utf8_get_char(at)))
            fail_msg("%s: a control character in '%s'", what, error->message);
}

static void fuzz_try(Fuzz *fuzz, FuzzRead read, const char *text, gsize length, const char *what)
{
    FILE *file = fopen(fuzz->path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    g_autoptr(GError) error = NULL;
    gint64 start = g_get_monotonic_time();
    alarm(HANG_S);
    gboolean fine = read(fuzz->path, &error);
    alarm(0);
    gint64 taken = g_get_monotonic_time() - start;
    if (taken > fuzz->slowest) {
        fuzz->slowest = taken;
        g_free(fuzz->slow);
        fuzz->slow = g_strdup(what);
    }
    fuzz->cases++;
    if (!fine && fuzz->cases < 200 && getenv("V"))
        print_message("%s: %s\n", what, error ? error->message : "?");
    fuzz->reads += fine ? 1 : 0;
    fine ? check_fine(error) : check_refusal(error, what);
}

// Random numbers of one case.
typedef struct {
    guint64 seed, counter;
} Dice;

static gsize roll(Dice *dice, gsize sides)
{
    return (gsize)(hash_random(dice->seed, dice->counter++) % MAX(sides, 1));
}

static void mutate_bytes(GString *text, Dice *dice)
{
    gsize at = roll(dice, text->len), some = 1 + roll(dice, 4);
    switch (roll(dice, 4)) {
    case 0:
        text->str[at] = (char)(text->str[at] ^ (1 << roll(dice, 8)));
        break;
    case 1:
        g_string_truncate(text, at);
        break;
    case 2:
        g_string_insert_c(text, (gssize)at, (char)roll(dice, 256));
        break;
    default:
        g_string_erase(text, (gssize)at, (gssize)MIN(some, text->len - at));
        break;
    }
}

// Duplicates, swaps, moves or drops whole lines.
static void mutate_lines(GString *text, Dice *dice)
{
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    guint n = g_strv_length(lines);
    gsize a = roll(dice, n), b = roll(dice, n), kind = roll(dice, 3);
    g_string_truncate(text, 0);
    for (guint i = 0; i < n; i++) {
        if (kind == 0 && i == a)
            continue;
        gsize from = kind == 1 && i == a ? b : kind == 1 && i == b ? a : i;
        g_string_append_printf(text, "%s\n", lines[from]);
        if (kind == 2 && i == b)
            g_string_append_printf(text, "%s\n", lines[a]);
    }
}

// Puts an extreme in the place of a number, or of a unit.
static void mutate_values(GString *text, Dice *dice)
{
    g_auto(GStrv) extremes = g_strsplit(
        "0 -1 1 2 7 64 1000 65535 65536 1e6 1e15 1e308 1e-300 NaN inf "
        "9007199254740992 9007199254740993 9223372036854775807 9223372036854775808 18446744073709551616 0x10 "
        "1e . - +1 1.5 0.1 % KiB PB GB/s ps h yes no ", // the last one is empty
        " ", -1);
    gsize start = roll(dice, text->len), at = start;
    while (at < text->len && !g_ascii_isdigit(text->str[at]))
        at++;
    if (at == text->len)
        at = start;
    gsize end = at;
    while (end < text->len && (g_ascii_isdigit(text->str[end]) || text->str[end] == '.'))
        end++;
    if (roll(dice, 4) == 0) // the unit behind it
        for (at = end; end < text->len && text->str[end] != '\n';)
            end++;
    g_string_erase(text, (gssize)at, (gssize)(end - at));
    g_string_insert(text, (gssize)at, extremes[roll(dice, g_strv_length(extremes))]);
}

static void mutate(GString *text, Dice *dice)
{
    static void (*const kinds[])(GString *, Dice *) = {mutate_bytes, mutate_lines, mutate_values,
                                                       mutate_values};
    gsize times = 1 + roll(dice, 2);
    for (gsize i = 0; i < times && text->len > 0; i++)
        kinds[roll(dice, G_N_ELEMENTS(kinds))](text, dice);
}

static void fuzz_file(Fuzz *fuzz, FuzzRead read, const char *file)
{
    g_autoptr(GBytes) bytes = library_find(file);
    assert_non_null(bytes);
    gsize length = 0;
    const char *whole = g_bytes_get_data(bytes, &length);
    guint reads = fuzz->reads;
    fuzz_try(fuzz, read, whole, length, file);
    if (fuzz->reads == reads)
        fail_msg("%s: is refused as it stands", file);
    for (gsize cut = 0; cut < length; cut += 7) {
        g_autofree char *what = g_strdup_printf("%s, first %" G_GSIZE_FORMAT " bytes", file, cut);
        fuzz_try(fuzz, read, whole, cut, what);
    }
    for (guint i = 0; i < MUTATIONS; i++) {
        Dice dice = {.seed = hash_add_text(i, file)};
        g_autoptr(GString) text = g_string_new_len(whole, (gssize)length);
        mutate(text, &dice);
        g_autofree char *what = g_strdup_printf("%s, mutation %u", file, i);
        fuzz_try(fuzz, read, text->str, text->len, what);
    }
}

static void fuzz_folder(Fuzz *fuzz, FuzzRead read, const char *folder)
{
    g_auto(GStrv) names = library_list(folder, ".ini");
    assert_non_null(names[0]);
    for (guint i = 0; names[i] != NULL; i++) {
        g_autofree char *file = g_strdup_printf("%s/%s.ini", folder, names[i]);
        fuzz_file(fuzz, read, file);
    }
    print_message("%s: %u cases, %u read, slowest %" G_GINT64_FORMAT " ms (%s)\n", folder, fuzz->cases,
                  fuzz->reads, fuzz->slowest / 1000, fuzz->slow);
    assert_true(fuzz->reads > fuzz->cases / 50 &&
                fuzz->reads < fuzz->cases); // the mutations bite, and not always
}

static int set_up(void **state)
{
    Fuzz *fuzz = g_new0(Fuzz, 1);
    fuzz->folder = g_dir_make_tmp("stepline-XXXXXX", NULL);
    fuzz->path = g_build_filename(fuzz->folder, "f.ini", NULL);
    *state = fuzz;
    return fuzz->folder == NULL;
}

static int tear_down(void **state)
{
    Fuzz *fuzz = *state;
    g_unlink(fuzz->path);
    g_rmdir(fuzz->folder);
    g_free(fuzz->path);
    g_free(fuzz->folder);
    g_free(fuzz->slow);
    g_free(fuzz);
    return 0;
}

static void test_chips(void **state)
{
    fuzz_folder(*state, read_chip, "topo/data/chips");
}

static void test_machines(void **state)
{
    fuzz_folder(*state, read_machine, "topo/data/machines");
}

static void test_models(void **state)
{
    fuzz_folder(*state, read_model, "models/data");
}

static void test_frameworks(void **state)
{
    fuzz_folder(*state, read_framework, "step/data/frameworks");
}

static void test_scenarios(void **state)
{
    fuzz_folder(*state, read_scenario, "scenarios");
}

// A machine spelt out link by link, and a step that is small enough to be simulated.
static void test_small(void **state)
{
    static const char machine[] =
        "[machine]\nchip = h100-sxm\nkind = graph\ngpus_per_node = 2\n[links]\n"
        "gpu0 nvswitch0 = 450 GB/s, 2 us, nvlink\ngpu1 nvswitch0 = 450 GB/s, 2 us, nvlink\n"
        "nvswitch0 > gpu2 = 1 GB/s, 1 us, pcie\ngpu2 > nvswitch0 = 2 GB/s, 1 us, pcie\n";
    static const char scenario[] =
        "[model]\nuse = gpt2\nlayers = 2\nsequence = 64\n[machine]\nuse = deck-nvlink-8\n"
        "gpus = 2\n[job]\ndp = 2\ntokens = 128\nbucket = 25 MiB\nfirst_bucket = 1 MiB\n"
        "bucket_split = yes\n[compute]\nefficiency = 0.4\n[simulate]\nchunk = 32 MiB\n";
    // Every split, small enough to be simulated.
#define SMALL_MODEL                                                                                          \
    "[model]\nuse = gpt2\nlayers = 4\nhidden = 64\nheads = 4\nkv_heads = 2\nhead_dim = 16\n"                 \
    "ffn = 128\nvocabulary = 256\nsequence = 32\n[machine]\nuse = dgx-h100\ngpus = 4\n"
    static const char tensor[] = SMALL_MODEL
        "[job]\ntp = 2\nsp = yes\ntp_overlap = 2\npp = 2\nchunks = 2\nschedule = interleaved\n"
        "order = tp-cp-pp-dp\nbatch = 4\nmicro_batch = 1\nlayers_first = 1\nrecompute = selective\n"
        "[compute]\nframework = megatron-core\ngradient_norm = yes\n"
        "[reality]\nslow_ranks = 1\nslow_factor = 1.5\njitter = 5 %\nseed = 3\n";
    static const char sharded[] =
        SMALL_MODEL "[job]\ncp = 2\ncp_balanced = yes\nzero = 3\nshard = 2\nbatch = 4\nmicro_batch = 1\n"
                    "gradients = sharded\ngradient_dtype = fp32\nprefetch = 2\nlimiter = no\nreshard = no\n"
                    "offload_weights = yes\noffload_activations = yes\noffload_optimizer = yes\n"
                    "optimizer = adam-fp32\n[compute]\nframework = pytorch-fsdp\n"
                    "[reality]\nloader = 1000\nslow_link = 1\nslow_link_factor = 3\n";
    static const char staged[] =
        SMALL_MODEL "[job]\ndp = auto\npp = 2\nschedule = gpipe\nlayers_last = 1\ntokens = 256\nzero = 2\n"
                    "gradients = whole\noverlap_gather = yes\nbuckets = megatron\nrecompute = full\n"
                    "recompute_every = 2\n[compute]\nefficiency = 0.4\n[collective]\nmodel = plain\n"
                    "[simulate]\nchunk = 4 KiB\nqueue = heap\nshortcuts = no\n";
    Fuzz *fuzz = *state;
    const struct {
        const char *text;
        FuzzRead read;
    } files[] = {{machine, read_machine},
                 {scenario, read_scenario},
                 {tensor, read_scenario},
                 {sharded, read_scenario},
                 {staged, read_scenario}};
    for (guint f = 0; f < G_N_ELEMENTS(files); f++) {
        guint reads = fuzz->reads;
        fuzz_try(fuzz, files[f].read, files[f].text, strlen(files[f].text), "as it stands");
        if (fuzz->reads == reads)
            fail_msg("small file %u is refused as it stands", f);
        for (guint i = 0; i < 10 * MUTATIONS; i++) {
            Dice dice = {.seed = hash_add(f, i)};
            g_autoptr(GString) text = g_string_new(files[f].text);
            mutate(text, &dice);
            g_autofree char *what = g_strdup_printf("small file %u, mutation %u", f, i);
            fuzz_try(fuzz, files[f].read, text->str, text->len, what);
        }
    }
    print_message("small: %u cases, %u read, slowest %" G_GINT64_FORMAT " ms (%s)\n", fuzz->cases,
                  fuzz->reads, fuzz->slowest / 1000, fuzz->slow);
    assert_true(fuzz->reads > fuzz->cases / 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chips, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_machines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_models, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_frameworks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scenarios, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_small, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
