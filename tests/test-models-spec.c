// tests/test-models-spec.c: model files and overrides are read whole, and what is wrong in them is named by
// line.
#include "tests/check.h"

#include <glib/gstdio.h>

#include "models/count.h"
#include "models/spec.h"

// A sound file of 15 lines, whose lines the cases below replace.
static const char SOUND[] = "[model]\n"         // 1
                            "title = Small\n"   // 2
                            "source = a test\n" // 3
                            "layers = 2\n"      // 4
                            "hidden = 8\n"      // 5
                            "heads = 4\n"       // 6
                            "ffn = 16\n"        // 7
                            "gated = no\n"      // 8
                            "vocabulary = 10\n" // 9
                            "tied = yes\n"      // 10
                            "norm = layer\n"    // 11
                            "bias = yes\n"      // 12
                            "positions = 32\n"  // 13
                            "sequence = 32\n";  // 14

// Reads a text as a model file would be read. NULL with an error.
static ModelSpec *read(const char *text, GError **error)
{
    g_autofree char *path = NULL;
    int file = g_file_open_tmp("model-XXXXXX.ini", &path, NULL);
    assert_true(file >= 0);
    g_close(file, NULL);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    ModelSpec *spec = model_spec_read(path, NULL, error);
    g_unlink(path);
    return spec;
}

static ModelSpec *read_changed(const char *from, const char *to, GError **error)
{
    g_auto(GStrv) halves = g_strsplit(SOUND, from, 2);
    assert_int_equal(g_strv_length(halves), 2);
    g_autofree char *text = g_strjoin(to, halves[0], halves[1], NULL);
    return read(text, error);
}

static void test_defaults(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(ModelSpec) spec = read(SOUND, &error);
    check_fine(error);
    assert_string_equal(spec->title, "Small");
    assert_string_equal(spec->source, "a test");
    assert_int_equal(spec->kv_heads, 4);
    assert_int_equal(spec->head_dim, 2);
    assert_true(spec->norm_parameters);
    assert_true(spec->norm == MODEL_NORM_LAYER);
    assert_true(spec->tied && spec->bias && !spec->gated);
    assert_int_equal(spec->positions, 32);
    assert_int_equal(spec->sequence, 32);
    assert_int_equal(spec->parameters, 0);
    // 10 x 8 + 32 x 8 + 2 x (4 x 64 + 4 x 8 + 2 x 128 + 16 + 8 + 4 x 8) + 2 x 8
    assert_int_equal(model_count_parameters(spec), 80 + 256 + 2 * (256 + 32 + 256 + 24 + 32) + 16);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } bad[] = {
        {"layers = 2\n", "", "model.layers: missing"},
        {"title = Small\n", "", "model.title: missing"},
        {"gated = no\n", "", "model.gated: missing"},
        {"sequence = 32\n", "", "model.sequence: missing"},
        {"layers = 2", "layers = 0", ":4: model.layers: found 0, wanted a whole number from 1 to 100000"},
        {"layers = 2", "layers = 100001", ":4: model.layers: found 100001"},
        {"layers = 2", "layers = -2", ":4: model.layers: "},
        {"layers = 2", "layers = 2.5", ":4: model.layers: "},
        {"layers = 2", "layers = nan", ":4: model.layers: "},
        {"layers = 2", "layers = 1e400", ":4: model.layers: "},
        {"layers = 2", "layers =", ":4: model.layers: "},
        {"layers = 2", "layers = 2 GiB", ":4: model.layers: "},
        {"hidden = 8", "hidden = 10000001", ":5: model.hidden: found 10000001"},
        {"heads = 4", "heads = 3", ":6: model.heads: found 3, which does not divide hidden (8)"},
        {"heads = 4", "heads = 4\nkv_heads = 3", ":7: model.kv_heads: found 4 heads and 3 kv_heads"},
        {"heads = 4", "heads = 4\nkv_heads = 8", ":7: model.kv_heads: found 4 heads and 8 kv_heads"},
        {"heads = 4", "heads = 4\nhead_dim = 9000000", ":7: model.head_dim: found 4 heads of 9000000"},
        {"positions = 32", "positions = 31",
         ":14: model.sequence: found a sequence of 32 and 31 learned positions"},
        {"tied = yes", "tied = maybe", ":10: model.tied: found 'maybe'"},
        {"norm = layer", "norm = layers",
         ":11: model.norm: found 'layers', wanted one of: rms, layer (did you mean"},
        {"ffn = 16", "fnn = 16", "model.ffn: missing"},
        {"bias = yes", "bias = yes\nkv_head = 4",
         ":13: model.kv_head: unknown key (did you mean 'kv_heads'?)"},
        {"bias = yes", "bias = yes\nbias = yes", ":13: model.bias: found twice, first in line 12"},
        {"bias = yes", "bias = yes\nparameters = 0", ":13: model.parameters: found 0"},
        {"bias = yes", "bias = yes\nparameters = 1000000000000001",
         ":13: model.parameters: found 1000000000000001"},
        {"bias = yes", "bias = yes\nparameters = 192",
         ":13: model.parameters: found a total of 192 parameters, wanted"},
        {"sequence = 32", "sequence = 32\n[job]\ndp = 8", ":16: job.dp: unknown key"},
        {"title = Small", "title = Sm\033[31mall", ":2: found a control character"},
        {"[model]", "[models]", "model.title: missing"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ModelSpec) spec = read_changed(bad[i].from, bad[i].to, &error);
        assert_null(spec);
        check_says(error, bad[i].says);
    }
}

