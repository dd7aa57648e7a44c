// validation/figures.h: how each figure of the two documents is computed: settings, and closed forms.
//
// The primer: collectives and the numbers that decide a design, 7e9 parameters on 8 GPUs. The deck: data
// parallelism, LLaMA 7B on 8 and 64 GPUs. They differ on purpose: the primer divides by NVLink's 900 GB/s
// (both directions together), has no latency and counts 6N FLOPs a token; the deck has 450 GB/s each way,
// latencies, and 6N + 12LHQT.
#pragma once

#include <glib.h>

#include "base/units.h"
#include "coll/closed.h"
#include "plans/budget.h"

// A document's GPUs on one of its links.
typedef enum {
    VALIDATION_PRIMER_NVLINK,
    VALIDATION_PRIMER_PCIE,
    VALIDATION_PRIMER_100G,
    VALIDATION_PRIMER_10G,
    VALIDATION_DECK_NVLINK,
    VALIDATION_DECK_NETWORK,
} ValidationSetting;

typedef struct {
    const char *machine; // of the library (topo/data/machines), for the simulated column
    guint32 ranks;       // GPUs = data-parallel workers
    double bandwidth;    // bytes/s, as the document counts it
    Ps latency;          // of a message
} ValidationLink;

// Borrowed, static.
const ValidationLink *validation_figures_link(ValidationSetting setting);
// The document's model, batch, peak and efficiency on this setting's GPUs (latency included).
PlanBudget validation_figures_budget(ValidationSetting setting);

typedef enum {
    VALIDATION_GRADIENT,   // bytes of the gradient
    VALIDATION_SENT,       // bytes a GPU sends in the collective .form
    VALIDATION_TIME,       // s of the collective .form
    VALIDATION_FLOPS,      // of a step
    VALIDATION_COMPUTE,    // s of a step
    VALIDATION_STEP,       // s, compute then all-reduce
    VALIDATION_SHARE,      // the all-reduce's fraction of that step
    VALIDATION_ACHIEVED,   // FLOP/s of a GPU in that step
    VALIDATION_MFU,        // of that step
    VALIDATION_HIDDEN,     // s of a step with perfect overlap: max(compute, all-reduce)
    VALIDATION_HIDDEN_MFU, // of that step
    VALIDATION_PART,       // bytes of a state of .number bytes a parameter
    VALIDATION_RULE,       // bytes a parameter under the optimizer .number
    VALIDATION_WEIGHTS,    // bytes of a worker under ZeRO stage .number; these four
    VALIDATION_GRADIENTS,  //
    VALIDATION_OPTIMIZER,  //
    VALIDATION_STATES,     // all three
    VALIDATION_FITS,       // 1 where the states fit the primer's 80 GiB card, else 0
    VALIDATION_ZERO_SENT,  // bytes a GPU sends in a step under ZeRO stage .number
    VALIDATION_PUBLISHED,  // fraction of peak of the published run .number
    VALIDATION_KINDS,
} ValidationKind;

enum { VALIDATION_STAGE_IN_CASE = -1 }; // .number: the ZeRO stage is the digit at the end of the case

typedef struct {
    const char *document, *table; // "primer", "sync"
    const char *pattern;          // of the case, with * and ?
    const char *quantity;
    ValidationKind kind;
    ValidationSetting setting;
    CollClosed form;  // of VALIDATION_SENT and VALIDATION_TIME
    int number;       // see the kinds
    const char *note; // for people, or NULL
} ValidationFigure;

// All of them. Borrowed, static.
const ValidationFigure *validation_figures(guint *n);

// The ZeRO stage of a figure's case, -1 where the case does not end in one.
int validation_figures_stage(const ValidationFigure *figure, const char *case_name);

// The closed form in SI units (s, bytes, FLOP, FLOP/s, fractions). NAN where the case asks for what there is
// not.
double validation_figures_compute(const ValidationFigure *figure, const char *case_name);
