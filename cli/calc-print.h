// cli/calc-print.h: what "stepline calc" was asked, and its answer on stdout, as text and as JSON.
#pragma once

#include <glib.h>

#include "models/count.h"
#include "plans/budget.h"
#include "plans/states.h"

typedef struct {
    const char *name; // for people
    double bandwidth; // bytes/s, used as given
} CalcPrintLink;

typedef struct {
    PlanBudget budget;
    gint64 parameters;
    ModelCounting counting; // of FLOPs
    double flops_per_token; // with attention; of no use under 6N
    PlanOptimizer optimizer;
    double card;     // bytes of memory of a GPU
    double measured; // tokens/s of all GPUs together; negative: not given
    GArray *links;   // of CalcPrintLink; borrowed
} CalcPrint;

// The numbers for people, every one with its unit. calc has been checked.
void calc_print_text(const CalcPrint *calc);
// The same as one JSON object in SI units.
void calc_print_json(const CalcPrint *calc);