// The largest sizes that each key allows must be refused together, and stay exact where they are not.
static void test_limits(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autoptr(ModelSpec) most =
        read("[model]\ntitle = a\nsource = b\nlayers = 100000\nhidden = 10000000\nheads = 10000000\n"
             "ffn = 10000000\ngated = yes\nvocabulary = 10000000\ntied = no\nnorm = layer\nbias = yes\n"
             "positions = 10000000\nsequence = 10000000\n",
             &error);
    assert_null(most);
    check_says(error, ":4: model.layers: found sizes that make 7e+19 parameters, wanted at most 1e15");
    g_clear_error(&error);
    g_autoptr(ModelSpec) large =
        read("[model]\ntitle = a\nsource = b\nlayers = 1\nhidden = 10000000\nheads = 10000000\n"
             "ffn = 10000000\ngated = yes\nvocabulary = 10000000\ntied = yes\nnorm = rms\nbias = no\n"
             "positions = 10000000\nsequence = 10000000\n",
             &error);
    check_fine(error);
    assert_int_equal(model_count_architecture(large), 900000030000000); // 9 matrices of 1e14, 3 norms
    assert_true(model_count_flops(large, MODEL_COUNT_6N, 1) == 5400000180000000.0);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *says;
    } bad[] = {
        {"llama-7", "f.ini:2: model.use: found no model 'llama-7' in the library (did you mean 'llama-7b'?)"},
        {"", "found no model ''"},
        {"./no-such.ini", "./no-such.ini: no such file"},
        {"/", "/: found no regular file"},
        {"../models/data/gpt2", "no such file"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ModelSpec) spec = model_spec_read(bad[i].name, "f.ini:2: model.use", &error);
        assert_null(spec);
        check_says(error, bad[i].says);
    }
}

static void test_override(void **state)
{
    (void)state;
    static const struct {
        const char *model, *keys;
        gint64 parameters; // 0: refused
        const char *says;
    } cases[] = {
        {"llama-7b", "", 6738149376, NULL},
        {"llama-7b", "norm_parameters = yes\n", 6738415616, NULL},
        {"llama-7b", "parameters = 7e9\n", 7000000000, NULL},
        {"llama-7b", "parameters = 1\n", 1, NULL},
        {"llama-7b", "parameters = 1e15\n", 1000000000000000, NULL},
        {"llama-7b", "layers = 16\n", 6738149376 - 16 * 202375168LL, NULL},
        {"llama-7b", "tied = yes\n", 6738149376 - 131072000, NULL},
        {"llama-7b", "title = Mine\nsource = me\n", 6738149376, NULL},
        {"llama3-405b", "kv_heads = 16\n", 410081247232, NULL},
        {"primer-7b", "layers = 16\n", 7000000000, NULL}, // a total that is set stays
        {"gpt2", "gated = yes\nbias = no\nnorm = rms\npositions = 0\n", 38597376 + 12 * 9438720LL + 768,
         NULL},
        {"llama-7b", "kv_heads = 5\n", 0, "run.ini:4: model.kv_heads: found 32 heads and 5 kv_heads"},
        {"llama-7b", "heads = 48\n", 0, "run.ini:4: model.heads: found 48 heads and 32 kv_heads"},
        {"llama-7b", "layers = 0\n", 0, "run.ini:4: model.layers: found 0"},
        {"llama-7b", "parameters = 0\n", 0, "run.ini:4: model.parameters: found 0"},
        {"llama-7b", "parameters = 1e16\n", 0, "run.ini:4: model.parameters: found '1e16'"},
        {"llama-7b", "parameters = inf\n", 0, "run.ini:4: model.parameters: "},
        {"llama-7b", "hidden = 1e7\nffn = 1e7\n", 0, "run.ini:4: model.hidden: found sizes that make"},
        {"llama-7b", "gated = 1\n", 0, "run.ini:4: model.gated: found '1'"},
        {"gpt2", "parameters = 121344\n", 0,
         "run.ini:4: model.parameters: found a total of 121344 parameters"},
        {"gpt2", "parameters = 121345\n", 121345, NULL}, // biases, norms and one more
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = g_strconcat("[model]\nuse = x\nsequence = 77\n", cases[i].keys, NULL);
        g_autoptr(Ini) scenario = ini_read_text("run.ini", text, strlen(text), &error);
        check_fine(error);
        g_autoptr(ModelSpec) spec = model_spec_read(cases[i].model, NULL, &error);
        check_fine(error);
        gint64 sequence = spec->sequence;
        gboolean fine = model_spec_override(spec, scenario, &error);
        assert_int_equal(fine, cases[i].parameters != 0);
        if (!fine) {
            check_says(error, cases[i].says);
            continue;
        }
        check_fine(error);
        assert_int_equal(model_count_parameters(spec), cases[i].parameters);
        assert_int_equal(spec->sequence, sequence);
    }
}

// use and sequence are not this reader's: a scenario that nobody else reads still has them unread.
static void test_override_leaves(void **state)
{
    (void)state;
    static const char text[] = "[model]\nlayers = 2\nsequence = 77\n";
    g_autoptr(GError) error = NULL;
    g_autoptr(Ini) scenario = ini_read_text("run.ini", text, strlen(text), &error);
    g_autoptr(ModelSpec) spec = model_spec_read("gpt2", NULL, &error);
    assert_true(model_spec_override(spec, scenario, &error));
    assert_int_equal(spec->layers, 2);
    assert_false(ini_finish(scenario, &error));
    check_says(error, "run.ini:3: model.sequence: unknown key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_limits),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_override), cmocka_unit_test(test_override_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
