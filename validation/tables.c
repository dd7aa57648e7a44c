// validation/tables.c: reads the printed figures, finds what computes each, and compares.
#include "validation/tables.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/library.h"
#include "base/suggest.h"
#include "base/units.h"
#include "validation/figures.h"
#include "validation/simulated.h"

const char *const VALIDATION_TABLES_DOCUMENTS[] = {"primer", "deck", NULL};

// The units in which figures are printed, and how many there are in the SI unit.
static const struct {
    const char *name;
    double per_si;
} UNITS[] = {
    {"s", 1},   {"ms", 1e3},      {"B", 1},           {"GB", 1e-9}, {"GiB", 1.0 / 1073741824.0},
    {"%", 100}, {"TFLOP", 1e-12}, {"TFLOP/s", 1e-12}, {"bool", 1},
};

static const char *const UNIT_NAMES[] = {"s", "ms", "B", "GB", "GiB", "%", "TFLOP", "TFLOP/s", "bool", NULL};

enum { TABLE, CASE, QUANTITY, VALUE, UNIT, DIGITS, COLUMNS };
static const char *const COLUMN_NAMES[COLUMNS] = {"table", "case", "quantity", "value", "unit", "digits"};

// One document being worked through.
typedef struct {
    const char *document;
    const Csv *csv;
    guint columns[COLUMNS];
    ValidationSimulated *simulated;
    GArray *used; // of gboolean, by figure
    GPtrArray *rows;
} Reading;

static void validation_tables_row_free(gpointer data)
{
    ValidationTablesRow *row = data;
    g_free(row->document);
    g_free(row->table);
    g_free(row->case_name);
    g_free(row->quantity);
    g_free(row->unit);
    g_free(row->printed);
    g_free(row->note);
    g_free(row);
}

static gboolean validation_tables_refuse(const Reading *reading, guint row, guint column, GError **error,
                                         const char *format, const char *found, const char *hint)
{
    g_autofree char *where = csv_where(reading->csv, row, reading->columns[column]);
    g_autofree char *quoted = base_error_quote(found);
    g_autofree char *start = g_strdup_printf("found '%s', ", quoted);
    return base_error_set(error, BASE_ERROR_FAILED, where, "%s%s%s", start, format, hint);
}

static const char *validation_tables_field(const Reading *reading, guint row, guint column)
{
    return csv_get(reading->csv, row)->fields[reading->columns[column]];
}

// value as a whole number of its last printed digits, rounded half away from zero. A decimal such as 0.285 is
// not a binary fraction: what lies within the error of the product counts as the half that was meant.
static gboolean validation_tables_round(double value, guint digits, gint64 *out)
{
    double scaled = fabs(value);
    for (guint i = 0; i < digits; i++)
        scaled *= 10;
    if (!(scaled < 1e15))
        return FALSE;
    gint64 whole = (gint64)floor(scaled * (1 + 1e-14) + 0.5);
    *out = value < 0 ? -whole : whole;
    return TRUE;
}

static gboolean validation_tables_agrees(double value, guint digits, gint64 printed)
{
    gint64 rounded = 0;
    return validation_tables_round(value, digits, &rounded) && rounded == printed;
}

// Reads "-12.50" with exactly digits digits behind the point, as a whole number of the last of them.
static gboolean validation_tables_read_printed(const char *text, guint digits, gint64 *out)
{
    gboolean negative = *text == '-';
    text += negative;
    const char *point = strchr(text, '.');
    gsize length = strlen(text);
    gsize behind = point == NULL ? 0 : strlen(point + 1);
    if (length == 0 || length > 15 || text == point || behind != digits || (point != NULL && digits == 0))
        return FALSE;
    gint64 whole = 0;
    for (; *text != '\0'; text++) {
        if (text == point)
            continue;
        if (!g_ascii_isdigit(*text))
            return FALSE;
        whole = whole * 10 + (*text - '0');
    }
    *out = negative ? -whole : whole;
    return TRUE;
}

// The figure that computes a row; NULL with an error.
static const ValidationFigure *validation_tables_find(Reading *reading, guint row, GError **error)
{
    guint n = 0;
    const ValidationFigure *figures = validation_figures(&n);
    const char *table = validation_tables_field(reading, row, TABLE);
    const char *case_name = validation_tables_field(reading, row, CASE);
    const char *quantity = validation_tables_field(reading, row, QUANTITY);
    for (guint i = 0; i < n; i++) {
        const ValidationFigure *figure = &figures[i];
        if (strcmp(figure->document, reading->document) == 0 && strcmp(figure->table, table) == 0 &&
            strcmp(figure->quantity, quantity) == 0 && g_pattern_match_simple(figure->pattern, case_name)) {
            g_array_index(reading->used, gboolean, i) = TRUE;
            return figure;
        }
    }
    g_autofree char *whole = g_strdup_printf("%s, %s, %s", table, case_name, quantity);
    validation_tables_refuse(reading, row, QUANTITY, error, "wanted a figure that the program computes",
                             whole, "");
    return NULL;
}

static gboolean validation_tables_check_new(const Reading *reading, guint row, GError **error)
{
    for (guint i = 0; i < row; i++) {
        gboolean same = TRUE;
        for (guint column = TABLE; same && column <= QUANTITY; column++)
            same = strcmp(validation_tables_field(reading, i, column),
                          validation_tables_field(reading, row, column)) == 0;
        if (same)
            return validation_tables_refuse(reading, row, QUANTITY, error,
                                            "wanted each table, case and quantity once",
                                            validation_tables_field(reading, row, QUANTITY), "");
    }
    return TRUE;
}

