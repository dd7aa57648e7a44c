// published/fit.c: derivatives by simulation, Gauss-Newton steps, cross-validation.
#include "published/fit.h"

#include <math.h>
#include <string.h>

#include "base/median.h"
#include "published/score.h"
#include "published/solve.h"

static const double STEP = 0.02; // of a logarithm, for derivatives

static guint fit_unknowns(const PublishedFit *fit)
{
    return fit->constants->len;
}

static PublishedCase *fit_case(const PublishedFit *fit, guint row)
{
    return fit->cases->pdata[g_array_index(fit->rows, guint, row)];
}

static gboolean fit_touches(const PublishedConstant *constant, const PublishedCase *own)
{
    return own->jobs->len > 0 && published_constant_touches(constant, own->jobs->pdata[0]);
}

// The case that is simulated for it and for all that are like it.
static PublishedCase *fit_simulated(const PublishedFit *fit, const PublishedCase *own)
{
    return fit->cases->pdata[own->like];
}

static void fit_set(const PublishedFit *fit, guint unknown, const PublishedCase *own, double x)
{
    const PublishedConstant *constant = fit->constants->pdata[unknown];
    const PublishedCase *simulated = fit_simulated(fit, own);
    for (guint i = 0; i < simulated->jobs->len; i++)
        published_constant_set(constant, simulated->jobs->pdata[i], exp(x));
    for (guint i = 0; i < simulated->light->len; i++)
        published_constant_set(constant, simulated->light->pdata[i], exp(x));
}

// All constants at x, in every job that they touch.
static void fit_set_all(const PublishedFit *fit, const double *x)
{
    for (guint j = 0; j < fit_unknowns(fit); j++)
        for (guint i = 0; i < fit->cases->len; i++)
            if (fit_touches(fit->constants->pdata[j], fit->cases->pdata[i]))
                fit_set(fit, j, fit->cases->pdata[i], x[j]);
}

// Simulates rows (GArray of indices of cases).
static void fit_simulate(const PublishedFit *fit, const GArray *rows, PublishedWeight weight)
{
    published_simulate(fit->cases, (const guint *)(const void *)rows->data, rows->len, weight, fit->threads,
                       fit->progress, fit->user);
}

static void fit_residuals(const PublishedFit *fit, double *residual)
{
    fit_simulate(fit, fit->rows, PUBLISHED_WHOLE);
    for (guint i = 0; i < fit->rows->len; i++)
        residual[i] = log(fit_case(fit, i)->step / fit_case(fit, i)->published);
}

// What the logarithm of a row's step gains for a logarithm of each constant, by its light jobs.
static void fit_jacobian(PublishedFit *fit)
{
    guint unknowns = fit_unknowns(fit);
    memset(fit->jacobian, 0, (gsize)fit->rows->len * unknowns * sizeof(double));
    fit_simulate(fit, fit->rows, PUBLISHED_LIGHT);
    g_autofree double *before = g_new0(double, MAX(fit->rows->len, 1));
    for (guint i = 0; i < fit->rows->len; i++)
        before[i] = fit_case(fit, i)->light_step;
    g_autoptr(GArray) which = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint j = 0; j < unknowns; j++) {
        g_array_set_size(which, 0);
        for (guint i = 0; i < fit->rows->len; i++) {
            if (!fit_touches(fit->constants->pdata[j], fit_case(fit, i)))
                continue;
            fit_set(fit, j, fit_case(fit, i), fit->x[j] + STEP);
            g_array_append_val(which, g_array_index(fit->rows, guint, i));
        }
        fit_simulate(fit, which, PUBLISHED_LIGHT);
        for (guint i = 0; i < fit->rows->len; i++) {
            const PublishedCase *own = fit_case(fit, i);
            if (!fit_touches(fit->constants->pdata[j], own))
                continue;
            if (before[i] > 0 && own->light_step > 0)
                fit->jacobian[(gsize)i * unknowns + j] = log(own->light_step / before[i]) / STEP;
            fit_set(fit, j, own, fit->x[j]);
        }
    }
}

// The problem around fit->x; arrays are freed by fit_problem_clear.
static PublishedLinear fit_problem(const PublishedFit *fit)
{
    guint n = fit_unknowns(fit);
    double *numbers = g_new(double, 4 * MAX(n, 1));
    for (guint j = 0; j < n; j++) {
        const PublishedConstant *constant = fit->constants->pdata[j];
        numbers[j] = log(constant->prior);
        numbers[n + j] = constant->sigma;
        numbers[2 * n + j] = log(constant->low);
        numbers[3 * n + j] = log(constant->high);
    }
    return (PublishedLinear){.rows = fit->rows->len,
                             .unknowns = n,
                             .jacobian = fit->jacobian,
                             .residual = fit->residual,
                             .weight = fit->weight,
                             .x0 = fit->x,
                             .prior = numbers,
                             .sigma = numbers + n,
                             .low = numbers + 2 * n,
                             .high = numbers + 3 * n};
}

