// validation/reports.c: tables of published answers, read and answered.
#include "validation/reports.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/ini.h"
#include "base/library.h"
#include "validation/ask.h"

static void validation_reports_free_figure(gpointer data)
{
    ValidationFigure *figure = data;
    char *const texts[] = {figure->name,    figure->what,          figure->ask,           figure->key,
                           figure->less,    figure->over,          figure->over_key,      figure->over_less,
                           figure->refusal, figure->relation_text, figure->published_text};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(figure);
}

static void validation_reports_free_report(gpointer data)
{
    ValidationReport *report = data;
    char *const texts[] = {report->number, report->title, report->source, report->question, report->answer};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_ptr_array_unref(report->figures);
    g_free(report);
}

// A table being read, and what has been asked: words -> GArray of ValidationAnswer.
typedef struct {
    Ini *ini;            // owned
    GPtrArray *reports;  // of ValidationReport *; owned
    GHashTable *answers; // owned
} Reading;

static void reading_clear(Reading *at)
{
    ini_free(at->ini);
    g_clear_pointer(&at->reports, g_ptr_array_unref);
    g_hash_table_unref(at->answers);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reading, reading_clear)

static ValidationReport *reading_find(const Reading *at, const char *number)
{
    for (guint i = 0; i < at->reports->len; i++) {
        ValidationReport *report = at->reports->pdata[i];
        if (strcmp(report->number, number) == 0)
            return report;
    }
    return NULL;
}

// A value of an ask; where names the key that holds it.
static gboolean reading_answer(Reading *at, const char *where, const char *words, const char *key,
                               ValidationAnswer *answer, GError **error)
{
    GArray *answers = g_hash_table_lookup(at->answers, words);
    if (answers == NULL) {
        g_autoptr(GError) local = NULL;
        answers = validation_ask(words, &local);
        if (answers == NULL)
            return base_error_set(error, BASE_ERROR_FAILED, where, "%s", local->message);
        g_hash_table_insert(at->answers, g_strdup(words), answers);
    }
    g_autoptr(GString) known = g_string_new(NULL);
    for (guint i = 0; i < answers->len; i++) {
        *answer = g_array_index(answers, ValidationAnswer, i);
        if (strcmp(answer->key, key) == 0)
            return TRUE;
        g_string_append_printf(known, "%s%s", i == 0 ? "" : ", ", answer->key);
    }
    g_autofree char *quoted = base_error_quote(key);
    return base_error_set(error, BASE_ERROR_FAILED, where, "found key '%s', wanted one of: %s", quoted,
                          known->str);
}

// An answer less another one's; less may be NULL.
static gboolean reading_value(Reading *at, const char *where, const char *words, const char *key,
                              const char *less, ValidationAnswer *answer, GError **error)
{
    ValidationAnswer off = {0};
    if (!reading_answer(at, where, words, key, answer, error))
        return FALSE;
    if (less != NULL && !reading_answer(at, where, less, key, &off, error))
        return FALSE;
    answer->value -= off.value;
    return TRUE;
}

static gboolean reading_ours(Reading *at, const char *section, ValidationFigure *figure, GError **error)
{
    ValidationAnswer own = {0}, under = {0};
    g_autofree char *where = ini_where(at->ini, section, "ask");
    g_autofree char *over = ini_where(at->ini, section, "over");
    if (!reading_value(at, where, figure->ask, figure->key, figure->less, &own, error))
        return FALSE;
    figure->kind = own.kind;
    figure->ours = own.value;
    if (figure->over == NULL)
        return TRUE;
    const char *key = figure->over_key != NULL ? figure->over_key : figure->key;
    if (!reading_value(at, over, figure->over, key, figure->over_less, &under, error))
        return FALSE;
    if (!(fabs(under.value) > 0))
        return base_error_set(error, BASE_ERROR_FAILED, over,
                              "found an answer of 0, wanted another to divide by");
    figure->kind = UNITS_NUMBER;
    figure->ours = own.value / under.value;
    return TRUE;
}

// The ask is to be an error that says so.
static void reading_refused(ValidationFigure *figure)
{
    g_autoptr(GError) local = NULL;
    g_autoptr(GArray) answers = validation_ask(figure->ask, &local);
    figure->ours = figure->published = (double)NAN;
    if (answers != NULL)
        return;
    figure->refusal = g_strdup(local->message);
    figure->agrees = strstr(local->message, figure->published_text) != NULL;
}

