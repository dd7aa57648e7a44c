// tests/test-plans-plan.c: every rule of a plan, and which layers the stages hold.
#include "tests/check.h"

#include "plans/plan.h"

static ModelSpec *model_read(const char *name)
{
    g_autoptr(GError) error = NULL;
    ModelSpec *model = model_spec_read(name, NULL, &error);
    check_fine(error);
    return model;
}

// A legal plan of 128 GPUs for llama-7b: tp 4, cp 2, dp 4, pp 4; 8 micro-batches of 2 sequences.
static Plan plan_legal(void)
{
    Plan plan;
    plan_init(&plan);
    plan.gpus = 128;
    plan.tp = 4;
    plan.cp = 2;
    plan.dp = 4;
    plan.pp = 4;
    plan.sp = TRUE;
    plan.sequence = 4096;
    plan.micro_batch = 2;
    plan.batch = 64;
    return plan;
}

// Checks a plan: the lines are exactly those given, NULL-terminated.
static void check_lines(Plan *plan, const char *model_name, const char *const *lines)
{
    g_autoptr(ModelSpec) model = model_read(model_name);
    g_autoptr(GPtrArray) found = plan_check(plan, model);
    for (guint i = 0; i < found->len || lines[i] != NULL; i++) {
        if (i >= found->len)
            fail_msg("nothing was said where '%s' was wanted", lines[i]);
        if (lines[i] == NULL)
            fail_msg("'%s' was said", (const char *)found->pdata[i]);
        assert_string_equal(found->pdata[i], lines[i]);
    }
}

static void check_line(Plan *plan, const char *model_name, const char *line)
{
    const char *const lines[] = {line, NULL};
    check_lines(plan, model_name, lines);
}

static void test_init(void **state)
{
    (void)state;
    Plan plan;
    plan_init(&plan);
    check_line(&plan, "llama-7b", "sequence: found 0, wanted 1 to 1000000000");
    plan.sequence = 4096;
    check_line(&plan, "llama-7b", NULL);
    assert_int_equal(plan.micro_batches, 1);
    assert_int_equal(plan.shard, 1);
    assert_int_equal(plan_data(&plan), 1);
}

static void test_legal(void **state)
{
    (void)state;
    Plan plan = plan_legal();
    check_line(&plan, "llama-7b", NULL);
    assert_int_equal(plan.micro_batches, 8);
    assert_int_equal(plan.shard, 8);
    assert_int_equal(plan_data(&plan), 8);
    check_line(&plan, "llama-7b", NULL); // and once more
    plan.zero = 3;
    check_line(&plan, "llama-7b", NULL);
    plan.shard = 2;
    check_line(&plan, "llama-7b", NULL);
    assert_int_equal(plan.shard, 2);
    plan.schedule = &PIPE_INTERLEAVED;
    plan.chunks = 8; // a layer each
    check_line(&plan, "llama-7b", NULL);
    // Key/value heads are repeated, context parallelism may exceed them.
    plan = plan_legal();
    plan.tp = 16;
    plan.dp = 1;
    check_line(&plan, "llama3-70b", NULL);
    plan = plan_legal();
    plan.tp = 1;
    plan.cp = 16;
    plan.dp = 2;
    check_line(&plan, "llama3-70b", NULL);
}

