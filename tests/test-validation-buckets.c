// tests/test-validation-buckets.c: published gradient buckets, and tables that are wrong.
#include "tests/check.h"

#include "validation/buckets.h"

static GPtrArray *run(const char *rows, GError **error)
{
    g_autofree char *text = g_strconcat("model,cap,unit,sizes,source\n", rows, NULL);
    return validation_buckets_run_text("t.csv", text, strlen(text), error);
}

// pytorch/pytorch#48880, and the trace of HolisticTraceAnalysis: to the byte.
static void test_published(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) rows = validation_buckets_run(&error);
    check_fine(error);
    assert_int_equal(rows->len, 3);
    for (guint i = 0; i < rows->len; i++) {
        const ValidationBuckets *row = rows->pdata[i];
        assert_true(row->agrees);
        gint64 sum = 0;
        for (guint b = 0; b < row->ours->len; b++)
            sum += g_array_index(row->ours, gint64, b);
        assert_int_equal(sum, 4 * row->elements);
    }
}

// One byte off, a bucket too few, a bucket too many.
static void test_disagrees(void **state)
{
    (void)state;
    static const char *const sizes[] = {"2052000 28852224 15853825", "2052000 44706048",
                                        "2052000 28852224 15853824 1"};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *row = g_strdup_printf("resnet-18,25 MiB,bytes,%s,x\n", sizes[i]);
        g_autoptr(GPtrArray) rows = run(row, &error);
        check_fine(error);
        assert_false(((ValidationBuckets *)rows->pdata[0])->agrees);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *row, *says;
    } cases[] = {
        {"resnet-1,25 MiB,bytes,1,x", "t.csv:2: model: found 'resnet-1', wanted one of"},
        {"resnet-18,25,bytes,1,x", "t.csv:2: cap: found '25' (no unit)"},
        {"resnet-18,0 B,bytes,1,x", "t.csv:2: cap: found 0 B"},
        {"resnet-18,25 MiB,words,1,x", "t.csv:2: unit: found 'words', wanted bytes or elements"},
        {"resnet-18,25 MiB,bytes,,x", "t.csv:2: sizes: "},
        {"resnet-18,25 MiB,bytes,1 x,x", "t.csv:2: sizes: "},
        {"resnet-18,25 MiB,bytes,0,x", "t.csv:2: sizes: found 0, wanted 1 to"},
    };
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(GError) error = NULL;
        assert_null(run(cases[c].row, &error));
        check_says(error, cases[c].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_disagrees),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
