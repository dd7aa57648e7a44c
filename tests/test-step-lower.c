// tests/test-step-lower.c: steps against closed forms: bubbles, ZeRO 3, DDP, what tensor, context and
// pipeline parallelism exchange, stragglers, jitter, the loader, offload.
#include "tests/step.h"

#include "coll/closed.h"
#include "step/lower.h"

// A scenario of a small model whose embedding and head each take what a layer takes (by efficiency, 6N):
// V h = 4 h h + 2 h f. more: keys of [model], job of [job], other: sections before it.
static StepJob *small(const char *more, guint gpus, const char *other, const char *job)
{
    g_autofree char *text = g_strdup_printf(
        "[model]\nuse = llama-7b\nhidden = 256\nheads = 8\nkv_heads = 8\nhead_dim = 32\n"
        "ffn = 1024\ngated = no\nvocabulary = 3072\nsequence = 256\n%s\n"
        "[simulate]\nfidelity = messages\n[machine]\nuse = deck-network-400g\ngpus = %u\n%s\n[job]\n%s\n",
        more, gpus, other, job);
    return step_fine(text);
}

#define SIX         "[compute]\nefficiency = 0.4\ncounting = 6N\noptimizer_time = none\n"
#define BY_OPERATOR "[compute]\nframework = xla\noptimizer_time = none\ngradient_norm = no\n"

// Links that cost (almost) nothing: a message takes 1 ps a hop, and a send is cut into 16 (coll/choice.c).
static void free_links(StepJob *job)
{
    for (guint i = 0; i < job->machine->graph->links->len; i++) {
        TopoLink *link = &g_array_index(job->machine->graph->links, TopoLink, i);
        link->bandwidth = 1e17;
        link->latency = 0;
    }
}

// The compute operations of a rank, one after the other.
static Ps work(const StepResult *result, guint32 rank)
{
    const SimProgram *program = step_result_program(result, rank);
    Ps sum = 0;
    for (guint32 id = 0; id < program->ops->len; id++)
        if (sim_kind_is_compute(sim_program_op(program, id)->kind))
            sum += sim_program_op(program, id)->duration;
    return sum;
}

// What the longest send takes.
static Ps longest_send(const StepResult *result)
{
    Ps longest = 0;
    for (guint i = 0; i < result->trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(result->trace.spans, SimSpan, i);
        if (step_result_op(result, span)->kind == SIM_KIND_SEND)
            longest = MAX(longest, span->end - span->start);
    }
    return longest;
}

