// cli/validate-reports.c: stepline validate reports and layers: questions whose answers are published, and
// ours beside them.
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/options.h"
#include "cli/validate-verb.h"
#include "validation/reports.h"

// Simulated over published, less 1; NAN where that says nothing.
static double reports_error(const ValidationFigure *figure)
{
    return figure->relation != VALIDATION_REFUSED && figure->published > 0
               ? figure->ours / figure->published - 1
               : (double)NAN;
}

static void reports_set_number(JsonObject *object, const char *key, double value)
{
    if (isnan(value))
        json_object_set_null_member(object, key);
    else
        json_object_set_double_member(object, key, value);
}

static void reports_set_text(JsonObject *object, const char *key, const char *value)
{
    if (value == NULL)
        json_object_set_null_member(object, key);
    else
        json_object_set_string_member(object, key, value);
}

static void reports_print_json(const GPtrArray *reports)
{
    JsonArray *array = json_array_new();
    for (guint i = 0; i < reports->len; i++) {
        const ValidationReport *report = reports->pdata[i];
        for (guint j = 0; j < report->figures->len; j++) {
            const ValidationFigure *figure = report->figures->pdata[j];
            JsonObject *object = json_object_new();
            json_object_set_string_member(object, "report", report->number);
            json_object_set_string_member(object, "source", report->source);
            json_object_set_string_member(object, "figure", figure->name);
            json_object_set_string_member(object, "what", figure->what);
            json_object_set_string_member(object, "ask", figure->ask);
            reports_set_text(object, "key", figure->key);
            reports_set_text(object, "less", figure->less);
            reports_set_text(object, "over", figure->over);
            reports_set_text(object, "over_key", figure->over_key);
            reports_set_text(object, "over_less", figure->over_less);
            reports_set_number(object, "published", figure->published);
            reports_set_number(object, "simulated", figure->ours);
            reports_set_number(object, "error", reports_error(figure));
            json_object_set_string_member(object, "relation", figure->relation_text);
            json_object_set_boolean_member(object, "agrees", figure->agrees);
            json_array_add_object_element(array, object);
        }
    }
    JsonObject *all = json_object_new();
    json_object_set_array_member(all, "rows", array);
    options_print_json_object(all);
}

static void reports_print_figure(const ValidationFigure *figure)
{
    g_autofree char *ours = figure->relation == VALIDATION_REFUSED
                                ? g_strdup(figure->refusal != NULL ? "refused" : "answered")
                                : validation_reports_format(figure->kind, figure->ours);
    const char *theirs = isnan(figure->published) ? "-" : figure->published_text;
    double error = reports_error(figure);
    g_autofree char *off = isnan(error) ? g_strdup("") : g_strdup_printf("%+.1f %%", 100 * error);
    printf("  %-58s%12s%13s%9s  %-19s%s\n", figure->what, ours, theirs, off, figure->relation_text,
           figure->agrees ? "agrees" : "DISAGREES");
}

static void reports_print(const GPtrArray *reports, gboolean words, guint figures, guint wrong)
{
    printf("%-60s%12s%13s%9s  %s\n", "", "ours", "published", "error", "wanted");
    for (guint i = 0; i < reports->len; i++) {
        const ValidationReport *report = reports->pdata[i];
        printf("%s: %s (%s)\n", report->number, report->title, report->source);
        if (words)
            printf("  asked     %s\n  known     %s\n", report->question, report->answer);
        for (guint j = 0; j < report->figures->len; j++) {
            const ValidationFigure *figure = report->figures->pdata[j];
            reports_print_figure(figure);
            if (words)
                printf("            stepline %s\n", figure->ask);
            if (words && figure->less != NULL)
                printf("    less    stepline %s\n", figure->less);
            if (words && figure->over != NULL)
                printf("    over    stepline %s\n", figure->over);
            if (words && figure->over_less != NULL)
                printf("      less  stepline %s\n", figure->over_less);
        }
    }
    printf("%u of %u figures agree\n", figures - wrong, figures);
}

static int reports_run_table(const char *path, const ValidateArguments *arguments, GError **error)
{
    g_autoptr(GPtrArray) reports = validation_reports_run(path, arguments->report, error);
    if (reports == NULL)
        return BASE_ERROR_FAILED;
    guint figures = 0, wrong = 0;
    for (guint i = 0; i < reports->len; i++) {
        const ValidationReport *report = reports->pdata[i];
        figures += report->figures->len;
        for (guint j = 0; j < report->figures->len; j++)
            wrong += !((const ValidationFigure *)report->figures->pdata[j])->agrees;
    }
    if (arguments->json)
        reports_print_json(reports);
    else
        reports_print(reports, arguments->rows || arguments->report != NULL, figures, wrong);
    return wrong == 0 ? 0 : BASE_ERROR_INFEASIBLE;
}

static int reports_run(const ValidateArguments *arguments, GError **error)
{
    return reports_run_table("validation/reports/reports.ini", arguments, error);
}

static int layers_run(const ValidateArguments *arguments, GError **error)
{
    return reports_run_table("validation/data/layers.ini", arguments, error);
}

static const char *const REPORTS_TAKES[] = {"--report", "--rows", NULL};
static const char *const LAYERS_TAKES[] = {"--rows", NULL};

const ValidateVerb VALIDATE_VERB_REPORTS = {
    .name = "reports",
    .usage = "[--report N] [--rows] [--json]",
    .takes = REPORTS_TAKES,
    .run = reports_run,
};

const ValidateVerb VALIDATE_VERB_LAYERS = {
    .name = "layers",
    .usage = "[--rows] [--json]",
    .takes = LAYERS_TAKES,
    .run = layers_run,
};
