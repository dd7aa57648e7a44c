// validation/fit.c: the robust fit of a collective's times.
#include "validation/fit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/median.h"

enum { POINTS_MOST = 64 };

// How many sizes so many branches need: three points beside the two constants of each. Guessed.
static const guint SIZES_FOR[VALIDATION_FIT_BRANCHES + 1] = {0, 1, 8, 15, 22};
static const double ENOUGH = 0.005; // mean |error| that no further branch need lower
enum { CONSTANTS = 3 };             // of a branch: alpha, B, and where it ends

const char *const VALIDATION_FIT_RANGE_NAMES[VALIDATION_FIT_RANGES] = {"up to 64 KiB", "up to 4 MiB",
                                                                       "above"};

// T = alpha + x slope, x = S c.
typedef struct {
    double alpha, slope;
} Line;

typedef struct {
    double x, time;
} Sample;

static double validation_fit_line(const Line *line, double x)
{
    return line->alpha + line->slope * x;
}

static double validation_fit_cost(const Line *line, const Sample *samples, guint n)
{
    double sum = 0;
    for (guint i = 0; i < n; i++)
        sum += fabs(validation_fit_line(line, samples[i].x) / samples[i].time - 1);
    return sum;
}

static void validation_fit_try(Line line, const Sample *samples, guint n, Line *best, double *cost)
{
    if (!(line.alpha >= 0) || !(line.slope >= 0) || line.alpha + line.slope <= 0)
        return;
    double sum = validation_fit_cost(&line, samples, n);
    if (sum < *cost) {
        *cost = sum;
        *best = line;
    }
}

// The line of least sum of |relative error| with alpha and slope >= 0: it goes through two of the points, or
// through one and lies on a bound.
static Line validation_fit_lad(const Sample *samples, guint n)
{
    Line best = {samples[0].time, 0};
    double cost = HUGE_VAL;
    for (guint i = 0; i < n; i++) {
        validation_fit_try((Line){samples[i].time, 0}, samples, n, &best, &cost);
        validation_fit_try((Line){0, samples[i].time / samples[i].x}, samples, n, &best, &cost);
        for (guint j = i + 1; j < n; j++) {
            double slope = (samples[j].time - samples[i].time) / (samples[j].x - samples[i].x);
            validation_fit_try((Line){samples[i].time - slope * samples[i].x, slope}, samples, n, &best,
                               &cost);
        }
    }
    return best;
}

static double validation_fit_cost_min(const Line *lines, guint branches, const Sample *samples, guint n)
{
    double sum = 0;
    for (guint i = 0; i < n; i++) {
        double time = HUGE_VAL;
        for (guint j = 0; j < branches; j++)
            time = MIN(time, validation_fit_line(&lines[j], samples[i].x));
        sum += fabs(time / samples[i].time - 1);
    }
    return sum;
}

// All ways to cut the sizes into stretches of two and more, a line through each.
typedef struct {
    const Line *of; // [i * (n + 1) + j]: the line of sizes i .. j - 1
    const Sample *samples;
    guint n, branches;
    Line now[VALIDATION_FIT_BRANCHES], best[VALIDATION_FIT_BRANCHES];
    double cost; // of best: the sum of errors of the least line at each size
} Cut;

// The lines from stretch number depth on, which starts at size from.
static void validation_fit_cut(Cut *cut, guint from, guint depth)
{
    guint more = cut->branches - depth - 1;
    for (guint end = more == 0 ? cut->n : from + 2; end + 2 * more <= cut->n; end++) {
        cut->now[depth] = cut->of[from * (cut->n + 1) + end];
        if (more > 0) {
            validation_fit_cut(cut, end, depth + 1);
            continue;
        }
        double sum = validation_fit_cost_min(cut->now, cut->branches, cut->samples, cut->n);
        if (sum < cut->cost) {
            cut->cost = sum;
            memcpy(cut->best, cut->now, sizeof cut->best);
        }
    }
}