static void fit_problem_clear(PublishedLinear *problem)
{
    g_free((double *)problem->prior); // the others lie in the same block
}

// Rows that are fitted, their weights, and the constants that they depend on.
static void fit_init(PublishedFit *fit)
{
    GPtrArray *cases = fit->cases;
    fit->rows = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GHashTable) families = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < cases->len; i++) {
        const PublishedCase *own = cases->pdata[i];
        if (own->reason != NULL || own->step <= 0 || strcmp(own->run->split, "calib") != 0)
            continue;
        g_array_append_val(fit->rows, i);
        char *key = published_family_key(own);
        guint members = GPOINTER_TO_UINT(g_hash_table_lookup(families, key));
        g_hash_table_insert(families, key, GUINT_TO_POINTER(members + 1));
    }
    fit->weight = g_new0(double, MAX(fit->rows->len, 1));
    for (guint i = 0; i < fit->rows->len; i++) {
        g_autofree char *key = published_family_key(fit_case(fit, i));
        fit->weight[i] = 1.0 / GPOINTER_TO_UINT(g_hash_table_lookup(families, key));
    }
    fit->constants = published_constants();
    fit->estimates = g_array_new(FALSE, TRUE, sizeof(PublishedEstimate));
    for (guint j = 0; j < fit->constants->len;) {
        PublishedEstimate estimate = {.constant = fit->constants->pdata[j]};
        for (guint i = 0; i < fit->rows->len; i++) {
            if (!fit_touches(estimate.constant, fit_case(fit, i)))
                continue;
            estimate.rows++;
            estimate.before = published_constant_get(estimate.constant, fit_case(fit, i)->jobs->pdata[0]);
        }
        if (estimate.rows == 0) {
            g_ptr_array_remove_index(fit->constants, j);
            continue;
        }
        g_array_append_val(fit->estimates, estimate);
        j++;
    }
    guint n = fit_unknowns(fit);
    fit->jacobian = g_new0(double, (gsize)MAX(fit->rows->len, 1) * MAX(n, 1));
    fit->residual = g_new0(double, MAX(fit->rows->len, 1));
    fit->x = g_new0(double, MAX(n, 1));
    for (guint j = 0; j < n; j++) {
        const PublishedConstant *constant = fit->constants->pdata[j];
        double before = g_array_index(fit->estimates, PublishedEstimate, j).before;
        fit->x[j] = log(CLAMP(before, constant->low, constant->high));
    }
}

// A step towards where the linear problem is least, halved until the simulation agrees that it is better.
// Returns how far the furthest constant moved.
static double fit_step(PublishedFit *fit)
{
    PublishedLinear problem = fit_problem(fit);
    guint n = fit_unknowns(fit);
    g_autofree double *to = g_new(double, MAX(n, 1)), *tried = g_new(double, MAX(fit->rows->len, 1)),
                      *from = g_memdup2(fit->x, n * sizeof(double));
    published_solve(&problem, to, NULL);
    double cost = published_solve_cost(&problem, fit->residual, fit->x), moved = 0;
    for (double share = 1; share > 0.1; share /= 2) {
        g_autofree double *x = g_new(double, MAX(n, 1));
        for (guint j = 0; j < n; j++)
            x[j] = from[j] + share * (to[j] - from[j]);
        fit_set_all(fit, x);
        fit_residuals(fit, tried);
        if (published_solve_cost(&problem, tried, x) < cost) {
            for (guint j = 0; j < n; j++)
                moved = MAX(moved, fabs(x[j] - from[j]));
            memcpy(fit->x, x, n * sizeof(double));
            memcpy(fit->residual, tried, fit->rows->len * sizeof(double));
            break;
        }
        fit_set_all(fit, from);
    }
    fit_problem_clear(&problem);
    return moved;
}

static void fit_estimate(PublishedFit *fit)
{
    PublishedLinear problem = fit_problem(fit);
    guint n = fit_unknowns(fit);
    g_autofree double *x = g_new(double, MAX(n, 1)), *error = g_new(double, MAX(n, 1));
    published_solve(&problem, x, error);
    double families = 0;
    for (guint i = 0; i < fit->rows->len; i++)
        families += fit->weight[i];
    for (guint j = 0; j < n; j++) {
        PublishedEstimate *estimate = &g_array_index(fit->estimates, PublishedEstimate, j);
        estimate->value = exp(fit->x[j]);
        estimate->error = error[j];
        estimate->at_limit = fit->x[j] <= problem.low[j] + 1e-6 || fit->x[j] >= problem.high[j] - 1e-6;
        for (guint i = 0; i < fit->rows->len; i++)
            estimate->effect += 0.1 * fabs(fit->jacobian[(gsize)i * n + j]) * fit->weight[i] / families;
    }
    fit_problem_clear(&problem);
}