// Equal stages and free sends: every stage is idle for the closed form's share of its work, but for the sends
// on its way, of at most 40 ps each (of some 6 us and more): those that fill and empty the pipeline, and two
// a pass; and for the rounding of operations, 1 ps each.
static void test_bubble(void **state)
{
    (void)state;
    static const struct {
        guint p, m, v, layers;
        const char *schedule;
    } rows[] = {
        {2, 2, 1, 2, "gpipe"},         {4, 4, 1, 6, "gpipe"},         {4, 16, 1, 10, "gpipe"},
        {2, 8, 1, 2, "1f1b"},          {4, 4, 1, 6, "1f1b"},          {4, 16, 1, 6, "1f1b"},
        {8, 8, 1, 14, "1f1b"},         {8, 2, 1, 14, "1f1b"},         {2, 4, 2, 6, "interleaved"},
        {4, 4, 2, 14, "interleaved"},  {4, 16, 2, 14, "interleaved"}, {4, 8, 3, 22, "interleaved"},
        {8, 16, 2, 30, "interleaved"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint p = rows[i].p, v = rows[i].v, ends = (rows[i].layers + 2) / (p * v) - 1;
        g_autofree char *layers = g_strdup_printf("layers = %u", rows[i].layers);
        g_autofree char *plan = g_strdup_printf(
            "pp = %u\ndp = 1\nmicro_batch = 1\nbatch = %u\nschedule = %s\nchunks = %u\nlayers_first = %u\n"
            "layers_last = %u",
            p, rows[i].m, rows[i].schedule, v, ends, ends);
        g_autoptr(StepJob) job = small(layers, p, SIX, plan);
        free_links(job);
        g_autoptr(StepResult) result = step_ran(job);
        guint64 num, den;
        Ps send = longest_send(result);
        if (send > 40)
            fail_msg("a send of %" G_GINT64_FORMAT " ps", send);
        job->plan.schedule->bubble(p, rows[i].m, v, &num, &den);
        for (guint32 rank = 0; rank < p; rank++) {
            Ps own = work(result, rank), idle = result->step - own;
            gint64 off = idle - own * (gint64)num / (gint64)den;
            gint64 rounding = 2 * rows[i].m * v * p;
            gint64 most = rounding + send * (2 * (p * v - 1) + 2 * rows[i].m * v);
            if (off < -rounding || off > most)
                fail_msg("%s p %u m %u v %u, stage %u: idle %" G_GINT64_FORMAT " ps, %" G_GINT64_FORMAT
                         " off the closed form, at most %" G_GINT64_FORMAT,
                         rows[i].schedule, p, rows[i].m, v, rank, idle, off, most);
        }
    }
}

// The time of a collective of p ranks alone, each with a NIC of its own: 10 us and 50 GB/s.
static Ps alone(CollClosed form, guint32 p, gint64 bytes)
{
    Ps time = 0;
    const UnitsPace pace = units_pace(50e9);
    assert_true(coll_closed_time(form, p, bytes, 10000000, pace, &time));
    return time;
}

// FSDP's exposure (physics.md 5.2), all blocks alike: where every collective is shorter than the compute
// beside it, the first gather and the last scatter show; where compute is shorter, the collectives of one
// stream stand one after the other: two gathers and a scatter of every block, one gather of the head.
static void test_zero3(void **state)
{
    (void)state;
    const gint64 layers = 6, bytes = 2 * 3072 * 256;
    for (guint dp = 2; dp <= 8; dp *= 2) {
        Ps one = alone(COLL_CLOSED_ALL_GATHER, dp, bytes);
        const guint batches[] = {4096, 1};
        for (guint i = 0; i < 2; i++) {
            g_autofree char *plan = g_strdup_printf("dp = %u\nmicro_batch = %u\nbatch = %u\nzero = 3\n", dp,
                                                    batches[i], batches[i] * dp);
            g_autoptr(StepJob) job = small("layers = 6", dp, SIX, plan);
            g_autoptr(StepResult) result = step_ran(job);
            Ps all = work(result, 0), forward = all / 3 / (layers + 2);
            assert_int_equal(result->compute, all);
            assert_true(i == 0 ? one < forward : 3 * forward < one);
            assert_int_equal(result->step, i == 0 ? all + 2 * one : (3 * (layers + 2) - 1) * one);
        }
    }
}

// DDP: one bucket after the backward pass; and the last bucket's all-reduce where the others hide.
static void test_ddp(void **state)
{
    (void)state;
    g_autoptr(StepJob) whole = small("layers = 4", 4, SIX, "dp = 4\nbatch = 4\nbucket = whole");
    g_autoptr(StepResult) late = step_ran(whole);
    gint64 bytes = 2 * (4 + 2) * 3072 * 256;
    assert_int_equal(late->gradient_bytes, bytes);
    assert_int_equal(late->step, work(late, 0) + alone(COLL_CLOSED_ALL_REDUCE, 4, bytes));
    const char *plan = "dp = 4\nbatch = 65536\nfirst_bucket = 1 MiB\nbucket = 1 MiB";
    g_autoptr(StepJob) cut = small("layers = 4", 4, SIX, plan);
    g_autoptr(StepResult) hidden = step_ran(cut);
    assert_int_equal(hidden->step, work(hidden, 0) + alone(COLL_CLOSED_ALL_REDUCE, 4, 2 * 3072 * 256));
}

// Joint operations of a stage's program in a dimension, of a kind, on a block (-1: any).
typedef struct {
    guint count;
    gint64 bytes;
} Joined;

static Joined joined(const StepResult *result, guint32 stage, guint32 dimension, SimKind kind, gint32 block)
{
    const SimProgram *program = result->programs->pdata[stage];
    Joined sum = {0};
    for (guint32 id = 0; id < program->ops->len; id++) {
        const SimOp *op = sim_program_op(program, id);
        if (op->work != SIM_WORK_JOINT || op->dimension != dimension || op->kind != kind)
            continue;
        if (block >= 0 && op->layer != block)
            continue;
        sum.count++;
        sum.bytes += op->bytes;
    }
    return sum;
}

static void check_joined(Joined found, guint count, gint64 bytes)
{
    assert_int_equal(found.count, count);
    assert_int_equal(found.bytes, bytes);
}

// A layer's exchanges (physics.md 5.6), both ways of timing compute: with sp two gathers and two scatters of
// 2 b s h forward, as many backward, and two gathers of kept inputs; without, two all-reduces each way.
static void test_tensor(void **state)
{
    (void)state;
    const char *const computes[] = {SIX, BY_OPERATOR};
    for (guint i = 0; i < G_N_ELEMENTS(computes); i++) {
        gint64 bsh = 2 * 2 * 256 * 256;
        g_autoptr(StepJob) sp =
            small("layers = 4", 4, computes[i], "tp = 4\nsp = yes\nmicro_batch = 2\nbatch = 2");
        g_autoptr(StepResult) result = step_ran(sp);
        check_joined(joined(result, 0, PLAN_GROUP_TP, SIM_KIND_ALL_GATHER, 2), 6, 6 * bsh);
        check_joined(joined(result, 0, PLAN_GROUP_TP, SIM_KIND_REDUCE_SCATTER, 2), 4, 4 * bsh);
        check_joined(joined(result, 0, PLAN_GROUP_TP, SIM_KIND_ALL_REDUCE, 2), 0, 0);
        g_autoptr(StepJob) cut = small("layers = 4", 4, computes[i],
                                       "tp = 4\nsp = yes\ntp_overlap = 4\nmicro_batch = 2\nbatch = 2");
        g_autoptr(StepResult) chunks = step_ran(cut);
        check_joined(joined(chunks, 0, PLAN_GROUP_TP, SIM_KIND_ALL_GATHER, 2), 4 * 4 + 2, 6 * bsh);
        check_joined(joined(chunks, 0, PLAN_GROUP_TP, SIM_KIND_REDUCE_SCATTER, 2), 4 * 4, 4 * bsh);
        g_autoptr(StepJob) plain = small("layers = 4", 4, computes[i], "tp = 4\nmicro_batch = 2\nbatch = 2");
        g_autoptr(StepResult) reduced = step_ran(plain);
        check_joined(joined(reduced, 0, PLAN_GROUP_TP, SIM_KIND_ALL_REDUCE, 2), 4, 4 * bsh);
        check_joined(joined(reduced, 0, PLAN_GROUP_TP, SIM_KIND_ALL_GATHER, 2), 0, 0);
    }
}

// Keys and values are gathered forward and again backward, where their gradients are scattered too.
static void test_context(void **state)
{
    (void)state;
    const char *const computes[] = {SIX, BY_OPERATOR};
    for (guint i = 0; i < G_N_ELEMENTS(computes); i++) {
        g_autoptr(StepJob) job =
            small("layers = 4", 4, computes[i], "tp = 2\ncp = 2\nmicro_batch = 2\nbatch = 6");
        g_autoptr(StepResult) result = step_ran(job);
        gint64 bytes = 2 * 2 * 2 * 256 * 8 * 32 / 2; // keys and values, 16 bits, 2 x 256 tokens, 4 of 8 heads
        check_joined(joined(result, 0, PLAN_GROUP_CP, SIM_KIND_ALL_GATHER, 2), 3 * 2, 3 * 2 * bytes);
        check_joined(joined(result, 0, PLAN_GROUP_CP, SIM_KIND_REDUCE_SCATTER, 2), 3, 3 * bytes);
    }
}

// A boundary of stages passes 2 b s h a micro-batch each way, over cp, and over tp with sp; chunks make v p -
// 1 boundaries of p - 1.
static void test_sends(void **state)
{
    (void)state;
    static const struct {
        const char *plan;
        guint gpus, boundaries, divided;
    } rows[] = {
        {"pp = 2", 2, 1, 1},
        {"pp = 4", 4, 3, 1},
        {"pp = 4\nschedule = gpipe", 4, 3, 1},
        {"pp = 4\nchunks = 2", 4, 7, 1},
        {"pp = 2\nchunks = 4", 2, 7, 1},
        {"pp = 2\ncp = 2\ncp_balanced = yes", 4, 1, 2},
        {"pp = 2\ntp = 4\nsp = yes", 8, 1, 4},
        {"pp = 2\ntp = 4\nscatter_gather = yes", 8, 1, 4},
        {"pp = 2\ntp = 4", 8, 1, 1},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *plan = g_strdup_printf("%s\ndp = 1\nmicro_batch = 3\nbatch = 24", rows[i].plan);
        g_autoptr(StepJob) job = small("layers = 8", rows[i].gpus, SIX, plan);
        g_autoptr(StepResult) result = step_ran(job);
        for (guint32 way = STEP_JOINT_SEND_FORWARD; way < STEP_JOINTS; way++) {
            Joined sum = {0};
            for (guint32 stage = 0; stage < job->plan.pp; stage++) {
                Joined own = joined(result, stage, way, SIM_KIND_SEND, -1);
                sum.count += own.count;
                sum.bytes += own.bytes;
            }
            guint count = 8 * rows[i].boundaries;
            check_joined(sum, count, (gint64)count * 2 * 3 * 256 * 256 / rows[i].divided);
        }
    }
}

// A distributed optimizer moves (d - 1) / d (G + P) a rank, ZeRO 3 (d - 1) / d (G + 2 P).
static void test_sharded(void **state)
{
    (void)state;
    for (int zero = 1; zero <= 3; zero++) {
        g_autofree char *plan = g_strdup_printf("dp = 4\nbatch = 4\nzero = %d\ngradient_dtype = fp32", zero);
        g_autoptr(StepJob) job = small("layers = 4", 4, SIX, plan);
        g_autoptr(StepResult) result = step_ran(job);
        double parameters = 6 * 3072 * 256, out = 0;
        double gathered = zero == 3 ? 2 * (2 * 5 + 1) * 3072 * 256 : 2 * parameters; // the head only once
        for (guint i = 0; i < result->links->len; i++) {
            const StepLinkUse *use = result->links->pdata[i];
            out += g_str_has_prefix(use->name, "gpu") ? (double)use->bytes : 0;
        }
        assert_true(fabs(out - 3 * (4 * parameters + gathered)) < 1);
    }
}

// A slow rank delays all by what it takes longer; jitter only slows, the same for the same seed.
static void test_reality(void **state)
{
    (void)state;
    const char *plan = "dp = 4\nbatch = 64\nbucket = whole";
    g_autoptr(StepJob) job = small("layers = 4", 4, SIX, plan);
    g_autoptr(StepResult) even = step_ran(job);
    g_autoptr(StepJob) late =
        small("layers = 4", 4, SIX "[reality]\nslow_ranks = 1\nslow_factor = 1.5", plan);
    g_autoptr(StepResult) slow = step_ran(late);
    Ps longer = 0;
    const SimProgram *program = step_result_program(slow, 0);
    for (guint32 id = 0; id < program->ops->len; id++)
        longer += (sim_program_op(program, id)->duration + 1) / 2; // half of it, rounded up
    assert_int_equal(slow->step, even->step + longer);
    guint64 prints[3];
    for (guint i = 0; i < 3; i++) {
        g_autofree char *reality = g_strdup_printf(SIX "[reality]\njitter = 10 %%\nseed = %u", i / 2);
        g_autoptr(StepJob) shaken = small("layers = 4", 4, reality, plan);
        g_autoptr(StepResult) result = step_ran(shaken);
        prints[i] = result->fingerprint;
        assert_true(result->step > even->step && result->step < even->step + work(even, 0) / 10);
    }
    assert_true(prints[0] == prints[1] && prints[0] != prints[2]);
}

// A loader that is slower than the step sets its pace; one that is quicker does nothing.
static void test_loader(void **state)
{
    (void)state;
    const char *plan = "dp = 1\nmicro_batch = 2\nbatch = 16";
    g_autoptr(StepJob) job = small("layers = 4", 1, SIX, plan);
    g_autoptr(StepJob) quick = small("layers = 4", 1, SIX "[reality]\nloader = 1000000", plan);
    g_autoptr(StepJob) late = small("layers = 4", 1, SIX "[reality]\nloader = 0.5", plan);
    g_autoptr(StepResult) free = step_ran(job), hidden = step_ran(quick), bound = step_ran(late);
    assert_int_equal(hidden->step, free->step);
    assert_int_equal(hidden->loader, 0);
    assert_int_equal(bound->step, 8 * 4 * G_GINT64_CONSTANT(1000000000000));
    assert_int_equal(bound->loader + bound->bubble + bound->compute, bound->step);
    assert_int_equal(bound->compute, free->compute);
}

// Copies of a stage's program on a stream: how many, and how long they take.
static void check_copies(const StepJob *job, const char *stream, guint count, double bytes)
{
    g_autoptr(StepResult) result = step_ran(job);
    const SimProgram *program = step_result_program(result, 0);
    guint found = 0;
    double seconds = 0;
    for (guint32 id = 0; id < program->ops->len; id++) {
        const SimOp *op = sim_program_op(program, id);
        if (strcmp(program->streams->pdata[op->stream], stream) != 0)
            continue;
        found++;
        seconds += units_seconds(op->duration);
    }
    assert_int_equal(found, count);
    assert_true(fabs(seconds - bytes / job->machine->device->compute.host_bandwidth) < 1e-12 * (1 + count));
}

static void test_offload(void **state)
{
    (void)state;
    const char *memory = "[compute]\nefficiency = 0.4\noptimizer_time = memory\n";
    const double layer = 3072 * 256, parameters = 6 * layer;
    g_autoptr(StepJob) states = small("layers = 4", 1, memory, "dp = 1\nbatch = 2\noffload_optimizer = yes");
    check_copies(states, "copy out", 1, 2 * parameters);
    check_copies(states, "copy in", 1, 2 * parameters);
    check_copies(states, "host", 1, 28 * parameters / 50e9 * states->machine->device->compute.host_bandwidth);
    g_autoptr(StepJob) weights =
        small("layers = 4", 1, SIX, "dp = 1\nmicro_batch = 1\nbatch = 2\noffload_weights = yes");
    check_copies(weights, "copy in", 2 * (2 * 5 + 1), 2 * 2 * (2 * 5 + 1) * layer);
    g_autoptr(StepJob) kept =
        small("layers = 4", 1, SIX, "dp = 1\nmicro_batch = 1\nbatch = 2\noffload_activations = yes");
    PlanMemoryStage stage = plan_memory_stage(&kept->plan, kept->model, kept->machine->device, NULL, 0);
    check_copies(kept, "copy out", 8, 8 * (double)stage.layer);
    check_copies(kept, "copy in", 8, 8 * (double)stage.layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bubble),  cmocka_unit_test(test_zero3),   cmocka_unit_test(test_ddp),
        cmocka_unit_test(test_tensor),  cmocka_unit_test(test_context), cmocka_unit_test(test_sends),
        cmocka_unit_test(test_sharded), cmocka_unit_test(test_reality), cmocka_unit_test(test_loader),
        cmocka_unit_test(test_offload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
