// tests/test-sim-stream.c: streams run in order, wait for each other, and say when they are stuck.
#include "tests/check.h"

#include "sim/stream.h"

typedef struct {
    SimStreams *streams;
    guint joined;
} Joint;

// A joint operation that ends for all when the second rank has come.
static void join(gpointer user, guint32 rank, guint32 op)
{
    Joint *joint = user;
    (void)rank;
    if (++joint->joined < 2)
        return;
    joint->joined = 0;
    guint32 stream = sim_program_op(sim_streams_program(joint->streams, 0), op)->stream;
    sim_streams_move(joint->streams, 0, stream);
    sim_streams_move(joint->streams, 1, stream);
    sim_streams_end(joint->streams, 0, stream);
    sim_streams_end(joint->streams, 1, stream);
}

static guint32 add(SimProgram *program, guint32 stream, Ps duration, SimWork work)
{
    SimOp op = {.stream = stream, .duration = duration, .work = work, .name = "op"};
    return sim_program_add(program, &op, -1);
}

static void test_order(void **state)
{
    (void)state;
    g_autoptr(SimProgram) program = sim_program_new(NULL);
    guint32 compute = sim_program_add_stream(program, "compute");
    guint32 other = sim_program_add_stream(program, "other");
    guint32 a = add(program, compute, 10, SIM_WORK_TIMED);
    guint32 b = add(program, compute, 20, SIM_WORK_TIMED);
    guint32 c = add(program, other, 5, SIM_WORK_TIMED);
    sim_program_wait(program, a);
    guint32 d = add(program, other, 0, SIM_WORK_JOINT);
    guint32 e = add(program, compute, 1, SIM_WORK_TIMED);
    sim_program_wait(program, d);
    SimEngine engine;
    SimTrace trace;
    SimStreams streams;
    Joint joint = {.streams = &streams};
    sim_engine_init(&engine, SIM_QUEUE_RADIX);
    sim_trace_init(&trace, TRUE);
    const SimProgram *programs[] = {program};
    const guint32 runs[2] = {0, 0};
    sim_streams_init(&streams, &engine, programs, runs, 2, &trace, join, &joint);
    sim_streams_start(&streams);
    assert_true(sim_engine_run(&engine));
    assert_null(sim_streams_stuck(&streams));
    assert_int_equal(trace.tasks, 10);
    Ps starts[5] = {0}, ends[5] = {0};
    for (guint i = 0; i < trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(trace.spans, SimSpan, i);
        starts[span->op] = span->start;
        ends[span->op] = span->end;
    }
    assert_int_equal(ends[a], 10);
    assert_int_equal(starts[b], 10);
    assert_int_equal(starts[c], 10); // beside b
    assert_int_equal(starts[d], 15);
    assert_int_equal(ends[d], 15);
    assert_int_equal(starts[e], 30);
    assert_int_equal(ends[e], 31);
    sim_streams_clear(&streams);
    sim_trace_clear(&trace);
    sim_engine_clear(&engine);
}

static void never(gpointer user, guint32 rank, guint32 op)
{
    (void)user;
    (void)rank;
    (void)op;
}

static void test_stuck(void **state)
{
    (void)state;
    g_autoptr(SimProgram) program = sim_program_new(NULL);
    guint32 stream = sim_program_add_stream(program, "compute");
    guint32 other = sim_program_add_stream(program, "other");
    guint32 joint = add(program, stream, 0, SIM_WORK_JOINT);
    add(program, other, 0, SIM_WORK_TIMED);
    sim_program_wait(program, joint);
    SimEngine engine;
    SimTrace trace;
    SimStreams streams;
    sim_engine_init(&engine, SIM_QUEUE_RADIX);
    sim_trace_init(&trace, FALSE);
    const SimProgram *programs[] = {program};
    const guint32 runs[1] = {0};
    sim_streams_init(&streams, &engine, programs, runs, 1, &trace, never, NULL);
    sim_streams_start(&streams);
    assert_true(sim_engine_run(&engine));
    g_autofree char *stuck = sim_streams_stuck(&streams);
    assert_string_equal(stuck, "the step is stuck: rank 0 is in 'op', rank 0 waits before 'op' "
                               "(2 operations have not ended)");
    sim_streams_clear(&streams);
    sim_trace_clear(&trace);
    sim_engine_clear(&engine);
}

// Two ranks meet: the first one's joint operation moves from its arrival on, and ends with the second's.
static void meet(gpointer user, guint32 rank, guint32 op)
{
    Joint *joint = user;
    const guint32 stream = sim_program_op(sim_streams_program(joint->streams, rank), op)->stream;
    sim_streams_move(joint->streams, rank, stream);
    if (++joint->joined < 2)
        return;
    sim_streams_end(joint->streams, 0, stream);
    sim_streams_end(joint->streams, 1, stream);
}

