// published/solve.h: a robust least-squares step with priors, by Gauss and Newton.
//
// Least is the sum over rows of weight x rho(r / SCALE), rho(x) = 2 (sqrt(1 + x^2) - 1) (soft L1), and over
// unknowns of ((x - prior) / sigma)^2. r is linear in x here: r0 + J (x - x0); the caller goes round again
// where it is not.
#pragma once

#include <glib.h>

// What a row's logarithm is off by through noise alone: repeats of published runs spread by 1.3 to 2.3 % and
// more (shared/accuracy.md).
#define PUBLISHED_SOLVE_SCALE 0.03

typedef struct {
    guint rows, unknowns;
    const double *jacobian;                        // rows x unknowns
    const double *residual;                        // at x0
    const double *weight;                          // 0: the row is left out
    const double *x0, *prior, *sigma, *low, *high; // of every unknown
} PublishedLinear;

// Fills x with where the linear problem is least, inside low and high (reweighted until it rests), and, where
// error is not NULL, error with each unknown's standard error there.
void published_solve(const PublishedLinear *problem, double *x, double *error);
// What is minimised, of given residuals and unknowns.
double published_solve_cost(const PublishedLinear *problem, const double *residual, const double *x);