static const char *const RELATIONS[] = {"within ", "equal", "at least ", "at most ", "refused"};

// What stands behind a relation's words. Borrowed.
static const char *reading_behind(const ValidationFigure *figure)
{
    return figure->relation_text + strlen(RELATIONS[figure->relation]);
}

static gboolean reading_relation(const Reading *at, const char *section, ValidationFigure *figure,
                                 GError **error)
{
    const char *text = figure->relation_text;
    for (guint i = 0; i < G_N_ELEMENTS(RELATIONS); i++) {
        gboolean more = g_str_has_suffix(RELATIONS[i], " ");
        if (more ? !g_str_has_prefix(text, RELATIONS[i]) : strcmp(text, RELATIONS[i]) != 0)
            continue;
        figure->relation = (ValidationRelation)i;
        g_autofree char *where = ini_where(at->ini, section, "relation");
        return figure->relation != VALIDATION_WITHIN ||
               units_parse(UNITS_FRACTION, reading_behind(figure), where, &figure->tolerance, error);
    }
    g_autofree char *quoted = base_error_quote(text);
    return ini_refuse(at->ini, section, "relation", error,
                      "found '%s', wanted 'within 5 %%', equal, 'at least 2', 'at most 2' or refused",
                      quoted);
}

static gboolean reading_is_bound(const ValidationFigure *figure)
{
    return figure->relation == VALIDATION_AT_LEAST || figure->relation == VALIDATION_AT_MOST;
}

// Reads the published figure and the bound, whose kind is known now, and compares.
static gboolean reading_judge(const Reading *at, const char *section, ValidationFigure *figure,
                              GError **error)
{
    g_autofree char *published = ini_where(at->ini, section, "published");
    g_autofree char *relation = ini_where(at->ini, section, "relation");
    figure->published = (double)NAN;
    if ((figure->published_text != NULL &&
         !units_parse(figure->kind, figure->published_text, published, &figure->published, error)) ||
        (reading_is_bound(figure) &&
         !units_parse(figure->kind, reading_behind(figure), relation, &figure->bound, error)))
        return FALSE;
    double off = fabs(figure->ours - figure->published);
    if (figure->relation == VALIDATION_AT_LEAST)
        figure->agrees = figure->ours >= figure->bound;
    else if (figure->relation == VALIDATION_AT_MOST)
        figure->agrees = figure->ours <= figure->bound;
    else
        figure->agrees =
            off <= (figure->relation == VALIDATION_EQUAL ? 1e-9 : figure->tolerance) * figure->published;
    return TRUE;
}

static gboolean reading_text(Reading *at, const char *section, const char *key, IniNeed need, char **text,
                             GError **error)
{
    if (!ini_get_text(at->ini, section, key, need, text, error))
        return FALSE;
    if (*text != NULL && **text == '\0')
        return ini_refuse(at->ini, section, key, error, "found nothing, wanted a value");
    return TRUE;
}

static gboolean reading_figure(Reading *at, const char *section, const char *only, GError **error)
{
    g_auto(GStrv) words = g_strsplit(section, " ", 3);
    ValidationReport *report = g_strv_length(words) == 3 ? reading_find(at, words[1]) : NULL;
    if (report == NULL)
        return base_error_set(error, BASE_ERROR_FAILED, ini_name(at->ini),
                              "found section [%s], wanted [figure N NAME] behind its [report N]", section);
    ValidationFigure *figure = g_new0(ValidationFigure, 1);
    g_ptr_array_add(report->figures, figure);
    figure->name = g_strdup(words[2]);
    const struct {
        const char *key;
        IniNeed need;
        char **text;
    } texts[] = {{"what", INI_REQUIRED, &figure->what},
                 {"ask", INI_REQUIRED, &figure->ask},
                 {"relation", INI_REQUIRED, &figure->relation_text},
                 {"published", INI_OPTIONAL, &figure->published_text},
                 {"key", INI_OPTIONAL, &figure->key},
                 {"less", INI_OPTIONAL, &figure->less},
                 {"over", INI_OPTIONAL, &figure->over},
                 {"over_key", INI_OPTIONAL, &figure->over_key},
                 {"over_less", INI_OPTIONAL, &figure->over_less}};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        if (!reading_text(at, section, texts[i].key, texts[i].need, texts[i].text, error))
            return FALSE;
    if (!reading_relation(at, section, figure, error))
        return FALSE;
    if ((figure->key == NULL) != (figure->relation == VALIDATION_REFUSED))
        return ini_refuse(at->ini, section, "key", error, "found %s, wanted a key, and none where refused",
                          figure->key == NULL ? "none" : "one");
    if (figure->published_text == NULL && !reading_is_bound(figure))
        return ini_refuse(at->ini, section, "published", error,
                          "missing, wanted a figure, which only 'at least' and 'at most' do without");
    if (only != NULL && strcmp(only, report->number) != 0)
        return TRUE;
    if (figure->relation == VALIDATION_REFUSED) {
        reading_refused(figure);
        return TRUE;
    }
    return reading_ours(at, section, figure, error) && reading_judge(at, section, figure, error);
}

