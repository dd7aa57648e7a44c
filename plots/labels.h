// plots/labels.h: places for names beside points, none on another, for points along a rising diagonal.
#pragma once

#include <glib.h>

// Pixels, from the left and the bottom.
typedef struct {
    double x, y;
} PlotLabelsPoint;

typedef struct {
    double left, bottom, right, top;
} PlotLabelsBox;

typedef struct {
    PlotLabelsPoint point; // whose name it is
    double width;          // of its text
    // Where it is placed:
    gboolean placed, leader; // leader: so far away that it wants a line from point to end
    PlotLabelsPoint end;     // of its text, the one nearer to its point, in the middle of its height
    gboolean rightward;      // the text begins at end; else it ends there
} PlotLabel;

// Places labels, each at the nearest place up left or down right of its point where it stays within box and
// covers no point, no other label and no line of one, and its own line crosses no label. Of some orders in
// which that can be done it takes the one that leaves the fewest unplaced, nearest to their points.
void plot_labels_place(PlotLabel *labels, guint n, const PlotLabelsPoint *points, guint n_points,
                       const PlotLabelsBox *box);
