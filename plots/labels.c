// plots/labels.c: places for names beside points.
#include "plots/labels.h"

#include <math.h>

enum {
    HALF = 8,       // of a label's height, with its margin
    RADIUS = 5,     // of a point, likewise
    NEAR = 11,      // from a point to the name beside it
    STEP = 9,       // from one distance that is tried to the next
    DISTANCES = 24, // that are
    ANGLES = 5,     // on either side
    MANY = 2000,    // points, for which one order of labels is tried
};

static PlotLabelsBox labels_box(const PlotLabel *label)
{
    double left = label->rightward ? label->end.x : label->end.x - label->width;
    return (PlotLabelsBox){left - 2, label->end.y - HALF, left + label->width + 2, label->end.y + HALF};
}

static gboolean labels_overlap(const PlotLabelsBox *a, const PlotLabelsBox *b)
{
    return a->left < b->right && b->left < a->right && a->bottom < b->top && b->bottom < a->top;
}

// Whether a line from one point to another passes through a box: of its pieces a pixel or two long one does.
static gboolean labels_crosses(const PlotLabelsPoint *from, const PlotLabelsPoint *to,
                               const PlotLabelsBox *box)
{
    guint pieces = (guint)ceil(hypot(to->x - from->x, to->y - from->y) / 2) + 1;
    for (guint i = 0; i <= pieces; i++) {
        double share = (double)i / pieces;
        double x = from->x + share * (to->x - from->x), y = from->y + share * (to->y - from->y);
        if (x > box->left && x < box->right && y > box->bottom && y < box->top)
            return TRUE;
    }
    return FALSE;
}

// Whether labels[at], at its end, is in nobody's way.
static gboolean labels_is_free(const PlotLabel *labels, guint n, guint at, const PlotLabelsPoint *points,
                               guint n_points, const PlotLabelsBox *box)
{
    const PlotLabel *own = &labels[at];
    PlotLabelsBox area = labels_box(own);
    if (area.left < box->left || area.right > box->right || area.bottom < box->bottom || area.top > box->top)
        return FALSE;
    for (guint i = 0; i < n; i++) {
        if (i == at || !labels[i].placed)
            continue;
        PlotLabelsBox other = labels_box(&labels[i]);
        if (labels_overlap(&area, &other) ||
            (labels[i].leader && labels_crosses(&labels[i].point, &labels[i].end, &area)) ||
            (own->leader && labels_crosses(&own->point, &own->end, &other)))
            return FALSE;
    }
    for (guint i = 0; i < n_points; i++) {
        PlotLabelsBox point = {points[i].x - RADIUS, points[i].y - RADIUS, points[i].x + RADIUS,
                               points[i].y + RADIUS};
        if (labels_overlap(&area, &point))
            return FALSE;
    }
    return TRUE;
}

// Tries one distance, both sides, level to upright.
static gboolean labels_try(PlotLabel *labels, guint n, guint at, guint distance,
                           const PlotLabelsPoint *points, guint n_points, const PlotLabelsBox *box)
{
    static const double angles[ANGLES] = {0.8, 0.4, 1.2, 0.1, 1.5}; // from level
    PlotLabel *own = &labels[at];
    double length = NEAR + (double)distance * STEP;
    own->leader = distance > 0;
    for (guint i = 0; i < 2 * ANGLES; i++) {
        double side = i % 2 == 0 ? -1 : 1; // left and up, or right and down
        own->rightward = side > 0;
        own->end.x = own->point.x + side * length * cos(angles[i / 2]);
        own->end.y = own->point.y - side * length * sin(angles[i / 2]);
        if (labels_is_free(labels, n, at, points, n_points, box))
            return TRUE;
    }
    return FALSE;
}

// Places all in one order: from first on, or from it back. Returns how bad that is.
static double labels_place(PlotLabel *labels, guint n, guint first, gboolean back,
                           const PlotLabelsPoint *points, guint n_points, const PlotLabelsBox *box)
{
    double badness = 0;
    for (guint i = 0; i < n; i++)
        labels[i].placed = FALSE;
    for (guint i = 0; i < n; i++) {
        guint at = (back ? first + n - i : first + i) % n, distance = 0;
        while (distance < DISTANCES && !labels_try(labels, n, at, distance, points, n_points, box))
            distance++;
        labels[at].placed = distance < DISTANCES;
        badness += distance < DISTANCES ? distance : 100.0 * DISTANCES;
    }
    return badness;
}

void plot_labels_place(PlotLabel *labels, guint n, const PlotLabelsPoint *points, guint n_points,
                       const PlotLabelsBox *box)
{
    double best = (double)INFINITY;
    guint order = 0, orders = n_points > MANY ? MIN(n, 1) : 2 * n;
    for (guint i = 0; i < orders && best > 0; i++) {
        double badness = labels_place(labels, n, i / 2, i % 2 == 1, points, n_points, box);
        if (badness < best) {
            best = badness;
            order = i;
        }
    }
    if (n > 0)
        labels_place(labels, n, order / 2, order % 2 == 1, points, n_points, box);
}
