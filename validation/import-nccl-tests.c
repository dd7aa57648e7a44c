// validation/import-nccl-tests.c: tells text, JSON and CSV apart, and walks the lines of a log.
#include "validation/import-nccl-tests.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "validation/nccl-json.h"
#include "validation/nccl-line.h"
#include "validation/nccl-table.h"

enum { LINE_MOST = 4096, ROWS_MOST = 100000, FILE_LIMIT = 64 << 20 };

// A log being read.
typedef struct {
    ValidationNcclLog *log;
    GPtrArray *tables;        // of ValidationNcclTable *, owned
    ValidationNcclTable *now; // the last of them while rows may follow, or NULL
    ValidationNcclColumns columns;
    ValidationNcclFacts facts;
    ValidationNcclOp named; // by the last program seen
    const char *foreign;    // that program, where it is none of ours: static
    char *version;          // owned
    char *failure;          // owned: the first line that speaks of a failure
    guint header_line, line, rows;
    guint broken, broken_line, long_line, elided_line, cpu_line, foreign_line;
    const char *broken_words;
} Walk;

static void validation_nccl_free_table(gpointer table)
{
    validation_nccl_table_free(table);
}

static void validation_import_clear(Walk *walk)
{
    g_ptr_array_unref(walk->tables);
    g_ptr_array_unref(walk->columns.columns);
    validation_nccl_table_facts_clear(&walk->facts);
    g_free(walk->version);
    g_free(walk->failure);
}

static void validation_import_add_row(Walk *walk, ValidationNcclRow *row)
{
    if (walk->columns.cpu_time || walk->foreign != NULL) {
        guint *line = walk->foreign != NULL ? &walk->foreign_line : &walk->cpu_line;
        *line = *line == 0 ? walk->line : *line;
        return;
    }
    if (walk->now == NULL) {
        walk->now = validation_nccl_table_new(walk->line, walk->named, &walk->facts);
        for (guint i = 0; i < walk->columns.columns->len; i++)
            walk->now->redop_column |= strcmp(walk->columns.columns->pdata[i], "redop") == 0;
        g_ptr_array_add(walk->tables, walk->now);
    }
    row->line = walk->line;
    g_array_append_val(walk->now->rows, *row);
    walk->rows++;
}

// What stands in a line that is no part of a table: the program, NCCL's version, a failure.
static void validation_import_add_words(Walk *walk, const char *text)
{
    static const char *const foreign[] = {"hypercube_perf", "alltoallv_perf"};
    static const char *const failures[] = {"Test failure", "NCCL failure", "CUDA failure", "unhandled "};
    ValidationNcclOp op = validation_nccl_line_find_op(text);
    const char *other = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(foreign); i++)
        if (strstr(text, foreign[i]) != NULL)
            other = foreign[i];
    if (op != VALIDATION_NCCL_OPS || other != NULL) {
        walk->named = op;
        walk->foreign = other;
    }
    static const char *const versions[] = {"NCCL version ", "nccl-tests version "};
    for (guint i = 0; walk->version == NULL && i < G_N_ELEMENTS(versions); i++) {
        const char *at = strstr(text, versions[i]);
        if (at != NULL) {
            g_autofree char *start =
                g_strndup(at, strlen(versions[i]) + strcspn(at + strlen(versions[i]), " "));
            walk->version = base_error_quote(start);
        }
    }
    for (guint i = 0; walk->failure == NULL && i < G_N_ELEMENTS(failures); i++)
        if (strstr(text, failures[i]) != NULL) {
            g_autofree char *copy = g_strstrip(g_strdup(text));
            walk->failure = base_error_quote(copy);
        }
}

static void validation_import_add_line(Walk *walk, const char *text)
{
    g_auto(ValidationNcclLine) line = {0};
    validation_nccl_line_read(text, &walk->columns, &line);
    switch (line.kind) {
    case VALIDATION_NCCL_LINE_ROW:
        validation_import_add_row(walk, &line.row);
        return;
    case VALIDATION_NCCL_LINE_BROKEN:
        if (walk->broken++ == 0) {
            walk->broken_line = walk->line;
            walk->broken_words = line.words;
        }
        return;
    case VALIDATION_NCCL_LINE_OPTIONS:
        validation_nccl_table_facts_clear(&walk->facts);
        validation_nccl_table_facts_init(&walk->facts);
        walk->header_line = walk->header_line == 0 ? walk->line : walk->header_line;
        walk->now = NULL;
        return;
    case VALIDATION_NCCL_LINE_COLUMNS:
        walk->header_line = walk->header_line == 0 ? walk->line : walk->header_line;
        walk->now = NULL;
        return;
    case VALIDATION_NCCL_LINE_DEVICE:
        validation_nccl_table_facts_add(&walk->facts, line.rank, line.host, line.device);
        return;
    case VALIDATION_NCCL_LINE_ELIDED:
        walk->elided_line = walk->elided_line == 0 ? walk->line : walk->elided_line;
        return;
    case VALIDATION_NCCL_LINE_OTHER:
        validation_import_add_words(walk, text);
        return;
    }
}