// One broken rule each.
static void test_rules(void **state)
{
    (void)state;
    Plan plan;
#define WRONG(change, model, line)                                                                           \
    do {                                                                                                     \
        plan = plan_legal();                                                                                 \
        change;                                                                                              \
        check_line(&plan, model, line);                                                                      \
    } while (0)
    WRONG(plan.dp = 8, "llama-7b",
          "dp: found 8, wanted 4, which with tp 4 x cp 2 x pp 4 makes the 128 GPUs of the machine");
    WRONG(plan.gpus = 100, "llama-7b",
          "dp: found 4, but no dp does: tp 4 x cp 2 x pp 4 = 32 does not divide the 100 GPUs of the machine");
    WRONG(plan.order[0] = PLAN_DIMENSION_PP, "llama-7b",
          "order: wanted tp, cp, dp and pp, each once, such as 'tp-cp-dp-pp'");
    WRONG((plan.tp = 64, plan.cp = plan.dp = 1, plan.pp = 2), "llama-7b",
          "tp: found 64, wanted a divisor of the 32 heads of llama-7b");
    WRONG(
        (plan.tp = 4, plan.sp = FALSE, plan.sequence = 1024), "gpt2",
        "tp: found 4, wanted a divisor of the vocabulary of 50257 of gpt2; model.vocabulary = 50688 pads it "
        "to a multiple of 128 x tp, as Megatron-LM does");
    WRONG(plan.sequence = 4100, "llama-7b",
          "sp: found yes with tp 4, wanted a tp that divides the 2050 tokens of a sequence on a rank of cp");
    WRONG((plan.tp_overlap = 4, plan.sp = FALSE), "llama-7b",
          "tp_overlap: found 4, wanted it with tp of at least 2 and sp = yes");
    WRONG((plan.tp_overlap = 4, plan.tp = 1, plan.dp = 16), "llama-7b",
          "tp_overlap: found 4, wanted it with tp of at least 2 and sp = yes");
    WRONG((plan.tp_overlap = 4), "llama-7b", NULL);
    WRONG((plan.sequence = 4098, plan.sp = FALSE), "llama-7b",
          "cp: found 2, wanted 2 x cp to divide the sequence of 4098 tokens (cp_balanced gives each rank two "
          "pieces)");
    WRONG((plan.sequence = 4098, plan.sp = FALSE, plan.cp_balanced = FALSE), "llama-7b", NULL);
    WRONG((plan.sequence = 4097, plan.cp_balanced = FALSE), "llama-7b",
          "cp: found 2, wanted a divisor of the sequence of 4097 tokens");
    WRONG((plan.pp = 64, plan.tp = 1, plan.dp = 1), "llama-7b",
          "pp: found 64 x 1 chunks = 64 stages, wanted at most 32: 64 of them would share 32 of the 32 "
          "layers of "
          "llama-7b");
    WRONG((plan.pp = 4, plan.layers_first = 20, plan.layers_last = 11), "llama-7b",
          "pp: found 4 x 1 chunks = 4 stages, wanted at most 3: 2 of them would share 1 of the 32 layers of "
          "llama-7b");
    WRONG((plan.layers_first = 20, plan.layers_last = 13), "llama-7b",
          "layers_first: found 33 layers on the first and last stage, wanted at most 32");
    WRONG((plan.layers_last = 33), "llama-7b",
          "layers_last: found 33 layers on the first and last stage, wanted at most 32");
    WRONG((plan.pp = 2, plan.dp = 8, plan.layers_first = plan.layers_last = 15), "llama-7b",
          "layers_first: found 30 layers on the first and last stage, wanted 32");
    WRONG((plan.pp = 2, plan.dp = 8, plan.layers_first = 15, plan.layers_last = 17), "llama-7b", NULL);
    WRONG((plan.layers_first = 0, plan.layers_last = 0), "llama-7b", NULL);
    WRONG((plan.pp = 1, plan.dp = 16, plan.layers_first = 32), "llama-7b",
          "layers_first: found with one stage, wanted it with pp of at least 2");
    WRONG(plan.schedule = &PIPE_INTERLEAVED, "llama-7b",
          "schedule: interleaved wants at least 2 chunks a stage; found pp 4, 8 micro-batches, chunks 1");
    WRONG(plan.chunks = 2, "llama-7b",
          "schedule: 1f1b wants one chunk a stage; found pp 4, 8 micro-batches, chunks 2");
    WRONG((plan.schedule = &PIPE_INTERLEAVED, plan.chunks = 2, plan.batch = 48), "llama-7b",
          "schedule: interleaved wants micro-batches that divide by the stages; found pp 4, 6 micro-batches, "
          "chunks 2");
    WRONG(plan.batch = 60, "llama-7b", "batch: found 60, wanted a multiple of 8 (micro_batch 2 x dp 4)");
    WRONG(plan.batch = 800000000, "llama-7b",
          "batch: found 100000000 micro-batches x 1 chunks, wanted at most 1000000");
    WRONG(plan.zero = 4, "llama-7b", "zero: found 4, wanted 0 to 3");
    WRONG((plan.zero = 1, plan.shard = 3), "llama-7b",
          "shard: found 3, wanted a divisor of the 8 data-parallel ranks (dp 4 x cp 2)");
    WRONG(plan.shard = 4, "llama-7b",
          "shard: found 4 with zero = 0, which shards nothing; wanted zero 1, 2 or 3");
    WRONG((plan.zero = 2, plan.sync_every = TRUE, plan.gradients = PLAN_GRADIENTS_WHOLE), "llama-7b",
          "sync_every: found yes with gradients = whole, which are reduced once; wanted one of them");
    WRONG((plan.sync_every = TRUE, plan.overlap = FALSE), "llama-7b", NULL);
    WRONG((plan.zero = 2, plan.gradients = PLAN_GRADIENTS_WHOLE), "llama-7b", NULL);
    WRONG(plan.recompute_every = 0, "llama-7b", "recompute_every: found 0, wanted 1 to 100000");
    WRONG(plan.recompute_every = 2, "llama-7b", "recompute_every: found 2, wanted it with recompute = full");
    WRONG((plan.recompute_every = 2, plan.recompute = PLAN_RECOMPUTE_FULL), "llama-7b", NULL);
    WRONG(plan.bucket = 1, "llama-7b", "bucket: found less than 1 KiB, wanted a size such as '25 MiB'");
    WRONG(plan.bucket = G_MAXINT64, "llama-7b", NULL);
    WRONG(plan.first_bucket = 0, "llama-7b",
          "first_bucket: found less than 1 KiB, wanted a size such as '1 MiB'");
    WRONG(plan.gradient_bytes = 3, "llama-7b", "gradient_dtype: found 3 bytes, wanted 2 or 4");
    WRONG(plan.gpus = 46341, "llama-7b", "gpus: found 46341, wanted 1 to 46340");
    WRONG(plan.tp = 0, "llama-7b", "tp: found 0, wanted 1 to 46340");
    WRONG(plan.pp = G_MAXUINT32, "llama-7b", "pp: found 4294967295, wanted 1 to 46340");
    WRONG(plan.chunks = 0, "llama-7b", "chunks: found 0, wanted 1 to 100000");
    WRONG(plan.layers_first = -2, "llama-7b", "layers_first: found -2, wanted -1 to 100000");
    WRONG((plan.sequence = 1000000000, plan.micro_batch = 1, plan.batch = 4), "llama-7b", NULL);
    WRONG((plan.sequence = 1000000000, plan.batch = 8), "llama-7b",
          "micro_batch: found 2e+09 tokens, wanted at most 1000000000 a micro-batch");
    WRONG((plan.sequence = 1000000000, plan.micro_batch = 1, plan.batch = 2000000), "llama-7b",
          "batch: found 2e+15 tokens, wanted at most 1e+15 a step");
#undef WRONG
}

