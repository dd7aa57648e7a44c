// tests/test-published-run.c: tables of published runs and models are read or refused, and become scenarios.
#include "tests/check.h"

#include <math.h>
#include <string.h>

#include "published/simulate.h"
#include "scenarios/scenario.h"

static const char HEADER[] = "run_id,source_key,source,source_ref,model,model_variant,layers_override,seq_"
                             "len,chip,n_devices,devices_per_node,"
                             "intra_bw_Bps_per_dir,inter_bw_Bps_per_dir,fabric,net_known,precision,peak_"
                             "flops_per_device_used,tp,sp,pp,vp,"
                             "layers_per_vstage,cp,ep,dp,dp_kind,fsdp_shard,hsdp_replicas,mbs,gbs,recompute,"
                             "recompute_detail,offload,tp_overlap,"
                             "dp_overlap,pp_schedule,step_time_s,step_time_p10_s,step_time_p90_s,flops_per_s_"
                             "per_device,mfu,hfu,tokens_per_s,"
                             "flop_counting,completeness,missing,split,more\n";

static GPtrArray *read_rows(const char *rows, GError **error)
{
    g_autofree char *text = g_strconcat(HEADER, rows, NULL);
    return published_runs_read_text("runs.csv", text, strlen(text), error);
}

static void refuse(const char *rows, const char *wanted)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) runs = read_rows(rows, &error);
    assert_null(runs);
    if (strstr(error->message, wanted) == NULL)
        fail_msg("found '%s', wanted '%s'", error->message, wanted);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("a,s,,,m,,,,H100-SXM,x,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n",
           "runs.csv:2: n_devices: found 'x'");
    refuse("a,s,,,m,,,,H100-SXM,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n", "n_devices: found ''");
    refuse("a,s,,,m,,,,H100-SXM,8,,,,,,,,,2,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n", "sp: found '2', wanted 0 or 1");
    refuse("a,s,,,m,,,,H100-SXM,8,,,,,,,,1.5,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n", "tp: found '1.5'");
    refuse("a,s,,,m,,,,H100-SXM,8,,,,,,,,,,,,,,,,,,,,,,,,,,,-1,,,,,,,,,,,\n", "step_time_s: found '-1'");
    refuse("a,s,,,m,,,,H100-SXM,8,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\na,s,,,m,,,,H100-SXM,8,,,,,,,,,,,,,,,"
           ",,,,,,,,,,,,,,,,,,,,,,,\n",
           "runs.csv:3: run_id: found run 'a' twice");
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) runs = published_runs_read_text("x.csv", "run_id\na\n", 9, &error);
    assert_null(runs);
    assert_non_null(strstr(error->message, "source_key"));
}

// What sources write about their formulas is understood.
static void test_counting(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        PublishedCount count;
    } cases[] = {
        {"6N + 12LHQT (full attention, no causal halving), no recompute in MFU", PUBLISHED_COUNT_FULL},
        {"96*B*s*l*h^2*(1+s/6h+V/16lh): INCLUDES full-recompute forward", PUBLISHED_COUNT_HARDWARE},
        {"6N-type matmuls incl. logits; causal-HALF attention; no recompute", PUBLISHED_COUNT_CAUSAL},
        {"full", PUBLISHED_COUNT_FULL},
        {"hardware", PUBLISHED_COUNT_HARDWARE},
        {"", PUBLISHED_COUNT_UNKNOWN},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *row = g_strdup_printf(
            "a,s,,,m,,,,H100-SXM,8,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\"%s\",,,,\n", cases[i].words);
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) runs = read_rows(row, &error);
        if (runs == NULL)
            fail_msg("%s", error->message);
        assert_int_equal(((const PublishedRun *)runs->pdata[0])->counting, cases[i].count);
    }
}

// Every row of our own table is run or has a reason; scenarios name no key that nobody knows, and say dp.
static void test_library(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) runs = published_runs_library(&error);
    g_autoptr(GHashTable) models = published_models_library(&error);
    assert_non_null(runs);
    assert_non_null(models);
    assert_true(runs->len > 300);
    guint run = 0;
    for (guint i = 0; i < runs->len; i++) {
        const PublishedRun *row = runs->pdata[i];
        g_autoptr(PublishedRecipe) recipe = published_recipe(row, models, NULL);
        assert_true((recipe->scenario == NULL) == (recipe->reason != NULL));
        if (recipe->scenario == NULL)
            continue;
        run++;
        if (i % 10 != 0) // reading builds the machine
            continue;
        g_autoptr(Ini) ini = ini_read_text(row->id, recipe->scenario, strlen(recipe->scenario), &error);
        g_autoptr(StepJob) job = ini == NULL ? NULL : scenario_read(ini, NULL, &error);
        if (job == NULL)
            fail_msg("%s", error->message);
        assert_int_equal(job->plan.gpus, row->gpus);
        if (row->micro_batch > 0)
            assert_int_equal(job->plan.micro_batch, row->micro_batch);
        assert_int_equal(job->plan.batch, row->batch);
    }
    assert_true(run > 300);
}

static PublishedRecipe *recipe_of(const char *row, GPtrArray **runs)
{
    g_autoptr(GError) error = NULL;
    *runs = read_rows(row, &error);
    if (*runs == NULL)
        fail_msg("%s", error->message);
    g_autoptr(GHashTable) models = published_models_library(&error);
    return published_recipe((*runs)->pdata[0], models, NULL);
}

