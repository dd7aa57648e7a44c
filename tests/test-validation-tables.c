// tests/test-validation-tables.c: every figure of both documents agrees, and one that does not is found.
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#include "base/library.h"
#include "validation/tables.h"

static char *text_of(const char *document)
{
    g_autofree char *path = g_strdup_printf("validation/data/%s.csv", document);
    g_autoptr(GBytes) bytes = library_find(path);
    assert_non_null(bytes);
    gsize length = 0;
    const char *text = g_bytes_get_data(bytes, &length);
    return g_strndup(text, length);
}

static GPtrArray *run_text(const char *document, const char *text, GError **error)
{
    return validation_tables_run_text(document, "t.csv", text, strlen(text), error);
}

static void test_all_agree(void **state)
{
    (void)state;
    static const guint counts[] = {41, 66}; // rows of the primer, of the deck
    for (guint i = 0; VALIDATION_TABLES_DOCUMENTS[i] != NULL; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) rows = validation_tables_run(VALIDATION_TABLES_DOCUMENTS[i], &error);
        check_fine(error);
        assert_int_equal(rows->len, counts[i]);
        for (guint j = 0; j < rows->len; j++) {
            const ValidationTablesRow *row = rows->pdata[j];
            if (!row->agrees)
                fail_msg("%s, %s, %s: printed %s %s, computed %.9g, simulated %.9g", row->table,
                         row->case_name, row->quantity, row->printed, row->unit, row->computed,
                         row->simulated);
            if (strcmp(row->table, "collective") == 0 || strcmp(row->table, "sync") == 0)
                assert_true(isfinite(row->simulated) || strcmp(row->quantity, "gradient_bytes") == 0);
            // The tree's mean over the ranks is not the 2M that the deck prints, and says so.
            if (strstr(row->case_name, "binary-tree") != NULL && strcmp(row->quantity, "sent_per_gpu") == 0) {
                assert_true(row->simulated < row->computed);
                assert_non_null(row->note);
            }
        }
    }
}

// text with every printed value moved by one unit of its last digit, away from nought or towards it.
static char *altered(const char *text, int by)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        g_auto(GStrv) fields = g_strsplit(lines[i], ",", -1);
        if (g_strv_length(fields) != 6 || lines[i][0] == '#' || strcmp(fields[0], "table") == 0)
            continue;
        int digits = atoi(fields[5]);
        double value = g_ascii_strtod(fields[3], NULL) + by * pow(10, -digits);
        g_free(fields[3]);
        fields[3] = g_strdup_printf("%.*f", digits, value);
        g_free(lines[i]);
        lines[i] = g_strjoinv(",", fields);
    }
    return g_strjoinv("\n", lines);
}

static void test_altered(void **state)
{
    (void)state;
    for (guint i = 0; VALIDATION_TABLES_DOCUMENTS[i] != NULL; i++) {
        g_autofree char *text = text_of(VALIDATION_TABLES_DOCUMENTS[i]);
        for (int by = -1; by <= 1; by += 2) {
            g_autoptr(GError) error = NULL;
            g_autofree char *other = altered(text, by);
            g_autoptr(GPtrArray) rows = run_text(VALIDATION_TABLES_DOCUMENTS[i], other, &error);
            check_fine(error);
            for (guint j = 0; j < rows->len; j++) {
                const ValidationTablesRow *row = rows->pdata[j];
                if (row->agrees)
                    fail_msg("%s, %s, %s: %s %s agrees with %.9g", row->table, row->case_name, row->quantity,
                             row->printed, row->unit, row->computed);
            }
        }
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const char head[] = "table,case,quantity,value,unit,digits\n";
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"sync,all,gradient_bytes,14,GB,0\n", "found no row for 'sync, all, moved_per_device'"},
        {"sync,all,gradient_byte,14,GB,0\n",
         "t.csv:2: quantity: found 'sync, all, gradient_byte', wanted a figure"},
        {"sync,some,gradient_bytes,14,GB,0\n", "t.csv:2: quantity: found"},
        {"zero,stage 4,per_gpu,1.0,GiB,1\n", "t.csv:2: case: found 'stage 4', wanted a case"},
        {"zero,stage x,per_gpu,1.0,GiB,1\n", "t.csv:2: case: found 'stage x', wanted a case"},
        {"sync,all,gradient_bytes,14,gb,0\n",
         "t.csv:2: unit: found 'gb', wanted a unit of the documents (did you mean"},
        {"sync,all,gradient_bytes,14,GB,\n", "t.csv:2: digits: found '', wanted"},
        {"sync,all,gradient_bytes,14,GB,-1\n", "t.csv:2: digits: found '-1', wanted"},
        {"sync,all,gradient_bytes,14,GB,10\n", "t.csv:2: digits: found '10', wanted"},
        {"sync,all,gradient_bytes,14.0,GB,0\n", "t.csv:2: value: found '14.0', wanted"},
        {"sync,all,gradient_bytes,14,GB,1\n", "t.csv:2: value: found '14', wanted"},
        {"sync,all,gradient_bytes,14.,GB,0\n", "t.csv:2: value: found '14.', wanted"},
        {"sync,all,gradient_bytes,.5,GB,1\n", "t.csv:2: value: found '.5', wanted"},
        {"sync,all,gradient_bytes,nan,GB,0\n", "t.csv:2: value: found 'nan', wanted"},
        {"sync,all,gradient_bytes,1e9,GB,0\n", "t.csv:2: value: found '1e9', wanted"},
        {"sync,all,gradient_bytes,,GB,0\n", "t.csv:2: value: found '', wanted"},
        {"sync,all,gradient_bytes,9999999999999999,GB,0\n",
         "t.csv:2: value: found '9999999999999999', wanted"},
        {"sync,all,gradient_bytes,14,GB,0\nsync,all,gradient_bytes,14,GB,0\n",
         "t.csv:3: quantity: found 'gradient_bytes', "
         "wanted each table, case and quantity once"},
        {"sync,all,gradient_bytes\n", "t.csv:2: found 3 fields, wanted 6"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = g_strconcat(head, bad[i].text, NULL);
        g_autoptr(GPtrArray) rows = run_text("primer", text, &error);
        assert_null(rows);
        check_says(error, bad[i].says);
    }
    g_autoptr(GError) error = NULL;
    assert_null(run_text("primer", "table,case,quantity,value,unit\n", &error));
    check_says(error, "found no column 'digits'");
    g_clear_error(&error);
    assert_null(validation_tables_run("premier", &error));
    check_says(error, "found 'premier', wanted primer or deck (did you mean 'primer'?)");
    assert_int_equal(error->code, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_agree),
        cmocka_unit_test(test_altered),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