static void validation_import_add_notes(Walk *walk)
{
    if (walk->broken > 0)
        validation_nccl_log_add_note(walk->log, walk->broken_line,
                                     "%u line%s like a row but cannot be read (%s): dropped", walk->broken,
                                     walk->broken == 1 ? " begins" : "s begin", walk->broken_words);
    if (walk->long_line > 0)
        validation_nccl_log_add_note(walk->log, walk->long_line,
                                     "longer than %d bytes: skipped, like others of that kind", LINE_MOST);
    if (walk->elided_line > 0)
        validation_nccl_log_add_note(walk->log, walk->elided_line, "'...': somebody left lines out");
    if (walk->cpu_line > 0)
        validation_nccl_log_add_note(walk->log, walk->cpu_line,
                                     "a table of 'cputime' dropped: that is how long the CPU "
                                     "takes to launch, not how long the collective takes");
    if (walk->foreign_line > 0)
        validation_nccl_log_add_note(walk->log, walk->foreign_line,
                                     "a table of hypercube_perf or alltoallv_perf dropped: "
                                     "no collective that is simulated");
}

static gboolean validation_import_finish(Walk *walk, GError **error)
{
    validation_import_add_notes(walk);
    if (walk->tables->len > 0)
        return validation_nccl_table_add_runs(walk->tables, walk->version, walk->log, error);
    if (walk->log->notes->len > 0)
        return base_error_set(error, BASE_ERROR_FAILED, NULL, "%s; no row is left",
                              (char *)walk->log->notes->pdata[0]);
    g_autofree char *where = g_strdup_printf("%s:%u", walk->log->name, walk->header_line);
    if (walk->header_line > 0)
        return base_error_set(error, BASE_ERROR_FAILED, where,
                              "found the head of a table but no row: the run ended before "
                              "its first result%s%s%s",
                              walk->failure == NULL ? "" : " ('", walk->failure == NULL ? "" : walk->failure,
                              walk->failure == NULL ? "" : "')");
    return base_error_set(
        error, BASE_ERROR_FAILED, walk->log->name,
        "found no row of nccl-tests output, wanted lines like "
        "'1048576 262144 float sum -1 25.40 41.28 72.24 0', its JSON, or CSV with columns bytes and us");
}

static gboolean validation_import_text(ValidationNcclLog *log, const char *text, gsize length, GError **error)
{
    Walk walk = {.log = log, .named = VALIDATION_NCCL_OPS};
    walk.tables = g_ptr_array_new_with_free_func(validation_nccl_free_table);
    walk.columns.columns = g_ptr_array_new_with_free_func(g_free);
    validation_nccl_table_facts_init(&walk.facts);
    g_autoptr(GString) clean = g_string_new(NULL);
    const char *at = text, *end = text + length;
    while (at < end && walk.rows <= ROWS_MOST) {
        const char *stop = memchr(at, '\n', (gsize)(end - at));
        gsize size = (gsize)((stop == NULL ? end : stop) - at);
        walk.line++;
        if (size > LINE_MOST) {
            walk.long_line = walk.long_line == 0 ? walk.line : walk.long_line;
        } else {
            validation_nccl_line_clean(at, size, clean);
            validation_import_add_line(&walk, clean->str);
        }
        at += size + (stop != NULL);
    }
    gboolean fine = walk.rows > ROWS_MOST
                        ? base_error_set(error, BASE_ERROR_FAILED, log->name,
                                         "found more than %d rows, wanted a log of fewer", ROWS_MOST)
                        : validation_import_finish(&walk, error);
    validation_import_clear(&walk);
    return fine;
}

static gboolean validation_import_json(ValidationNcclLog *log, const char *text, gsize length, GError **error)
{
    g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func(validation_nccl_free_table);
    g_autofree char *version = NULL;
    return validation_nccl_json_read(log->name, text, length, tables, &version, error) &&
           validation_nccl_table_add_runs(tables, version, log, error);
}

