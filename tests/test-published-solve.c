// tests/test-published-solve.c: known unknowns come back: from exact rows, beside outliers, and where only a
// prior knows.
#include "tests/check.h"

#include <math.h>

#include "base/hash.h"
#include "published/solve.h"

enum { ROWS = 600, UNKNOWNS = 3 };

typedef struct {
    double jacobian[ROWS * UNKNOWNS], residual[ROWS], weight[ROWS];
    double x0[UNKNOWNS], prior[UNKNOWNS], sigma[UNKNOWNS], low[UNKNOWNS], high[UNKNOWNS];
} Problem;

static const double TRUTH[UNKNOWNS] = {0.1, -0.2, 0.05};

// residual(x) = J (x - truth): rows depend on the first two unknowns only.
static PublishedLinear problem_fill(Problem *p)
{
    for (guint i = 0; i < ROWS; i++) {
        double a = (double)(hash_random(1, i) >> 11) * 0x1p-53;
        p->jacobian[i * UNKNOWNS] = -a;
        p->jacobian[i * UNKNOWNS + 1] = -(1 - a);
        p->jacobian[i * UNKNOWNS + 2] = 0;
        p->residual[i] = a * TRUTH[0] + (1 - a) * TRUTH[1];
        p->weight[i] = 1;
    }
    for (guint j = 0; j < UNKNOWNS; j++) {
        p->x0[j] = 0;
        p->prior[j] = j == 2 ? TRUTH[2] : 0;
        p->sigma[j] = 1;
        p->low[j] = -1;
        p->high[j] = 1;
    }
    return (PublishedLinear){ROWS,  UNKNOWNS, p->jacobian, p->residual, p->weight,
                             p->x0, p->prior, p->sigma,    p->low,      p->high};
}

static void assert_near(double found, double wanted, double tolerance)
{
    if (!(fabs(found - wanted) <= tolerance))
        fail_msg("found %g, wanted %g", found, wanted);
}

static void test_exact(void **state)
{
    (void)state;
    Problem p;
    PublishedLinear problem = problem_fill(&p);
    double x[UNKNOWNS], error[UNKNOWNS];
    published_solve(&problem, x, error);
    for (guint j = 0; j < UNKNOWNS; j++)
        assert_near(x[j], TRUTH[j], 1e-3);
    assert_true(error[0] < 0.02);
    assert_near(error[2], 1, 1e-9); // nobody but the prior knows it
}

static void test_outliers(void **state)
{
    (void)state;
    Problem p;
    PublishedLinear problem = problem_fill(&p);
    for (guint i = 0; i < ROWS; i += 6)
        p.residual[i] += 0.5;
    double x[UNKNOWNS];
    published_solve(&problem, x, NULL);
    assert_near(x[0], TRUTH[0], 0.01);
    assert_near(x[1], TRUTH[1], 0.01);
    for (guint i = 0; i < ROWS; i += 6)
        p.weight[i] = 0; // left out
    published_solve(&problem, x, NULL);
    assert_near(x[0], TRUTH[0], 1e-3);
}

static void test_limits(void **state)
{
    (void)state;
    Problem p;
    PublishedLinear problem = problem_fill(&p);
    p.high[0] = 0.04;
    double x[UNKNOWNS];
    published_solve(&problem, x, NULL);
    assert_near(x[0], 0.04, 1e-12);
    // A narrow prior wins over the rows.
    p.high[0] = 1;
    p.sigma[0] = 1e-6;
    published_solve(&problem, x, NULL);
    assert_near(x[0], 0, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_outliers),
                                       cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
