// plots/lanes.h: what of a timeline is drawn: which ranks, which boxes, and what is exposed. Pure functions.
#pragma once

#include <glib.h>

#include "timeline/reader.h"

typedef struct {
    Ps start, end;
    SimKind kind;
    gboolean dark; // the darker shade of its colour: neighbours differ, a layer's pieces do not
} PlotBox;

typedef struct {
    Ps start, end;
} PlotRange;

// Up to most (at least 2) of ranks (gint64, ascending): the first, the last of the list, those evenly
// between, and last, the one that finishes last, where it is in the list. Ascending. Caller unrefs.
GArray *plot_lanes_choose(const GArray *ranks, gint64 last, guint most);

// The ranks that a person asks for, "0,5,8-11", each in ranks (gint64, ascending); at most most. Ascending,
// each once. NULL with a usage error that starts with "--ranks". Caller unrefs.
GArray *plot_lanes_parse(const char *text, const GArray *ranks, guint most, GError **error);

// The boxes (PlotBox) of a lane's spans (TimelineSpan, by start) within from..to. What is narrower than
// narrow is merged with what follows at once, until the box is not: so their number is bounded by the lane's
// width, not by its spans. A merged box takes the kind of its longest span. Caller unrefs.
GArray *plot_lanes_merge(const GArray *spans, Ps from, Ps to, Ps narrow);

// Where communication runs and no compute covers it (PlotRange, ascending, apart), among all spans of one
// rank (in any order). Caller unrefs.
GArray *plot_lanes_expose(const GArray *spans);
