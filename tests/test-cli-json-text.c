// tests/test-cli-json-text.c: JSON comes out as JSON, and reads back as what went in.
#include "tests/check.h"

#include <math.h>

#include "base/hash.h"
#include "cli/json-text.h"

static void test_values(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } doubles[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {64, "64.0"},
        {0.473, "0.473"},
        {2e-12, "2e-12"},
        {1e22, "1e+22"},
        {1e300 * 10, "1e+301"},
        {0.1 + 0.2, "0.30000000000000004"},
        {(double)NAN, "null"},
        {(double)INFINITY, "null"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(doubles); i++) {
        g_autoptr(JsonNode) node = json_node_init_double(json_node_alloc(), doubles[i].value);
        g_autofree char *text = json_text_new(node);
        assert_string_equal(text, doubles[i].text);
    }
    static const struct {
        const char *value, *text;
    } strings[] = {
        {"", "\"\""},
        {"a \"b\" \\ c", "\"a \\\"b\\\" \\\\ c\""},
        {"\033[31m\n\x7f", "\"\\u001b[31m\\u000a\\u007f\""},
        {"\xc3\xa9", "\"\\u00e9\""},
        {"\xf0\x9f\x98\x80", "\"\\ud83d\\ude00\""},
        {"\xff", "\"\\ufffd\""},
    };
    for (guint i = 0; i < G_N_ELEMENTS(strings); i++) {
        g_autoptr(JsonNode) node = json_node_init_string(json_node_alloc(), strings[i].value);
        g_autofree char *text = json_text_new(node);
        assert_string_equal(text, strings[i].text);
    }
}

static void test_tree(void **state)
{
    (void)state;
    static const char wanted[] =
        "{\n  \"b\" : [],\n  \"a\" : [\n    1,\n    true,\n    null\n  ],\n  \"c\" : {}\n}";
    g_autoptr(JsonNode) node = json_from_string(wanted, NULL);
    g_autofree char *text = json_text_new(node);
    assert_string_equal(text, wanted);
}

// Random doubles of every size read back bit by bit.
static void test_back(void **state)
{
    (void)state;
    for (guint64 i = 0; i < 20000; i++) {
        guint64 bits = hash_random(1, i);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        g_autoptr(JsonNode) node = json_node_init_double(json_node_alloc(), value);
        g_autofree char *text = json_text_new(node);
        double back = g_ascii_strtod(text, NULL);
        if (memcmp(&back, &value, sizeof value) != 0)
            fail_msg("%s reads back as %.17g, wanted %.17g", text, back, value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_tree),
                                       cmocka_unit_test(test_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