// All that is broken is said at once; sizes out of range come before what would be made of them.
static void test_at_once(void **state)
{
    (void)state;
    Plan plan = plan_legal();
    plan.tp = 3;
    plan.batch = 63;
    plan.sequence = 4094;
    plan.recompute_every = 2;
    plan.shard = 3;
    static const char *const lines[] = {
        "dp: found 4, but no dp does: tp 3 x cp 2 x pp 4 = 24 does not divide the 128 GPUs of the machine",
        "tp: found 3, wanted a divisor of the 32 heads of llama-7b",
        "tp: found 3, wanted a divisor or a multiple of the 32 key/value heads of llama-7b",
        "tp: found 3, wanted a divisor of the MLP's width of 11008 of llama-7b",
        "tp: found 3, wanted a divisor of the vocabulary of 32000 of llama-7b; model.vocabulary = 32256 pads "
        "it to a multiple of 128 x tp, as Megatron-LM does",
        "sp: found yes with tp 3, wanted a tp that divides the 2047 tokens of a sequence on a rank of cp",
        "cp: found 2, wanted 2 x cp to divide the sequence of 4094 tokens (cp_balanced gives each rank two "
        "pieces)",
        "batch: found 63, wanted a multiple of 8 (micro_batch 2 x dp 4)",
        "shard: found 3, wanted a divisor of the 8 data-parallel ranks (dp 4 x cp 2)",
        "recompute_every: found 2, wanted it with recompute = full",
        NULL,
    };
    check_lines(&plan, "llama-7b", lines);
    assert_int_equal(plan.micro_batches, 1); // left alone
    plan = plan_legal();
    plan.tp = plan.cp = plan.dp = plan.pp = plan.gpus = plan.chunks = 0;
    plan.sequence = plan.batch = plan.micro_batch = -1;
    plan.zero = -1;
    g_autoptr(ModelSpec) model = model_read("llama-7b");
    g_autoptr(GPtrArray) found = plan_check(&plan, model);
    assert_int_equal(found->len, 10);
}

// The layers of all virtual stages, in order.
static void check_layers(Plan *plan, const ModelSpec *model, const gint64 *wanted)
{
    gint64 sum = 0;
    for (guint32 chunk = 0, i = 0; chunk < plan->chunks; chunk++) {
        for (guint32 stage = 0; stage < plan->pp; stage++, i++) {
            gint64 layers = plan_layers(plan, model, stage, chunk);
            if (wanted != NULL)
                assert_int_equal(layers, wanted[i]);
            assert_int_equal(plan_first_layer(plan, model, stage, chunk), sum);
            sum += layers;
        }
    }
    assert_int_equal(sum, model->layers);
}

