// tests/test-plots-labels.c: names stand beside their points, cover nothing and stay inside.
#include "tests/check.h"

#include <math.h>

#include "base/hash.h"
#include "plots/labels.h"

enum { MOST = 24, POINTS = 400 };

static const PlotLabelsBox BOX = {0, 0, 700, 500};

static PlotLabelsBox area(const PlotLabel *label)
{
    double left = label->rightward ? label->end.x : label->end.x - label->width;
    return (PlotLabelsBox){left, label->end.y - 6, left + label->width, label->end.y + 6};
}

static gboolean holds(const PlotLabelsBox *box, double x, double y)
{
    return x > box->left && x < box->right && y > box->bottom && y < box->top;
}

static double uniform(guint64 seed, guint64 i)
{
    return (double)(hash_random(seed, i) >> 11) * 0x1p-53;
}

static guint check_all(const PlotLabel *labels, guint n, const PlotLabelsPoint *points, guint n_points)
{
    guint placed = 0;
    for (guint i = 0; i < n; i++) {
        if (!labels[i].placed)
            continue;
        placed++;
        PlotLabelsBox own = area(&labels[i]);
        assert_true(own.left >= BOX.left && own.right <= BOX.right && own.bottom >= BOX.bottom &&
                    own.top <= BOX.top);
        for (guint j = 0; j < n_points; j++)
            assert_false(holds(&own, points[j].x, points[j].y));
        for (guint j = 0; j < n; j++) {
            if (j == i || !labels[j].placed)
                continue;
            PlotLabelsBox other = area(&labels[j]);
            assert_false(own.left < other.right && other.left < own.right && own.bottom < other.top &&
                         other.bottom < own.top);
            for (guint k = 0; labels[j].leader && k <= 100; k++)
                assert_false(holds(&own, labels[j].point.x + k * 0.01 * (labels[j].end.x - labels[j].point.x),
                                   labels[j].point.y + k * 0.01 * (labels[j].end.y - labels[j].point.y)));
        }
    }
    return placed;
}

static void test_random(void **state)
{
    (void)state;
    guint placed = 0, all = 0;
    for (guint64 seed = 0; seed < 40; seed++) {
        PlotLabelsPoint points[POINTS];
        PlotLabel labels[MOST] = {0};
        guint n = (guint)(seed % (MOST + 1));
        for (guint i = 0; i < POINTS; i++) {
            double at = uniform(seed, 2 * i);
            points[i] = (PlotLabelsPoint){at * 700, at * 500 + 40 * (uniform(seed, 2 * i + 1) - 0.5)};
        }
        for (guint i = 0; i < n; i++) {
            labels[i].point = points[i];
            labels[i].width = 40 + 100 * uniform(seed + 1000, i);
        }
        plot_labels_place(labels, n, points, POINTS, &BOX);
        placed += check_all(labels, n, points, POINTS);
        all += n;
    }
    if (placed * 10 < all * 9)
        fail_msg("%u of %u names placed, wanted 9 of 10", placed, all);
}

static void test_few(void **state)
{
    (void)state;
    PlotLabel one = {.point = {350, 250}, .width = 100};
    plot_labels_place(&one, 1, &one.point, 1, &BOX);
    assert_true(one.placed && !one.leader && !one.rightward); // up left, close
    assert_true(hypot(one.end.x - 350, one.end.y - 250) < 15);
    one.point = (PlotLabelsPoint){20, 250}; // no room on the left
    plot_labels_place(&one, 1, &one.point, 1, &BOX);
    assert_true(one.placed && one.rightward);
    one.width = 800; // wider than the box
    plot_labels_place(&one, 1, &one.point, 1, &BOX);
    assert_false(one.placed);
    plot_labels_place(NULL, 0, NULL, 0, &BOX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