static guint32 stretch(gconstpointer user, guint32 rank, guint32 op)
{
    (void)op;
    return rank == 0 ? *(const guint32 *)user : 1000000;
}

// When an operation of rank 0 that takes 1 us, slowed by 140 per mille, ends beside a collective that moves
// from 100 ns until the end.
static Ps paced(Ps until, guint32 scale)
{
    g_autoptr(SimProgram) slowed = sim_program_new(NULL), other = sim_program_new(NULL);
    guint32 compute = sim_program_add_stream(slowed, "compute"), dp = sim_program_add_stream(slowed, "dp");
    SimOp op = {.stream = compute, .duration = 1000000, .slow = 140, .name = "op"};
    guint32 id = sim_program_add(slowed, &op, -1);
    add(slowed, dp, 100000, SIM_WORK_TIMED);
    add(slowed, dp, 0, SIM_WORK_JOINT);
    sim_program_add_stream(other, "compute");
    sim_program_add_stream(other, "dp");
    add(other, dp, until, SIM_WORK_TIMED);
    add(other, dp, 0, SIM_WORK_JOINT);
    SimEngine engine;
    SimTrace trace;
    SimStreams streams;
    Joint joint = {.streams = &streams};
    sim_engine_init(&engine, SIM_QUEUE_RADIX);
    sim_trace_init(&trace, TRUE);
    const SimProgram *programs[] = {slowed, other};
    const guint32 runs[2] = {0, 1};
    sim_streams_init(&streams, &engine, programs, runs, 2, &trace, meet, &joint);
    streams.scale = scale > 0 ? stretch : NULL;
    streams.scale_user = &scale;
    sim_streams_start(&streams);
    assert_true(sim_engine_run(&engine));
    assert_null(sim_streams_stuck(&streams));
    Ps end = -1;
    for (guint i = 0; i < trace.spans->len; i++) {
        const SimSpan *span = &g_array_index(trace.spans, SimSpan, i);
        end = span->rank == 0 && span->op == id ? span->end : end;
    }
    sim_streams_clear(&streams);
    sim_trace_clear(&trace);
    sim_engine_clear(&engine);
    return end;
}

static void test_pace(void **state)
{
    (void)state;
    // 100,000 ps at full speed, 300,000 slowed (300,000 / 1.14 = 263,157 done), the rest at full speed.
    assert_int_equal(paced(400000, 0), 400000 + 1000000 - 100000 - 263157);
    // To the end: 900,000 x 1.14.
    assert_int_equal(paced(5000000, 0), 100000 + 1026000);
    // No time at all.
    assert_int_equal(paced(100000, 0), 1000000);
    // Half as slow again for other reasons: every operation, also the one before the collective.
    assert_int_equal(paced(5000000, 1500000), 150000 + (1500000 - 150000) * 114 / 100);
}

// Two ranks that launch two collectives in opposite orders never meet: ranks and operations are named.
static void test_crossed(void **state)
{
    (void)state;
    g_autoptr(SimProgram) one = sim_program_new(NULL), two = sim_program_new(NULL);
    const SimProgram *const programs[] = {one, two};
    const char *const names[2][2] = {{"tensor", "data"}, {"data", "tensor"}};
    for (guint i = 0; i < 2; i++) {
        SimProgram *program = (SimProgram *)programs[i];
        guint32 stream = sim_program_add_stream(program, "comm");
        for (guint k = 0; k < 2; k++) {
            SimOp op = {.stream = stream, .work = SIM_WORK_JOINT, .name = names[i][k]};
            sim_program_add(program, &op, -1);
        }
    }
    SimEngine engine;
    SimTrace trace;
    SimStreams streams;
    sim_engine_init(&engine, SIM_QUEUE_HEAP);
    sim_trace_init(&trace, FALSE);
    const guint32 runs[2] = {0, 1};
    sim_streams_init(&streams, &engine, programs, runs, 2, &trace, never, NULL);
    sim_streams_start(&streams);
    assert_true(sim_engine_run(&engine));
    g_autofree char *stuck = sim_streams_stuck(&streams);
    assert_string_equal(stuck, "the step is stuck: rank 0 is in 'tensor', rank 1 is in 'data' "
                               "(4 operations have not ended)");
    sim_streams_clear(&streams);
    sim_trace_clear(&trace);
    sim_engine_clear(&engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_crossed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