static gboolean validation_tables_add(Reading *reading, guint row, GError **error)
{
    const char *case_name = validation_tables_field(reading, row, CASE);
    const char *unit = validation_tables_field(reading, row, UNIT);
    const char *printed = validation_tables_field(reading, row, VALUE);
    const char *digits_text = validation_tables_field(reading, row, DIGITS);
    guint at = 0;
    while (at < G_N_ELEMENTS(UNITS) && strcmp(UNITS[at].name, unit) != 0)
        at++;
    if (at == G_N_ELEMENTS(UNITS)) {
        g_autofree char *hint = suggest_hint(unit, UNIT_NAMES);
        return validation_tables_refuse(reading, row, UNIT, error, "wanted a unit of the documents", unit,
                                        hint);
    }
    if (!g_ascii_isdigit(digits_text[0]) || digits_text[1] != '\0')
        return validation_tables_refuse(reading, row, DIGITS, error,
                                        "wanted the number of digits behind the point, 0 to 9", digits_text,
                                        "");
    guint digits = (guint)g_ascii_digit_value(digits_text[0]);
    gint64 wanted = 0;
    if (!validation_tables_read_printed(printed, digits, &wanted))
        return validation_tables_refuse(
            reading, row, VALUE, error,
            "wanted a number with as many digits behind the point as column digits says", printed, "");
    const ValidationFigure *figure = NULL;
    if (!validation_tables_check_new(reading, row, error) ||
        (figure = validation_tables_find(reading, row, error)) == NULL)
        return FALSE;
    double computed = validation_figures_compute(figure, case_name);
    if (isnan(computed))
        return validation_tables_refuse(reading, row, CASE, error,
                                        "wanted a case that the program can compute", case_name, "");
    ValidationSimulatedValue simulated;
    if (!validation_simulated_run(reading->simulated, figure, case_name, &simulated, error))
        return FALSE;
    ValidationTablesRow *out = g_new0(ValidationTablesRow, 1);
    out->document = g_strdup(reading->document);
    out->table = g_strdup(validation_tables_field(reading, row, TABLE));
    out->case_name = g_strdup(case_name);
    out->quantity = g_strdup(validation_tables_field(reading, row, QUANTITY));
    out->unit = g_strdup(unit);
    out->printed = g_strdup(printed);
    out->digits = digits;
    out->computed = computed * UNITS[at].per_si;
    out->simulated = simulated.value * UNITS[at].per_si;
    out->agrees = validation_tables_agrees(out->computed, digits, wanted) &&
                  (isnan(out->simulated) || !simulated.binding ||
                   validation_tables_agrees(out->simulated, digits, wanted));
    out->note = figure->note != NULL && simulated.note != NULL
                    ? g_strdup_printf("%s; %s", figure->note, simulated.note)
                    : g_strdup(figure->note != NULL ? figure->note : simulated.note);
    g_free(simulated.note);
    g_ptr_array_add(reading->rows, out);
    return TRUE;
}

// Every figure of the document must have had a row.
static gboolean validation_tables_check_used(const Reading *reading, const char *name, GError **error)
{
    guint n = 0;
    const ValidationFigure *figures = validation_figures(&n);
    for (guint i = 0; i < n; i++)
        if (strcmp(figures[i].document, reading->document) == 0 && !g_array_index(reading->used, gboolean, i))
            return base_error_set(error, BASE_ERROR_FAILED, name, "found no row for '%s, %s, %s', wanted one",
                                  figures[i].table, figures[i].pattern, figures[i].quantity);
    return TRUE;
}

GPtrArray *validation_tables_run_text(const char *document, const char *name, const char *text, gsize length,
                                      GError **error)
{
    g_autoptr(Csv) csv = csv_read_text(name, text, length, error);
    if (csv == NULL)
        return NULL;
    g_autoptr(ValidationSimulated) simulated = validation_simulated_new();
    guint n = 0;
    validation_figures(&n);
    g_autoptr(GArray) used = g_array_new(FALSE, TRUE, sizeof(gboolean));
    g_array_set_size(used, n);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(validation_tables_row_free);
    Reading reading = {.document = document, .csv = csv, .simulated = simulated, .used = used, .rows = rows};
    for (guint i = 0; i < COLUMNS; i++)
        if (!csv_find_column(csv, COLUMN_NAMES[i], &reading.columns[i], error))
            return NULL;
    for (guint i = 0; i < csv_rows(csv); i++)
        if (!validation_tables_add(&reading, i, error))
            return NULL;
    return validation_tables_check_used(&reading, name, error) ? g_steal_pointer(&rows) : NULL;
}

GPtrArray *validation_tables_run(const char *document, GError **error)
{
    if (!g_strv_contains(VALIDATION_TABLES_DOCUMENTS, document)) {
        g_autofree char *quoted = base_error_quote(document);
        g_autofree char *hint = suggest_hint(document, VALIDATION_TABLES_DOCUMENTS);
        base_error_set(error, BASE_ERROR_USAGE, NULL, "found '%s', wanted primer or deck%s", quoted, hint);
        return NULL;
    }
    g_autofree char *path = g_strdup_printf("validation/data/%s.csv", document);
    g_autoptr(GBytes) bytes = library_find(path);
    g_assert(bytes != NULL); // compiled in
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    return validation_tables_run_text(document, path, text, length, error);
}
