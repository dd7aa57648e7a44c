// tests/test-base-csv.c: tables are read field by field, and broken ones are refused with their line.
#include "tests/check.h"

#include "base/csv.h"

static Csv *read(const char *text, GError **error)
{
    return csv_read_text("t.csv", text, strlen(text), error);
}

static void test_fields(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(Csv) csv = read("\xef\xbb\xbf# what it is\r\n\r\nname,size, unit\r\n"
                              "a,1,B\n"
                              "\"b, \"\"c\"\"\",\"\",\"two\nlines\"\n"
                              "# between, \"\n"
                              "\"#d\",,\n"
                              "e, 2 ,\"x\"",
                              &error);
    check_fine(error);
    assert_int_equal(csv_rows(csv), 4);
    static const struct {
        guint line;
        const char *fields[3];
    } rows[] = {
        {4, {"a", "1", "B"}},
        {5, {"b, \"c\"", "", "two\nlines"}},
        {8, {"#d", "", ""}},
        {9, {"e", " 2 ", "x"}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const CsvRow *row = csv_get(csv, i);
        assert_int_equal(row->line, rows[i].line);
        assert_int_equal(g_strv_length(row->fields), 3);
        for (guint j = 0; j < 3; j++)
            assert_string_equal(row->fields[j], rows[i].fields[j]);
    }
    guint column = 9;
    assert_true(csv_find_column(csv, "size", &column, &error));
    assert_int_equal(column, 1);
    g_autofree char *where = csv_where(csv, 2, 1);
    assert_string_equal(where, "t.csv:8: size");
    assert_false(csv_find_column(csv, "sise", &column, &error));
    check_says(error, "t.csv:3: found no column 'sise', wanted one (did you mean 'size'?)");
    assert_int_equal(column, 1);
}

static void test_header_only(void **state)
{
    (void)state;
    static const char *const texts[] = {"a", "a\n", "a\r\n\r\n", "#\na\n#"};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Csv) csv = read(texts[i], &error);
        check_fine(error);
        assert_int_equal(csv_rows(csv), 0);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "t.csv: found no row"},
        {"# only words\n\n", "t.csv: found no row"},
        {"a,b\n1\n", "t.csv:2: found 1 field, wanted 2"},
        {"a,b\n1,2\n\n1,2,3\n", "t.csv:4: found 3 fields, wanted 2"},
        {"a,b\n1,2,", "t.csv:2: found 3 fields, wanted 2"},
        {"a,,b\n", "t.csv:1: found a column without name"},
        {"a,b,a\n", "t.csv:1: found the column 'a' twice"},
        {"a\n\"1\n2\n", "t.csv:2: found a quote that is never closed"},
        {"a\n\"1\"\"", "t.csv:2: found a quote that is never closed"},
        {"a\n\"", "t.csv:2: found a quote that is never closed"},
        {"a\n1\"2\"\n", "t.csv:2: found a quote inside a field"},
        {"a\n\"1\n\"2\n", "t.csv:3: found text behind a closing quote"},
        {"a\n1\r2\n", "t.csv:2: found a lone carriage return"},
        {"a\n\"1\"\r", "t.csv:2: found a lone carriage return"},
        {"a\n\xff\n", "not UTF-8"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Csv) csv = read(bad[i].text, &error);
        assert_null(csv);
        check_says(error, bad[i].says);
    }
    g_autoptr(GError) error = NULL;
    assert_null(csv_read_text("t.csv", "a\n\0\n", 4, &error));
    check_says(error, "not UTF-8");
    g_clear_error(&error);
    g_autofree char *commas = g_strnfill(256, ',');
    assert_null(csv_read_text("t.csv", commas, 256, &error));
    check_says(error, "t.csv:1: found more than 256 columns");
    g_clear_error(&error);
    assert_null(csv_read_text("t.csv", "", (4 << 20) + 1, &error));
    check_says(error, "t.csv: found more than 4 MiB");
    g_clear_error(&error);
    assert_null(csv_read_file("/no/such/table.csv", &error));
    check_says(error, "/no/such/table.csv: no such file");
    g_clear_error(&error);
    assert_null(csv_read_file("/", &error));
    check_says(error, "no regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_header_only),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
