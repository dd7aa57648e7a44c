// timeline/metrics.h: the numbers of a run, under the keys of 'stepline run --json'.
#pragma once

#include <glib.h>

#include "step/result.h"

typedef struct {
    const char *name; // "step_s"
    gboolean whole;   // a count, or bytes
} TimelineMetric;

enum { TIMELINE_METRICS = 25 };

// The table: table metric of the file, and columns of a sweep, in this order.
extern const TimelineMetric TIMELINE_METRIC_TABLE[TIMELINE_METRICS];

// Fills values (TIMELINE_METRICS of them) from a result.
void timeline_metrics(const StepResult *result, double *values);

// The place of a name in the table, or -1.
int timeline_metrics_find(const char *name);