// Fits every line again to the sizes where it is the least, as long as that helps.
static void validation_fit_refine(Cut *cut)
{
    g_autofree Sample *own = g_new(Sample, cut->n);
    for (;;) {
        memcpy(cut->now, cut->best, sizeof cut->now);
        for (guint b = 0; b < cut->branches; b++) {
            guint n = 0;
            for (guint i = 0; i < cut->n; i++) {
                double time = validation_fit_line(&cut->best[b], cut->samples[i].x);
                gboolean least = TRUE;
                for (guint other = 0; other < cut->branches; other++)
                    least = least && time <= validation_fit_line(&cut->best[other], cut->samples[i].x);
                if (least)
                    own[n++] = cut->samples[i];
            }
            if (n > 1)
                cut->now[b] = validation_fit_lad(own, n);
        }
        double sum = validation_fit_cost_min(cut->now, cut->branches, cut->samples, cut->n);
        if (!(sum < cut->cost))
            return;
        cut->cost = sum;
        memcpy(cut->best, cut->now, sizeof cut->best);
    }
}

// As many lines as the points are worth, by rising alpha and falling slope; returns how many.
static guint validation_fit_lines(const Sample *samples, guint n, Line lines[VALIDATION_FIT_BRANCHES])
{
    g_autofree Line *of = g_new0(Line, (n + 1) * (n + 1));
    for (guint i = 0; i < n; i++)
        for (guint j = i + 2; j <= n; j++)
            of[i * (n + 1) + j] = validation_fit_lad(samples + i, j - i);
    guint branches = 1;
    lines[0] = of[n];
    double cost = validation_fit_cost(&lines[0], samples, n);
    double worth = pow(n, -CONSTANTS / (2.0 * n)); // BIC: 2 n ln(cost) + constants ln n
    for (guint more = 2; more <= VALIDATION_FIT_BRANCHES && n >= SIZES_FOR[more] && cost > ENOUGH * n;
         more++) {
        Cut cut = {.of = of, .samples = samples, .n = n, .branches = more, .cost = HUGE_VAL};
        validation_fit_cut(&cut, 0, 0);
        validation_fit_refine(&cut);
        if (cut.cost >= pow(worth, more - branches) * cost)
            continue;
        cost = cut.cost;
        branches = more;
        memcpy(lines, cut.best, sizeof cut.best);
    }
    for (guint i = 1; i < branches; i++) // few: by insertion
        for (guint j = i; j > 0 && lines[j].alpha < lines[j - 1].alpha; j--) {
            Line other = lines[j];
            lines[j] = lines[j - 1];
            lines[j - 1] = other;
        }
    guint kept = 1; // one that starts later and grows no slower is nowhere the least
    for (guint i = 1; i < branches; i++)
        if (lines[i].slope < lines[kept - 1].slope)
            lines[kept++] = lines[i];
    return kept;
}

// At most POINTS_MOST samples: medians of time / size over runs of neighbours, at their middle size.
static GArray *validation_fit_samples(const GArray *points, double factor)
{
    GArray *samples = g_array_new(FALSE, FALSE, sizeof(Sample));
    guint most = MIN(points->len, POINTS_MOST);
    for (guint i = 0; i < most; i++) {
        guint from = (guint)((guint64)points->len * i / most),
              to = (guint)((guint64)points->len * (i + 1) / most);
        g_autoptr(GArray) rates = g_array_new(FALSE, FALSE, sizeof(double));
        for (guint j = from; j < to; j++) {
            const ValidationNcclPoint *point = &g_array_index(points, ValidationNcclPoint, j);
            double rate = point->time / point->bytes;
            g_array_append_val(rates, rate);
        }
        double bytes = g_array_index(points, ValidationNcclPoint, from + (to - from) / 2).bytes;
        Sample sample = {bytes * factor, to - from == 1
                                             ? g_array_index(points, ValidationNcclPoint, from).time
                                             : bytes * base_median(rates)};
        g_array_append_val(samples, sample);
    }
    return samples;
}

double validation_fit_time(const ValidationFit *fit, double bytes)
{
    double time = HUGE_VAL;
    for (guint i = 0; i < fit->branches; i++)
        time = MIN(time, fit->branch[i].alpha + bytes * fit->factor / fit->branch[i].bandwidth);
    return time;
}

