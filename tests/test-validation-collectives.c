// tests/test-validation-collectives.c: the table of measured collectives reads, and a broken one says where.
#include "tests/check.h"

#include <math.h>

#include "validation/collectives.h"

static void test_table(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) rows = validation_collectives_read(&error);
    check_fine(error);
    assert_true(rows->len > 700);
    // Families that must have figures on both sides of 1 MiB.
    static const char *const families[] = {"v100-nvlink", "a100-nvlink", "a100-pcie",   "h100-nvlink",
                                           "h100-ib",     "h800-nvlink", "b200-nvlink", "b200-ib",
                                           "l40s-pcie",   "rtx4090-pcie"};
    for (guint i = 0; i < G_N_ELEMENTS(families); i++) {
        guint small = 0, large = 0;
        for (guint j = 0; j < rows->len; j++) {
            const ValidationCollective *row = rows->pdata[j];
            if (strcmp(row->family, families[i]) != 0)
                continue;
            small += row->bytes < 1 << 20 ? 1 : 0;
            large += row->bytes >= 1 << 20 ? 1 : 0;
        }
        if (small == 0 || large == 0)
            fail_msg("%s: %u figures below 1 MiB, %u from there up", families[i], small, large);
    }
    for (guint j = 0; j < rows->len; j++) {
        const ValidationCollective *row = rows->pdata[j];
        // Nothing is faster than 2 us or 1 TB/s, slower than 5 s or 10 MB/s (from 1 MiB up): a slip of units
        // would be.
        gboolean fine = row->time > 2e-6 && row->time < 5 && row->busbw < 1e12 &&
                        (row->bytes < 1 << 20 || row->busbw > 1e7) && row->ranks % row->nodes == 0;
        double moved = (double)row->bytes * validation_nccl_log_factor(row->op, row->ranks);
        if (strcmp(row->family, "gb200-racks") == 0)
            fine = row->busbw > 1e11;
        if (!fine || fabs(moved / row->time / row->busbw - 1) > 1e-9)
            fail_msg("line %u: %g s, %g B/s", row->line, row->time, row->busbw);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const char head[] = "family,machine,op,ranks,nodes,bytes,time_us,busbw_GBps,source,by,note\n";
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"f,m,all-reduce,8,1,1024,10,,s,b,\nf,m,all-reduce,8,1,1024,10,,s,b,\n",
         "t.csv:3: family: found 'f', wanted each row once"},
        {"f,m,all-reduce,8,1,1024,,,s,b,\n",
         "t.csv:2: time_us: found '', wanted either time_us or busbw_GBps"},
        {"f,m,all-reduce,8,1,1024,1,1,s,b,\n", "t.csv:2: time_us: found '1', wanted either"},
        {"f,m,all-reduce,8,1,1024,x,,s,b,\n", "t.csv:2: time_us: found 'x', wanted a number above 0"},
        {"f,m,all-reduce,8,1,1024,,0,s,b,\n", "t.csv:2: busbw_GBps: found '0', wanted a number above 0"},
        {"f,m,all-reduce,1,1,1024,1,,s,b,\n", "t.csv:2: ranks: found '1', wanted 2 to"},
        {"f,m,all-reduce,8,9,1024,1,,s,b,\n", "t.csv:2: nodes: found '9', wanted 1 to 8"},
        {"f,m,all-reduce,8,1,0,1,,s,b,\n", "t.csv:2: bytes: found '0', wanted 1 to"},
        {"f,m,allreduce,8,1,1024,1,,s,b,\n",
         "t.csv:2: op: found 'allreduce', wanted an operation like all-reduce (did you mean 'all-reduce'?)"},
        {"f,m,all-reduce,8,1,1024,1,,,b,\n", "t.csv:2: source: found '', wanted a name"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = g_strconcat(head, bad[i].text, NULL);
        assert_null(validation_collectives_read_text("t.csv", text, strlen(text), &error));
        check_says(error, bad[i].says);
    }
    g_autoptr(GError) error = NULL;
    assert_null(validation_collectives_read_text("t.csv", "family\n", 7, &error));
    check_says(error, "t.csv:1: found no column 'machine'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
