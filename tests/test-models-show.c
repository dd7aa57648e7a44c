// tests/test-models-show.c: what "stepline model show" prints, and what it refuses.
#include "tests/check.h"

#include <json-glib/json-glib.h>

#include "base/error.h"
#include "cli/command.h"

static GString *printed; // what g_print was given, while a command runs

static void catch_print(const char *text)
{
    g_string_append(printed, text);
}

// Runs "model" with words (up to NULL). Returns its status; what it printed is in printed.
static int run(const char *const *words, GError **error)
{
    char *argv[10] = {(char *)"model"};
    int argc = 1;
    while (words[argc - 1] != NULL) {
        argv[argc] = (char *)words[argc - 1];
        argc++;
    }
    g_string_truncate(printed, 0);
    GPrintFunc before = g_set_print_handler(catch_print);
    int status = COMMAND_MODEL.run(argc, argv, error);
    g_set_print_handler(before);
    return status;
}

static void test_text(void **state)
{
    (void)state;
    static const char *const words[] = {"show", "llama-7b", NULL};
    static const char *const says[] = {
        "LLaMA 1 7B (norms not counted, as in the deck)\n",
        "source: Touvron et al.",
        "  layers                                32\n",
        "6,738,149,376\n",
        "6,738,415,616\n",
        "-266,240  norms are left out (norm_parameters = no)",
        "13,476,298,752  13.48 GB",
        "40,428,896,256\n",
        "46,871,347,200  at a sequence of 4,096",
        "67,108,864\n",
    };
    g_autoptr(GError) error = NULL;
    assert_int_equal(run(words, &error), 0);
    check_fine(error);
    for (guint i = 0; i < G_N_ELEMENTS(says); i++)
        if (strstr(printed->str, says[i]) == NULL)
            fail_msg("wanted '%s' in:\n%s", says[i], printed->str);
}

static void test_json(void **state)
{
    (void)state;
    static const char *const words[] = {
        "show", "gpt2", "--json", "--set", "model.layers=1", "--set", "model.sequence=512", NULL};
    static const struct {
        const char *key;
        gint64 value;
    } counts[] = {
        {"layers", 1},
        {"hidden", 768},
        {"kv_heads", 12},
        {"sequence", 512},
        {"parameters", 38597376 + 786432 + 7087872 + 1536},
        {"architecture_parameters", 38597376 + 786432 + 7087872 + 1536},
        {"parameters_difference", 0},
        {"embedding_parameters", 38597376},
        {"position_parameters", 786432},
        {"layer_attention_parameters", 2362368},
        {"layer_mlp_parameters", 4722432},
        {"layer_norm_parameters", 3072},
        {"final_norm_parameters", 1536},
        {"head_parameters", 0},
        {"bf16_bytes", 2 * 46473216},
        {"flops_per_token_6n", 6 * 46473216},
        {"flops_per_token_6n_attention", 6 * 46473216 + 12 * 768 * 512},
    };
    g_autoptr(GError) error = NULL;
    assert_int_equal(run(words, &error), 0);
    check_fine(error);
    g_autoptr(JsonParser) parser = json_parser_new();
    assert_true(json_parser_load_from_data(parser, printed->str, -1, &error));
    JsonObject *object = json_node_get_object(json_parser_get_root(parser));
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        assert_true(json_object_has_member(object, counts[i].key));
        assert_int_equal(json_object_get_int_member(object, counts[i].key), counts[i].value);
    }
    assert_string_equal(json_object_get_string_member(object, "name"), "gpt2");
    assert_string_equal(json_object_get_string_member(object, "norm"), "layer");
    assert_true(json_object_get_boolean_member(object, "tied"));
    assert_false(json_object_get_boolean_member(object, "gated"));
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *words[6];
        int code;
        const char *says;
    } bad[] = {
        {{NULL}, BASE_ERROR_USAGE, "wanted: stepline model show NAME"},
        {{"show"}, BASE_ERROR_USAGE, "wanted: stepline model show NAME"},
        {{"show", "gpt2", "gpt2-xl"}, BASE_ERROR_USAGE, "wanted: stepline model show NAME"},
        {{"shaw", "gpt2"},
         BASE_ERROR_USAGE,
         "found 'stepline model shaw', wanted 'stepline model show NAME' (did you"},
        {{"import", "gpt2"}, BASE_ERROR_USAGE, "found 'stepline model import'"},
        {{"show", "gpt2", "--jsn"}, BASE_ERROR_USAGE, "--jsn"},
        {{"show", "gpt3"}, BASE_ERROR_FAILED, "found no model 'gpt3' in the library (did you mean 'gpt2'?)"},
        {{"show", "gpt2", "--set", "layers=3"},
         BASE_ERROR_USAGE,
         "found 'layers=3', wanted section.key=value"},
        {{"show", "gpt2", "--set", "model.layer=3"},
         BASE_ERROR_FAILED,
         "--set: model.layer: unknown key (did you mean 'layers'?)"},
        {{"show", "gpt2", "--set", "job.dp=3"}, BASE_ERROR_FAILED, "--set: job.dp: unknown key"},
        {{"show", "gpt2", "--set", "model.use=gpt2"}, BASE_ERROR_FAILED, "--set: model.use: unknown key"},
        {{"show", "gpt2", "--set", "model.layers=x"}, BASE_ERROR_FAILED, "--set: model.layers: "},
        {{"show", "gpt2", "--set", "model.kv_heads=5"},
         BASE_ERROR_FAILED,
         "--set: model.kv_heads: found 12 heads and 5"},
        {{"show", "gpt2", "--set", "model.sequence=1025"},
         BASE_ERROR_FAILED,
         "--set: model.sequence: found a sequence of 1025 and 1024"},
        {{"show", "gpt2", "--set", "model.positions=8"},
         BASE_ERROR_FAILED,
         "--set: model.positions: found a sequence of 1024 and 8 learned positions"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_int_not_equal(run(bad[i].words, &error), 0);
        check_says(error, bad[i].says);
        assert_int_equal(error->code, bad[i].code);
        assert_string_equal(printed->str, ""); // an error prints no half of a result
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_refusals),
    };
    printed = g_string_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_string_free(printed, TRUE);
    return failed;
}
