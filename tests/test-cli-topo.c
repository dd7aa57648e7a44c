// tests/test-cli-topo.c: stepline topo as it is typed: what it prints, and its exit status.
#include "tests/check.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

// Runs "stepline topo WORDS", words parted by blanks; returns the exit status.
static int run(const char *words, char **out, char **err)
{
    g_autoptr(GError) error = NULL;
    int status = 0;
    const char *program = g_getenv("STEPLINE");
    g_autofree char *line = g_strdup_printf("topo %s", words);
    g_auto(GStrv) parts = g_strsplit(line, " ", -1);
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (gpointer)(program == NULL ? "./stepline" : program));
    for (guint i = 0; parts[i] != NULL; i++)
        g_ptr_array_add(argv, parts[i]);
    g_ptr_array_add(argv, NULL);
    g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, out, err, &status, &error);
    check_fine(error);
    assert_true(status >= 0 && (status & 0x7f) == 0); // it ended by itself
    return status >> 8;
}

static void test_cases(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int status;
        const char *says; // on stdout where status is 0, else on stderr
    } cases[] = {
        {"show deck-nvlink-8", 0, "nodes    9: 8 gpu, 1 nvswitch\nlinks    16: 16 nvlink\n"},
        {"show deck-nvlink-8", 0, "Path gpu0 to gpu7: 2 links, latency 5 us, bottleneck 450 GB/s\n"},
        {"show deck-nvlink-8 --gpus 4", 0, "Path gpu0 to gpu3: 2 links"},
        {"show deck-network-400g --gpus 1024", 0,
         "Path gpu0 to gpu1023: 4 links, latency 10 us, bottleneck 50 GB/s\n"},
        {"show deck-network-400g --gpus 1", 0, "nodes    3: 1 gpu, 1 nic, 1 switch\n"},
        {"show primer-nvlink-8", 0, "both directions"},
        {"show wan-2x32", 0, "latency 20.01 ms, bottleneck 12.5 GB/s\n"},
        {"check h100-8rail --gpus 16384", 0,
         "h100-8rail: 16384 GPUs, 34817 nodes, 98304 links: every GPU reaches"},
        {"--help", 0, "show NAME [--gpus N] [--json] | check NAME|FILE [--gpus N] | import FILE"},
        {"", 2, "stepline: "},
        {"routes deck-nvlink-8 0 gpu7", 0,
         "Path gpu0 to gpu7: 2 links, latency 5 us, bottleneck 450 GB/s\n  gpu0        > nvswitch0   "
         "nvlink "},
        {"routes h100-8rail 0 nic9", 0, "Path gpu0 to nic9: 3 links"},
        {"routes deck-nvlink-8 0 8", 2, "found '8', wanted gpu0 to gpu7"},
        {"routes deck-nvlink-8 0 nic0", 2, "found 'nic0', but the machine has no nic"},
        {"routes deck-nvlink-8 0 gpx1", 2, "(did you mean 'gpu'?)"},
        {"routes deck-nvlink-8 0 99999999999999999999", 2, "wanted gpu0 to gpu7"},
        {"routes deck-nvlink-8 3 gpu3", 2, "found gpu3 twice"},
        {"routes deck-nvlink-8 3", 2, "found 2 words, wanted: stepline topo routes NAME|FILE A B"},
        {"dot deck-nvlink-8 --gpus 2", 0,
         "  \"gpu0\" -> \"nvswitch0\" [dir=both, label=\"450 GB/s\", color=forestgreen];\n"},
        {"dot deck-nvlink-8 --json", 2, "topo dot: found --json, wanted: stepline topo dot NAME|FILE"},
        {"import", 2, "found 0 words, wanted: stepline topo import FILE"},
        {"import ./none.xml", 1, "./none.xml: no such file"},
        {"import ./none.xml -o ./none.xml", 2, "found the file that is imported"},
        {"import ./none.xml --chip h10-sxm", 1, "did you mean 'h100-sxm'?"},
        {"check ./none.xml", 1, "./none.xml: no such file"},
        {"show", 2, "wanted: stepline topo show NAME"},
        {"show a b", 2, "wanted: stepline topo show NAME"},
        {"shwo deck-nvlink-8", 2,
         "found 'shwo', wanted one of: show, check, import, dot, routes (did you mean 'show'?)"},
        {"check deck-nvlink-8 --json", 2, "found --json"},
        {"show deck-nvlink-8 --gpu 4", 2, "--gpu"},
        {"show deck-nvlink-8 --gpus 0", 2, "--gpus: found 0"},
        {"show deck-nvlink-8 --gpus many", 2, "--gpus: found 'many'"},
        {"show deck-nvlink-8 --gpus -8", 2, "--gpus: found '-8' (negative)"},
        {"show deck-nvlink-8 --gpus 16", 1, "found 16 GPUs, wanted at most 8: deck-nvlink-8 has 8 GPUs"},
        {"check deck-network-400g --gpus 1000000000", 1, "found 1000000000 GPUs, wanted at most 65536"},
        {"check deck-network-400g --gpus 1e15", 2, "--gpus: found 1e15"},
        {"check deck-nvlink8", 1, "did you mean 'deck-nvlink-8'?"},
        {"check ./none.ini", 1, "./none.ini: no such file"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *out = NULL, *err = NULL;
        int status = run(cases[i].words, &out, &err);
        const char *said = cases[i].status == 0 ? out : err;
        if (status != cases[i].status || strstr(said, cases[i].says) == NULL)
            fail_msg("topo %s: exit %d, stdout '%s', stderr '%s'", cases[i].words, status, out, err);
        assert_string_equal(cases[i].status == 0 ? err : out, "");
    }
}