static gboolean validation_import_csv(ValidationNcclLog *log, const char *text, gsize length, GError **error)
{
    static const struct {
        const char *name;
        double seconds;
    } times[] = {{"seconds", 1},    {"s", 1},     {"time_s", 1},    {"ms", 1e-3},
                 {"time_ms", 1e-3}, {"us", 1e-6}, {"time_us", 1e-6}};
    g_autoptr(Csv) csv = csv_read_text(log->name, text, length, error);
    guint bytes_column = 0, time_column = 0, found = G_N_ELEMENTS(times);
    if (csv == NULL || !csv_find_column(csv, "bytes", &bytes_column, error))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(times) && found == G_N_ELEMENTS(times); i++)
        if (csv_find_column(csv, times[i].name, &time_column, NULL))
            found = i;
    if (found == G_N_ELEMENTS(times))
        return base_error_set(error, BASE_ERROR_FAILED, log->name,
                              "found no column of times, wanted one named seconds, ms or "
                              "us");
    if (csv_rows(csv) == 0)
        return base_error_set(error, BASE_ERROR_FAILED, log->name,
                              "found no row below the header, wanted sizes and times");
    g_autoptr(ValidationNcclRun) run = validation_nccl_log_run_new(VALIDATION_NCCL_OPS);
    for (guint i = 0; i < csv_rows(csv); i++) {
        const CsvRow *fields = csv_get(csv, i);
        ValidationNcclRow row = {.line = fields->line, .root = -1};
        double value = 0, half = 0;
        g_autofree char *where = csv_where(csv, i, time_column), *size = csv_where(csv, i, bytes_column);
        g_autofree char *time = g_strstrip(g_strdup(fields->fields[time_column]));
        g_autofree char *quoted = base_error_quote(time);
        g_autofree char *count = g_strstrip(g_strdup(fields->fields[bytes_column]));
        if (!validation_nccl_line_read_number(time, &value, &half) || value <= 0)
            return base_error_set(error, BASE_ERROR_FAILED, where, "found '%s', wanted a number above 0",
                                  quoted);
        if (!units_parse_whole(UNITS_COUNT, count, size, &row.bytes, error))
            return FALSE;
        for (guint side = 0; side < VALIDATION_NCCL_SIDES; side++)
            row.side[side] = VALIDATION_NCCL_NO_SIDE;
        row.side[VALIDATION_NCCL_OUT].time = value * times[found].seconds;
        row.side[VALIDATION_NCCL_OUT].time_half = half * times[found].seconds;
        g_array_append_val(run->rows, row);
    }
    validation_nccl_log_run_finish(run);
    g_ptr_array_add(log->runs, g_steal_pointer(&run));
    return TRUE;
}

// Whether the first line that says something names a column "bytes".
static gboolean validation_import_is_csv(const char *text, gsize length)
{
    const char *at = text, *end = text + length;
    while (at < end) {
        const char *stop = memchr(at, '\n', (gsize)(end - at));
        gsize size = (gsize)((stop == NULL ? end : stop) - at);
        g_autofree char *line = g_strstrip(g_strndup(at, MIN(size, LINE_MOST)));
        at += size + (stop != NULL);
        if (line[0] == '\0' || line[0] == '#')
            continue;
        g_auto(GStrv) names = g_strsplit(line, ",", 8);
        return g_strv_length(names) > 1 && g_strv_contains((const char *const *)names, "bytes");
    }
    return FALSE;
}

ValidationNcclLog *validation_import_nccl_tests_read_text(const char *name, const char *text, gsize length,
                                                          GError **error)
{
    g_autoptr(ValidationNcclLog) log = validation_nccl_log_new(name);
    gsize skip = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    gsize first = skip;
    while (first < length && g_ascii_isspace(text[first]))
        first++;
    gboolean fine = first < length && text[first] == '{'
                        ? validation_import_json(log, text + first, length - first, error)
                    : validation_import_is_csv(text + skip, length - skip)
                        ? validation_import_csv(log, text, length, error)
                        : validation_import_text(log, text + skip, length - skip, error);
    return fine ? g_steal_pointer(&log) : NULL;
}

ValidationNcclLog *validation_import_nccl_tests_read(const char *path, GError **error)
{
    gsize length = 0;
    g_autofree char *text = text_read_file(path, FILE_LIMIT, "a log", &length, error);
    if (text == NULL)
        return NULL;
    if (length > FILE_LIMIT) {
        base_error_set(error, BASE_ERROR_FAILED, path, "found more than 64 MiB, wanted a log");
        return NULL;
    }
    return validation_import_nccl_tests_read_text(path, text, length, error);
}
