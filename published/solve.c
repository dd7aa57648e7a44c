// published/solve.c: reweighted normal equations, solved by GSL.
#include "published/solve.h"

#include <gsl/gsl_linalg.h>
#include <math.h>

double published_solve_cost(const PublishedLinear *p, const double *residual, const double *x)
{
    double cost = 0;
    for (guint i = 0; i < p->rows; i++) {
        double r = residual[i] / PUBLISHED_SOLVE_SCALE;
        cost += p->weight[i] * 2 * (sqrt(1 + r * r) - 1);
    }
    for (guint j = 0; j < p->unknowns; j++) {
        double d = (x[j] - p->prior[j]) / p->sigma[j];
        cost += d * d;
    }
    return cost;
}

// The normal matrix and right side at weights that soft L1 gives residuals.
static void solve_fill(const PublishedLinear *p, const double *residual, const double *x, gsl_matrix *normal,
                       gsl_vector *right)
{
    gsl_matrix_set_zero(normal);
    for (guint j = 0; j < p->unknowns; j++) {
        double w = 1 / (p->sigma[j] * p->sigma[j]);
        gsl_matrix_set(normal, j, j, w);
        gsl_vector_set(right, j, w * (p->prior[j] - x[j]));
    }
    for (guint i = 0; i < p->rows; i++) {
        double r = residual[i] / PUBLISHED_SOLVE_SCALE;
        double w = p->weight[i] / (PUBLISHED_SOLVE_SCALE * PUBLISHED_SOLVE_SCALE * sqrt(1 + r * r));
        const double *row = p->jacobian + (gsize)i * p->unknowns;
        for (guint j = 0; w > 0 && j < p->unknowns; j++) {
            double wj = w * row[j];
            if (fabs(wj) <= 0)
                continue;
            *gsl_vector_ptr(right, j) -= wj * residual[i];
            for (guint k = 0; k < p->unknowns; k++)
                *gsl_matrix_ptr(normal, j, k) += wj * row[k];
        }
    }
}

void published_solve(const PublishedLinear *p, double *x, double *error)
{
    enum { ROUNDS = 30 };
    if (p->unknowns == 0)
        return;
    g_autofree double *residual = g_new(double, MAX(p->rows, 1));
    gsl_matrix *normal = gsl_matrix_alloc(p->unknowns, p->unknowns);
    gsl_vector *right = gsl_vector_alloc(p->unknowns), *step = gsl_vector_alloc(p->unknowns);
    for (guint j = 0; j < p->unknowns; j++)
        x[j] = p->x0[j];
    for (int round = 0; round < ROUNDS; round++) {
        for (guint i = 0; i < p->rows; i++) {
            residual[i] = p->residual[i];
            for (guint j = 0; j < p->unknowns; j++)
                residual[i] += p->jacobian[(gsize)i * p->unknowns + j] * (x[j] - p->x0[j]);
        }
        solve_fill(p, residual, x, normal, right);
        gsl_linalg_cholesky_decomp1(normal); // positive: the priors are on its diagonal
        gsl_linalg_cholesky_solve(normal, right, step);
        double moved = 0;
        for (guint j = 0; j < p->unknowns; j++) {
            double to = CLAMP(x[j] + gsl_vector_get(step, j), p->low[j], p->high[j]);
            moved = MAX(moved, fabs(to - x[j]));
            x[j] = to;
        }
        if (moved < 1e-5)
            break;
    }
    if (error != NULL) {
        gsl_linalg_cholesky_invert(normal);
        for (guint j = 0; j < p->unknowns; j++)
            error[j] = sqrt(gsl_matrix_get(normal, j, j));
    }
    gsl_matrix_free(normal);
    gsl_vector_free(right);
    gsl_vector_free(step);
}