static gboolean reading_report(Reading *at, const char *section, GError **error)
{
    const char *number = section + strlen("report ");
    if (reading_find(at, number) != NULL)
        return base_error_set(error, BASE_ERROR_FAILED, ini_name(at->ini), "found section [%s] twice",
                              section);
    ValidationReport *report = g_new0(ValidationReport, 1);
    report->number = g_strdup(number);
    report->figures = g_ptr_array_new_with_free_func(validation_reports_free_figure);
    g_ptr_array_add(at->reports, report);
    return reading_text(at, section, "title", INI_REQUIRED, &report->title, error) &&
           reading_text(at, section, "source", INI_REQUIRED, &report->source, error) &&
           reading_text(at, section, "question", INI_REQUIRED, &report->question, error) &&
           reading_text(at, section, "answer", INI_REQUIRED, &report->answer, error);
}

// Every section once, in the order of the lines.
static gboolean reading_all(Reading *at, const char *only, GError **error)
{
    const char *section = NULL, *key = NULL, *value = NULL;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; ini_peek(at->ini, i, &section, &key, &value); i++) {
        if (!g_hash_table_add(seen, g_strdup(section)))
            continue;
        if (g_str_has_prefix(section, "report ")   ? !reading_report(at, section, error)
            : g_str_has_prefix(section, "figure ") ? !reading_figure(at, section, only, error)
                                                   : FALSE) // ini_finish names the others
            return FALSE;
    }
    return ini_finish(at->ini, error);
}

GPtrArray *validation_reports_run_text(const char *name, const char *text, gsize length, const char *only,
                                       GError **error)
{
    g_auto(Reading) at = {
        .ini = ini_read_text(name, text, length, error),
        .reports = g_ptr_array_new_with_free_func(validation_reports_free_report),
        .answers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref)};
    if (at.ini == NULL || !reading_all(&at, only, error))
        return NULL;
    for (guint i = at.reports->len; i-- > 0;) {
        const ValidationReport *report = at.reports->pdata[i];
        if (report->figures->len == 0) {
            base_error_set(error, BASE_ERROR_FAILED, name,
                           "found no figure of report %s, wanted one at least", report->number);
            return NULL;
        }
        if (only != NULL && strcmp(only, report->number) != 0)
            g_ptr_array_remove_index(at.reports, i);
    }
    if (at.reports->len == 0) {
        g_autofree char *quoted = base_error_quote(only != NULL ? only : "");
        base_error_set(error, BASE_ERROR_USAGE, "--report", "found no report '%s'", quoted);
        return NULL;
    }
    return g_steal_pointer(&at.reports);
}

GPtrArray *validation_reports_run(const char *path, const char *only, GError **error)
{
    g_autoptr(GBytes) bytes = library_find(path);
    g_assert(bytes != NULL);
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    return validation_reports_run_text(path, text, length, only, error);
}

char *validation_reports_format(UnitsKind kind, double value)
{
    if (isnan(value))
        return g_strdup("-");
    switch (kind) {
    case UNITS_TIME:
        return units_format_seconds(value);
    case UNITS_BYTES:
        return units_format_bytes(value);
    case UNITS_RATE:
        return units_format_rate(value);
    case UNITS_FLOPS:
        return units_format_flops(value);
    case UNITS_FRACTION:
        return g_strdup_printf("%.1f %%", 100 * value);
    case UNITS_COUNT:
    case UNITS_NUMBER:
        return fabs(value) >= 1e4 ? g_strdup_printf("%.0f", value) : g_strdup_printf("%.4g", value);
    }
    g_assert_not_reached();
}