void published_fit(PublishedFit *fit, GPtrArray *cases, guint threads, PublishedProgress progress,
                   gpointer user)
{
    enum { ROUNDS = 5 };
    *fit = (PublishedFit){.cases = cases, .threads = threads, .progress = progress, .user = user};
    g_autoptr(GArray) calib = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < cases->len; i++) {
        PublishedCase *own = cases->pdata[i];
        if (strcmp(own->run->split, "calib") != 0)
            continue;
        published_lighten(fit_simulated(fit, own));
        g_array_append_val(calib, i);
    }
    fit_simulate(fit, calib, PUBLISHED_WHOLE); // once before, so that those that fail are known
    fit_init(fit);
    fit_set_all(fit, fit->x);
    fit_residuals(fit, fit->residual);
    double moved = 1;
    for (int round = 0; round < ROUNDS && moved > 0.005; round++) {
        fit_jacobian(fit);
        moved = fit_step(fit);
    }
    fit_estimate(fit);
}

void published_fit_clear(PublishedFit *fit)
{
    g_clear_pointer(&fit->constants, g_ptr_array_unref);
    g_clear_pointer(&fit->estimates, g_array_unref);
    g_clear_pointer(&fit->rows, g_array_unref);
    g_free(fit->jacobian);
    g_free(fit->residual);
    g_free(fit->weight);
    g_free(fit->x);
}

static const char *fit_group(const PublishedCase *own, PublishedLeave leave)
{
    return leave == PUBLISHED_LEAVE_MODEL    ? own->run->model
           : leave == PUBLISHED_LEAVE_SOURCE ? own->run->source_key
                                             : own->run->chip;
}

void published_fit_leave(PublishedFit *fit, PublishedLeave leave, double *errors)
{
    guint n = fit_unknowns(fit);
    g_autofree double *all = g_memdup2(fit->weight, fit->rows->len * sizeof(double)),
                      *x = g_new(double, MAX(n, 1));
    g_autofree gboolean *through = g_new0(gboolean, MAX(fit->rows->len, 1));
    for (guint first = 0; first < fit->rows->len; first++) {
        if (through[first])
            continue;
        const char *group = fit_group(fit_case(fit, first), leave);
        g_autoptr(GArray) which = g_array_new(FALSE, FALSE, sizeof(guint));
        for (guint i = first; i < fit->rows->len; i++) {
            if (strcmp(fit_group(fit_case(fit, i), leave), group) != 0)
                continue;
            through[i] = TRUE;
            fit->weight[i] = 0;
            g_array_append_val(which, g_array_index(fit->rows, guint, i));
        }
        PublishedLinear problem = fit_problem(fit);
        published_solve(&problem, x, NULL);
        fit_problem_clear(&problem);
        fit_set_all(fit, x);
        fit_simulate(fit, which, PUBLISHED_WHOLE);
        for (guint i = first; i < fit->rows->len; i++)
            if (fit->weight[i] <= 0)
                errors[i] = published_error(fit_case(fit, i));
        memcpy(fit->weight, all, fit->rows->len * sizeof(double));
    }
    fit_set_all(fit, fit->x);
    g_autofree double *again = g_new(double, MAX(fit->rows->len, 1));
    fit_residuals(fit, again);
}

double published_fit_mean(const PublishedFit *fit, const double *errors, double *median, double *bias)
{
    g_autoptr(GHashTable) means = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    double sum = 0, families = 0;
    *bias = 0;
    for (guint i = 0; i < fit->rows->len; i++) {
        char *key = published_family_key(fit_case(fit, i));
        double *mean = g_hash_table_lookup(means, key);
        if (mean == NULL) {
            mean = g_new0(double, 1);
            g_hash_table_insert(means, g_strdup(key), mean);
        }
        *mean += fit->weight[i] * fabs(errors[i]);
        sum += fit->weight[i] * fabs(errors[i]);
        *bias += fit->weight[i] * errors[i];
        families += fit->weight[i];
        g_free(key);
    }
    g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(double));
    GHashTableIter at;
    gpointer value;
    g_hash_table_iter_init(&at, means);
    while (g_hash_table_iter_next(&at, NULL, &value))
        g_array_append_val(sorted, *(double *)value);
    *median = base_median(sorted);
    *bias /= families;
    return sum / families;
}