static void validation_fit_errors(const GArray *points, ValidationFit *fit)
{
    const double ends[VALIDATION_FIT_RANGES] = {VALIDATION_FIT_LOW, VALIDATION_FIT_MIDDLE, HUGE_VAL};
    for (guint range = 0; range <= VALIDATION_FIT_RANGES; range++) {
        gboolean all = range == VALIDATION_FIT_RANGES;
        ValidationFitError *error = all ? &fit->all : &fit->error[range];
        g_autoptr(GArray) errors = g_array_new(FALSE, FALSE, sizeof(double));
        for (guint i = 0; i < points->len; i++) {
            const ValidationNcclPoint *point = &g_array_index(points, ValidationNcclPoint, i);
            if (!all && (point->bytes > ends[range] || (range > 0 && point->bytes <= ends[range - 1])))
                continue;
            double off = fabs(validation_fit_time(fit, point->bytes) / point->time - 1);
            g_array_append_val(errors, off);
        }
        error->points = errors->len;
        error->median = base_median(errors);
        error->most = errors->len == 0 ? (double)NAN : g_array_index(errors, double, errors->len - 1);
    }
}

static void validation_fit_ends(const GArray *points, ValidationFit *fit)
{
    g_autoptr(GArray) small = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < points->len; i++) {
        const ValidationNcclPoint *point = &g_array_index(points, ValidationNcclPoint, i);
        if (point->bytes <= VALIDATION_FIT_SMALL)
            g_array_append_val(small, point->time);
    }
    fit->latency = base_median(small);
    double bytes = 0, time = 0;
    for (guint i = points->len - MIN(points->len, 2); i < points->len; i++) {
        bytes += g_array_index(points, ValidationNcclPoint, i).bytes;
        time += g_array_index(points, ValidationNcclPoint, i).time;
    }
    fit->bandwidth = bytes * fit->factor / time;
}

static void validation_fit_words(ValidationFit *fit)
{
    const ValidationFitBranch *last = &fit->branch[fit->branches - 1];
    if (fit->points == 1)
        fit->words =
            "one size only: latency cannot be told from bandwidth, so all of the time is put on bandwidth";
    else if (isinf(last->bandwidth))
        fit->words = "times do not grow with size: the bandwidth cannot be told, only that it is at least "
                     "the one of the top "
                     "sizes";
    else if (isnan(fit->latency))
        fit->words = "no size up to 8 KiB: the latency is what the lines leave at size 0, not measured";
    else if (fit->high <= VALIDATION_FIT_MIDDLE)
        fit->words = "no size above 4 MiB: the bandwidth is not that of large sizes";
}

gboolean validation_fit_run(const GArray *points, double factor, const char *where, ValidationFit *fit,
                            GError **error)
{
    g_assert(factor > 0);
    if (points->len == 0)
        return base_error_set(error, BASE_ERROR_FAILED, where,
                              "found no size with a usable time, wanted at least one");
    *fit = (ValidationFit){.factor = factor, .points = points->len, .branches = 1};
    fit->low = g_array_index(points, ValidationNcclPoint, 0).bytes;
    fit->high = g_array_index(points, ValidationNcclPoint, points->len - 1).bytes;
    g_autoptr(GArray) array = validation_fit_samples(points, factor);
    const Sample *samples = (const Sample *)(gpointer)array->data;
    Line lines[VALIDATION_FIT_BRANCHES] = {{0, samples[0].time / samples[0].x}};
    if (points->len > 1)
        fit->branches = validation_fit_lines(samples, array->len, lines);
    for (guint i = 0; i < fit->branches; i++)
        fit->branch[i] =
            (ValidationFitBranch){lines[i].alpha, lines[i].slope > 0 ? 1 / lines[i].slope : HUGE_VAL};
    validation_fit_ends(points, fit);
    validation_fit_errors(points, fit);
    validation_fit_words(fit);
    return TRUE;
}