static void test_json(void **state)
{
    (void)state;
    g_autofree char *out = NULL, *err = NULL;
    assert_int_equal(run("show wan-2x32 --json", &out, &err), 0);
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;
    json_parser_load_from_data(parser, out, -1, &error);
    check_fine(error);
    JsonObject *root = json_node_get_object(json_parser_get_root(parser));
    assert_int_equal(json_object_get_int_member(root, "gpus"), 64);
    assert_string_equal(json_object_get_string_member(root, "chip"), "h100-sxm");
    assert_int_equal(json_object_get_int_member(json_object_get_object_member(root, "nodes"), "gateway"), 2);
    assert_int_equal(json_object_get_int_member(json_object_get_object_member(root, "links"), "wan"), 2);
    JsonArray *classes = json_object_get_array_member(root, "link_classes");
    gint64 links = 0;
    for (guint i = 0; i < json_array_get_length(classes); i++)
        links += json_object_get_int_member(json_array_get_object_element(classes, i), "links");
    assert_int_equal(links, json_object_get_int_member(root, "link_count"));
    JsonObject *path = json_array_get_object_element(json_object_get_array_member(root, "paths"), 1);
    assert_string_equal(json_object_get_string_member(path, "to"), "gpu63");
    assert_true(json_object_get_double_member(path, "bottleneck_Bps") == 12.5e9);
    assert_true(json_object_get_double_member(path, "latency_s") == 0.02001);
    JsonArray *hops = json_object_get_array_member(path, "hops");
    assert_int_equal(json_array_get_length(hops), 7);
    JsonObject *wan = json_array_get_object_element(hops, 3);
    assert_string_equal(json_object_get_string_member(wan, "class"), "wan");
    assert_string_equal(json_object_get_string_member(wan, "from"), "gateway0");
}

// An import without -o gives the machine file alone on stdout; with -o the words; the file is a machine.
static void test_import(void **state)
{
    (void)state;
    const char *source = g_getenv("STEPLINE_SOURCE");
    g_autofree char *path =
        g_build_filename(source == NULL ? ".." : source, "tests", "data", "nccl-switch-2.xml", NULL);
    g_autofree char *folder = g_dir_make_tmp("stepline-XXXXXX", NULL);
    g_autofree char *made = g_build_filename(folder, "m.ini", NULL);
    char *words[] = {g_strdup_printf("import %s", path), g_strdup_printf("import %s -o %s", path, made),
                     g_strdup_printf("check %s", made), g_strdup_printf("routes %s 0 1", path)};
    char *out[4] = {NULL}, *err[4] = {NULL};
    for (guint i = 0; i < 4; i++)
        assert_int_equal(run(words[i], &out[i], &err[i]), 0);
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(made, &text, NULL, NULL));
    assert_string_equal(out[0], text);
    assert_true(g_str_has_prefix(err[0], "Understood:\n  GPUs 2, "));
    assert_true(g_str_has_prefix(out[1], err[0]) && g_str_has_suffix(out[1], "m.ini\n"));
    assert_string_equal(err[1], "");
    assert_non_null(strstr(out[2], "m.ini: 2 GPUs, 8 nodes, 16 links: every GPU reaches every other\n"));
    assert_non_null(strstr(out[3], "Path gpu0 to gpu1: 2 links, latency 800 ns, bottleneck 450 GB/s\n"));
    for (guint i = 0; i < 4; i++) {
        g_free(out[i]);
        g_free(err[i]);
        g_free(words[i]);
    }
    g_unlink(made);
    g_rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_import),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