// What cannot be run is refused with a true reason, and what is not published is said.
static void test_reasons(void **state)
{
    (void)state;
    static const struct {
        const char *row, *reason;
    } rows[] = {
        {"a,s,,,nobody,,,2048,H100-SXM,8,,,,,,bf16,,1,,1,,,,,8,ddp,,,1,8,none,,,,,,1,,,,,,,,,,,\n",
         "in no table"},
        {"a,s,,,qwen3-30B-A3B,,,2048,H100-SXM,8,,,,,,bf16,,1,,1,,,,,8,ddp,,,1,8,none,,,,,,1,,,,,,,,,,,\n",
         "experts"},
        {"a,s,,,llama3-8B,,,2048,Abacus,8,,,,,,bf16,,1,,1,,,,,8,ddp,,,1,8,none,,,,,,1,,,,,,,,,,,\n", "chip"},
        {"a,s,,,llama3-8B,,,2048,H100-SXM,8,,,,,,bf16,,3,,1,,,,,8,ddp,,,1,8,none,,,,,,1,,,,,,,,,,,\n",
         "does not divide"},
        {"a,s,,,llama3-8B,,,2048,H100-SXM,8,,,,,,bf16,,1,,1,,,,,8,ddp,,,3,8,none,,,,,,1,,,,,,,,,,,\n",
         "no multiple"},
        {"a,s,,,llama3-8B,,,2048,H100-SXM,8,,,,,,bf16,,1,,1,,,,,8,ddp,,,1,8,custom,,,,,,1,,,,,,,,,,,\n",
         "recomputes"},
        {"a,s,,,llama3-8B,,,2048,H100-SXM,8,,,,,,bf16,,1,,1,,,,,8,ddp,,,1,8,none,,host,,,,1,,,,,,,,,,,\n",
         "offloads"},
        {"a,s,,,llama3-8B,,,,H100-SXM,8,,,,,,bf16,,1,,1,,,,,8,ddp,,,1,8,none,,,,,,1,,,,,,,,,,,\n",
         "sequence"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GPtrArray) runs = NULL;
        g_autoptr(PublishedRecipe) recipe = recipe_of(rows[i].row, &runs);
        assert_null(recipe->scenario);
        if (strstr(recipe->reason, rows[i].reason) == NULL)
            fail_msg("found '%s', wanted '%s'", recipe->reason, rows[i].reason);
    }
    g_autoptr(GPtrArray) runs = NULL;
    g_autoptr(PublishedRecipe) recipe = recipe_of(
        "a,s,,,llama3-8B,,,2048,H100-SXM,8,,,,,,bf16,,1,,1,,,,,8,ddp,,,,8,,,,,,,1,,,,,,,,,,,\n", &runs);
    assert_non_null(recipe->scenario);
    assert_true(recipe->open);
    assert_non_null(strstr(recipe->scenario, "micro_batch = 1\n"));
    assert_non_null(strstr(recipe->scenario, "recompute = none\n"));
    assert_true(recipe->assumptions->len >= 2);
}

// A line end in a field cannot add keys to a scenario.
static void test_hostile(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) runs = NULL;
    g_autoptr(PublishedRecipe) recipe = recipe_of(
        "\"a\n[job]\ntp = "
        "8\",s,,,llama3-8B,,,2048,H100-SXM,8,,,,,,bf16,,1,,1,,,,,8,ddp,,,1,8,none,,,,,,1,,,,,,,,,,,\n",
        &runs);
    assert_non_null(recipe->scenario);
    assert_null(strstr(recipe->scenario, "\n[job]\ntp = 8"));
}

// Three ways to a step time: printed, from tokens a second, from FLOP/s by the source's own formula.
static void test_step_time(void **state)
{
    (void)state;
    static const char rows[] = "a,s,,,megatron-1.7B,,,2048,A100-SXM-80GB,32,8,,,,,fp16,3.12e14,1,0,1,,,,,32,"
                               "ddp,,,16,512,full,,,,,,3.5,,,,,,,hardware,,,calib,\n"
                               "b,s,,,megatron-1.7B,,,2048,A100-SXM-80GB,32,8,,,,,fp16,3.12e14,1,0,1,,,,,32,"
                               "ddp,,,16,512,full,,,,,,,,,,,,300000,hardware,,,calib,\n"
                               "c,s,,,megatron-1.7B,,,2048,A100-SXM-80GB,32,8,,,,,fp16,3.12e14,1,0,1,,,,,32,"
                               "ddp,,,16,512,full,,,,,,,,,1.37e14,,,,hardware,,,calib,\n"
                               "d,s,,,megatron-1.7B,,,2048,A100-SXM-80GB,32,8,,,,,fp16,3.12e14,1,0,1,,,,,32,"
                               "ddp,,,16,512,full,,,,,,,,,,,,,,,,calib,\n";
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) runs = read_rows(rows, &error);
    if (runs == NULL)
        fail_msg("%s", error->message);
    g_autoptr(GHashTable) models = published_models_library(&error);
    g_autoptr(GPtrArray) cases = published_cases(runs, models);
    const PublishedCase *const *all = (const PublishedCase *const *)(const void *)cases->pdata;
    assert_true(fabs(all[0]->published - 3.5) < 1e-9);
    assert_true(fabs(all[1]->published - 512.0 * 2048 / 300000) < 1e-9);
    assert_true(fabs(all[2]->published - 3.528) < 0.002); // as the figure implies
    assert_non_null(all[3]->reason);
    assert_int_equal(all[1]->like, 0); // the same scenario: simulated once
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_counting), cmocka_unit_test(test_library),
        cmocka_unit_test(test_reasons), cmocka_unit_test(test_hostile),  cmocka_unit_test(test_step_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