static void test_layers(void **state)
{
    (void)state;
    g_autoptr(ModelSpec) model = model_read("llama3-405b");
    Plan plan = plan_legal();
    assert_int_equal(model->layers, 126);
    // Llama 3: 128 layers less one on the first and one on the last stage.
    static const gint64 llama3[] = {7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7};
    plan.pp = 16;
    check_layers(&plan, model, llama3);
    plan.layers_first = plan.layers_last = 7;
    check_layers(&plan, model, llama3);
    static const gint64 llama4[] = {0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8, 8, 2};
    plan.layers_first = 0;
    plan.layers_last = 2; // 124 on 14 stages: 8, and 12 over
    check_layers(&plan, model, llama4);
    static const gint64 uneven[] = {6, 7, 7, 7, 7, 7, 7, 6, 6, 6, 6, 6};
    model->layers = 78;
    plan.pp = 12;
    plan.layers_first = plan.layers_last = -1;
    check_layers(&plan, model, uneven);
    // The remainder reaches the first stage before the last.
    static const gint64 four[] = {3, 3, 3, 2}, two[] = {4, 3}, one[] = {7};
    model->layers = 11;
    plan.pp = 4;
    check_layers(&plan, model, four);
    model->layers = 7;
    plan.pp = 2;
    check_layers(&plan, model, two);
    plan.pp = 1;
    check_layers(&plan, model, one);
    // Chunk 1 of rank 0 comes after chunk 0 of the last rank.
    static const gint64 chunks[] = {1, 2, 2, 2, 2, 1, 1, 1};
    model->layers = 12;
    plan.pp = 4;
    plan.chunks = 2;
    check_layers(&plan, model, chunks);
    assert_int_equal(plan_layers(&plan, model, 0, 1), 2);
    assert_int_equal(plan_first_layer(&plan, model, 0, 1), 7);
}

// Every legal plan of small models: each stage that nothing was said about holds a layer, none two more than
// another.
static void test_layers_all(void **state)
{
    (void)state;
    g_autoptr(ModelSpec) model = model_read("llama-7b");
    guint legal = 0;
    for (gint64 layers = 1; layers <= 12; layers++)
        for (guint32 pp = 1; pp <= 8; pp++)
            for (guint32 chunks = 1; chunks <= 3; chunks++)
                for (gint64 first = -1; first <= 4; first++)
                    for (gint64 last = -1; last <= 4; last++) {
                        Plan plan = plan_legal();
                        model->layers = layers;
                        plan.tp = plan.cp = plan.dp = 1;
                        plan.gpus = plan.pp = pp;
                        plan.chunks = chunks;
                        plan.schedule = chunks > 1 ? &PIPE_INTERLEAVED : &PIPE_1F1B;
                        plan.batch = 2 * pp;
                        plan.layers_first = first;
                        plan.layers_last = last;
                        g_autoptr(GPtrArray) lines = plan_check(&plan, model);
                        if (lines->len > 0)
                            continue;
                        legal++;
                        check_layers(&plan, model, NULL);
                        gint64 least = G_MAXINT64, most = 0;
                        for (guint32 i = 0; i < pp * chunks; i++) {
                            gint64 held = plan_layers(&plan, model, i % pp, i / pp);
                            if (i == 0 && first >= 0) {
                                assert_int_equal(held, first);
                            } else if (i > 0 && i == pp * chunks - 1 && last >= 0) {
                                assert_int_equal(held, last);
                            } else {
                                least = MIN(least, held);
                                most = MAX(most, held);
                            }
                        }
                        assert_true(most == 0 || (least >= 1 && most - least <= 1));
                    }
    assert_true(legal > 1000);
}

static void test_order(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    Plan plan = plan_legal();
    g_autofree char *usual = plan_order_text(plan.order);
    assert_string_equal(usual, "tp-cp-dp-pp");
    assert_true(plan_read_order("tp-pp-dp-cp", plan.order, NULL, &error));
    assert_int_equal(plan.order[1], PLAN_DIMENSION_PP);
    g_autofree char *other = plan_order_text(plan.order);
    assert_string_equal(other, "tp-pp-dp-cp");
    static const char *const wrong[] = {"",
                                        "tp",
                                        "tp-cp-dp",
                                        "tp-cp-dp-pp-",
                                        "tp-cp-dp-dp",
                                        "TP-cp-dp-pp",
                                        "tp,cp,dp,pp",
                                        "tp-cp-dp-pp-tp",
                                        "-tp-cp-dp",
                                        NULL};
    for (guint i = 0; wrong[i] != NULL; i++) {
        g_autoptr(GError) refused = NULL;
        assert_false(plan_read_order(wrong[i], plan.order, "a.ini:2: job.order", &refused));
        check_says(refused, "a.ini:2: job.order: found order '");
        check_says(refused, "each once, fastest first, such as 'tp-cp-dp-pp'");
        assert_int_equal(plan.order[1], PLAN_DIMENSION_PP); // left alone
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_init),    cmocka_unit_test(test_legal),  cmocka_unit_test(test_rules),
        cmocka_unit_test(test_at_once), cmocka_unit_test(test_layers), cmocka_unit_test(test_layers_all),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
