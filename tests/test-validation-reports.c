// tests/test-validation-reports.c: tables of published answers: verdicts, and tables and asks that are wrong.
#include "tests/check.h"

#include "validation/ask.h"
#include "validation/reports.h"

#define HEAD   "[report 7]\ntitle = t\nsource = s\nquestion = q\nanswer = a\n[figure 7 one]\nwhat = w\n"
#define STATES "ask = memory validation/reports/059-bytes-a-parameter.ini\nkey = model_states_bytes\n"
#define OVER   "over = memory validation/reports/059-bytes-a-parameter.ini\nover_key = parameters\n"

static GPtrArray *run(const char *text, GError **error)
{
    return validation_reports_run_text("t.ini", text, strlen(text), NULL, error);
}

// The answer is 18: every relation, on either side of it.
static void test_verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        gboolean agrees;
    } cases[] = {
        {"published = 18\nrelation = equal", TRUE},
        {"published = 18.001\nrelation = equal", FALSE},
        {"published = 19\nrelation = within 6 %", TRUE},
        {"published = 17\nrelation = within 6 %", TRUE},
        {"published = 19\nrelation = within 5 %", FALSE},
        {"published = 17\nrelation = within 5 %", FALSE},
        {"relation = at least 17", TRUE},
        {"relation = at most 17", FALSE},
        {"published = 1\nrelation = at least 18", TRUE},
        {"published = 1\nrelation = at least 18.1", FALSE},
        {"published = 99\nrelation = at most 18", TRUE},
        {"published = 99\nrelation = at most 17.9", FALSE},
    };
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = g_strconcat(HEAD STATES OVER, cases[c].words, "\n", NULL);
        g_autoptr(GPtrArray) reports = run(text, &error);
        check_fine(error);
        const ValidationReport *report = reports->pdata[0];
        const ValidationFigure *figure = report->figures->pdata[0];
        assert_true(figure->kind == UNITS_NUMBER && figure->ours > 17.9999 && figure->ours < 18.0001);
        assert_int_equal(figure->agrees, cases[c].agrees);
    }
}

static void test_less(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) reports =
        run(HEAD STATES "less = memory validation/reports/059-bytes-a-parameter.ini --set job.zero=1\n"
                        "published = 79.607 GB\nrelation = within 0.1 %\n",
            &error);
    check_fine(error);
    const ValidationFigure *figure = ((ValidationReport *)reports->pdata[0])->figures->pdata[0];
    assert_true(figure->kind == UNITS_BYTES && figure->agrees); // (18 - 6 - 12/64) x 6,738,415,616
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *published;
        gboolean agrees;
    } cases[] = {{"of their peak", TRUE}, {"something else", FALSE}};
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = g_strdup_printf(
            HEAD
            "ask = calc --model gpt2 --gpus 1 --measured-per-gpu 1e9\npublished = %s\nrelation = refused\n",
            cases[c].published);
        g_autoptr(GPtrArray) reports = run(text, &error);
        check_fine(error);
        const ValidationFigure *figure = ((ValidationReport *)reports->pdata[0])->figures->pdata[0];
        assert_non_null(figure->refusal);
        assert_int_equal(figure->agrees, cases[c].agrees);
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) reports = run(HEAD "ask = calc --model gpt2 --gpus 1 --measured-per-gpu 1\n"
                                            "published = peak\nrelation = refused\n",
                                       &error);
    check_fine(error);
    const ValidationFigure *figure = ((ValidationReport *)reports->pdata[0])->figures->pdata[0];
    assert_true(figure->refusal == NULL && !figure->agrees);
}

