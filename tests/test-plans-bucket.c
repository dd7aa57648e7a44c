// tests/test-plans-bucket.c: gradient buckets exactly as PyTorch forms them.
#include "tests/check.h"

#include "models/convnet.h"
#include "plans/bucket.h"

// The bucket sizes that PyTorch printed (pytorch/pytorch#48880), fp32 gradients.
static void test_resnet18(void **state)
{
    (void)state;
    static const struct {
        gint64 cap, sizes[3];
    } cases[] = {
        {G_GINT64_CONSTANT(25) << 20, {2052000, 28852224, 15853824}},
        {G_GINT64_CONSTANT(35) << 20, {2052000, 38297600, 6408448}},
    };
    g_autoptr(GArray) forward = model_convnet_tensors(model_convnet_find("resnet-18", NULL, NULL));
    guint n = forward->len;
    g_autofree gint64 *ready = g_new(gint64, n);
    gint64 sum = 0;
    for (guint i = 0; i < n; i++) {
        ready[i] = 4 * g_array_index(forward, gint64, n - 1 - i);
        sum += ready[i];
    }
    assert_int_equal(sum, 46758048);
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(GArray) buckets = plan_buckets_form(ready, n, 1 << 20, cases[c].cap, FALSE);
        assert_int_equal(buckets->len, 3);
        for (guint i = 0; i < 3; i++)
            assert_int_equal(g_array_index(buckets, PlanBucket, i).bytes, cases[c].sizes[i]);
    }
}

static void test_properties(void **state)
{
    (void)state;
    static const gint64 lists[][6] = {
        {5, 5, 5, 5, 5, 5}, {0, 0, 100, 0, 3, 0}, {1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 0, 0}};
    static const gint64 caps[] = {1, 4, 10, 1000};
    for (guint l = 0; l < G_N_ELEMENTS(lists); l++) {
        gint64 sum = 0;
        for (guint i = 0; i < 6; i++)
            sum += lists[l][i];
        for (guint c = 0; c < G_N_ELEMENTS(caps); c++) {
            for (guint split = 0; split < 2; split++) {
                g_autoptr(GArray) buckets = plan_buckets_form(lists[l], 6, 3, caps[c], split == 1);
                gint64 bytes = 0;
                assert_true(buckets->len >= 1);
                for (guint i = 0; i < buckets->len; i++) {
                    const PlanBucket *bucket = &g_array_index(buckets, PlanBucket, i);
                    gint64 cap = i == 0 ? 3 : caps[c];
                    bytes += bucket->bytes;
                    assert_true(bucket->first <= bucket->last && bucket->share > 0 && bucket->share <= 1);
                    if (i + 1 < buckets->len)
                        assert_true(split == 1 ? bucket->bytes == cap : bucket->bytes >= cap);
                }
                assert_int_equal(bytes, sum);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resnet18),
        cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
