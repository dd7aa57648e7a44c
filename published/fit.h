// published/fit.h: estimating constants from the calibration rows of published runs.
//
// Of log(simulated / published) over rows with split calib; families weigh the same; soft L1; Gaussian priors
// of logarithms (published/constants.h, published/solve.h). Derivatives by simulating every row again with
// one constant 2 % larger. Nothing is fitted per row, model or number of GPUs.
#pragma once

#include <glib.h>

#include "published/constants.h"
#include "published/simulate.h"

typedef struct {
    const PublishedConstant *constant; // borrowed
    double before, value;              // in the library's files, and fitted
    double error;                      // relative standard error of value
    double effect;                     // mean change of a family's step where it is 10 % larger
    guint rows;                        // that it touches
    gboolean at_limit;                 // it ends where physics does
} PublishedEstimate;

typedef struct {
    GPtrArray *cases;           // borrowed: simulated with the estimates when the fit is over
    GPtrArray *constants;       // owned: those that some row depends on
    GArray *estimates;          // of PublishedEstimate
    guint threads;              // of simulations
    PublishedProgress progress; // may be NULL
    gpointer user;              // of progress
    // Of the linear problem at the end, for what is left out of it:
    GArray *rows;     // of guint: indices of cases
    double *jacobian; // owned
    double *residual; // owned
    double *weight;   // owned
    double *x;        // owned: logarithms
} PublishedFit;

// Fits, and leaves the estimates in the jobs of cases, which must outlive fit. rows is empty where no case is
// of split calib and can be run. Clear with published_fit_clear.
void published_fit(PublishedFit *fit, GPtrArray *cases, guint threads, PublishedProgress progress,
                   gpointer user);
void published_fit_clear(PublishedFit *fit);

typedef enum {
    PUBLISHED_LEAVE_MODEL,
    PUBLISHED_LEAVE_SOURCE,
    PUBLISHED_LEAVE_CHIP,
    PUBLISHED_LEAVES
} PublishedLeave;

// Cross-validation: for every model (source, chip) the constants are estimated again without its rows (from
// the derivatives at the end of the fit: one more Gauss-Newton step), and those rows simulated with them.
// Fills errors[i] of every row of fit->rows with simulated / published - 1. Leaves jobs as the fit left them.
void published_fit_leave(PublishedFit *fit, PublishedLeave leave, double *errors);
// The mean over families of the mean |error| of errors as published_fit_leave fills them; their median, and
// the mean error.
double published_fit_mean(const PublishedFit *fit, const double *errors, double *median, double *bias);
