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
    return sim_program_add(program, &op);
}

static void test_order(void **state)
{
    (void)state;
    g_autoptr(SimProgram) program = sim_program_new();
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
    g_autoptr(SimProgram) program = sim_program_new();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
