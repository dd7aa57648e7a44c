// tests/test-sim-share.c: max-min shares: by hand, and what makes them max-min, of random flows.
#include "tests/check.h"

#include "base/hash.h"
#include "sim/share.h"

enum { ONE = SIM_SHARE_ONE };

static void test_by_hand(void **state)
{
    (void)state;
    double work[8];
    const SimUse all = {0, ONE}, half = {0, ONE / 2}, most = {0, ONE / 4 * 3}, other = {1, ONE};
    SimShare alone[] = {{.uses = &all, .n_uses = 1}};
    sim_share(alone, 1, work, 1);
    assert_int_equal(alone[0].rate, ONE);
    SimShare equal[] = {
        {.uses = &all, .n_uses = 1}, {.uses = &all, .n_uses = 1}, {.uses = &other, .n_uses = 1}};
    sim_share(equal, 3, work, 2);
    assert_int_equal(equal[0].rate, ONE / 2);
    assert_int_equal(equal[1].rate, ONE / 2);
    assert_int_equal(equal[2].rate, ONE); // elsewhere
    // Half a link each: who wants no more has its full rate, who wants three quarters has two thirds of it.
    SimShare unequal[] = {{.uses = &half, .n_uses = 1}, {.uses = &most, .n_uses = 1}, {.n_uses = 0}};
    sim_share(unequal, 3, work, 1);
    assert_int_equal(unequal[0].rate, ONE);
    assert_true(ABS((gint)unequal[1].rate - ONE / 3 * 2) <= 2);
    assert_int_equal(unequal[2].rate, ONE);         // wants nothing
    const SimUse both[] = {{0, ONE / 2}, {1, ONE}}; // what others leave of one link frees the other
    SimShare chain[] = {
        {.uses = both, .n_uses = 2}, {.uses = &all, .n_uses = 1}, {.uses = &other, .n_uses = 1}};
    sim_share(chain, 3, work, 2);
    assert_int_equal(chain[0].rate, ONE / 2);
    assert_true(ABS((gint)chain[1].rate - ONE / 4 * 3) <= 2);
    assert_int_equal(chain[2].rate, ONE / 2);
}

enum { FLOWS = 8, RESOURCES = 6, USES = 4 };

typedef struct {
    SimUse uses[FLOWS][USES];
    SimShare flows[FLOWS];
    guint32 n;
} Drawn;

static void draw(Drawn *drawn, guint64 seed)
{
    guint64 at = 0;
    *drawn = (Drawn){.n = 1 + (guint32)(hash_random(seed, at++) % FLOWS)};
    for (guint32 f = 0; f < drawn->n; f++) {
        SimShare *flow = &drawn->flows[f];
        flow->uses = drawn->uses[f];
        for (guint32 r = 0; r < RESOURCES && flow->n_uses < USES; r++)
            if (hash_random(seed, at++) % 3 == 0)
                drawn->uses[f][flow->n_uses++] = (SimUse){r, 1 + (guint32)(hash_random(seed, at++) % ONE)};
    }
}

static double taken(const Drawn *drawn, guint32 resource)
{
    double sum = 0;
    for (guint32 f = 0; f < drawn->n; f++)
        for (guint32 i = 0; i < drawn->flows[f].n_uses; i++)
            if (drawn->uses[f][i].resource == resource)
                sum += (double)drawn->flows[f].rate / ONE * drawn->uses[f][i].share / ONE;
    return sum;
}

static double level(const SimShare *flow)
{
    return (double)flow->rate / ONE * flow->weight / ONE;
}

// Whether a flow has a full resource on which nobody takes more of its own bottleneck.
static gboolean is_held(const Drawn *drawn, guint32 f)
{
    for (guint32 i = 0; i < drawn->flows[f].n_uses; i++) {
        guint32 r = drawn->uses[f][i].resource;
        gboolean most = taken(drawn, r) > 1 - 1e-4;
        for (guint32 g = 0; g < drawn->n; g++)
            for (guint32 k = 0; k < drawn->flows[g].n_uses; k++)
                if (drawn->uses[g][k].resource == r &&
                    level(&drawn->flows[g]) > level(&drawn->flows[f]) + 1e-5)
                    most = FALSE;
        if (most)
            return TRUE;
    }
    return FALSE;
}

static void test_random(void **state)
{
    (void)state;
    double work[2 * RESOURCES];
    guint slowed = 0;
    for (guint64 seed = 0; seed < 3000; seed++) {
        Drawn drawn;
        draw(&drawn, seed);
        for (guint i = 0; i < G_N_ELEMENTS(work); i++)
            work[i] = 1e9; // what stands in the scratch space does not matter
        sim_share(drawn.flows, drawn.n, work, RESOURCES);
        for (guint32 r = 0; r < RESOURCES; r++)
            if (taken(&drawn, r) > 1 + 1e-5)
                fail_msg("case %" G_GUINT64_FORMAT ": resource %u carries %g", seed, r, taken(&drawn, r));
        for (guint32 f = 0; f < drawn.n; f++) {
            slowed += drawn.flows[f].rate < ONE;
            if (drawn.flows[f].rate < ONE && !is_held(&drawn, f))
                fail_msg("case %" G_GUINT64_FORMAT ": flow %u has room", seed, f);
        }
    }
    assert_true(slowed > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
