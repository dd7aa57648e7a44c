// tests/test-plots-lanes.c: which ranks are drawn, how spans become boxes, and what is exposed.
#include "tests/check.h"

#include "plots/lanes.h"

static GArray *ranks_below(gint64 n)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (gint64 i = 0; i < n; i++)
        g_array_append_val(ranks, i);
    return ranks;
}

static char *words(const GArray *ranks)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < ranks->len; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i == 0 ? "" : ",",
                               g_array_index(ranks, gint64, i));
    return g_string_free(text, FALSE);
}

static void test_choose(void **state)
{
    (void)state;
    static const struct {
        gint64 ranks, last;
        guint most;
        const char *wanted;
    } cases[] = {
        {1, 0, 8, "0"},
        {8, 3, 8, "0,1,2,3,4,5,6,7"},
        {64, 0, 8, "0,9,18,27,36,45,54,63"},
        {64, 63, 8, "0,9,18,27,36,45,54,63"},
        {64, 41, 8, "0,9,18,27,41,45,54,63"},
        {64, 1, 8, "0,1,18,27,36,45,54,63"},
        {64, 62, 8, "0,9,18,27,36,45,62,63"},
        {64, 999, 8, "0,9,18,27,36,45,54,63"},
        {64, -1, 8, "0,9,18,27,36,45,54,63"},
        {9, 4, 3, "0,4,8"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GArray) ranks = ranks_below(cases[i].ranks);
        g_autoptr(GArray) chosen = plot_lanes_choose(ranks, cases[i].last, cases[i].most);
        g_autofree char *text = words(chosen);
        assert_string_equal(text, cases[i].wanted);
    }
}

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted, *says;
    } cases[] = {
        {"0", "0", NULL},
        {"5,3,8-11,3,9", "3,5,8,9,10,11", NULL},
        {"63", "63", NULL},
        {"", NULL, "--ranks: found '', wanted ranks such as"},
        {"64", NULL, "--ranks: found rank 64, wanted ranks of this run (0 to 63)"},
        {"1,", NULL, "wanted ranks such as"},
        {"-1", NULL, "wanted ranks such as"},
        {"3-1", NULL, "wanted ranks such as"},
        {"1;2", NULL, "wanted ranks such as"},
        {"0-40", NULL, "at most 16 ranks"},
        {"0-9,20-29", NULL, "at most 16 ranks"},
        {"0-9223372036854775807", NULL, "at most 16 ranks"},
        {"99999999999999999999", NULL, "found rank 9223372036854775807"},
        {"9223372036854775807-9223372036854775807", NULL, "found rank"},
        {"\033[2J", NULL, "found '?[2J'"},
    };
    g_autoptr(GArray) ranks = ranks_below(64);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GArray) chosen = plot_lanes_parse(cases[i].text, ranks, 16, &error);
        if (cases[i].says != NULL) {
            assert_null(chosen);
            check_says(error, cases[i].says);
            continue;
        }
        check_fine(error);
        g_autofree char *text = words(chosen);
        assert_string_equal(text, cases[i].wanted);
    }
}

static void add(GArray *spans, Ps start, Ps end, gint64 layer, SimKind kind)
{
    TimelineSpan span = {start, end, layer, kind};
    g_array_append_val(spans, span);
}

static void test_merge(void **state)
{
    (void)state;
    g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TimelineSpan));
    add(spans, 0, 100, 0, SIM_KIND_FORWARD);
    add(spans, 100, 200, 1, SIM_KIND_FORWARD);
    add(spans, 200, 210, 1, SIM_KIND_BACKWARD); // too narrow, but its neighbours are not
    add(spans, 300, 301, -1, SIM_KIND_BACKWARD);
    add(spans, 302, 307, -1, SIM_KIND_ALL_REDUCE); // one box with the one before, and of the longer's kind
    add(spans, 400, G_MAXINT64, -1, SIM_KIND_OPTIMIZER);
    g_autoptr(GArray) boxes = plot_lanes_merge(spans, 50, 500, 20);
    static const PlotBox wanted[] = {
        {50, 100, SIM_KIND_FORWARD, FALSE},    {100, 200, SIM_KIND_FORWARD, TRUE},
        {200, 210, SIM_KIND_BACKWARD, TRUE},   {300, 307, SIM_KIND_ALL_REDUCE, TRUE},
        {400, 500, SIM_KIND_OPTIMIZER, FALSE},
    };
    assert_int_equal(boxes->len, G_N_ELEMENTS(wanted));
    for (guint i = 0; i < boxes->len; i++) {
        const PlotBox *box = &g_array_index(boxes, PlotBox, i);
        assert_int_equal(box->start, wanted[i].start);
        assert_int_equal(box->end, wanted[i].end);
        assert_int_equal(box->kind, wanted[i].kind);
    }
    assert_false(g_array_index(boxes, PlotBox, 0).dark);
    assert_true(g_array_index(boxes, PlotBox, 1).dark);

    // A million spans become no more boxes than the lane is wide.
    g_array_set_size(spans, 0);
    for (Ps i = 0; i < 1000000; i++)
        add(spans, i, i + 1, i, i % 2 == 0 ? SIM_KIND_FORWARD : SIM_KIND_ALL_GATHER);
    g_autoptr(GArray) few = plot_lanes_merge(spans, 0, 1000000, 250);
    assert_true(few->len <= 4000);
    assert_int_equal(g_array_index(few, PlotBox, few->len - 1).end, 1000000);
}

static void test_expose(void **state)
{
    (void)state;
    g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TimelineSpan));
    add(spans, 10, 20, 0, SIM_KIND_FORWARD);
    add(spans, 15, 30, 0, SIM_KIND_BACKWARD);
    add(spans, 40, 50, 0, SIM_KIND_BACKWARD);
    add(spans, 45, 90, -1, SIM_KIND_ALL_REDUCE); // 50..90, joined by the next
    add(spans, 80, 95, -1, SIM_KIND_ALL_GATHER);
    add(spans, 0, 42, -1, SIM_KIND_REDUCE_SCATTER); // 0..10, 30..40
    add(spans, 100, 200, -1, SIM_KINDS);            // not known: neither
    add(spans, 120, 120, -1, SIM_KIND_ALL_REDUCE);
    g_autoptr(GArray) exposed = plot_lanes_expose(spans);
    static const PlotRange wanted[] = {{0, 10}, {30, 40}, {50, 95}};
    assert_int_equal(exposed->len, G_N_ELEMENTS(wanted));
    for (guint i = 0; i < exposed->len; i++) {
        assert_int_equal(g_array_index(exposed, PlotRange, i).start, wanted[i].start);
        assert_int_equal(g_array_index(exposed, PlotRange, i).end, wanted[i].end);
    }
    g_array_set_size(spans, 0);
    g_autoptr(GArray) none = plot_lanes_expose(spans);
    assert_int_equal(none->len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_expose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