static void test_wrong_tables(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "found no report"},
        {"[report 7]\ntitle = t\nsource = s\nquestion = q\nanswer = a\n",
         "t.ini: found no figure of report 7"},
        {"[report 7]\ntitle = t\nsource = s\nquestion = q\n", "t.ini: report 7.answer: missing"},
        {"[figure 7 one]\nwhat = w\n", "found section [figure 7 one], wanted [figure N NAME] behind its"},
        {HEAD STATES OVER "relation = equal\n", "figure 7 one.published: missing, wanted a figure"},
        {HEAD STATES OVER "published = 18\nrelation = near\n", "figure 7 one.relation: found 'near', wanted"},
        {HEAD STATES OVER "published = 18\nrelation = within 5\n", "figure 7 one.relation: "},
        {HEAD STATES OVER "published = 18 s\nrelation = equal\n", "figure 7 one.published: "},
        {HEAD STATES "published = 18\nrelation = equal\n", "figure 7 one.published: found '18' (no unit)"},
        {HEAD STATES OVER "published = 18\nrelation = equal\nrealtion = x\n", "realtion: unknown key"},
        {HEAD "ask = memory nowhere\nkey = k\npublished = 1\nrelation = equal\n", "figure 7 one.ask: "},
        {HEAD "ask = memory validation/reports/059-bytes-a-parameter.ini\nkey = bytes\npublished = 1\n"
              "relation = equal\n",
         "figure 7 one.ask: found key 'bytes', wanted one of: parameters, model_states_bytes"},
        {HEAD STATES "published = 1 B\nrelation = refused\n", "figure 7 one.key: found one, wanted"},
        {HEAD STATES OVER "published = 18\nrelation = equal\n[things]\na = b\n", "things"},
    };
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(GError) error = NULL;
        if (run(cases[c].text, &error) != NULL)
            fail_msg("accepted: %s", cases[c].text);
        check_says(error, cases[c].says);
    }
    g_autoptr(GError) error = NULL;
    assert_null(validation_reports_run("validation/reports/reports.ini", "3", &error));
    check_says(error, "--report: found no report '3'");
}

static void test_wrong_asks(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says;
    } cases[] = {
        {"walk x", "found 'walk', wanted one of: run, memory, collective, calc, validate"},
        {"run 'x", "found words that a shell would refuse"},
        {"run x --jsno", "found '--jsno', wanted an option"},
        {"run x --set", "--set: found nothing behind it"},
        {"run x y", "found 'y', wanted an option"},
        {"run --model gpt2", "machine.use: missing"},
        {"collective --machine dgx-h100", "found no size"},
        {"collective --size '1 MB'", "found no machine"},
        {"collective --machine dgx-h100 --size 5", "--size: found '5' (no unit)"},
        {"collective --machine dgx-h100 --size '1 MB' --ranks 0", "--ranks: found 0"},
        {"collective --machine dgx-h100 --size '1 MB' --op x", "--op: "},
        {"collective --machine dgx-h100 --size '1 MB' --protocol x", "--protocol: found 'x', wanted ll"},
        {"validate", "validate: found '', wanted buckets"},
        {"validate layers", "validate: found 'layers', wanted buckets"},
        {"calc --model gpt2", "found no measurement"},
        {"calc --measured-per-gpu 5", "found no model"},
    };
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(GError) error = NULL;
        if (validation_ask(cases[c].words, &error) != NULL)
            fail_msg("answered: %s", cases[c].words);
        check_says(error, cases[c].says);
    }
}

// Megatron-LM's formula: 2 (p - r - 1) + (v - 1) p, while there are micro-batches for it.
static void test_warm_up(void **state)
{
    (void)state;
    for (guint p = 2; p <= 8; p *= 2) {
        for (guint v = 1; v <= 4; v++) {
            g_autoptr(GError) error = NULL;
            g_autofree char *words = g_strdup_printf(
                "run validation/reports/069-warm-up.ini --schedule --set machine.gpus=8 --set job.pp=%u "
                "--set job.dp=%u --set job.chunks=%u --set job.schedule=%s --set job.batch=256",
                p, 8 / p, v, v == 1 ? "1f1b" : "interleaved");
            g_autoptr(GArray) answers = validation_ask(words, &error);
            check_fine(error);
            assert_int_equal(answers->len, p);
            for (guint r = 0; r < p; r++) {
                guint wanted = v == 1 ? p - r - 1 : 2 * (p - r - 1) + (v - 1) * p;
                assert_int_equal((guint)g_array_index(answers, ValidationAnswer, r).value, wanted);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),   cmocka_unit_test(test_less),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_wrong_tables),
        cmocka_unit_test(test_wrong_asks), cmocka_unit_test(test_warm_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
