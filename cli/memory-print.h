// cli/memory-print.h: the answer of "stepline memory", as text and as JSON.
#pragma once

#include <glib.h>

#include "plans/memory.h"

// What was asked; nothing is owned.
typedef struct {
    const ModelSpec *model;
    const TopoDevice *device;
    const PlanFramework *framework; // NULL: attention is one kernel
    const Plan *plan;               // checked
    gboolean all;                   // every stage, not only the first, the fullest and the last
} MemoryPrint;

// TRUE where it fits.
gboolean memory_print_text(const MemoryPrint *what);
gboolean memory_print_json(const MemoryPrint *what);
